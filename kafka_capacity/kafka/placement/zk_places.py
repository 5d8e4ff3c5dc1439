"""Where the replicas of many partitions stand in the row of brokers of :mod:`kafka_capacity.kafka.placement.zk`.

Algorithm:
    The places of a partition follow from the place of its first replica and its shift, modulo one less than the
    brokers there are: no more than ``n * (n - 1)`` different answers, however many partitions and topics. With at
    least as many partitions each answer is found once and then looked up. A later replica does not change an earlier
    one, so partitions of a smaller factor take the first columns.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_PATIENCE = 8  # places tried one by one before the next rack is looked up
_CHUNK_ROWS = 1 << 15  # keeps the working arrays in the cache


def places_in_row(
    first: NDArray[np.int64],
    shifts: NDArray[np.int64],
    broker_count: int,
    rack_of: NDArray[np.int32],
    replication_factor: int,
) -> NDArray[np.int32]:
    """Find the places of all replicas.

    Args:
        first: int64[P], place of the first replica.
        shifts: int64[P], the shift of each partition, not negative.
        broker_count: places in the row.
        rack_of: int32[broker_count], rack number of each place; empty where there are no racks.
        replication_factor: replicas of each partition.

    Returns:
        int32[P, replication_factor].
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


def _found(
    first: NDArray[np.int64],
    shifts: NDArray[np.int64],
    broker_count: int,
    rack_of: NDArray[np.int32],
    replication_factor: int,
) -> NDArray[np.int32]:
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


def _one_after_another(
    first: NDArray[np.int32], shifts: NDArray[np.int32], broker_count: int, replication_factor: int
) -> NDArray[np.int32]:
    positions = np.empty((replication_factor, len(first)), dtype=np.int32)
    positions[0] = first
    for replica in range(1, replication_factor):
        positions[replica] = (first + 1 + (shifts + replica - 1) % (broker_count - 1)) % broker_count
    return positions


def _spread_over_racks(
    first: NDArray[np.int32], shifts: NDArray[np.int32], rack_of: NDArray[np.int32], replication_factor: int
) -> NDArray[np.int32]:
    """Choose places for all partitions at once: each tries place after place until one will do.

    Args:
        first: int32[P], place of the first replica.
        shifts: int32[P], the shift of each partition.
        rack_of: int32[B], rack number of each place.
        replication_factor: replicas of each partition.

    Returns:
        int32[replication_factor, P], places in the row of brokers.
    """
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


def _tries_to_new_rack(
    first: NDArray[np.int32], begin: NDArray[np.int32], racks: NDArray[np.int32], rack_of: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Count the places to pass over until one in a rack without a replica; small racks make this long.

    Args:
        first: int32[P], place of the first replica.
        begin: int32[P], places between it and the one to be tried next.
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
