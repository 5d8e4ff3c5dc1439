"""What an assignor answers: a list of partitions for each member."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.arrays import Int32s, Ints
from kafka_capacity.kafka.groups.codes import Codes
from kafka_capacity.kafka.groups.model import Group, TopicPartition, TopicPartitions
from kafka_capacity.kafka.java.hash_map import stable_order


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Assignment:
    """Who reads what, in the order of Kafka's lists.

    >>> from kafka_capacity.kafka.groups.model import Group, Member, Topic
    >>> group = Group(
    ...     topics=(Topic(name="orders", partitions=2),),
    ...     members=(Member(member_id="b", topics=("orders",)), Member(member_id="a", topics=("orders",))),
    ... )
    >>> Assignment.of(group, {"a": [("orders", 1), ("orders", 0)]}).lists()
    {'b': [], 'a': [('orders', 1), ('orders', 0)]}
    """

    member_ids: tuple[str, ...]  # all members of the group, as it lists them
    topics: tuple[str, ...]  # the table that `topic` points into
    start: Ints  # int64[M + 1]; the list of member i is `start[i]:start[i + 1]` of the arrays below
    topic: Int32s  # int32[N], position in `topics`
    partition: Int32s  # int32[N]
    # by member that has any, the tasks of which it is to have a standby; streams groups only
    standby: Mapping[str, tuple[TopicPartition, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, group: Group, lists: Mapping[str, Sequence[TopicPartition]]) -> Assignment:
        """Make an assignment of (topic, partition) pairs by member id; who is not named gets nothing."""
        ids = tuple(member.member_id for member in group.members)
        ordered = [list(lists.get(member_id, ())) for member_id in ids]
        flat = TopicPartitions.of(pair for listed in ordered for pair in listed)
        start = np.cumsum([0, *map(len, ordered)], dtype=np.int64)
        return cls(member_ids=ids, topics=flat.topics, start=start, topic=flat.topic, partition=flat.partition)

    @classmethod
    def of_owners(
        cls,
        group: Group,
        topics: tuple[str, ...],
        owner: NDArray[np.integer],
        topic: NDArray[np.integer],
        partition: NDArray[np.integer],
    ) -> Assignment:
        """Make an assignment of rows: who gets which partition; each member's list keeps the order of the rows.

        All are int[N]: ``owner`` positions in ``group.members``, ``topic`` positions in ``topics``.
        """
        members = len(group.members)
        rows = stable_order(owner, members)
        counts = np.bincount(owner, minlength=members)
        return cls(
            member_ids=tuple(member.member_id for member in group.members),
            topics=topics,
            start=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
            topic=topic.astype(np.int32)[rows],
            partition=partition.astype(np.int32)[rows],
        )

    @classmethod
    def of_codes(cls, group: Group, topics: tuple[str, ...], codes: Codes, owner: Ints, code: Ints) -> Assignment:
        """Make an assignment of rows of a member and the number of a partition, as :meth:`of_owners` does."""
        topic, partition = codes.topic[code], codes.partition[code]
        return cls.of_owners(group, topics, owner=owner, topic=topic, partition=partition)

    @classmethod
    def of_sets(cls, group: Group, topics: tuple[str, ...], codes: Codes, owner: Ints, code: Ints) -> Assignment:
        """Make an assignment of rows in any order: each member's list is sorted by topic, then partition.

        ``owner`` is int64[N], positions in ``group.members``; ``code`` int64[N], numbers of ``codes``, whose topics are
        sorted by name. What comes twice for a member counts once.
        """
        times = np.bincount(code, minlength=codes.total)
        if len(code) == len(times) == codes.total and int(times.max(initial=1)) == 1:
            by_code = np.empty(codes.total, dtype=np.int64)
            by_code[code] = owner
            return cls.of_owners(group, topics, owner=by_code, topic=codes.topic, partition=codes.partition)
        rows = np.lexsort((codes.partition[code], codes.topic[code], owner))
        owner, code = owner[rows], code[rows]
        is_new = np.ones(len(code), dtype=np.bool_)
        is_new[1:] = (owner[1:] != owner[:-1]) | (code[1:] != code[:-1])
        owner, code = owner[is_new], code[is_new]
        return cls.of_codes(group, topics, codes, owner=owner, code=code)

    def counts(self) -> Ints:
        """Count the partitions of each member: int64[M]."""
        return np.diff(self.start)

    def owner(self) -> Ints:
        """Return the position of the member of every row: int64[N]."""
        return np.repeat(np.arange(len(self.member_ids)), self.counts())

    def parts(self) -> dict[str, TopicPartitions]:
        """Return each member's list, as views on the arrays."""
        bounds = self.start.tolist()
        return {
            member_id: TopicPartitions(
                topics=self.topics,
                topic=self.topic[bounds[i] : bounds[i + 1]],
                partition=self.partition[bounds[i] : bounds[i + 1]],
            )
            for i, member_id in enumerate(self.member_ids)
        }

    def lists(self) -> dict[str, list[TopicPartition]]:
        """Return each member's list as (topic, partition) pairs."""
        return {member_id: part.pairs() for member_id, part in self.parts().items()}
