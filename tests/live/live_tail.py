"""A leader killed while its followers lag: which acknowledged records are gone, beside what was predicted.

Followers that are frozen stay in the ISR until ``replica.lag.time.max.ms`` has passed (30 s by default), and fetch
nothing. A leader that dies meanwhile is followed by the first replica in sync, however short its log is.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import KafkaTimeoutError
from kafka.producer.future import FutureRecordMetadata

from kafka_capacity.kafka.controller.failing import ElectionRules
from kafka_capacity.kafka.durability import Acks, Bounds, Configuration, FailureKind, Outcome, explore
from kafka_capacity.kafka.durability.traces import trace
from tests.live.cluster import START_SECONDS, KafkaCluster
from tests.live.experiments import Mistimed, again_where_mistimed
from tests.live.live_failures import Fate, Key, LiveFailures, LiveTopic, predicted_fates

TAIL_RECORDS = 100
"""How many records a partition gets in each of three parts: all in sync, one follower frozen, both frozen."""
FLUSH_SECONDS = 8.0
"""The followers must be back before their sessions end, which here last :data:`SESSION`."""
SESSION = {"broker.session.timeout.ms": 12000}
_LOOK_SECONDS = 0.5
"""A follower that fetches waits as long for records at most (``replica.fetch.wait.max.ms``)."""
_BATCH = struct.Struct(">qiibIhi")
"""Base offset, length, leader epoch, magic, checksum, attributes, last offset delta (``DefaultRecordBatch``)."""
_BATCH_OVERHEAD_BYTES = 12
"""Base offset and length themselves, which the length does not count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """One partition whose leader was killed.

    Attributes:
        topic, partition: which one.
        acks: that its producer waited for.
        replicas: brokers, the leader first.
        acknowledged: offsets of the records that were.
        ends: the log end offset of each follower once the leader was dead, read from its disk before the election.
        leader: who leads afterwards.
        predicted_leader: who was to.
        lost: offsets of acknowledged records that are not there any more.
    """

    topic: str
    partition: int
    acks: int | str
    replicas: tuple[int, ...]
    acknowledged: frozenset[int]
    ends: Mapping[int, int]
    leader: int
    predicted_leader: int
    lost: frozenset[int]

    @property
    def key(self) -> Key:
        return (self.topic, self.partition)

    @property
    def predicted_lost(self) -> frozenset[int]:
        """Return what the rule says: all that was acknowledged beyond the log end of the follower that is to lead."""
        return frozenset(offset for offset in self.acknowledged if offset >= self.ends[self.predicted_leader])

    @property
    def is_as_predicted(self) -> bool:
        return self.leader == self.predicted_leader and self.lost == self.predicted_lost


def tail_topics(leader: int, *followers: int) -> list[LiveTopic]:
    """Return a topic for ``acks=1`` and one for ``acks=all``, all led by one broker, followers in every order."""
    replicas = (
        tuple((leader, one) for one in followers)
        if len(followers) == 1
        else ((leader, *followers), (leader, *reversed(followers)))
    )
    return [
        LiveTopic(name=f"tail-of-{leader}-acks-{acks}", replicas=replicas, min_isr=1, is_unclean_allowed=False)
        for acks in ("1", "all")
    ]


def kill_with_tail(
    cluster: KafkaCluster, leader: int, followers: Sequence[int], rules: ElectionRules = ElectionRules.KRAFT
) -> list[Tail]:
    """Write, freeze one follower after another and write on, kill the leader, thaw, and see who has what.

    The topics are those of :func:`tail_topics`. The leader is left dead. Where the machine was too slow for the
    followers to keep their sessions, or fast enough for one to get all in one answer that was on its way, the leader is
    started again and it is all done once more.
    """
    live = LiveFailures(cluster, tail_topics(leader, *followers), rules)

    def recover() -> None:
        cluster.wait_until_fenced(leader)
        live.recover(leader)

    return again_where_mistimed(lambda: _killed_with_tail(live, leader, followers), recover)


def _killed_with_tail(live: LiveFailures, leader: int, followers: Sequence[int]) -> list[Tail]:
    cluster, topics, rules = live.cluster, live.topics, live.rules
    expected = predicted_fates(live.snapshot(), [[leader]], rules)
    producers: dict[str, KafkaProducer] = {topic.name: _producer(cluster, topic.name) for topic in topics}
    try:
        sent = _send(producers, topics)
        for producer in producers.values():
            producer.flush(START_SECONDS)
        since = time.time()
        is_flushed = True
        for follower in followers:
            cluster.freeze(follower)
            # A fetch that the follower had sent is answered by now, with nothing.
            time.sleep(2 * _LOOK_SECONDS)
            sent += _send(producers, topics)
            # What waits for all replicas is never answered.
            is_flushed = is_flushed and _is_flushed(producers[topics[0].name])
        cluster.kill_broker(leader)
        for follower in followers:
            cluster.thaw(follower)
        if not is_flushed:
            raise Mistimed(f"the leader did not answer within {FLUSH_SECONDS} s")
        acknowledged = {
            key: frozenset(_offset(future) for future, of in sent if of == key and _is_acknowledged(future))
            for key in live.fates()
        }
    finally:
        for producer in producers.values():
            producer.close(timeout=0)
    # An answer that was on its way to a frozen follower is appended once it is thawed.
    ends = _settled_ends(cluster, followers, acknowledged)
    if not all(fate.leader == leader for fate in live.fates().values()):
        raise Mistimed("the election came before ends were read")
    cluster.wait_until_fenced(leader)
    after = live.settled_fates(lambda seen: all(fate.leader != leader for fate in seen.values()))
    fenced = [broker for at, broker in live.fencings() if at >= since]
    if fenced != [leader]:
        raise Mistimed(f"killed {leader}, and fenced were {fenced}")
    for key, fate in after.items():
        if fate.leader in followers and log_end(cluster, fate.leader, key) != ends[key][fate.leader]:
            raise Mistimed(f"broker {fate.leader} appended to {key} after its end had been read")
        if _acks(key[0]) == 1 and max(ends[key].values()) > max(acknowledged[key]):
            raise Mistimed(f"all of {key} was on its way to a follower before that was frozen")
    return [_tail(cluster, topic, number, acknowledged, ends, after, expected) for topic, number in _listed(topics)]


