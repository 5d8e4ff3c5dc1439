"""A group's life through rebalances: who remembers what, generations, and the rounds of cooperative groups.

Classic groups (:class:`ClassicLife`):
    * Each round is one generation. Members send what they remember: eager ones in their user data, having let go of
      everything; cooperative ones as partitions that they own.
    * After a round a member remembers the list it got and the generation.
    * A cooperative group goes on with another round as long as a member lost a partition that it held: what it let
      go of is given out only then.
    * Whoever leaves keeps its memory and may come back with it, unless it was restarted.

Groups that the coordinator assigns (:class:`ServerLife`):
    The coordinator remembers what each member is to have, as long as it is a member.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from kafka_capacity.kafka.groups.assignment import Assignment
from kafka_capacity.kafka.groups.model import (
    NO_PARTITIONS,
    Group,
    Member,
    StreamsTopology,
    Topic,
    TopicPartition,
    TopicPartitions,
    UserData,
)
from kafka_capacity.kafka.groups.registry import Assignor

MAX_ROUNDS = 10  # rounds after which a cooperative group that does not settle is left alone


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Round:
    """One generation of a classic group."""

    generation: int  # its number, from 1
    assignment: Assignment  # who got what


class ClassicLife:
    """A classic group from its first round on.

    Attributes:
        assignor: of the leader; whether it is cooperative says how members send what they have.
        generation: the number of the last round, 0 before the first.

    >>> from kafka_capacity.kafka.groups.registry import assignor
    >>> orders = (Topic(name="orders", partitions=4),)
    >>> a, b = (Member(member_id=name, topics=("orders",)) for name in "ab")
    >>> life = ClassicLife(assignor("cooperative-sticky"))
    >>> [len(life.rebalance(orders, members)) for members in ([a], [a, b], [a, b], [b])]
    [1, 2, 1, 1]
    """

    def __init__(self, assignor: Assignor) -> None:
        self.generation = 0
        self.assignor = assignor
        self._memory: dict[str, UserData] = {}

    def rebalance(
        self, topics: Sequence[Topic], members: Sequence[Member], restarted: Collection[str] = ()
    ) -> list[Round]:
        """Let members join, in the order in which the leader comes to know them, until nobody lost anything.

        What they own and remember is filled in; those who restarted, by id, forgot everything.

        Raises:
            AssignmentError: Kafka would throw.
        """
        for member_id in restarted:
            self._memory.pop(member_id, None)
        rounds: list[Round] = []
        has_lost = True
        while has_lost and len(rounds) < MAX_ROUNDS:
            before = {member.member_id: set(self.held(member.member_id)) for member in members}
            rounds.append(self.round(topics, members))
            has_lost = self.assignor.is_cooperative and any(
                not held <= set(self.held(member_id)) for member_id, held in before.items()
            )
        return rounds

    def round(self, topics: Sequence[Topic], members: Sequence[Member]) -> Round:
        """Let members join once; arguments and errors are those of :meth:`rebalance`."""
        group = Group(topics=tuple(topics), members=tuple(map(self._joining, members)))
        assignment = self.assignor.assign(group)
        self.generation += 1
        for member_id, part in assignment.parts().items():
            self._memory[member_id] = UserData(partitions=part, generation=self.generation)
        return Round(generation=self.generation, assignment=assignment)

    def remember(self, member_id: str, partitions: TopicPartitions) -> None:
        """Describe what a member got in the last generation, the first if there was none."""
        self.generation = max(1, self.generation)
        self._memory[member_id] = UserData(partitions=partitions, generation=self.generation)

    def held(self, member_id: str) -> TopicPartitions:
        """Return what a member remembers to have."""
        return self._memory.get(member_id, UserData()).partitions

    def _joining(self, member: Member) -> Member:
        memory = self._memory.get(member.member_id)
        if memory is None:
            data = UserData(generation=-1) if self.assignor.is_cooperative else None
            return dataclasses.replace(member, owned=NO_PARTITIONS, generation=None, user_data=data)
        owned, data = NO_PARTITIONS, memory
        if self.assignor.is_cooperative:
            owned, data = memory.partitions, UserData(generation=memory.generation)
        return dataclasses.replace(member, owned=owned, generation=memory.generation, user_data=data)


class ServerLife:
    """A group whose target assignment the coordinator makes.

    Attributes:
        assignor: the one that was given.
        streams: what a streams group runs, ``None`` for another one.
        standby: by member, the tasks of which it is to have a standby.

    >>> from kafka_capacity.kafka.groups.registry import GroupProtocol, assignor
    >>> orders = "AAAAAAAAAAAAAAAAAAAAAQ"
    >>> a, b = (Member(member_id=name, topics=(orders,)) for name in "ab")
    >>> life = ServerLife(assignor("uniform", GroupProtocol.CONSUMER))
    >>> first, second = (life.assign([Topic(name=orders, partitions=4)], members) for members in ([a], [a, b]))
    >>> first.counts().tolist(), second.counts().tolist()
    ([4], [2, 2])
    """

    def __init__(self, assignor: Assignor, streams: StreamsTopology | None = None) -> None:
        self.assignor = assignor
        self.streams = streams
        self.standby: Mapping[str, tuple[TopicPartition, ...]] = {}
        self._target: dict[str, TopicPartitions] = {}

    def assign(self, topics: Sequence[Topic], members: Sequence[Member]) -> Assignment:
        """Make the next target assignment; who is not among the members is forgotten.

        They are in the order in which the coordinator came to know them, and what they are to have now is filled in.

        Raises:
            AssignmentError: Kafka would throw.
        """
        known = (
            dataclasses.replace(
                member,
                owned=self._target.get(member.member_id, NO_PARTITIONS),
                standby=self.standby.get(member.member_id, ()),
            )
            for member in members
        )
        answer = self.assignor.assign(Group(topics=tuple(topics), members=tuple(known), streams=self.streams))
        self._target, self.standby = answer.parts(), answer.standby
        return answer

    def remember(self, member_id: str, partitions: TopicPartitions) -> None:
        """Describe what a member is to have now."""
        self._target[member_id] = partitions
