"""How far back topics reach, and how far back they are read: what retention may be cut to rests on both."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kafka_capacity.demand.reading import late_read_seconds
from kafka_capacity.demand.workload import Workload
from kafka_capacity.inventory.topic_use import LEAST_HOURS, TopicUse, named_topics
from kafka_capacity.kafka.arrays import Floats
from kafka_capacity.questions.question import SizedCluster


def reach_seconds(workload: Workload) -> Floats:
    """Return float64[T], how far back limits of time and bytes let the quietest used partition of each topic reach.

    Of a tiered topic it is how far the object store does, within the same limit of bytes.
    """
    rate, count = workload.load.bytes_in_mean_bytes_per_second, len(workload.partitions.topics)
    unused = np.where(np.isfinite(workload.limits.retention_bytes), 0.0, np.inf)
    by_bytes = np.divide(workload.limits.retention_bytes, rate, out=unused, where=rate > 0)
    found = np.zeros(count)
    limits = workload.limits
    by_time = np.where(workload.is_tiered, limits.whole_retention_seconds, limits.retention_seconds)
    np.maximum.at(found, workload.partitions.topic, np.minimum(by_time, by_bytes))
    return found


def needed_seconds(cluster: SizedCluster, use: TopicUse) -> tuple[Floats, Sequence[str]]:
    """Return float64[T], how far back topics were seen to be read, and the groups of which that is not known.

    It is the furthest of how far groups are behind now and of how far back was read in the hours that are known. It is
    NaN where fewer than :data:`~kafka_capacity.inventory.topic_use.LEAST_HOURS` hours in a row are known, or where a
    group has committed on the topic of which nobody can say how far it is behind.
    """
    workload, topic = cluster.workload, cluster.workload.partitions.topic
    names = workload.partitions.topics
    found = np.zeros(len(names))
    traffic = workload.traffic
    is_known = traffic.is_unbroken and traffic.bytes_in.shape[1] >= LEAST_HOURS
    if is_known:
        np.maximum.at(found, topic, late_read_seconds(traffic.bytes_in, traffic.bytes_out))
    np.maximum.at(found, topic[workload.lags.row], workload.lags.seconds)
    told = set(workload.lags.groups) - workload.lags.unknown
    untold = {group.group_id: named_topics(group) for group in cluster.snapshot.groups if group.group_id not in told}
    in_doubt = {name for topics in untold.values() for name in topics}
    is_in_doubt = np.isin(names, sorted(in_doubt))
    found[(use.known_hours < LEAST_HOURS) | is_in_doubt | (not is_known)] = math.nan
    return found, sorted(group for group, topics in untold.items() if topics) if is_known else ()
