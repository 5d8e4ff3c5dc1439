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

from kafka_capacity.cluster.assignment import NO_BROKER
from kafka_capacity.errors import PlacementError, RequestError
from kafka_capacity.java.hashing import utf16_key
from kafka_capacity.java.random import JavaRandom
from kafka_capacity.placement.problem import PlacementProblem
from kafka_capacity.placement.refusals import check_factor_fits, check_factor_is_positive, check_partition_count
from kafka_capacity.placement.registry import register
from kafka_capacity.placement.topics import cut_to_factor, topic_counts, topic_factors

_LARGEST_INT = 2**31 - 1
_PATIENCE = 8  # places tried one by one before the next rack is looked up


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
    start, shift = _start_and_shift(len(row), fixed_start_index, random)
    rack_count = int(rack_of.max()) + 1 if len(rack_of) else 1
    partition = max(0, start_partition)
    if (partition + partition_count + max(start, shift)) * rack_count > _LARGEST_INT:
        raise RequestError(
            f"partitions up to {partition + partition_count} from start index {start} exceed Kafka's integers"
        )
    first, shifts = _first_and_shift(len(row), partition, min(partition_count, _period(len(row))), start, shift)
    if len(rack_of):
        positions = _spread_over_racks(first, shifts * rack_count, rack_of, replication_factor)
    else:
        positions = _one_after_another(first, shifts, len(row), replication_factor)
    return np.resize(row[positions.T], (partition_count, replication_factor))


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


def _start_and_shift(broker_count: int, fixed_start_index: int, random: JavaRandom | None) -> tuple[int, int]:
    if fixed_start_index >= 0:
        return fixed_start_index, fixed_start_index
    if random is None:
        raise RequestError("random: without a fixed start index there must be a source of draws")
    return random.next_int_bound(broker_count), random.next_int_bound(broker_count)


def _period(broker_count: int) -> int:
    """Tell after how many partitions the placement repeats: n first places, n - 1 shifts."""
    return broker_count * max(1, broker_count - 1)


def _first_and_shift(
    broker_count: int, partition: int, count: int, start: int, shift: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the place of the first replica and the shift of each partition, both int64[count]."""
    partitions = np.arange(partition, partition + count, dtype=np.int64)
    # Partition 0 begins the first round; every later multiple of the broker count begins another.
    rounds = partitions // broker_count - (max(partition, 1) - 1) // broker_count
    return (partitions + start) % broker_count, shift + rounds


def _one_after_another(
    first: NDArray[np.int64], shifts: NDArray[np.int64], broker_count: int, replication_factor: int
) -> NDArray[np.int64]:
    positions = np.empty((replication_factor, len(first)), dtype=np.int64)
    positions[0] = first
    for replica in range(1, replication_factor):
        positions[replica] = (first + 1 + (shifts + replica - 1) % (broker_count - 1)) % broker_count
    return positions


def _spread_over_racks(
    first: NDArray[np.int64], shifts: NDArray[np.int64], rack_of: NDArray[np.int32], replication_factor: int
) -> NDArray[np.int64]:
    """Choose places for all partitions at once: each tries place after place until one will do.

    Args:
        first: int64[P], place of the first replica.
        shifts: int64[P], the shift times the number of racks.
        rack_of: int32[B], rack number of each place.
        replication_factor: replicas of each partition.

    Returns:
        int64[replication_factor, P], places in the row of brokers.
    """
    broker_count, rack_count = len(rack_of), int(rack_of.max()) + 1
    places = np.empty((replication_factor, len(first)), dtype=np.int64)
    racks = np.empty((replication_factor, len(first)), dtype=np.int32)
    places[0], racks[0] = first, rack_of[first]
    distinct_racks = np.ones(len(first), dtype=np.int32)
    tries = np.zeros(len(first), dtype=np.int64)
    for replica in range(1, replication_factor):
        waiting, patience = np.arange(len(first)), _PATIENCE
        while len(waiting):
            if not patience:
                lacking = waiting[distinct_racks[waiting] < rack_count]
                begin = (shifts[lacking] + tries[lacking]) % (broker_count - 1)
                tries[lacking] += _tries_to_new_rack(first[lacking], begin, racks[:replica, lacking], rack_of)
            patience -= 1
            step = 1 + (shifts[waiting] + tries[waiting]) % (broker_count - 1)
            place = (first[waiting] + step) % broker_count
            tries[waiting] += 1
            rack = rack_of[place]
            is_new_rack = (racks[:replica, waiting] != rack).all(axis=0)
            is_free = (places[:replica, waiting] != place).all(axis=0)
            will_do = is_free & (is_new_rack | (distinct_racks[waiting] == rack_count))
            placed = waiting[will_do]
            places[replica, placed], racks[replica, placed] = place[will_do], rack[will_do]
            distinct_racks[placed] += is_new_rack[will_do]
            waiting = waiting[~will_do]
    return places


def _tries_to_new_rack(
    first: NDArray[np.int64], begin: NDArray[np.int64], racks: NDArray[np.int32], rack_of: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Count the places to pass over until one in a rack without a replica; small racks make this long.

    Args:
        first: int64[P], place of the first replica.
        begin: int64[P], places between it and the one to be tried next.
        racks: int32[replicas, P], the racks used so far; not all there are.
        rack_of: int32[B], rack number of each place.

    Returns:
        int64[P].
    """
    broker_count = len(rack_of)
    nearest = np.full(len(first), broker_count, dtype=np.int64)
    for rack in range(int(rack_of.max()) + 1):
        places = np.flatnonzero(rack_of == rack)
        following = places[np.searchsorted(places, np.arange(broker_count)) % len(places)]
        distance = (following[(first + 1 + begin) % broker_count] - first) % broker_count
        tries = (distance - 1 - begin) % (broker_count - 1)
        is_new = (racks != rack).all(axis=0)
        nearest = np.where(is_new, np.minimum(nearest, tries), nearest)
    return nearest


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
        random = JavaRandom(problem.seed)
        factors = topic_factors(problem)
        width = int(factors.max(initial=0))
        replicas = np.full((len(problem.partitions), width), NO_BROKER, dtype=np.int32)
        target, row = problem.target, 0
        for count, factor in zip(topic_counts(problem).tolist(), factors.tolist(), strict=True):
            placed = zk_placement(target.ids, target.racks, count, factor, random=random)
            replicas[row : row + count, :factor] = placed
            row += count
        return cut_to_factor(replicas, problem.replication_factor)
