"""Reach a balanced, rack-aware assignment from the one there is, and copy little on the way.

Goals (ordered)
    1. Every partition has its replication factor, on distinct brokers of the target.
    2. Every partition is spread over the racks that the rack rule asks for.
    3. Every broker is within the tolerance of its fair share (:mod:`kafka_capacity.placement.shares`), where the
       replicas' sizes and the rack rule allow it.
    4. The fewest bytes are copied.
    5. The leaders are even by bytes produced (by count where no rates are known), within a tenth of the mean; this
       costs no bytes, since only the order of replica lists changes.

Constraints (mandatory)
    1 and 2. Load does not come into it: an option that overfills a disk is placed all the same and judged afterwards.

Algorithm
    Keep every replica whose broker stays, unless the rack rule or a lower replication factor forbids it; then the one
    on the fullest broker goes. Make the missing replicas, the largest first, on the broker furthest below its share.
    Level what is left (:mod:`kafka_capacity.placement.levelling`), with partitions from all topics alike and one new
    replica a partition where that will do. Then level the leaders.
    A replica that is made anew takes the place in the list of the one it stands for. Nothing is drawn at random.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.errors import PlacementError
from kafka_capacity.placement.levelling import Leveller
from kafka_capacity.placement.problem import Balance, PlacementProblem, RackRule
from kafka_capacity.placement.registry import register
from kafka_capacity.placement.shares import BalanceLimits, balance_limits, distinct_racks, wanted_racks

_GOLDEN_RATIO = 0.6180339887498949
LEADER_TOLERANCE_RATIO = 0.10
"""How far a broker's leader load may be from the mean before leadership is handed over."""


@register("fewest-bytes")
class FewestBytesPlacer:
    """The placer of that name."""

    name: str

    def place(self, problem: PlacementProblem) -> NDArray[np.int32]:
        """Place all partitions.

        Returns:
            int32[P, W], broker ids, the preferred leader first, padded with -1.

        Raises:
            PlacementError: the target has fewer brokers than a replication factor asks for, or only some have a rack.
        """
        _check_enough_brokers(problem)
        _check_racks(problem)
        work = _Work(problem)
        work.keep_what_fits()
        work.fill_what_is_missing()
        work.level_replicas()
        work.level_leaders()
        return work.broker_ids()


def _check_enough_brokers(problem: PlacementProblem) -> None:
    usable = int((~problem.target.is_fenced).sum())
    most = int(problem.replication_factor.max(initial=0))
    if most > usable:
        row = int(np.argmax(problem.replication_factor))
        topic = problem.partitions.topics[int(problem.partitions.topic[row])]
        raise PlacementError(
            f"topic {topic!r} needs replication factor {most} but the target has only {usable} unfenced broker"
            f"{'' if usable == 1 else 's'}; lower the factor or add brokers",
            kafka_type="org.apache.kafka.common.errors.InvalidReplicationFactorException",
        )


def _check_racks(problem: PlacementProblem) -> None:
    """Refuse what Kafka's own rack-aware placement refuses: a broker whose rack was forgotten breaks rack safety."""
    racks = problem.target.racks
    lacking = [int(b) for b, rack in zip(problem.target.ids, racks, strict=True) if rack is None]
    if problem.rack_rule is not RackRule.OFF and 0 < len(lacking) < len(racks):
        raise PlacementError(
            f"broker{'s' if len(lacking) > 1 else ''} {', '.join(map(str, lacking[:5]))} of the target "
            f"{'have' if len(lacking) > 1 else 'has'} no rack while others have one; give the rack, or set the rack "
            "rule to off",
            kafka_type="org.apache.kafka.common.errors.InvalidReplicationFactorException",
        )


