"""A streams group by its tasks: each is a partition of all topics that a subtopology reads, with its state."""

from __future__ import annotations

import dataclasses

import numpy as np

from kafka_capacity.kafka.arrays import Floats
from kafka_capacity.kafka.groups.model import Topic, TopicPartitions
from kafka_capacity.kafka.rebalance.model import NOBODY, GroupFacts


def as_tasks(facts: GroupFacts) -> GroupFacts:
    """Return the facts about a streams group with a row a task instead of a partition; any other group as it is.

    Rates, lags and losses are added up, and a task's rate is known where those of all its partitions are; it is offline
    where one of them is, and a member that has its first partition has the task.
    """
    if facts.streams is None:
        return facts
    of_topic = {topic: name for name, topics in facts.streams.sources.items() for topic in topics}
    named = [of_topic[topic.name] for topic in facts.topics]
    counts = {
        name: max(topic.partitions for topic, whose in zip(facts.topics, named, strict=True) if whose == name)
        for name in sorted(set(named))
    }
    starts = dict(zip(counts, np.cumsum([0, *counts.values()]).tolist(), strict=False))
    task = np.array([starts[name] for name in named], dtype=np.int64)[facts.topic] + facts.partition
    topic = np.repeat(np.arange(len(counts), dtype=np.int32), list(counts.values()))
    partition = np.concatenate([np.arange(count, dtype=np.int32) for count in counts.values()])
    owner = np.full(len(topic), NOBODY, dtype=np.int32)
    owner[task[::-1]] = facts.owner[::-1]  # of several the first is written last
    cache_window = np.full(len(topic), np.inf)
    np.minimum.at(cache_window, task, np.nan_to_num(facts.cache_window_seconds, nan=np.inf))

    is_rate_known = np.ones(len(topic), dtype=np.bool_)
    np.logical_and.at(is_rate_known, task, facts.is_rate_known)
    is_offline = np.zeros(len(topic), dtype=np.bool_)
    is_offline[task[facts.is_offline]] = True

    def summed(values: Floats) -> Floats:
        return np.bincount(task, weights=values, minlength=len(topic)).astype(np.float64)

    names = tuple(counts)
    return dataclasses.replace(
        facts,
        topics=tuple(Topic(name=name, partitions=count) for name, count in counts.items()),
        topic_ids=names,
        topic=topic,
        partition=partition,
        owner=owner,
        members=tuple(
            dataclasses.replace(
                member,
                topics=names,
                owned=TopicPartitions(topics=names, topic=topic[owner == place], partition=partition[owner == place]),
            )
            for place, member in enumerate(facts.members)
        ),
        mean_bytes_per_second=summed(facts.mean_bytes_per_second),
        peak_bytes_per_second=summed(facts.peak_bytes_per_second),
        is_rate_known=is_rate_known,
        is_offline=is_offline,
        start_lag_bytes=summed(facts.start_lag_bytes),
        lost_records=summed(facts.lost_records),
        cache_window_seconds=np.where(np.isfinite(cache_window), cache_window, np.nan),
    )


def state_bytes(facts: GroupFacts) -> Floats:
    """Return float64[P], the bytes of state of each task: 0 where it keeps none, NaN where that is not known."""
    found = np.zeros(len(facts))
    for place, topic in enumerate(facts.topics):
        known = (facts.streams.state_bytes if facts.streams is not None else {}).get(topic.name)
        if known is not None:
            rows = np.flatnonzero(facts.topic == place)
            found[rows] = np.nan
            inside = facts.partition[rows] < len(known)
            found[rows[inside]] = np.array(known)[facts.partition[rows[inside]]]
    return found
