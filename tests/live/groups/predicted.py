"""What :mod:`kafka_capacity.kafka.groups` says an event leads to, for the members that a live group really had."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafka_capacity.kafka.groups import GroupProtocol, Member, Topic, TopicPartition, TopicPartitions, assignor
from kafka_capacity.kafka.groups.life import ClassicLife, ServerLife
from kafka_capacity.kafka.java.hashing import string_hash
from tests.live.groups.live_group import GroupEvent
from tests.live.groups.settings import GroupSettings

_JOINED = re.compile(r"(?:Member|Static member) (\S+) (?:with instance id (\S+) )?joins the consumer group")
_REPLACED = re.compile(r"Created a new member (\S+) to replace the existing member ([^\s.]+)")
_GONE = re.compile(r"(?:Member|Static member) (\S+) (?:with instance id \S+ )?(?:left the consumer group|fenced from)")
_TARGET = re.compile(r"Computed a new target assignment")


@dataclass(frozen=True, slots=True)
class Expected:
    """What an event should lead to."""

    rebalances: int
    assignment: dict[str, list[TopicPartition]]


class PredictedClassic:
    """A classic group beside the live one. Tell it every event, from the first member on."""

    def __init__(self, settings: GroupSettings, partitions: int) -> None:
        self._settings = settings
        self._life = ClassicLife(assignor(settings.assignor, GroupProtocol.CLASSIC))
        self._topics = (Topic(name=settings.topic, partitions=partitions),)

    def expect(self, event: GroupEvent) -> Expected:
        """Describe what the event should have led to."""
        rounds = 0
        for seats in self._joins(event):
            rounds += len(self._life.rebalance(self._topics, [self._member(event, seat) for seat in seats]))
        held = {seat: sorted(self._life.held(name)) for seat, name in event.members_after.items()}
        return Expected(rounds, held)

    def _joins(self, event: GroupEvent) -> Iterator[list[str]]:
        """Return the sets of members that rebalance, one after the other.

        A member that is restarted leaves and joins: two rebalances, or one where it is back before the others have
        noticed. That is a matter of time and read from the live group. A static one takes its own place again.
        """
        after = sorted(event.members_after)
        if event.event == "restart" and event.is_static:
            old, new = (members[event.seat] for members in (event.members_before, event.members_after))
            self._life.remember(new, self._life.held(old))
            return
        if event.event == "restart" and event.generation_sizes[0] < len(after):
            yield [seat for seat in after if seat != event.seat]
        yield after

    def _member(self, event: GroupEvent, seat: str) -> Member:
        instance_id = seat if event.is_static else None
        return Member(member_id=event.members_after[seat], topics=(self._settings.topic,), instance_id=instance_id)


_FIBONACCI = -7046029254386353131
_MAX_FULL = 0.75


def timeline_order(names: Sequence[str]) -> list[str]:
    """Sort names as the coordinator's table of members lists them (``TimelineHashMap``, ``BaseHashTable`` 4.3.1).

    Which member comes first matters where two of them fall into one bucket of the assignor's own map. Slots are the
    highest bits of the hash times a constant; of one slot the name that came last is listed first.

    >>> timeline_order(["094MEumpTt6DaO0jTLuzfg", "bk6pYJggQyGMSydCTVBCqg", "UZcSq6gJTNS9MakXul5RSg"])
    ['bk6pYJggQyGMSydCTVBCqg', 'UZcSq6gJTNS9MakXul5RSg', '094MEumpTt6DaO0jTLuzfg']
    """
    capacity = 2
    while len(names) > capacity * _MAX_FULL:
        capacity *= 2
    shift = 65 - capacity.bit_length()

    def slot(name: str) -> int:
        code = string_hash(name) & 0xFFFFFFFF
        signed = code - (1 << 32) if code >= 1 << 31 else code
        return ((signed * _FIBONACCI) & 0xFFFFFFFFFFFFFFFF) >> shift

    return sorted(reversed(names), key=slot)


class PredictedConsumer:
    """A group of the consumer protocol beside the live one. Tell it every event, from the first member on.

    The coordinator makes a target when it is told to, not at every change: its log says for which members.
    """

    def __init__(self, settings: GroupSettings, partitions: int, topic_id: str) -> None:
        self._topic = settings.topic
        self._life = ServerLife(assignor(settings.assignor, GroupProtocol.CONSUMER))
        self._topics = (Topic(name=topic_id, partitions=partitions),)
        self._members: list[str] = []
        self._instances: dict[str, str | None] = {}
        self._target: dict[str, TopicPartitions] = {}

    def expect(self, event: GroupEvent) -> Expected:
        """Describe what the event should have led to."""
        targets = 0
        for _, text in event.coordinator:
            if replaced := _REPLACED.search(text):
                new, old = replaced.groups()
                self._members = [new if name == old else name for name in self._members]
                self._target[new] = self._target[old]
                self._instances[new] = self._instances[old]
                self._life.remember(new, self._target[new])
            elif joined := _JOINED.search(text):
                self._members.append(joined[1])
                self._instances[joined[1]] = joined[2]
            elif gone := _GONE.search(text):
                self._members.remove(gone[1])
            elif _TARGET.search(text):
                listed = list(map(self._member, timeline_order(self._members)))
                self._target = self._life.assign(self._topics, listed).parts()
                targets += 1
        held = {
            seat: sorted((self._topic, number) for _, number in self._target[name])
            for seat, name in event.members_after.items()
        }
        return Expected(targets, held)

    def _member(self, member_id: str) -> Member:
        topics = (self._topics[0].name,)
        return Member(member_id=member_id, topics=topics, instance_id=self._instances[member_id])


def predicted(settings: GroupSettings, partitions: int, topic_id: str) -> PredictedClassic | PredictedConsumer:
    """Begin a prediction for a group that has no member yet."""
    if settings.protocol is GroupProtocol.CLASSIC:
        return PredictedClassic(settings, partitions)
    return PredictedConsumer(settings, partitions, topic_id)
