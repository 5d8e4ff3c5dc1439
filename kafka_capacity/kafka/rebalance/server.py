"""Groups that the coordinator assigns (KIP-848, ``group.protocol=consumer``; KIP-1071, ``streams``) in time.

Model (``GroupMetadataManager`` and ``CurrentAssignmentBuilder`` of the coordinator, ``ConsumerMembershipManager`` of
the client, Kafka 4.3.1):
    1. A join, a leave, a session that ends or new partitions raise the group epoch. The coordinator makes the target
       assignment at the next heartbeat of any member, but no sooner than ``group.consumer.assignment.interval.ms``
       after the last. A join is a heartbeat.
    2. A member learns of it by the answer to its next heartbeat, every ``group.consumer.heartbeat.interval.ms``. What
       it is to give up it stops reading at its next poll, and says so at once. Only then it is given anything new.
    3. A partition is given to its new reader at that one's first heartbeat after the old reader has let go of it.
       Whoever was given something says so at once, and that is a heartbeat too.

Nobody else stops. A static member that returns within its session gets what it had.

Worked example: a third member joins two, with every wait as long as it can be. The two learn of it after five seconds
and let go half a second later; the third is told at its own heartbeat, ten seconds after it joined.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence

import numpy as np

from kafka_capacity.kafka.arrays import Ints
from kafka_capacity.kafka.groups.life import ServerLife
from kafka_capacity.kafka.rebalance.member_events import Kind, MemberEvent, Phases
from kafka_capacity.kafka.rebalance.model import NOBODY, GroupScenario
from kafka_capacity.kafka.rebalance.restoring import Restoring
from kafka_capacity.kafka.rebalance.state import GroupState, RunningGroup

_MAX_BEATS_PER_MEMBER = 1000  # of one event: a group that needs more does not settle


class ServerGroup(RunningGroup):
    """A KIP-848 or streams group during one event; the arguments are those of :class:`~.classic.ClassicGroup`."""

    def __init__(self, state: GroupState, life: ServerLife, scenario: GroupScenario, phases: Phases) -> None:
        interval = scenario.settings.server_heartbeat_interval_seconds
        beat = {member: -phases.elapsed(interval) for member in state.live}
        super().__init__(state, scenario, phases, interval_seconds=interval, beat_seconds=beat)
        self._life = life
        self.restoring = Restoring(state, life.standby, scenario.settings.restore_bytes_per_second)
        self._target = state.owner.copy()
        self._is_stale = False
        self._last_target_seconds = -math.inf
        self._giving_up: dict[int, Ints] = {}
        self._agenda: list[tuple[float, int, int]] = []
        self._due: dict[int, float] = {}
        self._beats = 0

    def run(self, member_events: Sequence[MemberEvent]) -> None:
        """Let everything happen; AssignmentError where Kafka would throw."""
        for position, member_event in enumerate(member_events):
            self.end_seconds = max(self.end_seconds, member_event.time_seconds)
            self._apply(member_event)
            following = member_events[position + 1 :]
            self._reconcile(following[0].time_seconds if following else math.inf)
        self.restoring.finish(math.inf)

    def _apply(self, member_event: MemberEvent) -> None:
        now, member = member_event.time_seconds, member_event.member
        self.restoring.finish(now)
        self._take_in(member_event)
        if member_event.kind in {Kind.QUIT, Kind.DIE}:
            self._due.pop(member, None)
            if self._is_stale:
                self._plan_target(now)
        elif member_event.kind is Kind.RETURN:
            self._resume(member, now)
            self._plan(member, now)
        elif member_event.kind is Kind.GROW:
            added = len(self.state.owner) - len(self._target)
            self._target = np.concatenate([self._target, np.full(added, NOBODY, dtype=np.int64)])
        elif member_event.kind is Kind.JOIN:
            self._beat[member] = now
            self._is_stale = True
            self._plan(member, now)
        else:  # LEAVE, EXPEL, NOTICE
            self._giving_up.pop(member, None)
            self._due.pop(member, None)
            self._is_stale = bool(self.state.live)
            if self._is_stale:
                self._plan_target(now)

    def _plan_target(self, now: float) -> None:
        """Put on the agenda who is the first to heartbeat once the target may be made."""
        awake = [member for member in self.state.live if member not in self.state.silent]
        if not awake:
            return
        earliest = max(now, self._last_target_seconds + self._settings.assignment_interval_seconds)
        when, member = min((self._next_beat(member, earliest), member) for member in awake)
        if self._due.get(member, math.inf) > when:
            self._plan(member, when)

    def _retarget(self, now: float) -> None:
        """Make the next target assignment, and put whoever is concerned on the agenda."""
        state = self.state
        members = [state.roster.members[number] for number in state.live]
        assignment = self._life.assign(state.table.topics, members)
        self.rebalances += 1
        self._is_stale = False
        self._last_target_seconds = now
        self._target = state.table.owners(assignment, state.live)
        differs = state.owner != self._target
        concerned = set(state.owner[differs].tolist()) | set(self._target[differs].tolist())
        for member in sorted(concerned - {NOBODY} - state.silent):
            if member not in self._due:
                self._plan(member, self._next_beat(member, now))

    def _plan(self, member: int, when: float) -> None:
        self._due[member] = when
        heapq.heappush(self._agenda, (when, len(self._agenda), member))

    def _reconcile(self, until: float) -> None:
        """Let members send their heartbeats, up to a time or until all have what they are to have."""
        most = _MAX_BEATS_PER_MEMBER * len(self.state.roster)
        while self._agenda and self._agenda[0][0] <= until:
            when, _, member = heapq.heappop(self._agenda)
            if self._due.get(member) != when:
                continue  # a later plan replaced it, or the member is gone
            del self._due[member]
            self._beats += 1
            if self._beats > most:
                self.is_settled = False
                return
            self._heartbeat(member, when)

    def _heartbeat(self, member: int, now: float) -> None:
        state, settings = self.state, self._settings
        self._beat[member] = now
        self.restoring.finish(now)
        if self._is_stale:
            if now >= self._last_target_seconds + settings.assignment_interval_seconds:
                self._retarget(now)
            else:
                self._plan_target(now)
        released = self._giving_up.pop(member, None)
        if released is not None:
            state.owner[released[state.owner[released] == member]] = NOBODY
            self.end_seconds = max(self.end_seconds, now)
        surplus = np.flatnonzero((state.owner == member) & (self._target != member))
        if len(surplus):
            lets_go = now + self._phases.wait(settings.poll_seconds)
            state.reading.stop(surplus, lets_go)
            self._giving_up[member] = surplus
            self._plan(member, lets_go)
            return
        wanted = np.flatnonzero((self._target == member) & (state.owner != member))
        free = wanted[state.owner[wanted] == NOBODY]
        if len(free):
            state.owner[free] = member
            reads_at = now + settings.round_trip_seconds
            self.end_seconds = max(self.end_seconds, self.restoring.start(free, member, reads_at))
            if len(free) < len(wanted):
                self._plan(member, reads_at)
        elif len(wanted):
            self._plan(member, now + self._interval_seconds)
