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

from kafka_capacity.errors import PlacementError, RequestError
from kafka_capacity.kafka.arrays import Int32s, Ints
from kafka_capacity.kafka.java.hashing import utf16_key
from kafka_capacity.kafka.java.random import JavaRandom
from kafka_capacity.kafka.placement.problem import PlacementProblem
from kafka_capacity.kafka.placement.topics import (
    check_factor_fits,
    check_factor_is_positive,
    check_partition_count,
    cut_to_factor,
    topic_counts,
    topic_factors,
)

_LARGEST_INT = 2**31 - 1


class ZkRelease(StrEnum):
    """The release reproduced: both place alike, and throw another class when only some brokers have racks."""

    V3_9 = "org.apache.kafka.server.common.AdminOperationException"
    V0_10 = "kafka.admin.AdminOperationException"


def zk_placement(
    broker_ids: Int32s,
    racks: Sequence[str | None],
    partition_count: int,
    replication_factor: int,
    *,
    fixed_start_index: int = -1,
    start_partition: int = -1,
    random: JavaRandom | None = None,
    release: ZkRelease = ZkRelease.V3_9,
) -> Int32s:
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
    rack_count = int(rack_of.max(initial=0)) + 1
    if (partition + partition_count + max(start, shift)) * rack_count > _LARGEST_INT:
        raise RequestError(
            f"partitions up to {partition + partition_count} from start index {start} exceed Kafka's integers"
        )
    partitions = np.arange(partition, partition + partition_count, dtype=np.int64)
    # Partition 0 begins the first round; every later multiple of the broker count begins another.
    shifts = shift + partitions // len(row) - (max(partition, 1) - 1) // len(row)
    return row[places_in_row((partitions + start) % len(row), shifts, len(row), rack_of, replication_factor)]


def rack_alternated(broker_ids: Int32s, racks: Sequence[str]) -> list[int]:
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


def _row_of_brokers(broker_ids: Int32s, racks: Sequence[str | None], release: ZkRelease) -> tuple[Int32s, Int32s]:
    """Put the brokers in a row; also give the rack number of each place, none where there are no racks."""
    named = [rack for rack in racks if rack is not None]
    if not named:
        return broker_ids, np.empty(0, dtype=np.int32)
    if len(named) < len(racks):
        raise PlacementError(
            f"{len(named)} of {len(racks)} brokers {'has' if len(named) == 1 else 'have'} a rack; give every broker a "
            "rack or none",
            kafka_type=release.value,
        )
    rack_by_id = dict(zip(broker_ids.tolist(), named, strict=True))
    if len(rack_by_id) < len(broker_ids):
        raise RequestError(f"broker_ids: {len(broker_ids)} ids, of which only {len(rack_by_id)} are different")
    numbers = {rack: number for number, rack in enumerate(sorted(set(named)))}
    row = rack_alternated(broker_ids, named)
    rack_of = [numbers[rack_by_id[broker_id]] for broker_id in row]
    return np.array(row, dtype=np.int32), np.array(rack_of, dtype=np.int32)


def place_as_zookeeper(problem: PlacementProblem) -> Int32s:
    """Place every topic afresh, in the order of names, as if all had been created one after another.

    One generator, started with the problem's seed, gives each topic its start index and then its shift. A topic is
    placed with the largest factor wanted in it. Sizes, racks rules and the replicas there now are not looked at, and
    neither is whether a broker is fenced: ZooKeeper knew live brokers only.
    """
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


_PATIENCE = 8  # places tried one by one before the next rack is looked up
_CHUNK_ROWS = 1 << 15  # keeps the working arrays in the cache


