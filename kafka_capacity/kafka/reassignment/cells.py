"""Who takes part in which wave, and what it holds there: the copies and removals of all waves as flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Floats, Indices, Int32s, runs
from kafka_capacity.kafka.reassignment.flow import disk_peaks
from kafka_capacity.kafka.reassignment.hops import Hops
from kafka_capacity.kafka.reassignment.problem import MoveProblem


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """Pairs of a wave and a thing (a broker, a directory) that takes part in it, sorted by wave, then thing."""

    wave: Indices  # intp[C]
    thing: Indices  # intp[C], position of the thing
    number: Int32s  # int32[waves · things], which cell a pair is, meaningless where it is none
    things: int  # how many there are
    by_thing: Indices  # intp[C], the cells sorted by thing, then wave

    @classmethod
    def of(cls, waves: int, things: int, pairs: Sequence[tuple[Int32s, Int32s]]) -> Cells:
        """Collect pairs of (wave, thing) arrays; a thing of -1 is none."""
        seen = np.zeros(waves * things, dtype=np.bool_)
        for wave, thing in pairs:
            known = thing >= 0
            seen[wave[known].astype(np.intp) * things + thing[known]] = True
        keys = np.flatnonzero(seen)
        in_wave, which = np.divmod(keys, max(things, 1))
        return cls(
            wave=in_wave,
            thing=which,
            number=(np.cumsum(seen) - 1).astype(np.int32),
            things=things,
            by_thing=np.lexsort((in_wave, which)),
        )

    def __len__(self) -> int:
        return len(self.wave)

    def at(self, wave: Int32s, thing: Int32s) -> Indices:
        """Return the cell of each pair; meaningless for a thing of -1."""
        if not len(self.number):
            return np.zeros(len(wave), dtype=np.intp)
        return self.number[wave.astype(np.intp) * self.things + np.maximum(thing, 0)].astype(np.intp)

    def sum(self, wave: Int32s, thing: Int32s, amount: Floats) -> Floats:
        """Sum amounts by cell: float64[C]; a thing of -1 counts nowhere."""
        known = thing >= 0
        at = self.at(wave[known], thing[known])
        return np.bincount(at, weights=amount[known], minlength=len(self)).astype(np.float64)

    def sums(self, wave: Int32s, thing: Int32s, amounts: Floats) -> Floats:
        """Sum each row of amounts, float64[R, n], likewise: float64[R, C]."""
        return np.stack([self.sum(wave, thing, amount) for amount in amounts])

    def earlier(self, change: Floats) -> Floats:
        """Sum, for each cell, the changes of the same thing in earlier waves."""
        ordered = change[self.by_thing]
        total = np.cumsum(ordered)
        starts, lengths = runs(self.thing[self.by_thing])
        before = np.empty(len(change))
        before[self.by_thing] = total - ordered - np.repeat(total[starts] - ordered[starts], lengths)
        return before


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Flows:
    """What hops copy and remove. Brokers and directories are positions, -1 where not known."""

    copy_hop: Indices  # intp[K], ascending; the hop of each copy
    destination: Int32s  # int32[K]
    source: Int32s  # int32[K]
    copy_dir: Int32s  # int32[K]
    size: Floats  # float64[K], bytes
    rate: Floats  # float64[3, K], what is produced to its partition
    gone_hop: Indices  # intp[R], the hop of each replica that goes away
    gone: Int32s  # int32[R]
    gone_dir: Int32s  # int32[R]
    gone_size: Floats  # float64[R], bytes
    leader: Int32s  # int32[M], of each hop
    joining: Indices  # intp[M], copies of each hop
    leader_after: Int32s  # int32[M]

    def broker_cells(self, hops: Hops) -> list[tuple[Int32s, Int32s]]:
        """List who takes part in a wave: who receives, sends, gives up, leads before or after."""
        copies = hops.wave[self.copy_hop]
        return [
            (copies, self.destination),
            (copies, self.source),
            (hops.wave[self.gone_hop], self.gone),
            (hops.wave, self.leader),
            (hops.wave, self.leader_after),
        ]

    def dir_cells(self, hops: Hops) -> list[tuple[Int32s, Int32s]]:
        """List which directories take part in a wave."""
        return [(hops.wave[self.copy_hop], self.copy_dir), (hops.wave[self.gone_hop], self.gone_dir)]


def copies_of(problem: MoveProblem, hops: Hops) -> Flows:
    """Take hops apart into copies and removals."""
    diff, brokers = hops.diff(), problem.brokers
    size = problem.size_bytes[hops.row].astype(np.float64)
    copy_hop, column = np.nonzero(diff.added)
    gone_hop, gone_column = np.nonzero(diff.removed)
    leader = brokers.index_of(hops.leader)
    return Flows(
        copy_hop=copy_hop,
        destination=brokers.index_of(hops.after[copy_hop, column]),
        source=leader[copy_hop],
        copy_dir=hops.after_dir[copy_hop, column],
        size=size[copy_hop],
        rate=problem.bytes_in_bytes_per_second[:, hops.row[copy_hop]],
        gone_hop=gone_hop,
        gone=brokers.index_of(hops.before[gone_hop, gone_column]),
        gone_dir=hops.before_dir[gone_hop, gone_column],
        gone_size=size[gone_hop],
        leader=leader,
        joining=diff.added.sum(axis=1),
        leader_after=brokers.index_of(hops.leader_after),
    )


def disk_levels(hops: Hops, flows: Flows, cells: Cells, held_bytes: Floats, done_seconds: Floats) -> tuple[Floats, ...]:
    """Follow the disks of brokers, float64[B] before the first wave, through all waves.

    Each copy is in sync ``done_seconds`` after the start of its wave. Returns what each cell's broker holds when its
    wave begins, at most, at most as expected, and at its end: float64[C] each.
    """
    to = cells.at(hops.wave[flows.copy_hop], flows.destination)
    out = cells.at(hops.wave[flows.gone_hop], flows.gone)
    known = flows.gone >= 0
    arrives = cells.sum(hops.wave[flows.copy_hop], flows.destination, flows.size)
    goes = cells.sum(hops.wave[flows.gone_hop], flows.gone, flows.gone_size)
    start = held_bytes[cells.thing] + cells.earlier(arrives - goes)
    in_sync = np.zeros(len(hops))
    np.maximum.at(in_sync, flows.copy_hop, done_seconds)
    leaving = (out[known], flows.gone_size[known], in_sync[flows.gone_hop[known]])
    gained = disk_peaks((to, flows.size, done_seconds), leaving, len(cells))
    return start, start + arrives, start + gained, start + arrives - goes
