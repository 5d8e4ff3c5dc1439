"""What an assignor is told: the topics and the members of a group, with what each remembers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kafka_capacity.kafka.arrays import Int32s, Ints
from kafka_capacity.kafka.cluster.release import KAFKA_4_3, KafkaRelease

TopicPartition = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TopicPartitions:
    """A list of partitions in an order that matters, as two arrays over a table of topics.

    >>> owned = TopicPartitions.of([("orders", 1), ("audit", 0), ("orders", 0)])
    >>> owned.topics, owned.topic.tolist(), owned.pairs()
    (('orders', 'audit'), [0, 1, 0], [('orders', 1), ('audit', 0), ('orders', 0)])
    """

    topics: tuple[str, ...]  # names (or ids) that `topic` points into; many lists may share one table
    topic: Int32s  # int32[N], position in `topics`
    partition: Int32s  # int32[N], number within the topic

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
    """A topic as the metadata of the cluster shows it."""

    name: str  # the topic's name; for the assignors of the group coordinator its id (22 characters of base64url)
    partitions: int  # how many it has. To a client 0 is a topic without metadata, which it leaves out.
    # the rack of each replica of each partition, `None` for a replica without one; `None` where no rack is known
    racks: tuple[tuple[str | None, ...], ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserData:
    """What an assignor of a client adds to the member's subscription: what that member remembers."""

    # when the member got what it names; `None` in the oldest format, which has no generation
    generation: int | None = None
    partitions: TopicPartitions = NO_PARTITIONS  # what it had (`sticky` only)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A member of a group and its subscription."""

    member_id: str  # the id that the coordinator knows it by
    topics: tuple[str, ...]  # what it subscribes to, in the order it says them
    instance_id: str | None = None  # `group.instance.id` of a static member
    rack: str | None = None  # `client.rack`; an empty one counts as none
    # what it holds: the partitions in its subscription, or its target assignment at the coordinator
    owned: TopicPartitions = NO_PARTITIONS
    generation: int | None = None  # when it got `owned`; `None` (or below 0) in the oldest formats
    user_data: UserData | None = None  # what its assignor adds
    # streams groups only, whose tasks are partitions of subtopologies: the JVM that the member is a thread of, and the
    # tasks of which it has a standby
    process_id: str | None = None
    standby: tuple[TopicPartition, ...] = ()

    @property
    def known_generation(self) -> int:
        """The generation, -1 for none."""
        return -1 if self.generation is None else max(-1, self.generation)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsTopology:
    """What a streams application (KIP-1071) runs: subtopologies, each with a task for every partition it reads."""

    sources: Mapping[str, tuple[str, ...]]  # by subtopology, the topics that it reads
    # by subtopology that keeps state, the bytes of it that each task restores: its changelogs. NaN where not known
    state_bytes: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    standby_replicas: int = 0  # `streams.num.standby.replicas` of the group
    release: KafkaRelease = KAFKA_4_3  # that the brokers run


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One assignment to be made."""

    topics: tuple[Topic, ...]  # the topics of the cluster, at least those that members subscribe to
    members: tuple[Member, ...]  # in the order in which Kafka comes to know them. Ids are unique.
    streams: StreamsTopology | None = None  # of a streams group, whose `topics` are subtopologies
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


def concatenated(lists: Sequence[TopicPartitions], table: dict[str, int]) -> tuple[Ints, Ints]:
    """Put lists behind one another: int64[N] positions in ``table``, -1 for topics not in it, and partition numbers."""
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


def known_rows(lists: Sequence[TopicPartitions], table: dict[str, int]) -> tuple[Ints, Ints, Ints]:
    """Do as :func:`concatenated` without topics not in ``table``: int64[N] each, which list, topic and partition."""
    topic, partition = concatenated(lists, table)
    place = np.repeat(np.arange(len(lists)), np.array([len(part) for part in lists], dtype=np.int64))
    known = topic >= 0
    return (place, topic, partition) if known.all() else (place[known], topic[known], partition[known])
