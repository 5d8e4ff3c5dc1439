"""Spread replicas over few sets of brokers, so that few sets of failures cost data.

Goals (ordered)
    1. Every partition has its replication factor, on distinct unfenced brokers, in as many racks as that allows.
    2. All partitions of a factor share few copysets: each broker is in about ``scatter_width / (factor - 1)`` of them
       (Cidon et al., "Copysets", USENIX ATC 2013, section 3), and so are its data on as many others.
    3. No broker holds more bytes than its share and the tolerance, or its disk, as long as a copyset has room.
    4. Few bytes are copied.

Algorithm
    Each *round* cuts the brokers into sets of as many as the factor. Sets that partitions have today come first, those
    with the most bytes before others, as long as they do not overlap and leave brokers that can be cut further; the
    rest takes one broker from each of the racks with the most brokers left. Where brokers do not come out even, the
    last set takes brokers that the round has used already. Partitions then go where most of their replicas are
    already, the large ones first, among the sets with room; where none has any, to the emptiest. Partitions with one
    replica stay. Who leads goes on leading where it stays; else who leads least bytes does.

What this does not look at: pins, log directories, limits of the network.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.arrays import Int32s, Ints
from kafka_capacity.kafka.placement.problem import PlacementProblem


def place_in_few_copysets(problem: PlacementProblem, *, scatter_width: int) -> Int32s:
    """Place all partitions, the data of a broker spread over at least so many others; as a placer does.

    Raises:
        RequestError: the scatter width is below 1, or fewer brokers take replicas than a factor asks for.
    """
    usable = np.flatnonzero(problem.target.takes_replicas)
    most = int(problem.replication_factor.max(initial=0))
    if scatter_width < 1:
        raise RequestError(f"scatter_width: {scatter_width} is invalid; give at least 1")
    if most > len(usable):
        raise RequestError(f"replication_factor: {most} replicas do not fit {len(usable)} brokers that take new ones")
    filling = _Filling(problem, usable)
    for factor in sorted({int(one) for one in problem.replication_factor.tolist() if one > 0}, reverse=True):
        rows = np.flatnonzero(problem.replication_factor == factor)
        if factor == 1:
            sets = usable[:, None]
        else:
            sets = _sets(problem, rows, usable, factor, -(-scatter_width // (factor - 1)))
        filling.fill(rows, sets)
    return filling.broker_ids(most)


def _sets(problem: PlacementProblem, rows: Ints, usable: Ints, factor: int, rounds: int) -> Ints:
    """Return int64[C, factor], positions of brokers, each set once."""
    today = _todays_sets(problem, rows, usable, factor)
    racks = problem.target.rack_indexes()
    chosen: dict[tuple[int, ...], None] = {}
    for _ in range(rounds):
        cutting = _Round(usable, racks, factor)
        for one in today:
            if one not in chosen and cutting.allows(one):
                cutting.take(one)
                chosen[one] = None
        for one in cutting.rest():
            chosen[one] = None
    return np.array(list(chosen), dtype=np.int64)


def _todays_sets(problem: PlacementProblem, rows: Ints, usable: Ints, factor: int) -> list[tuple[int, ...]]:
    """List the whole sets that partitions have today, by the bytes in them, the most first."""
    place = np.sort(problem.target.index_of(problem.before[rows]), axis=1)[:, ::-1]
    is_whole = (np.isin(place, usable).sum(axis=1) == factor) & ((problem.before[rows] >= 0).sum(axis=1) == factor)
    found, which = np.unique(place[is_whole][:, :factor], axis=0, return_inverse=True)
    size = np.bincount(which.reshape(-1), weights=problem.size_bytes[rows][is_whole], minlength=len(found))
    return [tuple(sorted(found[row].tolist())) for row in np.argsort(-size, kind="stable")]


class _Round:
    """Cuts brokers into sets."""

    def __init__(self, usable: Ints, racks: Int32s, factor: int) -> None:
        self._racks, self._factor = racks, factor
        self._left = dict.fromkeys(usable.tolist())
        self._all: list[int] = usable.tolist()
        self._count = np.bincount(racks[usable], minlength=int(racks.max(initial=0)) + 1)
        self._spread = min(factor, int((self._count > 0).sum()))

    def allows(self, one: tuple[int, ...]) -> bool:
        """Return whether a set is free, spread over racks, and leaves brokers that can be cut further."""
        if any(broker not in self._left for broker in one):
            return False
        racks = self._racks[list(one)]
        if len(set(racks.tolist())) < self._spread:
            return False
        after = self._count - np.bincount(racks, minlength=len(self._count))
        rounds = -(-(len(self._left) - self._factor) // self._factor)
        per_rack = -(-self._factor // self._spread)
        return bool(after.max() <= max(rounds, 0) * per_rack or after.max() < self._count.max())

    def take(self, one: tuple[int, ...]) -> None:
        """Use the brokers of a set up."""
        for broker in one:
            if broker in self._left:
                del self._left[broker]
                self._count[self._racks[broker]] -= 1

    def rest(self) -> Iterator[tuple[int, ...]]:
        """Cut what is left, one broker of each of the racks with the most left."""
        while self._left:
            one: list[int] = []
            while len(one) < self._factor:
                one.append(self._next(one))
            self.take(tuple(one))
            yield tuple(sorted(one))

    def _next(self, one: list[int]) -> int:
        """Choose the broker that fits best: of a new rack before others, left before used, of the fullest rack."""
        used = np.bincount(self._racks[one], minlength=len(self._count)) if one else np.zeros_like(self._count)
        fresh = [broker for broker in one if broker in self._left]
        room = self._count - np.bincount(self._racks[fresh].astype(np.int64), minlength=len(self._count))
        others = [broker for broker in self._all if broker not in one]
        return min(
            others, key=lambda b: (int(used[self._racks[b]]), b not in self._left, -int(room[self._racks[b]]), b)
        )


class _Filling:
    """Puts partitions into sets."""

    def __init__(self, problem: PlacementProblem, usable: Ints) -> None:
        self._problem = problem
        count = len(problem.target)
        self._before = problem.target.index_of(problem.before)
        self._leader = problem.target.index_of(problem.leader)
        total = float((problem.size_bytes * problem.replication_factor).sum())
        fair = total / max(len(usable), 1)
        limits = problem.broker_limits
        disk = np.full(count, np.inf) if limits is None else limits.disk_bytes
        self._room = np.minimum(fair * (1 + problem.tolerance_ratio), disk)
        self._held, self._led = np.zeros(count), np.zeros(count)
        self._chosen: dict[int, list[int]] = {}

    def fill(self, rows: Ints, sets: Ints) -> None:
        """Put the partitions of a replication factor into its sets."""
        is_member = np.zeros((len(sets), len(self._problem.target)), dtype=np.bool_)
        is_member[np.arange(len(sets))[:, None], sets] = True
        size = self._problem.size_bytes
        kept = np.zeros((len(rows), len(sets)), dtype=np.int8)
        for column in range(self._before.shape[1]):
            place = self._before[rows, column]
            kept += is_member[:, place].T & (place >= 0)[:, None]
        # Who is where it should be goes first: it costs nothing.
        order = np.lexsort((rows, -size[rows], -kept.max(axis=1)))
        for number in order.tolist():
            row = int(rows[number])
            after = (self._held[sets] + size[row]) / np.maximum(self._room[sets], 1e-9)
            worst = after.max(axis=1)
            fits = worst <= 1
            key = np.where(fits, -kept[number].astype(np.float64), np.inf) if fits.any() else worst
            best = int(np.lexsort((worst, key))[0])
            self._put(row, sets[best].tolist())

    def _put(self, row: int, brokers: list[int]) -> None:
        self._held[brokers] += self._problem.size_bytes[row]
        stays = [int(broker) for broker in self._before[row] if broker in brokers]
        ordered = stays + [broker for broker in brokers if broker not in stays]
        leader = int(self._leader[row])
        if leader not in ordered:
            leader = min(stays or ordered, key=lambda broker: (self._led[broker], broker))
        self._led[leader] += self._problem.bytes_in_bytes_per_second[row]
        self._chosen[row] = [leader, *(broker for broker in ordered if broker != leader)]

    def broker_ids(self, width: int) -> Int32s:
        """Return int32[P, W]."""
        found = np.full((len(self._before), max(width, 1)), -1, dtype=np.int32)
        ids = self._problem.target.ids
        for row, brokers in self._chosen.items():
            found[row, : len(brokers)] = ids[brokers]
        return found