def places_in_row(first: Ints, shifts: Ints, broker_count: int, rack_of: Int32s, replication_factor: int) -> Int32s:
    """Find the places of all replicas: int32[P, replication_factor].

    ``first``, int64[P], is the place of each first replica, ``shifts``, int64[P], the shift of each partition, not
    negative; ``rack_of``, int32[broker_count], the rack number of each place, empty where there are no racks.

    Algorithm:
        The places of a partition follow from the place of its first replica and its shift, modulo one less than the
        brokers there are: no more than ``n * (n - 1)`` different answers, however many partitions and topics. With at
        least as many partitions each answer is found once and then looked up. A later replica does not change an
        earlier one, so partitions of a smaller factor take the first columns.
    """
    steps = max(1, broker_count - 1)
    if len(first) < broker_count * steps:
        return _found(first, shifts % steps, broker_count, rack_of, replication_factor)
    every = np.arange(broker_count * steps)
    answers = _found(every // steps, every % steps, broker_count, rack_of, replication_factor)
    places = np.empty((len(first), replication_factor), dtype=np.int32)
    for begin in range(0, len(first), _CHUNK_ROWS):
        chunk = slice(begin, begin + _CHUNK_ROWS)
        np.take(answers, first[chunk] * steps + shifts[chunk] % steps, axis=0, out=places[chunk], mode="clip")
    return places


def _found(first: Ints, shifts: Ints, broker_count: int, rack_of: Int32s, replication_factor: int) -> Int32s:
    places = np.empty((len(first), replication_factor), dtype=np.int32)
    for begin in range(0, len(first), _CHUNK_ROWS):
        chunk = slice(begin, begin + _CHUNK_ROWS)
        narrow_first, narrow_shifts = first[chunk].astype(np.int32), shifts[chunk].astype(np.int32)
        if len(rack_of):
            found = _spread_over_racks(narrow_first, narrow_shifts, rack_of, replication_factor)
        else:
            found = _one_after_another(narrow_first, narrow_shifts, broker_count, replication_factor)
        places[chunk] = found.T
    return places


def _one_after_another(first: Int32s, shifts: Int32s, broker_count: int, replication_factor: int) -> Int32s:
    positions = np.empty((replication_factor, len(first)), dtype=np.int32)
    positions[0] = first
    for replica in range(1, replication_factor):
        positions[replica] = (first + 1 + (shifts + replica - 1) % (broker_count - 1)) % broker_count
    return positions


def _spread_over_racks(first: Int32s, shifts: Int32s, rack_of: Int32s, replication_factor: int) -> Int32s:
    """Choose places for all partitions at once, int32[replication_factor, P]: each tries one after another."""
    broker_count, rack_count = len(rack_of), int(rack_of.max()) + 1
    places = np.empty((replication_factor, len(first)), dtype=np.int32)
    racks = np.empty_like(places)
    places[0], racks[0] = first, rack_of[first]
    distinct_racks = np.ones(len(first), dtype=np.int32)
    # How many places there are between the first replica and the one to be tried next.
    ahead = (shifts.astype(np.int64) * rack_count % max(1, broker_count - 1)).astype(np.int32)
    for replica in range(1, replication_factor):
        waiting, patience = np.arange(len(first)), _PATIENCE
        while len(waiting):
            if not patience:
                lacking = waiting[distinct_racks[waiting] < rack_count]
                passed = _tries_to_new_rack(first[lacking], ahead[lacking], racks[:replica, lacking], rack_of)
                ahead[lacking] = (ahead[lacking] + passed) % (broker_count - 1)
            patience -= 1
            tried = ahead[waiting]
            place = first[waiting] + tried + 1
            place[place >= broker_count] -= broker_count
            ahead[waiting] = np.where(tried == broker_count - 2, 0, tried + 1)
            rack = rack_of[place]
            is_new_rack, is_free = np.ones(len(waiting), dtype=np.bool_), np.ones(len(waiting), dtype=np.bool_)
            for earlier in range(replica):
                is_new_rack &= racks[earlier][waiting] != rack
                is_free &= places[earlier][waiting] != place
            will_do = is_free & (is_new_rack | (distinct_racks[waiting] == rack_count))
            placed = waiting[will_do]
            places[replica, placed], racks[replica, placed] = place[will_do], rack[will_do]
            distinct_racks[placed] += is_new_rack[will_do]
            waiting = waiting[~will_do]
    return places


def _tries_to_new_rack(first: Int32s, begin: Int32s, racks: Int32s, rack_of: Int32s) -> Ints:
    """Count the places to pass over until one in a rack without a replica, int64[P]; small racks make this long.

    ``begin`` is int32[P], how many places there are between the first replica and the one to be tried next; ``racks``
    int32[replicas, P], those used so far, but not all there are.
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