class _Work:
    """The assignment while it is being made: broker positions in the target instead of ids."""

    def __init__(self, problem: PlacementProblem) -> None:
        self.problem = problem
        self.limits: BalanceLimits = balance_limits(problem)
        self.rack = problem.target.rack_indexes()
        rack_count = int(self.rack.max()) + 1 if len(self.rack) else 0
        self.spread = wanted_racks(problem.replication_factor, rack_count, problem.rack_rule)
        self.factor = problem.replication_factor
        held = problem.target.index_of(problem.before)
        held[problem.before < 0] = -1
        width = max(held.shape[1], int(self.factor.max(initial=0)))
        self.held = np.full((len(held), width), -1, dtype=np.int32)
        self.held[:, : held.shape[1]] = held
        self.load = self._loads()

    def _loads(self) -> NDArray[np.float64]:
        rows, columns = np.nonzero(self.held >= 0)
        return np.bincount(
            self.held[rows, columns], weights=self.limits.unit[rows], minlength=len(self.problem.target)
        ).astype(np.float64)

    def broker_ids(self) -> NDArray[np.int32]:
        """Give the matrix of ids, its padding at the right and no wider than the largest factor."""
        ids = np.where(self.held >= 0, self.problem.target.ids[self.held], -1).astype(np.int32)
        order = np.argsort(ids < 0, axis=1, kind="stable")
        return np.ascontiguousarray(np.take_along_axis(ids, order, axis=1)[:, : int(self.factor.max(initial=0))])

    def keep_what_fits(self) -> None:
        """Drop replicas above the factor or against the rack rule, each time the one on the fullest broker."""
        count = (self.held >= 0).sum(axis=1)
        racks = distinct_racks(self.rack, self.held)
        too_many = count > np.maximum(0, self.factor - np.maximum(0, self.spread - racks))
        for row in np.nonzero(too_many)[0].tolist():
            self._drop_from(row)

    def _drop_from(self, row: int) -> None:
        unit = float(self.limits.unit[row])
        factor, spread = int(self.factor[row]), int(self.spread[row])
        while True:
            columns = [c for c, broker in enumerate(self.held[row].tolist()) if broker >= 0]
            brokers = [int(self.held[row, c]) for c in columns]
            racks = [int(self.rack[b]) for b in brokers]
            if len(columns) <= factor - max(0, spread - len(set(racks))):
                return
            # Only a replica whose rack has another one can go without a rack being lost, if there is such.
            loose = [i for i, r in enumerate(racks) if racks.count(r) > 1] or list(range(len(columns)))
            fair = self.limits.fair
            # The current leader has every record: it stays where another can go. Then the later one in the list goes.
            leader = int(self.problem.leader[row])
            loose = [i for i in loose if int(self.problem.target.ids[brokers[i]]) != leader] or loose
            worst = max(loose, key=lambda i: (self.load[brokers[i]] / max(fair[brokers[i]], 1e-9), columns[i]))
            self.held[row, columns[worst]] = -1
            self.load[brokers[worst]] -= unit

    def fill_what_is_missing(self) -> None:
        """Make the replicas that are missing, the largest first, each on the broker furthest below its share."""
        missing = self.factor - (self.held >= 0).sum(axis=1)
        rows = np.nonzero(missing > 0)[0]
        rows = rows[np.lexsort((rows, -self.problem.size_bytes[rows]))]
        usable = ~self.problem.target.is_fenced
        fair = np.where(self.limits.fair > 0, self.limits.fair, 1e-9)
        for row in rows.tolist():
            unit = float(self.limits.unit[row])
            for _ in range(int(missing[row])):
                broker = self._best_broker(row, usable, fair)
                column = int(np.argmax(self.held[row] < 0))
                self.held[row, column] = broker
                self.load[broker] += unit

    def _best_broker(self, row: int, usable: NDArray[np.bool_], fair: NDArray[np.float64]) -> int:
        brokers = [b for b in self.held[row].tolist() if b >= 0]
        allowed = usable.copy()
        allowed[brokers] = False
        racks = {int(self.rack[b]) for b in brokers}
        slots = int(self.factor[row]) - len(brokers)
        if slots <= int(self.spread[row]) - len(racks):
            new_rack = ~np.isin(self.rack, list(racks)) & allowed
            allowed = new_rack if new_rack.any() else allowed
        score = (self.load + float(self.limits.unit[row])) / fair
        return int(np.argmin(np.where(allowed, score, np.inf)))

    def level_replicas(self) -> None:
        """Move replicas between brokers until each is within the tolerance."""
        Leveller(
            load=self.load,
            fair=self.limits.fair,
            lower=self.limits.lower,
            upper=self.limits.upper,
            unit=self.limits.unit,
            exchange=_ReplicaExchange(self),
        ).run()

    def level_leaders(self) -> None:
        """Reorder replica lists until the leaders' load is even, within a tenth of the mean."""
        rates = self.problem.bytes_in_bytes_per_second
        unit = rates.astype(np.float64) if (rates > 0).any() else np.ones(len(rates))
        # Pull the padding to the right first, so that column 0 is the preferred leader.
        order = np.argsort(self.held < 0, axis=1, kind="stable")
        self.held = np.take_along_axis(self.held, order, axis=1)
        if not self.held.shape[1]:
            return
        brokers = len(self.problem.target)
        load = np.bincount(self.held[:, 0], weights=unit, minlength=brokers).astype(np.float64)
        # A broker can lead no more than it holds: the lone broker of a rack and a broker with few replicas alike.
        rows, columns = np.nonzero(self.held >= 0)
        most = np.bincount(self.held[rows, columns], weights=unit[rows], minlength=brokers)
        fair = np.minimum(np.full(brokers, unit.sum() / max(brokers, 1)), most)
        Leveller(
            load=load,
            fair=fair,
            lower=fair * (1 - LEADER_TOLERANCE_RATIO),
            upper=fair * (1 + LEADER_TOLERANCE_RATIO),
            unit=unit,
            exchange=_LeaderExchange(self.held, unit),
        ).run()


