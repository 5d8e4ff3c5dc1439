"""Groups whose members assign (``group.protocol=classic``): eager and cooperative rebalances in time.

Model (``GroupCoordinator``, ``AbstractCoordinator`` and ``ConsumerCoordinator`` of Kafka 4.3.1):
    1. Something makes the coordinator start a rebalance: a join, a leave, a session that ends, new partitions.
    2. A member learns of it by the answer to its next heartbeat. Heartbeats follow one another in
       ``heartbeat.interval.ms`` from the end of the member's last rebalance; before that their phase is drawn.
       At its next poll the member joins. An eager one lets go of everything first.
    3. When the last member has joined, or ``max.poll.interval.ms`` have passed, the leader assigns. A member that is
       silent, but whose session still runs, is waited for. What happens until then is part of the same rebalance.
    4. A round trip later the members read what they got. A cooperative member that lost partitions lets go of them
       then and joins again at once: another round, which gives them to others.
    5. Without members the group waits ``group.initial.rebalance.delay.ms`` for more once the first one joins.

A static member that returns within its session gets what it had, and no rebalance takes place.

Worked example: a third member joins two eager ones, with every wait as long as it can be: all wait three seconds for
heartbeats, half a second for a poll, and then stop; 0.2 seconds, a round trip, later they read again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kafka_capacity.kafka.groups.life import MAX_ROUNDS, ClassicLife
from kafka_capacity.kafka.rebalance.member_events import Kind, MemberEvent, Phases
from kafka_capacity.kafka.rebalance.model import NOBODY, GroupScenario
from kafka_capacity.kafka.rebalance.state import GroupState, RunningGroup


class ClassicGroup(RunningGroup):
    """A classic group during one event, its state changed while that runs; ``life`` is what the members remember."""

    def __init__(self, state: GroupState, life: ClassicLife, scenario: GroupScenario, phases: Phases) -> None:
        interval = scenario.settings.heartbeat_interval_seconds
        common = phases.elapsed(interval)
        beat = {member: -(common if phases.is_in_phase else phases.elapsed(interval)) for member in state.live}
        super().__init__(state, scenario, phases, interval_seconds=interval, beat_seconds=beat)
        self._life = life
        self._is_cooperative = life.assignor.is_cooperative
        self._pending: list[MemberEvent] = []

    def run(self, member_events: Sequence[MemberEvent]) -> None:
        """Let everything happen; AssignmentError where Kafka would throw."""
        self._pending = list(member_events)
        while self._pending:
            member_event = self._pending.pop(0)
            self.end_seconds = max(self.end_seconds, member_event.time_seconds)
            if self._disturbs(member_event):
                self._rebalance(member_event)

    def _disturbs(self, member_event: MemberEvent) -> bool:
        """Apply what happens while the group is at rest; tell whether a rebalance follows."""
        # Whom a rebalance did not wait for it has struck off already.
        was_member = member_event.member in self.state.live
        self._take_in(member_event)
        if member_event.kind is Kind.RETURN:
            self._beat[member_event.member] = member_event.time_seconds
            self._resume(member_event.member, member_event.time_seconds)
        if member_event.kind in {Kind.LEAVE, Kind.EXPEL}:
            return was_member and bool(self.state.live)
        return member_event.kind is Kind.JOIN or (member_event.kind is Kind.NOTICE and bool(self.state.live))

    def _rebalance(self, cause: MemberEvent) -> None:
        """Rebalance until nobody lost anything."""
        begins, at_once = cause.time_seconds, {cause.member} if cause.kind is Kind.JOIN else set[int]()
        for _ in range(MAX_ROUNDS):
            joined_by = self._gather(begins, at_once)
            if not self.state.live:
                return
            lost = self._assign(joined_by)
            self.end_seconds = max(self.end_seconds, joined_by + self._settings.round_trip_seconds)
            if not lost:
                return
            begins, at_once = self.end_seconds, lost
        self.is_settled = False

    def _gather(self, begins: float, at_once: set[int]) -> float:
        """Wait until everyone has joined, some at once and the others with a heartbeat; give when that is."""
        state, settings = self.state, self._settings
        deadline = begins + settings.max_poll_interval_seconds
        was_empty = set(state.live) == at_once
        joins = {member: begins for member in at_once}
        self._call_in([member for member in state.live if member not in at_once], begins, joins)
        is_rejoin = self.rebalances > 0 and all(member in self._beat for member in at_once)
        until = begins + settings.initial_rebalance_delay_seconds if was_empty and not is_rejoin else begins
        while True:
            waiting = [member for member in state.live if member not in joins]
            ready = max([until, *joins.values()])
            ends = min(deadline, math.inf if waiting else ready)
            if not self._pending or self._pending[0].time_seconds > ends:
                break
            until = self._join_in(self._pending.pop(0), joins, until, was_empty=was_empty)
            if not state.live:
                return begins
        for member in [member for member in state.live if member not in joins or joins[member] > ends]:
            state.remove(member, ends)
        return ends

    def _call_in(self, members: Sequence[int], begins: float, joins: dict[int, float]) -> None:
        """Work out when members learn of the rebalance and join; eager ones stop reading then."""
        state, settings = self.state, self._settings
        awake = [member for member in members if member not in state.silent]
        polls = self._phases.waits(settings.poll_seconds, len(awake))
        for member, poll in zip(awake, polls.tolist(), strict=True):
            joins[member] = self._next_beat(member, begins) + poll
        if not self._is_cooperative:
            when = np.zeros(len(state.roster))
            when[list(joins)] = list(joins.values())
            rows = np.flatnonzero(np.isin(state.reading.reader, awake))
            state.reading.stop(rows, when[state.reading.reader[rows]])

    def _join_in(self, member_event: MemberEvent, joins: dict[int, float], until: float, *, was_empty: bool) -> float:
        """Apply what happens while the group gathers; give until when it waits for others."""
        now, member = member_event.time_seconds, member_event.member
        # A time to join that is still to come is one that the others wait for.
        is_awaited = member in self.state.live and joins.get(member, math.inf) > now
        self._take_in(member_event)
        if member_event.kind in {Kind.JOIN, Kind.RETURN}:
            joins[member] = now
            if member_event.kind is Kind.JOIN and was_empty:
                return now + self._settings.initial_rebalance_delay_seconds
        elif member_event.kind in {Kind.LEAVE, Kind.EXPEL}:
            joins.pop(member, None)
            return max(until, now) if is_awaited else until
        elif member_event.kind in {Kind.QUIT, Kind.DIE} and joins.get(member, -math.inf) > now:
            del joins[member]
        return until

    def _assign(self, joined_by: float) -> set[int]:
        """Do one round; give who lost partitions that it still read, and therefore joins again."""
        state = self.state
        numbers = state.live
        members = [state.roster.members[number] for number in numbers]
        table = state.table
        assignment = self._life.round(table.topics, members).assignment
        self.rebalances += 1
        owner = table.owners(assignment, numbers)
        reads_at = joined_by + self._settings.round_trip_seconds
        for number in numbers:
            self._beat[number] = reads_at
        reader = state.reading.reader
        lost = np.flatnonzero((reader != NOBODY) & (reader != owner)) if self._is_cooperative else np.empty(0, np.int64)
        losers = set(reader[lost].tolist())
        state.reading.stop(lost, reads_at)
        state.owner = owner
        # Everyone who is awake reads what it owns, but for what somebody has to let go of first.
        rows = np.flatnonzero(~np.isin(owner, [NOBODY, *state.silent]))
        rows = np.setdiff1d(rows, lost)
        state.reading.start(rows, reads_at, owner[rows])
        return losers
