"""Topics that an outlook adds: nobody has placed them yet, so every broker may get the largest share there is.

The replicas of a topic with p partitions and replication factor f, placed evenly on B brokers, are at most ⌈p·f / B⌉ on
one, and its leaders at most ⌈p / B⌉. Each broker is charged with that: more than all of it together, and what the
fullest one will have.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kafka_capacity.demand.disk import DEFAULT_SEGMENT_BYTES, date_seconds
from kafka_capacity.demand.outlook import AddedTopic
from kafka_capacity.demand.workload import Workload
from kafka_capacity.kafka.arrays import Floats


@dataclass(frozen=True, slots=True, eq=False)
class AddedLoad:
    """What added topics put on the fullest broker, float64[D] each: bytes a second at peak, stored bytes, replicas."""

    client_in: Floats
    follower_in: Floats
    client_out: Floats
    replication_out: Floats
    disk_bytes: Floats
    replicas: Floats


def added_load(workload: Workload, broker_count: int, replication_factor: int | None) -> AddedLoad:
    """Charge the topics to one broker of so many, 1 at least; without a factor each topic keeps its own."""
    dates = workload.outlook.dates
    totals = np.zeros((6, len(dates)))
    for topic in workload.outlook.added:
        totals += _one(topic, dates, broker_count, replication_factor or topic.replication_factor)
    return AddedLoad(*totals)


def _one(topic: AddedTopic, dates: tuple[str, ...], brokers: int, wanted_factor: int) -> Floats:
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


def added_bytes(workload: Workload, *, is_every_replica: bool) -> Floats:
    """Return float64[D], what all replicas of all added topics hold together, or one of each partition."""
    found = np.zeros(len(workload.outlook.dates))
    for topic in workload.outlook.added:
        copies = topic.replication_factor if is_every_replica else 1
        found += copies * _stored(topic, workload.outlook.dates)
    return found


def added_totals(workload: Workload, *figures: Callable[[AddedTopic], float]) -> Floats:
    """Return float64[K, D], figures of all added topics together, each from the day on that it is there."""
    dates = workload.outlook.dates
    found = np.zeros((len(figures), len(dates)))
    for topic in workload.outlook.added:
        found += np.outer([figure(topic) for figure in figures], [date >= topic.from_date for date in dates])
    return found


def _stored(topic: AddedTopic, dates: tuple[str, ...]) -> Floats:
    """Return float64[D]; once segments are deleted, one more for each partition: Kafka deletes whole ones."""
    age = date_seconds((topic.from_date, *dates))[1:].clip(min=0)
    mean = topic.bytes_in_mean_bytes_per_second
    kept = mean * np.minimum(age, topic.retention_seconds) + topic.partitions * DEFAULT_SEGMENT_BYTES
    return np.asarray(np.minimum(kept, mean * age), dtype=np.float64)
