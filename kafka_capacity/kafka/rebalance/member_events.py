"""What happens to the members of a group during an event, and when: the same for every protocol.

Rules:
    * A dynamic member that is stopped says so (``LeaveGroup``, or a heartbeat of epoch -1), and comes back under
      another id. A static one says nothing, and comes back as the same member if it does so within the session.
    * Who dies is only missed when its session ends: ``session.timeout.ms`` after its last heartbeat.
    * Who takes longer than ``max.poll.interval.ms`` over a batch leaves by itself if it is dynamic; a static member
      stops its heartbeats then, and is missed a session later.
    * Members are made redundant from the end: the highest ``group.instance.id``, else the highest member id, as a
      StatefulSet does it.
"""

from __future__ import annotations

import copy
import dataclasses
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from kafka_capacity.kafka.groups.model import NO_PARTITIONS, Member
from kafka_capacity.kafka.rebalance.model import Event, GroupFacts, GroupScenario, GroupSettings


class Kind(Enum):
    """What can happen."""

    LEAVE = auto()  # a member stops and tells the coordinator
    QUIT = auto()  # a member stops in good order, and tells nobody
    DIE = auto()  # a member stops in the middle of its work
    EXPEL = auto()  # the coordinator strikes a silent member off
    JOIN = auto()  # a member that the coordinator does not know comes
    RETURN = auto()  # a silent member that was not struck off goes on
    GROW = auto()  # topics get more partitions
    NOTICE = auto()  # whoever assigns learns of them


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberEvent:
    """One thing that happens."""

    time_seconds: float  # after the event's start
    kind: Kind  # what
    member: int = -1  # number in the roster, -1 where it is about no member


@dataclass(frozen=True, slots=True, kw_only=True)
class Phases:
    """Where in their rounds clocks stand."""

    # draws them; with `None` whoever waits, waits for the whole round: what closed forms speak of
    rng: np.random.Generator | None
    is_in_phase: bool = False  # heartbeats of classic members fall together, as they do for some time after a rebalance

    def wait(self, max_seconds: float) -> float:
        """Draw how long something takes that takes at most so long."""
        return max_seconds if self.rng is None else float(self.rng.uniform(0.0, max_seconds))

    def waits(self, max_seconds: float, count: int) -> np.ndarray:
        """Draw ``count`` of them: float64[count]."""
        if self.rng is None:
            return np.full(count, max_seconds)
        return self.rng.uniform(0.0, max_seconds, count)

    def elapsed(self, of_seconds: float) -> float:
        """Draw how much of a round has passed already."""
        return of_seconds - self.wait(of_seconds)


