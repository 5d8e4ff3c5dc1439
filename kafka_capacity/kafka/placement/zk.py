"""Kafka's placement in the days of ZooKeeper: ``AdminUtils.assignReplicasToBrokers`` (3.9.2; 0.10.2.2).

Goals, in this order:
    1. As many partitions and leaders on every broker as on every other.
    2. The other replicas of one broker's partitions spread over all other brokers.
    3. The replicas of a partition in as many racks as there are, when every broker has a rack.

Constraints:
    No broker holds two replicas of a partition. Either all brokers have a rack or none has.

Algorithm:
    The brokers are put in a row: as given when they have no racks, otherwise alternating over the racks (the first
    broker of each rack in the order of the rack names, then the second of each, and so on). The first replica of
    partition p goes to place ``start + p`` of the row, the others to the places ``1 + shift``, ``2 + shift``, …
    after it. The shift grows by one each time the partitions have gone once round the row, so that the followers
    of one leader differ from round to round. With racks the shift is multiplied by their number, and a place is
    passed over while its rack already has a replica and another rack has none, or when its broker has one.
    Start and shift are drawn at random, or given.

    Size, load and the replicas already there play no part.

Worked example, five brokers without racks, start and shift 0; from partition 5 on the shift is 1:

>>> ids = np.arange(5, dtype=np.int32)
>>> zk_placement(ids, [None] * 5, 7, 3, fixed_start_index=0).tolist()
[[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 0], [4, 0, 1], [0, 2, 3], [1, 3, 4]]

Six brokers in three racks, the row is 0 (east), 3 (north), 1 (west), 5 (east), 4 (north), 2 (west):

>>> racks = ["east", "west", "west", "north", "north", "east"]
>>> zk_placement(np.arange(6, dtype=np.int32), racks, 4, 3, fixed_start_index=0).tolist()
[[0, 3, 1], [3, 1, 5], [1, 5, 4], [5, 4, 2]]
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.errors import PlacementError, RequestError
from kafka_capacity.kafka.java.hashing import utf16_key
from kafka_capacity.kafka.java.random import JavaRandom
from kafka_capacity.kafka.placement.problem import PlacementProblem
from kafka_capacity.kafka.placement.refusals import check_factor_fits, check_factor_is_positive, check_partition_count
from kafka_capacity.kafka.placement.registry import register
from kafka_capacity.kafka.placement.topics import cut_to_factor, topic_counts, topic_factors
from kafka_capacity.kafka.placement.zk_places import places_in_row

_LARGEST_INT = 2**31 - 1


class ZkRelease(StrEnum):
    """The release reproduced: both place alike, and throw another class when only some brokers have racks."""

    V3_9 = "org.apache.kafka.server.common.AdminOperationException"
    V0_10 = "kafka.admin.AdminOperationException"


def zk_placement(
    broker_ids: NDArray[np.int32],
    racks: Sequence[str | None],
    partition_count: int,
    replication_factor: int,
    *,
    fixed_start_index: int = -1,
    start_partition: int = -1,
    random: JavaRandom | None = None,
    release: ZkRelease = ZkRelease.V3_9,
) -> NDArray[np.int32]:
    """Place the partitions of one topic.

    Args:
        broker_ids: int32[B]; their order counts where there are no racks.
        racks: the rack of each broker.
        partition_count: how many partitions to place.
        replication_factor: replicas of each.
        fixed_start_index: both start and shift; negative to draw the two from ``random``.
        start_partition: number of the first partition, as when partitions are added; negative for 0.
        random: source of the draws, needed if ``fixed_start_index`` is negative.
        release: whose exception class to name.

    Returns:
        int32[partition_count, replication_factor].

    Raises:
        PlacementError: a count that is not positive, more replicas than brokers, racks for some brokers only.
        RequestError: no source of draws, or numbers beyond Java's ``int``.
    """
    check_partition_count(partition_count)
    check_factor_is_positive(replication_factor)
    check_factor_fits(replication_factor, len(broker_ids))
    row, rack_of = _row_of_brokers(broker_ids, racks, release)
    if fixed_start_index >= 0:
        start, shift = fixed_start_index, fixed_start_index
    else:
        if random is None:
            raise RequestError("random: without a fixed start index there must be a source of draws")
        start, shift = random.next_int_bound(len(row)), random.next_int_bound(len(row))
    partition = max(0, start_partition)
    rack_count = int(rack_of.max()) + 1 if len(rack_of) else 1
    if (partition + partition_count + max(start, shift)) * rack_count > _LARGEST_INT:
        raise RequestError(
            f"partitions up to {partition + partition_count} from start index {start} exceed Kafka's integers"
        )
    partitions = np.arange(partition, partition + partition_count, dtype=np.int64)
    # Partition 0 begins the first round; every later multiple of the broker count begins another.
    shifts = shift + partitions // len(row) - (max(partition, 1) - 1) // len(row)
    return row[places_in_row((partitions + start) % len(row), shifts, len(row), rack_of, replication_factor)]


def rack_alternated(broker_ids: NDArray[np.int32], racks: Sequence[str]) -> list[int]:
    """List broker ids so that neighbours are in different racks, as ``getRackAlternatedBrokerList`` does.

    >>> rack_alternated(np.array([0, 1, 2, 3]), ["b", "a", "b", "b"])
    [1, 0, 2, 3]
    """
    by_rack: dict[str, list[int]] = {}
    for broker_id, rack in sorted(zip(broker_ids.tolist(), racks, strict=True)):
        by_rack.setdefault(rack, []).append(broker_id)
    ordered = [by_rack[rack] for rack in sorted(by_rack, key=utf16_key)]
    longest = max(map(len, ordered), default=0)
    return [ids[turn] for turn in range(longest) for ids in ordered if turn < len(ids)]


def _row_of_brokers(
    broker_ids: NDArray[np.int32], racks: Sequence[str | None], release: ZkRelease
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Put the brokers in a row; also give the rack number of each place, none where there are no racks."""
    named = [rack for rack in racks if rack is not None]
    if not named:
        return broker_ids, np.empty(0, dtype=np.int32)
    if len(named) < len(racks):
        raise PlacementError(
            f"{len(named)} of {len(racks)} brokers have a rack; give every broker a rack or none",
            kafka_type=release.value,
        )
    rack_by_id = dict(zip(broker_ids.tolist(), named, strict=True))
    if len(rack_by_id) < len(broker_ids):
        raise RequestError(f"broker_ids: {len(broker_ids)} ids, of which only {len(rack_by_id)} are different")
    numbers = {rack: number for number, rack in enumerate(sorted(set(named)))}
    row = rack_alternated(broker_ids, named)
    rack_of = [numbers[rack_by_id[broker_id]] for broker_id in row]
    return np.array(row, dtype=np.int32), np.array(rack_of, dtype=np.int32)


