"""A group's partitions as rows, and its assignments as arrays of owners; assignments that were made once are kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from kafka_capacity.kafka.arrays import Int32s, Ints
from kafka_capacity.kafka.groups.assignment import Assignment
from kafka_capacity.kafka.groups.model import Group, Member, Topic
from kafka_capacity.kafka.groups.registry import Assignor, GroupProtocol
from kafka_capacity.kafka.rebalance.model import NOBODY, GroupFacts


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PartitionTable:
    """The partitions of a group's topics, numbered through; those that an event adds come behind all others."""

    topics: tuple[Topic, ...]  # as the assignor is told them: by name, or by id for the coordinator's assignors
    names: tuple[str, ...]  # the table that `topic` points into: their names or ids
    topic: Int32s  # int32[P']
    partition: Int32s  # int32[P']
    sibling: Ints  # int64[P'], the row whose keys a row shares: itself, or for an added partition the one it split from
    row_of: tuple[Ints, ...]  # for each topic int64[partitions], the row of each of its partitions
    ids: Mapping[str, str] | None  # by the name of a topic, where the assignor is told ids

    @classmethod
    def of(cls, facts: GroupFacts, protocol: GroupProtocol) -> PartitionTable:
        """Number the partitions of a group as its facts list them."""
        by_name = tuple(topic.name for topic in facts.topics)
        names = facts.topic_ids if protocol is GroupProtocol.CONSUMER else by_name
        starts = np.searchsorted(facts.topic, np.arange(len(facts.topics) + 1))
        return cls(
            topics=tuple(
                dataclasses.replace(topic, name=name) for topic, name in zip(facts.topics, names, strict=True)
            ),
            names=names,
            topic=facts.topic,
            partition=facts.partition,
            sibling=np.arange(len(facts)),
            row_of=tuple(np.arange(starts[i], starts[i + 1]) for i in range(len(facts.topics))),
            ids=None if names == by_name else dict(zip(by_name, names, strict=True)),
        )

    def __len__(self) -> int:
        return len(self.topic)

    def expanded(self, factor: int) -> PartitionTable:
        """Multiply the partition count of every topic."""
        topics, row_of = [], []
        topic, partition, sibling = [self.topic], [self.partition], [self.sibling]
        end = len(self)
        for index, (old, rows) in enumerate(zip(self.topics, self.row_of, strict=True)):
            added = len(rows) * (factor - 1)
            # Where racks are known the new replicas are taken to lie as those of the partitions they split from.
            racks = None if old.racks is None else old.racks * factor
            topics.append(dataclasses.replace(old, partitions=len(rows) * factor, racks=racks))
            row_of.append(np.concatenate([rows, np.arange(end, end + added)]))
            topic.append(np.full(added, index, dtype=np.int32))
            partition.append(np.arange(len(rows), len(rows) + added, dtype=np.int32))
            sibling.append(np.tile(rows, factor - 1))
            end += added
        return dataclasses.replace(
            self,
            topics=tuple(topics),
            topic=np.concatenate(topic),
            partition=np.concatenate(partition),
            sibling=np.concatenate(sibling),
            row_of=tuple(row_of),
        )

    def owners(self, assignment: Assignment, numbers: Sequence[int]) -> Ints:
        """Return who owns each row: int64[P'], numbers of members, -1 for nobody."""
        owner = np.full(len(self), NOBODY, dtype=np.int64)
        if not self.row_of:
            return owner
        place = {name: index for index, name in enumerate(self.names)}
        counts = np.array([len(rows) for rows in self.row_of])
        topic = np.array([place.get(name, NOBODY) for name in assignment.topics], dtype=np.int64)[assignment.topic]
        known = np.flatnonzero((topic >= 0) & (assignment.partition < counts[topic]))
        rows = np.concatenate(self.row_of)[(np.cumsum(counts) - counts)[topic[known]] + assignment.partition[known]]
        owner[rows] = np.asarray(numbers, dtype=np.int64)[assignment.owner()[known]]
        return owner


class KeptAssignor:
    """An assignor that looks up what it has assigned before: the same group gets the same answer."""

    def __init__(self, assignor: Assignor) -> None:
        self.name = assignor.name
        self.is_cooperative = assignor.is_cooperative
        self._assignor = assignor
        self._answers: dict[tuple[object, ...], Assignment] = {}

    def assign(self, group: Group) -> Assignment:
        """Assign, or look up."""
        key = (tuple(topic.partitions for topic in group.topics), *map(_key, group.members))
        found = self._answers.get(key)
        if found is None:
            found = self._answers[key] = self._assignor.assign(group)
        return found


def _key(member: Member) -> tuple[object, ...]:
    data = member.user_data
    lists = [member.owned] if data is None else [member.owned, data.partitions]
    held = tuple((part.topic.tobytes(), part.partition.tobytes()) for part in lists)
    named = (member.member_id, member.instance_id, member.topics, member.process_id, member.standby)
    return (*named, member.generation, data and data.generation, held)
