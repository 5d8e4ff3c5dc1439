"""Which planned events count for a cluster, and which topics and partitions they are about."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafka_capacity.demand.calendar_days import days_between, days_later
from kafka_capacity.demand.events import Launch, PlannedEvent, RetentionChange
from kafka_capacity.demand.outlook import AddedTopic
from kafka_capacity.demand.topic_classes import matching
from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.cluster.snapshot import Snapshot
from kafka_capacity.text.wording import few_names


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicEvent:
    """A launch or a change of retention, and the places of the topics that it is about."""

    event: Launch | RetentionChange
    topics: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedEvents:
    """The events that count."""

    of_topics: tuple[TopicEvent, ...]  # launches and changes of retention, by their first day, then as given
    added: tuple[AddedTopic, ...]  # topics that do not exist yet, by name
    turns: tuple[str, ...]  # days on which something becomes different, and those before
    notes: tuple[str, ...]  # a sentence for each event that does not count


def planned_events(
    events: Sequence[PlannedEvent], snapshot: Snapshot, *, horizon: str, measured_days: int
) -> PlannedEvents:
    """Choose the events that count up to a horizon, and find their topics.

    Today's load is the mean of ``measured_days`` before the day of the snapshot.

    Raises:
        RequestError: one line for each mistake, with the event, the field, the value and the remedy.
    """
    mistakes: list[str] = []
    of_topics: list[TopicEvent] = []
    added: list[AddedTopic] = []
    notes: list[str] = []
    for index, event in enumerate(events):
        note = _left_out(event, snapshot.ds, horizon, measured_days)
        if note is not None:
            notes.append(f"planned_events.{index} is left out: {note}")
        elif isinstance(event, AddedTopic):
            mistakes += _topic_mistakes(index, event, snapshot, added)
            added.append(event)
        else:
            topics = matching(snapshot.partitions.topics, event.topics)
            mistakes += _pattern_mistakes(index, event, snapshot, topics)
            of_topics.append(TopicEvent(event=event, topics=frozenset(topics)))
    if mistakes:
        raise RequestError("\n".join(mistakes))
    return PlannedEvents(
        of_topics=tuple(sorted(of_topics, key=lambda item: item.event.from_date)),
        added=tuple(sorted(added, key=lambda topic: topic.name)),
        turns=_turns(of_topics, added, snapshot),
        notes=tuple(notes),
    )


def check_event_topics(events: Sequence[PlannedEvent], names: Sequence[str], *, ds: str, horizon: str) -> None:
    """Refuse coming events of topics that there are not, by the names of those that there are: no snapshot is needed.

    Raises:
        RequestError: one line for each, with the event, the field, the value and the remedy.
    """
    coming = ((index, event) for index, event in enumerate(events) if ds < event.from_date <= horizon)
    mistakes = [
        _no_such_topic(index, event, names)
        for index, event in coming
        if not isinstance(event, AddedTopic) and not matching(names, event.topics)
    ]
    if mistakes:
        raise RequestError("\n".join(mistakes))


def _left_out(event: PlannedEvent, ds: str, horizon: str, measured_days: int) -> str | None:
    first = f"its first day, {event.from_date},"
    if event.from_date > ds:
        return f"{first} is after the horizon, {horizon}" if event.from_date > horizon else None
    if not isinstance(event, Launch):
        return f"{first} is not after the day of the inventory, {ds}, which already includes its effect"
    if event.to_date is not None and event.to_date <= ds:
        over = f"its last day, {event.to_date}, is not after the day of the inventory, {ds}"
        if days_between(event.to_date, ds) > measured_days:
            return over
        days = f"the {measured_days} days that today's traffic is measured over"
        return f"{over}; the peaks and means of {days} have it still, and so have sizes until these days are over"
    if event.to_date is None and days_between(event.from_date, ds) >= measured_days:
        days = f"the {measured_days} days that today's traffic is averaged over"
        return f"{first} is before {days}, so the traffic already includes it"
    return None


def _topic_mistakes(index: int, event: AddedTopic, snapshot: Snapshot, added: Sequence[AddedTopic]) -> list[str]:
    field = f"planned_events.{index}.name: {event.name!r} is invalid"
    if event.name in snapshot.partitions.topics:
        return [f"{field}: cluster {snapshot.cluster!r} has this topic; use a launch to change its traffic"]
    if event.name in {topic.name for topic in added}:
        return [f"{field}: another event adds this topic; keep one of the two"]
    return []


def _pattern_mistakes(
    index: int, event: Launch | RetentionChange, snapshot: Snapshot, topics: Sequence[int]
) -> list[str]:
    names = snapshot.partitions.topics
    if not topics:
        return [_no_such_topic(index, event, names)]
    if isinstance(event, Launch):
        return []
    # Refused are topics whose logs do not follow their retention, since nobody could say what becomes of them.
    compacted, kept = snapshot.topics.is_compacted, snapshot.topics.retention_seconds
    purged, endless = ~compacted & (kept == 0), ~compacted & ~np.isfinite(kept)
    reasons = (
        (compacted, "compacted, so their size depends on their keys, not their retention"),
        (purged, "purged today (retention.ms=0), so the effect of another retention cannot be predicted"),
        (endless, "without a known time limit today, so the effect of another one cannot be predicted"),
    )
    return [
        f"planned_events.{index}.topics: {event.topics!r} is invalid: {few_names(found, 3)} "
        f"{'is' if len(found) == 1 else 'are'} {reason}; write a pattern without them"
        for is_refused, reason in reasons
        if (found := [names[topic] for topic in topics if is_refused[topic]])
    ]


def _no_such_topic(index: int, event: Launch | RetentionChange, names: Sequence[str]) -> str:
    near = difflib.get_close_matches(event.topics, names, n=3)
    remedy = f"did you mean {' or '.join(repr(one) for one in near)}?" if near else "write a name, or a start and *"
    return f"planned_events.{index}.topics: {event.topics!r} is invalid: it matches no topic; {remedy}"


def _turns(of_topics: Sequence[TopicEvent], added: Sequence[AddedTopic], snapshot: Snapshot) -> tuple[str, ...]:
    """Return the first day of each change, and the last one before it: between two dates all is a straight line."""
    firsts = {topic.from_date for topic in added}
    for item in of_topics:
        if not (isinstance(item.event, Launch) and item.event.is_measured(snapshot.ds)):
            # What begins on the day of the inventory is not measured yet, and counts from the next day on.
            firsts.add(max(item.event.from_date, days_later(snapshot.ds, 1)))
        if isinstance(item.event, Launch) and item.event.to_date is not None:
            firsts.add(days_later(item.event.to_date, 1))
    return tuple(sorted({*firsts, *(days_later(day, -1) for day in firsts)}))
