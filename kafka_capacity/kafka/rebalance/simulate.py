"""Run a group through an event: from facts and a scenario to the trace that it leaves."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence

import numpy as np

from kafka_capacity.kafka.arrays import Floats, Ints
from kafka_capacity.kafka.groups.life import ClassicLife, ServerLife
from kafka_capacity.kafka.groups.model import Member, TopicPartition, TopicPartitions
from kafka_capacity.kafka.groups.registry import assignor
from kafka_capacity.kafka.rebalance.classic import ClassicGroup
from kafka_capacity.kafka.rebalance.member_events import Phases, Roster, member_events
from kafka_capacity.kafka.rebalance.model import NOBODY, Event, EventTrace, GroupFacts, GroupScenario
from kafka_capacity.kafka.rebalance.server import ServerGroup
from kafka_capacity.kafka.rebalance.state import GroupState
from kafka_capacity.kafka.rebalance.table import KeptAssignor, PartitionTable


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rest:
    """A group at rest."""

    numbers: tuple[int, ...]  # who is a member, numbers of the roster, as the coordinator lists them
    owner: Ints  # int64[P], who has each partition
    parts: tuple[TopicPartitions, ...]  # what each member has, in the order of Kafka's lists
    # by member, the tasks of which it has a standby; streams groups only
    standby: Mapping[str, tuple[TopicPartition, ...]] = dataclasses.field(default_factory=dict)


class GroupSimulation:
    """A group under one scenario; every event starts from the same rest.

    ``kept`` is the assignor, with what it answered before; ``None`` for a new one.

    Attributes:
        assignor: the one of the scenario.
        observed: the group as the inventory found it, whatever the scenario's assignor; ``None`` where somebody's
            partitions are not known.
        today: the group as it is, under the scenario's assignor: what is observed where that is the assignor of
            today, else assigned afresh.
        proposed: the same with as many members as the scenario says.
        members: everyone in either, by number.

    Raises:
        AssignmentError: Kafka would throw.
        RequestError: there is no such assignor.
    """

    def __init__(self, facts: GroupFacts, scenario: GroupScenario, kept: KeptAssignor | None = None) -> None:
        self.facts = facts
        self.scenario = scenario
        self.assignor = kept or KeptAssignor(assignor(scenario.assignor, scenario.protocol))
        self._table = PartitionTable.of(facts, scenario.protocol)
        self._rosters: dict[int, Roster] = {}
        roster = self._roster(max(len(facts.members), scenario.member_count))
        self.members: tuple[Member, ...] = tuple(roster.members)
        self.observed = self._observed()
        self.today, self.proposed = self._rests(roster)

    def _roster(self, count: int) -> Roster:
        if count not in self._rosters:
            scenario = self.scenario
            self._rosters[count] = Roster(
                self.facts, self._table.ids, is_static=scenario.is_static, count=count, seed=scenario.seed
            )
        return self._rosters[count].copied()

    def _rests(self, roster: Roster) -> tuple[Rest, Rest]:
        life = self._life()
        now = list(range(len(self.facts.members)))
        facts, scenario = self.facts, self.scenario
        is_same = facts.assignor == scenario.assignor and facts.protocol is scenario.protocol
        if self.observed is not None and is_same:
            today = self.observed
            life = self._life_of(roster, today)
            if scenario.standby_replicas != (facts.streams and facts.streams.standby_replicas):
                today = self._settle(life, roster, now)
            elif scenario.standby_replicas and not today.standby:
                # An inventory may lack them; a group at rest has them.
                today = dataclasses.replace(today, standby=self._settle(life, roster, now).standby)
                life = self._life_of(roster, today)
        else:
            today = self._settle(life, roster, now)
        count = scenario.member_count
        if count == len(now):
            return today, today
        kept = sorted(roster.order(now)[:count])
        then = [*kept, *range(len(now), count)] if count > len(now) else kept
        return today, self._settle(life, roster, then)

    def _observed(self) -> Rest | None:
        members, owner = self.facts.members, self.facts.owner
        if (owner == NOBODY).any():
            return None
        return Rest(
            numbers=tuple(range(len(members))),
            owner=owner.astype(np.int64),
            parts=tuple(self._translated(member.owned) for member in members),
            standby={member.member_id: member.standby for member in members if member.standby},
        )

    def _translated(self, owned: TopicPartitions) -> TopicPartitions:
        """Return a list of partitions in the words of the assignor."""
        ids = self._table.ids
        if ids is None:
            return owned
        return dataclasses.replace(owned, topics=tuple(ids.get(name, name) for name in owned.topics))

    def _life(self) -> ClassicLife | ServerLife:
        if not self.scenario.protocol.is_assigned_by_coordinator:
            return ClassicLife(self.assignor)
        streams, standbys = self.facts.streams, self.scenario.standby_replicas
        if streams is not None and standbys is not None:
            streams = dataclasses.replace(streams, standby_replicas=standbys)
        return ServerLife(self.assignor, streams)

    def _life_of(self, roster: Roster, rest: Rest) -> ClassicLife | ServerLife:
        """Return the life of a group that has come to rest."""
        life = self._life()
        for number, part in zip(rest.numbers, rest.parts, strict=True):
            life.remember(roster.members[number].member_id, part)
        if isinstance(life, ServerLife):
            life.standby = rest.standby
        return life

    def _settle(self, life: ClassicLife | ServerLife, roster: Roster, numbers: Sequence[int]) -> Rest:
        members = [roster.members[number] for number in numbers]
        if isinstance(life, ServerLife):
            answer = life.assign(self._table.topics, members)
        else:
            answer = life.rebalance(self._table.topics, members)[-1].assignment
        return Rest(
            numbers=tuple(numbers),
            owner=self._table.owners(answer, numbers),
            parts=tuple(answer.parts().values()),
            standby=answer.standby,
        )

    def trace(self, event: Event, *, draw: int | None = 0, is_in_phase: bool = False) -> EventTrace:
        """Let an event happen.

        Args:
            event: which.
            draw: of the clocks; the same draw gives every assignor and protocol the same luck. With ``None`` every wait
                takes as long as it can.
            is_in_phase: heartbeats fall together, as in a classic group that has rebalanced lately. A group that has
                run for long has them apart.

        Raises:
            AssignmentError: Kafka would throw.
        """
        scenario = self.scenario
        is_scale = event in {Event.SCALE, Event.SCALE_ONE_BY_ONE}
        rest = self.today if is_scale else self.proposed
        roster = self._roster(len(self.facts.members) if is_scale else len(self.members))
        rng = None if draw is None else np.random.default_rng(_seed(scenario, event, draw))
        phases = Phases(rng=rng, is_in_phase=is_in_phase)
        busiest = self._busiest(rest)
        plan = member_events(event, scenario, roster, rest.numbers, busiest, phases)
        state = GroupState(self.facts, self._table, roster, list(rest.numbers), rest.owner)
        life = self._life_of(roster, rest)
        group: ClassicGroup | ServerGroup
        if isinstance(life, ServerLife):
            group = ServerGroup(state, life, scenario, phases)
        else:
            group = ClassicGroup(state, life, scenario, phases)
        group.run(plan)
        restoring = group.restoring if isinstance(group, ServerGroup) else None
        expanded = len(state.owner) - len(rest.owner)
        return EventTrace(
            member_ids=tuple(member.member_id for member in roster.members),
            identity=np.array(roster.identity, dtype=np.int64),
            rebalances=group.rebalances,
            interruptions=state.reading.interruptions(),
            first_owner=np.concatenate([rest.owner, np.full(expanded, NOBODY, dtype=np.int64)]),
            last_owner=state.reading.reader,
            unclean=np.concatenate([np.empty(0, dtype=np.int64), *state.unclean]),
            sibling=state.table.sibling,
            end_seconds=group.end_seconds,
            is_settled=group.is_settled,
            restored_bytes=0.0 if restoring is None else restoring.restored_bytes,
            restore_seconds=0.0 if restoring is None else restoring.longest_seconds,
        )

    def _busiest(self, rest: Rest) -> list[int]:
        """Sort members by what they read in the peak hour, the busiest first."""
        loads = member_loads(rest, self.facts.peak_bytes_per_second)
        return [rest.numbers[i] for i in np.argsort(-loads, kind="stable").tolist()]


def member_loads(rest: Rest, bytes_per_second: Floats) -> Floats:
    """Sum the rates of the partitions of each member: float64[M], as :attr:`Rest.numbers` lists them."""
    size = max([-1, *rest.numbers]) + 1
    is_read = rest.owner != NOBODY
    sums = np.bincount(rest.owner[is_read], weights=bytes_per_second[is_read], minlength=size)
    return np.asarray(sums[list(rest.numbers)], dtype=np.float64)


def _seed(scenario: GroupScenario, event: Event, draw: int) -> int:
    text = f"{scenario.seed}/{scenario.group_id}/{event}/{draw}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
