"""Topics that may be on some brokers only.

A pin names a topic, or several by a pattern such as ``payments.*``, and the brokers and racks that its replicas may be
on. The name of a topic goes before any pattern; a topic that several patterns match is an error, since nobody could say
which of them counts.

    >>> pins = (Pin(topics="pay*", racks=("a",)), Pin(topics="pay-audit", broker_ids=(1, 2)))
    >>> {topic: pin.topics for topic, pin in pins_by_topic(pins, ["orders", "pay", "pay-audit"]).items()}
    {'pay': 'pay*', 'pay-audit': 'pay-audit'}
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.arrays import Flags, Int32s
from kafka_capacity.kafka.cluster.assignment import Partitions
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.placement.problem import PlacementProblem, allowed_brokers
from kafka_capacity.text.wording import few_names

RACK_PREFIX = "rack:"  # what people write before the name of a rack, so that a rack called 1 is not broker 1
_WILD = frozenset("*?[")
_MAX_NAMES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """Where the replicas of some topics may be."""

    topics: str  # the name of a topic, or a pattern with `*`, `?` and `[…]`, none of which a name can have
    broker_ids: tuple[int, ...] = ()  # brokers that they may be on
    racks: tuple[str, ...] = ()  # racks all of whose brokers they may be on

    @property
    def is_pattern(self) -> bool:
        """Whether it may match several topics."""
        return not _WILD.isdisjoint(self.topics)

    def brokers_of(self, target: Brokers) -> tuple[int, ...]:
        """List the brokers of a target that it allows."""
        racks, ids = set(self.racks), set(self.broker_ids)
        return tuple(b for b, rack in zip(target.ids.tolist(), target.racks, strict=True) if b in ids or rack in racks)


def pins_of(asked: Mapping[str, Iterable[int | str]]) -> tuple[Pin, ...]:
    """Read pins as people write them: by topic or pattern, broker ids and ``rack:NAME``; sorted by topic."""
    pins = []
    for topics in sorted(asked):
        places = list(asked[topics])
        ids = sorted({place for place in places if isinstance(place, int)})
        racks = sorted({place.removeprefix(RACK_PREFIX) for place in places if isinstance(place, str)})
        pins.append(Pin(topics=topics, broker_ids=tuple(ids), racks=tuple(racks)))
    return tuple(pins)


def pins_by_topic(pins: Sequence[Pin], topics: Iterable[str]) -> dict[str, Pin]:
    """Return the pin of each topic that has one.

    Raises:
        RequestError: several patterns match one topic.
    """
    exact = {pin.topics: pin for pin in pins if not pin.is_pattern}
    patterns = [pin for pin in pins if pin.is_pattern]
    found = {}
    for topic in topics:
        if topic in exact:
            found[topic] = exact[topic]
            continue
        matching = [pin for pin in patterns if fnmatchcase(topic, pin.topics)]
        if len(matching) > 1:
            names = " and ".join(repr(pin.topics) for pin in matching[:2])
            raise RequestError(f"pinned_topics: topic {topic!r} is matched by {names}; pin it by its own name as well")
        if matching:
            found[topic] = matching[0]
    return found


def check_pins(pins: Sequence[Pin], topics: Collection[str], targets: Sequence[Brokers]) -> None:
    """Refuse pins of topics, to brokers and to racks that there are not; a broker that only some targets have is fine.

    Raises:
        RequestError: one line for each mistake.
    """
    ids = {broker for target in targets for broker in target.ids.tolist()}
    racks = {rack for target in targets for rack in target.rack_names()}
    complaints = []
    matched = {pin.topics for pin in pins_by_topic(pins, topics).values()}
    for pin in pins:
        if pin.topics not in matched and not any(fnmatchcase(topic, pin.topics) for topic in topics):
            what = "matches no topic" if pin.is_pattern else "is not a topic"
            complaints.append(f"pinned_topics: {pin.topics!r} {what} of the cluster; correct the name or leave it out")
        for broker in sorted(set(pin.broker_ids) - ids):
            complaints.append(
                f"pinned_topics: {pin.topics!r} is pinned to broker {broker}, which no option of this plan has "
                f"(brokers: {few_names(sorted(ids), _MAX_NAMES) or 'none'})"
            )
        for rack in sorted(set(pin.racks) - racks):
            complaints.append(
                f"pinned_topics: {pin.topics!r} is pinned to rack {rack!r}, which no option of this plan has "
                f"(racks: {few_names(sorted(racks), _MAX_NAMES) or 'none'})"
            )
    if complaints:
        raise RequestError("\n".join(complaints))


def pinned_brokers(pins: Sequence[Pin], partitions: Partitions, target: Brokers) -> Flags | None:
    """Return bool[T, B], which brokers of the target each topic may be on; ``None`` where nothing is pinned."""
    by_topic = pins_by_topic(pins, partitions.topics) if pins else {}
    return allowed_brokers(partitions, target, {topic: pin.brokers_of(target) for topic, pin in by_topic.items()})


def partitions_off_pins(problem: PlacementProblem, after: Int32s) -> int:
    """Count the partitions with a replica on a broker that its topic may not be on."""
    if problem.allowed_brokers is None or not after.size:
        return 0
    place = problem.target.index_of(after)
    allowed = problem.allowed_brokers[problem.partitions.topic[:, None], place]
    return int(((after >= 0) & ~allowed).any(axis=1).sum())
