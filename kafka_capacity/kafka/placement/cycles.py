"""Counts of replicas at the least cost there is: a min-cost flow, made optimal by cancelling negative cycles.

A replica is a unit that flows from its partition to a broker, through the rack that the partition may use so often; it
costs the partition's size, or nothing where the broker has it already. Brokers may hold so many units. Seen from the
brokers this is a small graph: an edge from donor to receiver is the cheapest replica that may go from one to the other,
and one more node stands for the room that limits leave. A plan is the cheapest there is exactly when this graph has no
cycle of negative cost; a cycle that there is is done, every broker on it giving one replica and taking another.

Where a cycle takes two replicas of one partition that cannot go together, it is the sum of two shorter cycles, one of
which is negative: that one is done instead.

What a count is outside the limits costs more than all bytes together, so the limits come first.
"""

from __future__ import annotations

import numpy as np

from kafka_capacity.kafka.arrays import Floats
from kafka_capacity.kafka.placement.layout import Layout

_MAX_CYCLES = 1000
_FAR = np.iinfo(np.int64).max // 64


class CycleCancelling:
    """Makes the counts of a layout, whose unit is one a replica, optimal between whole limits, float64[B]; in place."""

    def __init__(self, layout: Layout, lower: Floats, upper: Floats) -> None:
        self._layout, self._lower, self._upper = layout, lower, upper
        self._brokers = len(layout.rack)
        self._outside = int(layout.problem.size_bytes.sum()) * layout.held.shape[1] + 1

    def run(self) -> None:
        """Cancel cycles until there is none."""
        for _ in range(_MAX_CYCLES):
            self._price()
            cycle = self._cycle()
            if not cycle or not self._do(cycle):
                return

    def _price(self) -> None:
        """Find the cheapest replica from each broker to each other, and what the limits make of one more or less."""
        layout, brokers = self._layout, self._brokers
        rows, columns = np.nonzero(layout.held >= 0)
        donor = layout.held[rows, columns]
        receiver = np.tile(np.arange(brokers, dtype=np.int32), len(rows))
        grid_rows, grid_columns = np.repeat(rows, brokers), np.repeat(columns, brokers)
        allowed = layout.may_go(grid_rows, grid_columns, receiver) & layout.has_room(grid_rows, receiver)
        size = layout.problem.size_bytes[grid_rows]
        come = np.where(layout.is_home(grid_rows, receiver), 0, size)
        gone = np.where(layout.is_home(rows, donor), 0, layout.problem.size_bytes[rows])
        price = np.where(allowed, come - np.repeat(gone, brokers), _FAR).reshape(len(rows), brokers)
        self._cost = np.full((brokers + 1, brokers + 1), _FAR, dtype=np.int64)
        self._item = np.full((brokers, brokers), -1, dtype=np.int64)
        self._rows, self._columns = rows, columns
        for broker in range(brokers):
            items = np.nonzero(donor == broker)[0]
            if len(items):
                best = np.argmin(price[items], axis=0)
                self._item[broker] = items[best]
                self._cost[broker, :brokers] = price[items[best], np.arange(brokers)]
        load = layout.load
        takes = np.where(load < self._lower - 0.5, -1, np.where(load < self._upper - 0.5, 0, 1))
        gives = np.where(load > self._upper + 0.5, -1, np.where(load > self._lower + 0.5, 0, 1))
        # The last node: what one broker gains in count another loses.
        self._cost[:brokers, brokers] = takes * self._outside
        self._cost[brokers, :brokers] = gives * self._outside

    def _cycle(self) -> list[tuple[int, int]]:
        """Find a cycle of negative cost (Bellman and Ford): its edges, none where there is no such cycle."""
        nodes = self._brokers + 1
        distance = np.zeros(nodes, dtype=np.int64)
        parent = np.full(nodes, -1, dtype=np.int64)
        changed = -1
        for _ in range(nodes):
            reached = distance[:, None] + self._cost
            best = np.argmin(reached, axis=0)
            shorter = reached[best, np.arange(nodes)] < distance
            if not shorter.any():
                return []
            distance = np.where(shorter, reached[best, np.arange(nodes)], distance)
            parent = np.where(shorter, best, parent)
            changed = int(np.argmax(shorter))
        node = changed
        for _ in range(nodes):
            node = int(parent[node])
        cycle, start = [], node
        while True:
            cycle.append((int(parent[node]), node))
            node = int(parent[node])
            if node == start:
                return cycle[::-1]

    def _do(self, cycle: list[tuple[int, int]]) -> bool:
        """Move the replicas of a cycle, or of the part of it that can be done and is worth it."""
        while sum(int(self._cost[edge]) for edge in cycle) < 0:
            hops = [(edge, int(self._item[edge])) for edge in cycle if max(edge) < self._brokers]
            clash = self._try(hops)
            if clash is None:
                return True
            first, second = (cycle.index(edge) for edge in clash)
            (donor, receiver), (other_donor, other_receiver) = cycle[first], cycle[second]
            inner = [*cycle[first + 1 : second], (other_donor, receiver)]
            outer = [*cycle[:first], (donor, other_receiver), *cycle[second + 1 :]]
            halves = [half for half in (inner, outer) if all(a != b and self._cost[a, b] < _FAR // 2 for a, b in half)]
            if not halves:
                return False
            cycle = min(halves, key=lambda half: sum(int(self._cost[edge]) for edge in half))
        return False

    def _try(self, hops: list[tuple[tuple[int, int], int]]) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """Do the hops one after another; where one cannot, undo them and name the two that clash."""
        done: list[tuple[tuple[int, int], int]] = []
        for (donor, receiver), item in hops:
            row, column = int(self._rows[item]), int(self._columns[item])
            if self._layout.may_go_one(row, column, receiver):
                self._layout.move_one(row, column, receiver)
                done.append(((donor, receiver), item))
                continue
            for (before, _), earlier in reversed(done):
                self._layout.move_one(int(self._rows[earlier]), int(self._columns[earlier]), before)
            same = [edge for edge, earlier in done if self._rows[earlier] == row]
            return (same[0], (donor, receiver)) if same else ((donor, receiver), (donor, receiver))
        return None