class Roster:
    """Everyone who is or may become a member, numbered in the order in which they come to be known.

    Members that are missing to ``count`` are made up, with ids from ``seed``, which sort anywhere between the others,
    as random ids do; where it ``is_static``, they have instance ids. ``topic_ids``, by name, are what the coordinator's
    assignors know topics by, who are not told of others; ``None`` for names.

    Attributes:
        members: all of them; what they own is left out.
        identity: for each the number of the one whose place it took, else its own.
    """

    def __init__(
        self, facts: GroupFacts, topic_ids: Mapping[str, str] | None, *, is_static: bool, count: int, seed: int
    ) -> None:
        self._rng = np.random.default_rng([seed, 0x6D656D62])
        self._drawn: list[uuid.UUID] = []  # from it so far, by whichever copy was the first to need them
        self._used = 0
        self._is_static = is_static
        self._group_id = facts.group_id
        self._today = len(facts.members)
        processes = [member.process_id for member in facts.members if member.process_id is not None]
        self._threads = max(map(processes.count, processes), default=0)
        self._racks = sorted({member.rack for member in facts.members if member.rack is not None})
        self.members: list[Member] = []
        self.identity: list[int] = []
        # Where some members are static and some are not, each stays as it is.
        is_mixed = len({member.instance_id is None for member in facts.members}) > 1
        for number, member in enumerate(facts.members):
            instance = (member.instance_id or self._instance(number)) if is_static else None
            if is_mixed and not is_static:
                instance = member.instance_id
            topics = member.topics
            if topic_ids is not None:
                topics = tuple(topic_ids[name] for name in topics if name in topic_ids)
            known = dataclasses.replace(member, topics=topics, owned=NO_PARTITIONS, instance_id=instance)
            self.members.append(known)
            self.identity.append(number)
        while len(self.members) < count:
            self.add()

    def __len__(self) -> int:
        return len(self.members)

    def copied(self) -> Roster:
        """Return another one of the same members, which goes on by itself."""
        other = copy.copy(self)
        other.members, other.identity = list(self.members), list(self.identity)
        return other

    def add(self, like: int | None = None) -> int:
        """Make up a member, or the next life of one; returns its number."""
        number = len(self.members)
        model = self.members[like if like is not None else number % self._today] if self._today else None
        self.identity.append(number if like is None else self.identity[like])
        member = Member(
            member_id=f"{self._prefix(model)}-{self._next_id()}",
            topics=model.topics if model else (),
            instance_id=self._instance(number) if self._is_static else None,
            rack=self._racks[number % len(self._racks)] if self._racks else None,
            process_id=self._process(number),
        )
        if like is not None and model is not None:
            member = dataclasses.replace(
                member, instance_id=model.instance_id, rack=model.rack, process_id=model.process_id
            )
        self.members.append(member)
        return number

    def order(self, numbers: Sequence[int]) -> list[int]:
        """Sort members as a StatefulSet counts them: by instance id, else by member id; shorter numbers first."""

        def place(number: int) -> tuple[int, str]:
            member = self.members[number]
            name = member.instance_id or member.member_id
            return (len(name) if member.instance_id else 0, name)

        return sorted(numbers, key=place)

    def _next_id(self) -> uuid.UUID:
        """Return the next random id, which is the same for all copies."""
        if self._used == len(self._drawn):
            self._drawn.append(uuid.UUID(bytes=self._rng.bytes(16), version=4))
        self._used += 1
        return self._drawn[self._used - 1]

    def _prefix(self, model: Member | None) -> str:
        """Take what a client's id starts with, before the 36 characters of the coordinator's UUID."""
        if model is not None and len(model.member_id) > 37 and model.member_id[-37] == "-":
            return model.member_id[:-37]
        return self._group_id

    def _process(self, number: int) -> str | None:
        """Make up the process of a new member of a streams group; each gets as many threads as the largest has."""
        return f"{self._group_id}-process-{(number - self._today) // self._threads}" if self._threads else None

    def _instance(self, number: int) -> str:
        return f"{self._group_id}-{number}"


def member_events(
    event: Event,
    scenario: GroupScenario,
    roster: Roster,
    numbers: Sequence[int],
    busiest: Sequence[int],
    phases: Phases,
) -> list[MemberEvent]:
    """List what happens during an event, by time; those who come are added to the roster.

    ``numbers`` are the members when the event begins, ``busiest`` the same, who reads most first.
    """
    found: list[MemberEvent] = []
    settings = scenario.settings
    script = _Script(scenario, roster, phases, found)
    if event in {Event.SCALE, Event.SCALE_ONE_BY_ONE}:
        gap = settings.settle_seconds if event is Event.SCALE_ONE_BY_ONE else 0.0
        missing = scenario.member_count - len(numbers)
        for step in range(missing):
            found.append(MemberEvent(time_seconds=step * gap, kind=Kind.JOIN, member=roster.add()))
        for step, member in enumerate(roster.order(numbers)[::-1][: max(0, -missing)]):
            script.stop(member, step * gap)
    elif event is Event.ROLLING_RESTART:
        gap = settings.restart_seconds + settings.settle_seconds
        for step, member in enumerate(roster.order(numbers)):
            script.restart(member, step * gap)
    elif event in {Event.CRASH, Event.CRASH_RESTART}:
        for member in busiest[: scenario.failure_count if event is Event.CRASH else 1]:
            script.crash(member, has_restart=event is Event.CRASH_RESTART)
    elif event is Event.SLOW_MEMBER:
        script.hang(busiest[0])
    else:
        is_told = scenario.protocol.is_assigned_by_coordinator
        notice = 0.0 if is_told else phases.wait(settings.metadata_max_age_seconds)
        found.append(MemberEvent(time_seconds=0.0, kind=Kind.GROW))
        found.append(MemberEvent(time_seconds=notice, kind=Kind.NOTICE))
    return sorted(found, key=lambda one: one.time_seconds)