@register("zk")
class ZkPlacer:
    """Places every topic afresh, in the order of names, as if all had been created one after another.

    One generator, started with the problem's seed, gives each topic its start index and then its shift. A topic is
    placed with the largest factor wanted in it. Sizes, racks rules and the replicas there now are not looked at, and
    neither is whether a broker is fenced: ZooKeeper knew live brokers only.
    """

    name: str

    def place(self, problem: PlacementProblem) -> NDArray[np.int32]:
        """Place all partitions; the rows of smaller factors are padded with -1."""
        counts, factors = topic_counts(problem), topic_factors(problem)
        check_partition_count(int(counts.min(initial=1)))
        check_factor_is_positive(int(factors.min(initial=1)))
        target = problem.target
        check_factor_fits(int(factors.max(initial=0)), len(target))
        row, rack_of = _row_of_brokers(target.ids, target.racks, ZkRelease.V3_9)
        drawn = JavaRandom(problem.seed).next_ints_bound(np.full(2 * len(counts), len(row)))
        # Each partition's number within its topic plus the start index; then its shift.
        begins = np.cumsum(counts) - counts
        turn = np.arange(len(problem.partitions)) + np.repeat(drawn[::2] - begins, counts)
        rounds = (turn - np.repeat(drawn[::2], counts)) // len(row) + np.repeat(drawn[1::2], counts)
        places = places_in_row(turn % len(row), rounds, len(row), rack_of, int(factors.max(initial=0)))
        return cut_to_factor(row[places], problem.replication_factor)
