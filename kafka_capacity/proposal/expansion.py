"""Topics with more partitions: made before anything moves, empty, where the placer wants them.

Kafka moves no record when partitions are added. So the new ones are empty; what is produced and read from then on is
taken to be shared evenly by all partitions of the topic; and once the old records are gone, so are its bytes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.workload import Traffic
from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.arrays import Flags, Float32s, Floats, Int32s, Ints
from kafka_capacity.kafka.cluster.assignment import Partitions, replica_lists, replication_factors
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.columns import change_columns
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.kafka.producer.key_hashing import even_share_remapped
from kafka_capacity.kafka.reassignment.runbook import NewPartitions

if TYPE_CHECKING:
    from kafka_capacity.proposal.scenario import PlacementScenario

_Kind = TypeVar("_Kind", bound=np.generic)

PARTITION_COUNT_IS_FIXED = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
"""Topics whose partition count says where groups and transactions are kept: another one would lose them."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Expanded:
    """A cluster with the partitions that it is to get."""

    snapshot: Snapshot  # with a row for each; without replicas before they are placed, with them once they are
    load: PartitionLoad  # its traffic then
    is_new: Flags  # bool[P], which rows they are


def shared_traffic(traffic: Traffic, expanded: Expanded) -> Traffic:
    """Share the hours of topics that get more partitions evenly by all of them, as their load is shared."""
    topic = expanded.snapshot.partitions.topic

    def shared(hours: Float32s) -> Float32s:
        wide = _widened(hours, expanded.is_new, 0)
        for one in np.unique(topic[expanded.is_new]).tolist():
            rows = topic == one
            wide[rows] = wide[rows].mean(axis=0)
        return wide

    return dataclasses.replace(traffic, bytes_in=shared(traffic.bytes_in), bytes_out=shared(traffic.bytes_out))


def _widened(values: NDArray[_Kind], is_new: Flags, fill: int) -> NDArray[_Kind]:
    """Put rows, one a partition, where they are among more of them; what is new gets the fill."""
    wide = np.full((len(is_new), *values.shape[1:]), fill, dtype=values.dtype)
    wide[~is_new] = values
    return wide


def check_partition_counts(asked: Mapping[str, int], counts: Mapping[str, int]) -> None:
    """Refuse topics that there are not, and counts that are not larger.

    Raises:
        RequestError: one line for each mistake.
    """
    complaints = []
    for topic in sorted(asked):
        now = counts.get(topic)
        if now is None:
            complaints.append(
                f"partition_counts: {topic!r} is not a topic of the cluster; correct the name or leave it out"
            )
        elif topic in PARTITION_COUNT_IS_FIXED:
            complaints.append(
                f"partition_counts: {topic!r} is invalid: Kafka would look for groups and transactions in the wrong "
                "partitions"
            )
        elif asked[topic] <= now:
            complaints.append(
                f"partition_counts: {asked[topic]:,} for {topic!r} is invalid: it has {now:,} partitions, and Kafka "
                f"never removes one; give more than {now:,}"
            )
    if complaints:
        raise RequestError("\n".join(complaints))


def expanded(snapshot: Snapshot, load: PartitionLoad, scenario: PlacementScenario) -> Expanded | None:
    """Return the cluster with rows for the partitions that a scenario adds; ``None`` where it adds none."""
    asked = dict(scenario.partition_counts)
    if not asked:
        return None
    old = snapshot.partitions
    now = np.bincount(old.topic, minlength=len(old.topics))
    then = np.array([max(now[at], asked.get(topic, 0)) for at, topic in enumerate(old.topics)], dtype=np.int64)
    topic = np.repeat(np.arange(len(then)), then).astype(np.int32)
    number = (np.arange(len(topic)) - np.repeat(np.cumsum(then) - then, then)).astype(np.int32)
    is_new = number >= now[topic]

    def shared(rates: Floats) -> Floats:
        wide = _widened(rates, is_new, 0)
        return np.where((then > now)[topic], evened(wide, topic), wide)

    return Expanded(
        snapshot=dataclasses.replace(
            snapshot,
            partitions=Partitions(topics=old.topics, topic=topic, partition=number),
            replicas=_widened(snapshot.replicas, is_new, -1),
            in_sync=_widened(snapshot.in_sync, is_new, 0),
            size_bytes=_widened(snapshot.size_bytes, is_new, 0),
            log_dir=_widened(snapshot.log_dir, is_new, -1),
            leader=_widened(snapshot.leader, is_new, -1),
        ),
        load=change_columns(load, shared),
        is_new=is_new,
    )