class _Script:
    """Writes down what a member goes through."""

    def __init__(self, scenario: GroupScenario, roster: Roster, phases: Phases, found: list[MemberEvent]) -> None:
        self._settings: GroupSettings = scenario.settings
        self._is_server = scenario.protocol.is_assigned_by_coordinator
        self._roster = roster
        self._phases = phases
        self._found = found

    def stop(self, member: int, time_seconds: float) -> None:
        """Stop a member for good."""
        if not self._is_static(member):
            self._add(time_seconds, Kind.LEAVE, member)
            return
        self._add(time_seconds, Kind.QUIT, member)
        self._add(time_seconds + self._until_missed(has_committed=True), Kind.EXPEL, member)

    def restart(self, member: int, time_seconds: float) -> None:
        """Stop a member in good order and start it again."""
        back = time_seconds + self._settings.restart_seconds
        if not self._is_static(member):
            self._add(time_seconds, Kind.LEAVE, member)
            self._add(back, Kind.JOIN, self._roster.add(like=member))
            return
        self._add(time_seconds, Kind.QUIT, member)
        self._come_back(member, back, missed=time_seconds + self._until_missed(has_committed=True))

    def crash(self, member: int, *, has_restart: bool) -> None:
        """Let a member die at time 0."""
        self._add(0.0, Kind.DIE, member)
        missed = self._until_missed()
        if not has_restart:
            self._add(missed, Kind.EXPEL, member)
        elif self._is_static(member):
            self._come_back(member, self._settings.restart_seconds, missed=missed)
        else:
            self._add(missed, Kind.EXPEL, member)
            self._add(self._settings.restart_seconds, Kind.JOIN, self._roster.add(like=member))

    def hang(self, member: int) -> None:
        """Let a member take too long over a batch that it got at time 0."""
        self._add(0.0, Kind.DIE, member)
        missed = self._settings.max_poll_interval_seconds + (self._until_missed() if self._is_static(member) else 0.0)
        self._come_back(member, self._settings.slow_seconds, missed=missed)

    def _is_static(self, member: int) -> bool:
        return self._roster.members[member].instance_id is not None

    def _come_back(self, member: int, back: float, *, missed: float) -> None:
        if back < missed:
            self._add(back, Kind.RETURN, member)
            return
        self._add(missed, Kind.EXPEL, member)
        self._add(back, Kind.JOIN, self._roster.add(like=member))

    def _until_missed(self, *, has_committed: bool = False) -> float:
        """Return how long the coordinator waits for somebody who says nothing.

        The session runs from the last heartbeat, or in a classic group from a commit, as on closing.
        """
        settings = self._settings
        if self._is_server:
            session, interval = settings.server_session_timeout_seconds, settings.server_heartbeat_interval_seconds
        else:
            session, interval = settings.session_timeout_seconds, settings.heartbeat_interval_seconds
        if has_committed and not self._is_server:
            return session
        return session - interval + self._phases.wait(interval)

    def _add(self, time_seconds: float, kind: Kind, member: int) -> None:
        self._found.append(MemberEvent(time_seconds=time_seconds, kind=kind, member=member))
