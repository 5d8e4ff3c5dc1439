"""The assignment while it is being made, and what may be changed in it.

Brokers are positions in the target here, not ids. A question about many replicas is one call with arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Floats, Int32s, Ints
from kafka_capacity.kafka.placement.problem import PlacementProblem
from kafka_capacity.kafka.placement.shares import BalanceLimits, balance_limits, distinct_racks, wanted_racks

NOWHERE = -1  # the broker of a replica that is still to be made


@dataclass(slots=True, kw_only=True, eq=False)
class HardLimit:
    """What no broker may pass, beside the limits of the balance."""

    unit: Floats  # float64[P], what one replica adds
    limit: Floats  # float64[B], infinite where there is none
    load: Floats  # float64[B], kept up to date by `Layout`


class Layout:
    """Who holds what, with the loads that follow from it.

    Attributes:
        problem: what is asked.
        limits: the balance that is asked for.
        rack: int32[B].
        spread: int32[P], over how many racks each partition must be.
        factor: int32[P].
        held: int32[P, W], broker positions, -1 in the padding.
        home: int32[P, V], who holds replicas now; -1 where that broker is not in the target.
        stays: bool[P], partitions that are not moved for the sake of any balance: nobody leads them, or Kafka would
            refuse every other list that keeps their fenced or cordoned broker.
        keeps_list: bool[P], those among them whose replicas keep their order, too.
        load: float64[B], in the unit of the balance.
        hard: further limits; those of leaders follow the order of the lists and are not among them.
    """

    def __init__(self, problem: PlacementProblem) -> None:
        self.problem = problem
        self.limits: BalanceLimits = balance_limits(problem)
        self.rack = problem.target.rack_indexes()
        self._rack_of = np.append(self.rack, NOWHERE).astype(np.int32)  # so that position -1 has rack -1
        self.rack_count = int(self.rack.max(initial=-1)) + 1
        self.factor = problem.replication_factor
        self.spread = wanted_racks(self.factor, self.rack_count, problem.rack_rule)
        self.usable = problem.target.takes_replicas
        self.allowed = problem.allowed_brokers
        if self.allowed is not None:
            # A topic cannot be on more racks than the brokers that it is pinned to: nothing moves for their sake.
            reach = self.allowed @ (self.rack[:, None] == np.arange(self.rack_count))
            self.spread = np.minimum(self.spread, reach.sum(axis=1, dtype=np.int32)[problem.partitions.topic])
        self.home = problem.target.index_of(problem.before)
        self._behind = None if problem.in_sync is None else np.where(problem.in_sync, NOWHERE, self.home)
        width = max(self.home.shape[1], int(self.factor.max(initial=0)))
        self.held = np.full((len(self.home), width), NOWHERE, dtype=np.int32)
        self.held[:, : self.home.shape[1]] = self.home
        if self.allowed is not None:
            may_stay = self.allowed[problem.partitions.topic[:, None], self.held]
            self.held[~may_stay] = NOWHERE
        self.keeps_list = self._settle_refused()
        self.stays = self.keeps_list | ((problem.leader < 0) & (problem.before >= 0).any(axis=1))
        self.load = self.sum_by_broker(self.limits.unit)
        self.hard = [
            HardLimit(unit=load.unit, limit=load.limit, load=self.sum_by_broker(load.unit))
            for load in problem.limited_loads()
            if not load.leaders_only
        ]

    def _settle_refused(self) -> Flags:
        """Return the lists with a broker that no new list may name, and that can stay; take it out of all others."""
        is_refused = np.append(self.problem.refused_in_lists(), np.bool_(False))  # the last is for position -1
        names_one = np.asarray(is_refused[self.held].any(axis=1), dtype=np.bool_)
        if not names_one.any():
            return names_one
        counts = ((self.problem.before >= 0).sum(axis=1), (self.held >= 0).sum(axis=1))
        is_whole = (counts[0] == self.factor) & (counts[1] == self.factor)
        can_stay = is_whole & (distinct_racks(self.rack, self.held) >= self.spread)
        leaves = (names_one & ~can_stay)[:, None]
        self.held[leaves & is_refused[self.held]] = NOWHERE
        self.home[leaves & is_refused[self.home]] = NOWHERE
        return np.asarray(names_one & can_stay, dtype=np.bool_)

    def sum_by_broker(self, unit: Floats) -> Floats:
        """Sum what the brokers hold, a unit a replica: float64[B]."""
        width, brokers = self.held.shape[1], len(self.rack)
        total = np.zeros(brokers + 1)
        for column in range(width):
            total += np.bincount(self.held[:, column] + 1, weights=unit, minlength=brokers + 1)
        return total[1:]

    def broker_ids(self) -> Int32s:
        """Return the matrix of ids, its padding at the right and no wider than the largest factor."""
        ids = self.held_ids()
        if (ids[:, :-1] < 0).any():
            order = np.argsort(ids < 0, axis=1, kind="stable")
            ids = np.take_along_axis(ids, order, axis=1)
        return np.ascontiguousarray(ids[:, : int(self.factor.max(initial=0))])

    def held_ids(self) -> Int32s:
        """Give :attr:`held` as broker ids, each replica in its column."""
        return np.where(self.held >= 0, self.problem.target.ids[self.held], -1).astype(np.int32)

    def is_home(self, rows: Ints, broker: Int32s | int) -> Flags:
        """Return which partitions have a replica on a broker now, so that one there costs nothing: bool[n]."""
        found = np.zeros(len(rows), dtype=np.bool_)
        for column in range(self.home.shape[1]):
            found |= self.home[rows, column] == broker
        return found & (np.asarray(broker) >= 0)

    def is_behind(self, rows: Ints, broker: Int32s | int) -> Flags:
        """Return which partitions have a replica on a broker now that is not in sync: bool[n]."""
        found = np.zeros(len(rows), dtype=np.bool_)
        if self._behind is not None:
            for column in range(self._behind.shape[1]):
                found |= self._behind[rows, column] == broker
        return found & (np.asarray(broker) >= 0)

    def racks_without(self, rows: Ints, columns: Ints) -> tuple[list[Int32s], Ints]:
        """Return the racks of the other replicas of each row, column by column, and how many different ones."""
        racks: list[Int32s] = []
        known = np.zeros(len(rows), dtype=np.int64)
        for column in range(self.held.shape[1]):
            broker = np.where(columns == column, NOWHERE, self.held[rows, column])
            rack = self._rack_of[broker]
            is_first = rack >= 0
            for other in racks:
                is_first &= rack != other
            known += is_first
            racks.append(rack)
        return racks, known

    def missing(self) -> Ints:
        """Count the replicas still to be made: int64[P]."""
        return np.asarray(self.factor - (self.held >= 0).sum(axis=1), dtype=np.int64)

    def may_go(self, rows: Ints, columns: Ints, receiver: Int32s, missing: Ints | None = None) -> Flags:
        """Return which replicas may go to the broker proposed for each: bool[n].

        A partition that is on too few racks anyway (where a rack has no broker to spare) must not lose another. None
        goes back to a replica that is behind: what it lacks may be gone with the one that leaves. A partition without a
        leader, from which nobody can copy, stays where it is, and so does one whose list Kafka lets nobody change.

        ``columns`` is the place of each replica in its row; ``missing`` how many other replicas of the row are still to
        be made, none by default.
        """
        allowed = self.usable[receiver] | self.is_home(rows, receiver)
        if missing is None:
            allowed &= ~self.is_behind(rows, receiver) & ~self.stays[rows]
        if self.allowed is not None:
            allowed &= self.allowed[self.problem.partitions.topic[rows], receiver]
        for column in range(self.held.shape[1]):
            allowed &= self.held[rows, column] != receiver
        racks, known = self.racks_without(rows, columns)
        own, there = self._rack_of[self.held[rows, columns]], self._rack_of[receiver]
        is_new, was_new = np.ones(len(rows), dtype=np.bool_), own >= 0
        for rack in racks:
            is_new &= rack != there
            was_new &= rack != own
        later = np.zeros(len(rows), dtype=np.int64) if missing is None else missing
        wanted = self.spread[rows] if missing is not None else np.minimum(self.spread[rows], known + was_new)
        return np.asarray(allowed & (known + is_new + later >= wanted), dtype=np.bool_)

    def has_room(self, rows: Ints, receiver: Int32s) -> Flags:
        """Return for which replicas the broker proposed is within its hard limits then, each by itself: bool[n]."""
        room = np.ones(len(rows), dtype=np.bool_)
        for hard in self.hard:
            room &= hard.load[receiver] + hard.unit[rows] <= hard.limit[receiver] * (1 + 1e-12)
        return room

    def move(self, rows: Ints, columns: Ints, receiver: Int32s) -> None:
        """Put replicas on other brokers (-1 to give them up); a row may come once only."""
        donor = self.held[rows, columns]
        self.held[rows, columns] = receiver
        self._shift(self.load, self.limits.unit[rows], donor, receiver)
        for hard in self.hard:
            self._shift(hard.load, hard.unit[rows], donor, receiver)

    def become(self, held: Int32s) -> None:
        """Hold what is given, int32[P, W] like :attr:`held`."""
        self.held[:] = held
        self.load[:] = self.sum_by_broker(self.limits.unit)
        for hard in self.hard:
            hard.load[:] = self.sum_by_broker(hard.unit)

    def outside_ratio(self) -> float:
        """Return how far the worst broker is above the limits of the balance, or below, over its share."""
        limits = self.limits
        away = np.maximum(self.load - limits.upper, limits.lower - self.load)
        return float(np.divide(away, limits.fair, out=np.zeros_like(away), where=limits.fair > 0).max(initial=0.0))

    def move_one(self, row: int, column: int, receiver: int) -> None:
        """Put one replica on another broker."""
        self.move(np.array([row]), np.array([column]), np.array([receiver], dtype=np.int32))

    def may_go_one(self, row: int, column: int, receiver: int) -> bool:
        """Return whether one replica may go to a broker and finds room there."""
        rows, there = np.array([row]), np.array([receiver], dtype=np.int32)
        return bool(self.may_go(rows, np.array([column]), there)[0] and self.has_room(rows, there)[0])

    def _shift(self, load: Floats, unit: Floats, donor: Int32s, receiver: Int32s) -> None:
        brokers = len(load) + 1
        load += np.bincount(receiver + 1, weights=unit, minlength=brokers)[1:]
        load -= np.bincount(donor + 1, weights=unit, minlength=brokers)[1:]

    def narrow(self) -> Ints:
        """Return the rows that are on fewer racks than they should."""
        return np.nonzero(distinct_racks(self.rack, self.held) < self.spread)[0]


def who_holds(held: Int32s, brokers: int) -> Flags:
    """Return bool[P, B], which brokers hold each partition, of int32[P, W] like :attr:`Layout.held`."""
    holds = np.zeros((len(held), brokers + 1), dtype=np.bool_)  # the last is for the padding
    holds[np.arange(len(held))[:, None], held] = True
    return holds[:, :brokers]