def evened(amount: Floats, topic: Int32s) -> Floats:
    """Share what the partitions of each topic have in all evenly by them: float64[P]."""
    totals, counts = np.bincount(topic, weights=amount), np.bincount(topic)
    return np.asarray((totals / np.maximum(counts, 1))[topic], dtype=np.float64)


def factors_today(snapshot: Snapshot) -> Int32s:
    """Return int32[P], how many replicas each partition has; one that is still to be made has as many as its topic."""
    own, topic = replication_factors(snapshot.replicas), snapshot.partitions.topic
    return np.where(own > 0, own, own[np.searchsorted(topic, topic)]).astype(np.int32)


def created(before: Expanded, after: Int32s, target: Brokers) -> Expanded:
    """Put the new partitions where a placement wants them, with as many replicas as their topics have today.

    Kafka makes a partition with the replication factor that the topic has. Where the placement gives it more, the rest
    is moved there later; where it gives less, further brokers of the target hold it until then.
    """
    snapshot = before.snapshot
    rows = np.flatnonzero(before.is_new)
    factors = factors_today(snapshot)[rows].tolist()
    usable = target.ids[target.takes_replicas].tolist()
    replicas, in_sync, leader = snapshot.replicas.copy(), snapshot.in_sync.copy(), snapshot.leader.copy()
    for row, factor, wanted in zip(rows.tolist(), factors, replica_lists(after[rows]), strict=True):
        turned = [*usable[row % len(usable) :], *usable[: row % len(usable)]]
        brokers = [*wanted, *(broker for broker in turned if broker not in wanted)][:factor]
        replicas[row, : len(brokers)], in_sync[row, : len(brokers)] = brokers, True
        leader[row] = brokers[0]
    placed = dataclasses.replace(snapshot, replicas=replicas, in_sync=in_sync, leader=leader)
    return dataclasses.replace(before, snapshot=placed)


def new_partitions(expanded: Expanded) -> tuple[NewPartitions, ...]:
    """List what is to be made, by topic."""
    snapshot = expanded.snapshot
    rows = np.flatnonzero(expanded.is_new)
    counts = np.bincount(snapshot.partitions.topic)
    found = []
    for topic in np.unique(snapshot.partitions.topic[rows]).tolist():
        own = rows[snapshot.partitions.topic[rows] == topic]
        before = int(counts[topic]) - len(own)
        found.append(
            NewPartitions(
                topic=snapshot.partitions.topics[topic],
                count_before=before,
                replicas=tuple(tuple(brokers) for brokers in replica_lists(snapshot.replicas[own])),
                moved_keys_ratio=even_share_remapped(before, int(counts[topic])),
            )
        )
    return tuple(found)


def size_bytes_to_place(expanded: Expanded) -> Ints:
    """Return int64[P], what a replica counts where it is placed: what it holds later, a new one its share of the topic.

    Placed as empty as they are, new partitions would all be put where there is most room, and fill it later.
    """
    size, topic = expanded.snapshot.partition_size_bytes().astype(np.float64), expanded.snapshot.partitions.topic
    return np.where(expanded.is_new, evened(size, topic), later_size_bytes(expanded)).astype(np.int64)


def later_size_bytes(expanded: Expanded) -> Floats:
    """Return float64[P], what a replica holds once retention has replaced all records of topics with new partitions.

    A compacted topic keeps its old records where they are: its partitions stay as they are.
    """
    snapshot = expanded.snapshot
    size, topic = snapshot.partition_size_bytes().astype(np.float64), snapshot.partitions.topic
    is_raised = np.bincount(topic, weights=expanded.is_new, minlength=len(snapshot.partitions.topics)) > 0
    return np.where((is_raised & ~snapshot.topics.is_compacted)[topic], evened(size, topic), size)
