"""Who is a member, who owns and who reads what, while an event runs."""

from __future__ import annotations

import math

import numpy as np

from kafka_capacity.kafka.arrays import Ints
from kafka_capacity.kafka.rebalance.member_events import Kind, MemberEvent, Phases, Roster
from kafka_capacity.kafka.rebalance.model import NOBODY, GroupFacts, GroupScenario
from kafka_capacity.kafka.rebalance.reading import Reading
from kafka_capacity.kafka.rebalance.table import PartitionTable


class GroupState:
    """A group in the middle of an event.

    Attributes:
        facts: the group as it was observed.
        table: its partitions.
        roster: everyone who may be a member.
        live: numbers of those whom the coordinator counts as members, in the order in which it came to know them.
        silent: those of them that are not there.
        owner: int64[P'], who is assigned each partition, numbers of the roster.
        reading: who reads it.
        unclean: rows that were read by somebody who died over them.
    """

    def __init__(self, facts: GroupFacts, table: PartitionTable, roster: Roster, live: list[int], owner: Ints) -> None:
        self.facts = facts
        self.table = table
        self.roster = roster
        self.live = list(live)
        self.silent: set[int] = set()
        self.owner = owner.copy()
        self.reading = Reading(owner)
        self.unclean: list[Ints] = []

    def remove(self, member: int, now: float) -> None:
        """Strike a member off; what it read is read no more, and nobody owns it."""
        if member in self.live:
            self.live.remove(member)
        self.silent.discard(member)
        self.reading.stop_all_of(member, now)
        self.owner[self.owner == member] = NOBODY

    def fall_silent(self, member: int, now: float, *, is_clean: bool) -> None:
        """Let a member stop without a word; one that dies has not committed all that it read."""
        rows = np.flatnonzero(self.reading.reader == member)
        if not is_clean:
            self.unclean.append(rows)
        self.reading.stop_all_of(member, now)
        if member in self.live:
            self.silent.add(member)

    def grow(self, factor: int, now: float) -> None:
        """Give every topic more partitions, which nobody owns or reads yet."""
        self.table = self.table.expanded(factor)
        added = len(self.table) - len(self.owner)
        self.owner = np.concatenate([self.owner, np.full(added, NOBODY, dtype=np.int64)])
        self.reading.grow(added, now)


class RunningGroup:
    """A group during one event.

    ``interval_seconds`` is the time between two heartbeats of a member, ``beat_seconds`` when each sent its last one,
    before or at time 0.

    Attributes:
        state: who reads what, and the roster; changed while the event runs.
        rebalances: generations or targets so far.
        is_settled: False once the group has been given up as never coming to rest.
        end_seconds: when the last thing happened.
    """

    def __init__(
        self,
        state: GroupState,
        scenario: GroupScenario,
        phases: Phases,
        *,
        interval_seconds: float,
        beat_seconds: dict[int, float],
    ) -> None:
        self.state = state
        self.rebalances = 0
        self.is_settled = True
        self.end_seconds = 0.0
        self._settings = scenario.settings
        self._phases = phases
        self._factor = scenario.partitions_factor
        self._interval_seconds = interval_seconds
        self._beat = beat_seconds

    def _next_beat(self, member: int, now: float) -> float:
        """Return when a member sends its first heartbeat that is not before a time, nor its last one again."""
        beats = max(1, math.ceil((now - self._beat[member]) / self._interval_seconds - 1e-9))
        return self._beat[member] + beats * self._interval_seconds

    def _take_in(self, member_event: MemberEvent) -> None:
        """Change who is a member, who is there and what there is to read, as every protocol does."""
        state, now, member = self.state, member_event.time_seconds, member_event.member
        if member_event.kind is Kind.JOIN:
            state.live.append(member)
        elif member_event.kind in {Kind.LEAVE, Kind.EXPEL}:
            state.remove(member, now)
        elif member_event.kind in {Kind.QUIT, Kind.DIE}:
            state.fall_silent(member, now, is_clean=member_event.kind is Kind.QUIT)
        elif member_event.kind is Kind.RETURN:
            state.silent.discard(member)
        elif member_event.kind is Kind.GROW:
            state.grow(self._factor, now)

    def _resume(self, member: int, now: float) -> None:
        """Let a member that is back go on with what it has."""
        rows = np.flatnonzero(self.state.owner == member)
        self.state.reading.start(rows, now + self._settings.round_trip_seconds, self.state.owner[rows])
