"""Partitions that get far more than the others of their topic: a hot key, or a partitioner that is not even."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from kafka_capacity.health.cluster_view import ClusterView
from kafka_capacity.health.problem import Code, Problem, info
from kafka_capacity.kafka.cluster.snapshot import INTERNAL_TOPICS
from kafka_capacity.text.amounts import format_rate

HOT_RATIO = 3.0
"""A partition with three times the mean is no chance of hashing; more partitions leave a hot key where it is."""

LEAST_BROKER_RATIO = 0.05
"""Of what brokers are produced to on average: what is less makes no broker busier than the others."""

LEAST_HOURS = 24  # a day: with less, a topic's partitions may only be busy at other hours


def check_hot(view: ClusterView) -> Iterator[Problem]:
    """Look for hot partitions by mean rates, of topics that are not Kafka's own, where the rates of most are known."""
    load, partitions = view.load, view.snapshot.partitions
    if load.hours < LEAST_HOURS or not len(partitions) or not view.are_rates_known:
        return
    rate, topic = load.bytes_in_mean_bytes_per_second, partitions.topic
    count = np.bincount(topic)
    mean = (np.bincount(topic, weights=rate) / count)[topic]
    times = np.divide(rate, mean, out=np.zeros(len(rate)), where=mean > 0)
    is_own = np.isin(topic, [place for place, name in enumerate(partitions.topics) if name in INTERNAL_TOPICS])
    is_busy = rate >= LEAST_BROKER_RATIO * rate.sum() / len(view.snapshot.brokers)
    hot = (times >= HOT_RATIO) & is_busy & (rate > 0) & ~is_own
    if not hot.any():
        return
    worst = int(np.argmax(np.where(hot, rate, 0.0)))
    name = partitions.topics[topic[worst]]
    gets = (
        f"{format_rate(rate[worst])} on average, {times[worst]:.1f} times the mean of its topic’s "
        f"{count[topic[worst]]:,} partitions"
    )
    number = int(partitions.partition[worst])
    what = (
        f"are hot, with {HOT_RATIO:g} times the mean of their topic or more: partition {number} of {name} gets {gets}"
    )
    remedy = (
        f"sample the keys with kafka-capacity inventory keys --topic {name}: more partitions leave one large key where "
        "it is, but spread many keys that happen to share a partition"
    )
    for found in view.problems(info, Code.HOT_PARTITIONS, hot, what, remedy):
        one = f"partition {number} of {name} is hot: it gets {gets}"
        yield found if found.partitions > 1 else dataclasses.replace(found, message=one)
