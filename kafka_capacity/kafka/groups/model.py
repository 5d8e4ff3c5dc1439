"""What an assignor is told: the topics and the members of a group, with what each remembers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

TopicPartition = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TopicPartitions:
    """A list of partitions in an order that matters, as two arrays over a table of topics.

    Attributes:
        topics: names (or ids) that :attr:`topic` points into; many lists may share one table.
        topic: int32[N], position in :attr:`topics`.
        partition: int32[N], number within the topic.

    >>> owned = TopicPartitions.of([("orders", 1), ("audit", 0), ("orders", 0)])
    >>> owned.topics, owned.topic.tolist(), owned.pairs()
    (('orders', 'audit'), [0, 1, 0], [('orders', 1), ('audit', 0), ('orders', 0)])
    """

    topics: tuple[str, ...]
    topic: NDArray[np.int32]
    partition: NDArray[np.int32]

    @classmethod
    def of(cls, pairs: Iterable[TopicPartition]) -> TopicPartitions:
        """Make a list of (topic, partition) pairs."""
        listed = list(pairs)
        table: dict[str, int] = {}
        topic = [table.setdefault(name, len(table)) for name, _ in listed]
        return cls(
            topics=tuple(table),
            topic=np.array(topic, dtype=np.int32),
            partition=np.array([number for _, number in listed], dtype=np.int32),
        )

    def pairs(self) -> list[TopicPartition]:
        """Return the list as (topic, partition) pairs."""
        names = self.topics
        return [(names[i], p) for i, p in zip(self.topic.tolist(), self.partition.tolist(), strict=True)]

    def __iter__(self) -> Iterator[TopicPartition]:
        return iter(self.pairs())

    def __len__(self) -> int:
        return len(self.topic)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TopicPartitions) and self.pairs() == other.pairs()

    def __hash__(self) -> int:
        return hash(tuple(self.pairs()))


NO_PARTITIONS = TopicPartitions.of(())


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic as the metadata of the cluster shows it.

    Attributes:
        name: the topic's name; for the assignors of the group coordinator its id (22 characters of base64url).
        partitions: how many it has. To a client 0 is a topic without metadata, which it leaves out.
        racks: the rack of each replica of each partition, ``None`` for a replica without one; ``None`` where no
            rack is known.
    """

    name: str
    partitions: int
    racks: tuple[tuple[str | None, ...], ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserData:
    """What an assignor of a client adds to the member's subscription.

    Attributes:
        generation: when the member got what it names; ``None`` in the oldest format, which has no generation.
        partitions: what it had (``sticky`` only).
    """

    generation: int | None = None
    partitions: TopicPartitions = NO_PARTITIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A member of a group and its subscription.

    Attributes:
        member_id: the id that the coordinator knows it by.
        topics: what it subscribes to, in the order it says them.
        instance_id: ``group.instance.id`` of a static member.
        rack: ``client.rack``; an empty one counts as none.
        owned: what it holds: the partitions in its subscription, or its target assignment at the coordinator.
        generation: when it got :attr:`owned`; ``None`` (or below 0) in the oldest formats.
        user_data: what its assignor adds.
        threads: how many threads read each of :attr:`topics`; for the assignors of the old Scala consumer only,
            where ``None`` is one each.
    """

    member_id: str
    topics: tuple[str, ...]
    instance_id: str | None = None
    rack: str | None = None
    owned: TopicPartitions = NO_PARTITIONS
    generation: int | None = None
    user_data: UserData | None = None
    threads: tuple[int, ...] | None = None

    @property
    def known_generation(self) -> int:
        """The generation, -1 for none."""
        return -1 if self.generation is None else max(-1, self.generation)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One assignment to be made.

    Attributes:
        topics: the topics of the cluster, at least those that members subscribe to.
        members: in the order in which Kafka comes to know them. Ids are unique.
        assignable: the partitions that may be assigned, ``None`` for all; share groups only.
    """

    topics: tuple[Topic, ...]
    members: tuple[Member, ...]
    assignable: frozenset[TopicPartition] | None = None
    _by_name: dict[str, Topic] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {topic.name: topic for topic in self.topics})

    def partition_count(self, topic: str) -> int | None:
        """Return how many partitions a topic has, ``None`` if it is not known."""
        found = self._by_name.get(topic)
        return None if found is None else found.partitions

    def topic(self, name: str) -> Topic:
        """Return a topic by its name; KeyError if it is not known."""
        return self._by_name[name]


def concatenated(
    lists: Sequence[TopicPartitions], table: dict[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Put lists behind one another.

    Returns:
        int64[N] each: the position in ``table`` (-1 for a topic that is not in it) and the partition number.
    """
    filled = [part for part in lists if len(part.topic)]
    if not filled:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    tables = {id(part.topics): part.topics for part in filled}
    wanted = {key: np.array([table.get(name, -1) for name in names], dtype=np.int64) for key, names in tables.items()}
    if len(wanted) == 1:
        topic = next(iter(wanted.values()))[np.concatenate([part.topic for part in filled])]
    else:
        topic = np.concatenate([wanted[id(part.topics)][part.topic] for part in filled])
    return topic, np.concatenate([part.partition for part in filled]).astype(np.int64)
