"""Topics that an outlook adds: nobody has placed them yet, so every broker may get the largest share there is.

The replicas of a topic with p partitions and replication factor f, placed evenly on B brokers, are at most ⌈p·f / B⌉ on
one, and its leaders at most ⌈p / B⌉. Each broker is charged with that: more than all of it together, and what the
fullest one will have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.disk import DEFAULT_SEGMENT_BYTES, date_seconds
from kafka_capacity.demand.outlook import AddedTopic
from kafka_capacity.demand.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AddedLoad:
    """What added topics put on the fullest broker, float64[D] each.

    Attributes:
        client_in, follower_in, client_out, replication_out: bytes per second at peak.
        disk_bytes: stored.
        replicas: how many.
    """

    client_in: NDArray[np.float64]
    follower_in: NDArray[np.float64]
    client_out: NDArray[np.float64]
    replication_out: NDArray[np.float64]
    disk_bytes: NDArray[np.float64]
    replicas: NDArray[np.float64]


def added_load(workload: Workload, broker_count: int, replication_factor: int | None) -> AddedLoad:
    """Charge the topics to one broker of so many.

    Args:
        workload: with the outlook that adds them.
        broker_count: over how many brokers they are spread, at least 1.
        replication_factor: of all topics; ``None`` keeps each topic's own.
    """
    dates = workload.outlook.dates
    totals = np.zeros((6, len(dates)))
    for topic in workload.outlook.added:
        totals += _one(topic, dates, broker_count, replication_factor or topic.replication_factor)
    return AddedLoad(
        client_in=totals[0],
        follower_in=totals[1],
        client_out=totals[2],
        replication_out=totals[3],
        disk_bytes=totals[4],
        replicas=totals[5],
    )


def _one(topic: AddedTopic, dates: tuple[str, ...], brokers: int, wanted_factor: int) -> NDArray[np.float64]:
    factor = min(wanted_factor, brokers)
    leaders = math.ceil(topic.partitions / brokers)
    replicas = math.ceil(topic.partitions * factor / brokers)
    led, held = leaders / topic.partitions, replicas / topic.partitions
    age = date_seconds((topic.from_date, *dates))[1:]
    is_there = age >= 0
    produced = topic.bytes_in_peak_bytes_per_second * is_there
    return np.stack(
        [
            produced * led,
            produced * max(0.0, held - led),
            topic.bytes_out_peak_bytes_per_second * is_there * led,
            produced * led * (factor - 1),
            _stored(topic, dates) * held,
            replicas * is_there.astype(np.float64),
        ]
    )


def added_bytes(workload: Workload) -> NDArray[np.float64]:
    """Return float64[D], what one replica of each partition of all added topics holds together."""
    found = np.zeros(len(workload.outlook.dates))
    for topic in workload.outlook.added:
        found += _stored(topic, workload.outlook.dates)
    return found


def added_replica_bytes(workload: Workload) -> NDArray[np.float64]:
    """Return float64[D], what all replicas of all added topics hold together."""
    dates = workload.outlook.dates
    found = np.zeros(len(dates))
    for topic in workload.outlook.added:
        found += topic.replication_factor * _stored(topic, dates)
    return found


def added_traffic(workload: Workload) -> NDArray[np.float64]:
    """Return float64[D], bytes per second produced to all added topics together, each at its own peak."""
    dates = workload.outlook.dates
    found = np.zeros(len(dates))
    for topic in workload.outlook.added:
        found += topic.bytes_in_peak_bytes_per_second * np.array([date >= topic.from_date for date in dates])
    return found


def _stored(topic: AddedTopic, dates: tuple[str, ...]) -> NDArray[np.float64]:
    """Return float64[D]; once segments are deleted, one more for each partition: Kafka deletes whole ones."""
    age = date_seconds((topic.from_date, *dates))[1:].clip(min=0)
    mean = topic.bytes_in_mean_bytes_per_second
    kept = mean * np.minimum(age, topic.retention_seconds) + topic.partitions * DEFAULT_SEGMENT_BYTES
    return np.asarray(np.minimum(kept, mean * age), dtype=np.float64)
