"""What groups of every protocol have in common while an event runs."""

from __future__ import annotations

import math

import numpy as np

from kafka_capacity.kafka.rebalance.member_events import Kind, MemberEvent, Phases
from kafka_capacity.kafka.rebalance.model import GroupScenario
from kafka_capacity.kafka.rebalance.state import GroupState


class RunningGroup:
    """A group during one event.

    Args:
        state: who reads what, and the roster; changed while the event runs.
        scenario: timeouts, and how many times more partitions a growth brings.
        phases: the clocks.
        interval_seconds: between two heartbeats of a member.
        beat_seconds: the last heartbeat of each member, before or at time 0.

    Attributes:
        state: the same.
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
            state.add(member)
        elif member_event.kind in {Kind.LEAVE, Kind.EXPEL}:
            state.remove(member, now)
        elif member_event.kind in {Kind.QUIT, Kind.DIE}:
            state.fall_silent(member, now, is_clean=member_event.kind is Kind.QUIT)
        elif member_event.kind is Kind.RETURN:
            state.wake(member)
        elif member_event.kind is Kind.GROW:
            state.grow(self._factor, now)

    def _resume(self, member: int, now: float) -> None:
        """Let a member that is back go on with what it has."""
        rows = np.flatnonzero(self.state.owner == member)
        self.state.reading.start(rows, now + self._settings.round_trip_seconds, self.state.owner[rows])