def _is_flushed(producer: KafkaProducer) -> bool:
    try:
        producer.flush(FLUSH_SECONDS)
    except KafkaTimeoutError:
        return False
    return True


def _settled_ends(cluster: KafkaCluster, followers: Sequence[int], keys: Iterable[Key]) -> dict[Key, dict[int, int]]:
    """Read log ends from the followers' disks until they stay as they are."""
    seen: list[dict[Key, dict[int, int]]] = []
    while len(seen) < 2 or seen[-1] != seen[-2]:
        time.sleep(_LOOK_SECONDS)
        seen.append({key: {each: log_end(cluster, each, key) for each in followers} for key in keys})
    return seen[-1]


def _tail(
    cluster: KafkaCluster,
    topic: LiveTopic,
    number: int,
    acknowledged: Mapping[Key, frozenset[int]],
    ends: Mapping[Key, Mapping[int, int]],
    after: Mapping[Key, Fate],
    expected: Mapping[Key, Fate],
) -> Tail:
    key = (topic.name, number)
    return Tail(
        topic=topic.name,
        partition=number,
        acks=_acks(topic.name),
        replicas=topic.replicas[number],
        acknowledged=acknowledged[key],
        ends=ends[key],
        leader=after[key].leader,
        predicted_leader=expected[key].leader,
        lost=acknowledged[key] - readable(cluster, key),
    )


def explored_loss(acks: int | str, replication_factor: int) -> list[str] | None:
    """Ask the explorer how one crash may lose an acknowledged record: a shortest way, ``None`` for never."""
    configuration = Configuration(acks=Acks(str(acks)), replication_factor=replication_factor)
    (explored,) = explore([configuration], Bounds(records=2, failures=1, kinds=(FailureKind.CRASH,)))
    if Outcome.LOST_ACKNOWLEDGED not in explored.fewest_failures:
        return None
    return trace(explored, Outcome.LOST_ACKNOWLEDGED)


def readable(cluster: KafkaCluster, key: Key) -> frozenset[int]:
    """Read a partition from its beginning; give the offsets."""
    partition = TopicPartition(*key)
    consumer = KafkaConsumer(
        bootstrap_servers=cluster.bootstrap_servers().split(","), enable_auto_commit=False, auto_offset_reset="earliest"
    )
    try:
        consumer.assign([partition])
        end = consumer.end_offsets([partition])[partition]
        consumer.seek_to_beginning(partition)
        found: set[int] = set()
        deadline = time.monotonic() + START_SECONDS
        while consumer.position(partition) < end and time.monotonic() < deadline:
            for records in consumer.poll(timeout_ms=500).values():
                found.update(record.offset for record in records)
        assert consumer.position(partition) >= end, f"{key} could not be read to its end, {end}"
        return frozenset(found)
    finally:
        consumer.close(autocommit=False)


def log_end(cluster: KafkaCluster, broker: int, key: Key) -> int:
    """Read the log end offset of a replica from its last segment."""
    segments = sorted((cluster.nodes[broker].folder / "data0" / f"{key[0]}-{key[1]}").glob("*.log"))
    return segment_end(segments[-1])


def segment_end(segment: Path) -> int:
    """Return the offset after the last whole batch of a segment."""
    content, place, end = segment.read_bytes(), 0, int(segment.stem)
    while place + _BATCH.size <= len(content):
        base, length, _, _, _, _, last = _BATCH.unpack_from(content, place)
        if place + _BATCH_OVERHEAD_BYTES + length > len(content):
            break
        place, end = place + _BATCH_OVERHEAD_BYTES + length, base + last + 1
    return end


def _acks(topic: str) -> int | str:
    return 1 if topic.endswith("-1") else "all"


def _producer(cluster: KafkaCluster, topic: str) -> KafkaProducer:
    servers = cluster.bootstrap_servers().split(",")
    return KafkaProducer(bootstrap_servers=servers, acks=_acks(topic), retries=0, enable_idempotence=False)


def _listed(topics: Sequence[LiveTopic]) -> list[tuple[LiveTopic, int]]:
    return [(topic, number) for topic in topics for number in range(len(topic.replicas))]


def _send(
    producers: Mapping[str, KafkaProducer], topics: Sequence[LiveTopic]
) -> list[tuple[FutureRecordMetadata, Key]]:
    return [
        (producers[topic.name].send(topic.name, b"a record", partition=number), (topic.name, number))
        for topic, number in _listed(topics)
        for _ in range(TAIL_RECORDS)
    ]


def _is_acknowledged(future: Any) -> bool:
    return bool(future.is_done and future.succeeded())


def _offset(future: Any) -> int:
    return int(future.value.offset)