def _holds(matrix: NDArray[np.int32], value: int) -> NDArray[np.bool_]:
    """Tell which rows have a value, column by column: numpy is slow to reduce rows of three."""
    found = np.zeros(len(matrix), dtype=np.bool_)
    for column in range(matrix.shape[1]):
        found |= matrix[:, column] == value
    return found


class _ReplicaExchange:
    """Replicas from broker to broker; a replica moves at most once."""

    def __init__(self, work: _Work) -> None:
        self._work = work
        rows, columns = np.nonzero(work.held >= 0)
        brokers = work.held[rows, columns]
        unit, size = work.limits.unit[rows], work.problem.size_bytes[rows]
        # By bytes every topic gives its share, so that counts, leaders and traffic follow the bytes: the multiples of
        # the golden ratio spread neighbouring rows, which are the partitions of a topic. By count the cheapest first.
        cost = (rows * _GOLDEN_RATIO) % 1.0 if work.problem.balance is Balance.BYTES else size
        worthwhile = unit > 0
        # Replicas that an earlier step has just made are already paid for: moving them elsewhere costs nothing more.
        is_new = ~(work.problem.before[rows] == work.problem.target.ids[brokers][:, None]).any(axis=1)
        order = np.lexsort((rows, cost, ~is_new, brokers))
        order = order[worthwhile[order]]
        bounds = np.searchsorted(brokers[order], np.arange(len(work.problem.target) + 1))
        self._rows = [rows[order[a:b]].astype(np.int64) for a, b in pairwise(bounds)]
        self._fenced = work.problem.target.is_fenced
        self._is_touched = np.zeros(len(work.held), dtype=np.bool_)

    def candidates(self, donor: int, receiver: int) -> NDArray[np.int64]:
        if self._fenced[receiver]:
            return np.empty(0, dtype=np.int64)
        rows = self._rows[donor]
        held = self._work.held[rows]
        allowed = _holds(held, donor) & ~_holds(held, receiver)
        rack = self._work.rack
        if rack[donor] != rack[receiver]:
            others = np.where(held == donor, -1, held)
            known = distinct_racks(rack, others)
            is_new_rack = ~_holds(np.where(others >= 0, rack[others], -1), int(rack[receiver]))
            allowed &= known + is_new_rack >= self._work.spread[rows]
        rows = rows[allowed]
        if self._work.problem.balance is not Balance.BYTES:
            return rows
        # One new replica a partition, where that will do: two copies stay where they are while it is made. By count
        # the order is a price, and no other may stand before it.
        touched = self._is_touched[rows]
        return np.concatenate([rows[~touched], rows[touched]])

    def hand_over(self, rows: NDArray[np.int64], donor: int, receiver: int) -> None:
        self._is_touched[rows] = True
        held = self._work.held
        columns = np.argmax(held[rows] == donor, axis=1)
        held[rows, columns] = receiver
        moved = np.isin(self._rows[donor], rows)
        self._rows[donor] = self._rows[donor][~moved]


class _LeaderExchange:
    """Leadership from replica to replica: the new leader changes places with the old one."""

    def __init__(self, held: NDArray[np.int32], unit: NDArray[np.float64]) -> None:
        self._held = held
        order = np.lexsort((np.arange(len(unit)), -unit))
        self._order = order[unit[order] > 0]
        # The leaders in that order, side by side: they are searched once a hand-over.
        self._leader = np.ascontiguousarray(held[self._order, 0])
        self._place = np.full(len(unit), -1, dtype=np.int64)
        self._place[self._order] = np.arange(len(self._order))

    def candidates(self, donor: int, receiver: int) -> NDArray[np.int64]:
        rows = self._order[self._leader == donor]
        return np.asarray(rows[_holds(self._held[rows], receiver)], dtype=np.int64)

    def hand_over(self, rows: NDArray[np.int64], donor: int, receiver: int) -> None:
        columns = np.argmax(self._held[rows] == receiver, axis=1)
        self._held[rows, columns] = donor
        self._held[rows, 0] = receiver
        self._leader[self._place[rows]] = receiver
