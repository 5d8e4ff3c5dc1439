"""Streams groups that have more members than there is to run, or ask for more standbys than processes can take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kafka_capacity.health.cluster_view import ClusterView
from kafka_capacity.health.problem import Code, Figure, Problem, serious, some, warning
from kafka_capacity.kafka.cluster.release import KafkaRelease
from kafka_capacity.kafka.cluster.snapshot import STREAMS_TOPICS, Group, Snapshot
from kafka_capacity.kafka.groups import model
from kafka_capacity.kafka.groups.sticky_tasks import assign_streams, placed_standbys
from kafka_capacity.text import plural


def check_groups(view: ClusterView) -> Iterator[Problem]:
    """Look at streams groups whose subtopologies are known: who has neither a task nor a standby does nothing."""
    counts = view.snapshot.partitions.counts()
    for group in view.snapshot.groups:
        tasks = {one.name: _tasks(one.topics, counts) for one in group.subtopologies}
        # Where its topics are not in the inventory, nobody knows what there is to run.
        if group.members and any(tasks.values()):
            yield from _streams(group, tasks, view.snapshot.release)


def _tasks(topics: Sequence[str], counts: Mapping[str, int]) -> int:
    return max((counts.get(topic, 0) for topic in topics), default=0)


def expansion_problems(snapshot: Snapshot, wanted: Mapping[str, int]) -> tuple[Problem, ...]:
    """Name the applications of Kafka Streams that stop when the topics that they read get these partition counts.

    A topic of its own, changelog or repartition, that does not have the partitions that the topology asks for is
    refused (``InternalTopicManager`` of the group coordinator; before KIP-1071, ``InternalTopicManager`` of Streams).
    """
    return tuple(
        _stopped(group, grown, own, is_sure=is_sure) for group, grown, own, is_sure in _stopped_groups(snapshot, wanted)
    )


def stopped_applications(snapshot: Snapshot, wanted: Mapping[str, int]) -> dict[str, dict[str, bool]]:
    """Return whom :func:`expansion_problems` names, by topic and group id, and whether it is sure that they stop."""
    found: dict[str, dict[str, bool]] = {}
    for group, grown, _, is_sure in _stopped_groups(snapshot, wanted):
        for topic in grown:
            found.setdefault(topic, {})[group.group_id] = is_sure
    return found


def _stopped_groups(
    snapshot: Snapshot, wanted: Mapping[str, int]
) -> Iterator[tuple[Group, list[str], dict[str, int | None], bool]]:
    """Yield who stops, with which of its topics grow, its own that keep their partitions, and whether it is sure."""
    counts = snapshot.partitions.counts()
    grown = {topic: count for topic, count in wanted.items() if count > counts.get(topic, count)}
    for group in snapshot.groups if grown else ():
        topics = {topic for topic in _read_by(group) if topic in grown}
        own, is_sure = _own_topics(group, counts, {**counts, **{topic: grown[topic] for topic in topics}})
        if topics and own:
            yield group, sorted(topics), {topic: counts.get(topic) for topic in own}, is_sure


def _read_by(group: Group) -> list[str]:
    sources = [one.topics for one in group.subtopologies] or [one.subscribed for one in group.members]
    return sorted({topic for topics in sources for topic in topics})


def _own_topics(group: Group, before: Mapping[str, int], after: Mapping[str, int]) -> tuple[list[str], bool]:
    """Name the topics of an application that would have too few partitions, and say whether that is sure.

    Without its topology only their names tell them, and not which of them belong to the topics that grow.
    """
    changed = [one for one in group.subtopologies if _tasks(one.topics, before) != _tasks(one.topics, after)]
    if group.subtopologies and not changed:
        return [], False
    changelogs = {name for one in changed for name in one.changelogs}
    named = _read_by(group) if group.subtopologies else [one for one in before if one.startswith(f"{group.group_id}-")]
    own = {topic for topic in named if topic.endswith(STREAMS_TOPICS) and before.get(topic) == after.get(topic)}
    return sorted(changelogs | own), bool(changelogs)


def _stopped(group: Group, grown: Sequence[str], own: Mapping[str, int | None], *, is_sure: bool) -> Problem:
    named = [topic if count is None else f"{topic} ({count:,})" for topic, count in own.items()]
    message = (
        f"the Kafka Streams application {group.group_id} reads {some(grown)}, and its own topics keep their "
        f"partitions: {some(named)}. Kafka refuses a topology whose topics do not match, so that no member gets a task "
        f"and the application {'stops' if is_sure else 'may stop'}"
    )
    remedy = (
        f"leave {'it as it is' if len(grown) == 1 else 'them as they are'}, or stop the application and reset it with "
        "kafka-streams-application-reset.sh, after which it builds its state again from the start"
    )
    return serious("streams-expansion", f"group {group.group_id}", message, remedy, topics=tuple(grown))


def _streams(group: Group, tasks: Mapping[str, int], release: KafkaRelease) -> Iterator[Problem]:
    active = sum(tasks.values())
    stateful = [one.name for one in group.subtopologies if one.changelogs]
    with_state = sum(tasks[name] for name in stateful)
    where, name, members = f"group {group.group_id}", f"streams group {group.group_id}", len(group.members)
    processes = len({member.process_id or member.member_id for member in group.members})
    wanted = group.num_standby_replicas or 0
    placed = placed_standbys(wanted, processes)
    streams = model.StreamsTopology(
        sources={}, state_bytes=dict.fromkeys(stateful, ()), standby_replicas=wanted, release=release
    )
    fresh = model.Group(
        topics=tuple(model.Topic(name=one, partitions=count) for one, count in tasks.items()),
        members=tuple(
            model.Member(member_id=one.member_id, topics=(), process_id=one.process_id) for one in group.members
        ),
        streams=streams,
    )
    assigned = assign_streams(fresh)
    idle = sum(not part and name not in assigned.standby for name, part in assigned.lists().items())
    standbys = sum(map(len, assigned.standby.values()))
    if idle:
        # A process with many threads may have more than there is to do, while others have too few for its standbys.
        is_uneven = members <= active + with_state * placed
        beside = f" and {plural(standbys, 'standby')}" if standbys else ""
        # More partitions stop an application with state, whose changelogs keep theirs.
        or_more = "" if with_state else ", or give the topics more partitions"
        message = (
            f"{name} has {plural(members, 'member')} for {plural(active, 'task')}{beside}: "
            f"{idle:,} of them {'has' if idle == 1 else 'have'} nothing to do"
        )
        remedy = f"run at most {plural(active + standbys, 'thread')}{or_more}"
        if is_uneven:
            remedy = "run the same number of threads in each process"
        figure = Figure(float(members), float(members - idle), "members")
        yield warning(Code.STREAMS_IDLE_MEMBERS, where, message, remedy, figure=figure)
    if with_state and placed < wanted:
        message = (
            f"{name} asks for {plural(wanted, 'standby')} of each stateful task but runs in "
            f"{plural(processes, 'process')}: with one per process only {placed:,} can be placed"
        )
        remedy = f"run it in at least {wanted + 1:,} processes, or set streams.num.standby.replicas={placed}"
        figure = Figure(float(wanted), float(placed), "standbys")
        yield warning(Code.STREAMS_STANDBYS, where, message, remedy, figure=figure)
