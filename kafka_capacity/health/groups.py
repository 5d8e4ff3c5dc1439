"""Streams groups that have more members than there is to run, or ask for more standbys than processes can take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_capacity.health.cluster_view import ClusterView
from kafka_capacity.health.problem import Code, Figure, Problem, Severity
from kafka_capacity.kafka.cluster.release import KafkaRelease
from kafka_capacity.kafka.cluster.snapshot import Group
from kafka_capacity.kafka.groups.sticky_tasks import Subtopology as TaskParts
from kafka_capacity.kafka.groups.sticky_tasks import TaskMember, assign_tasks
from kafka_capacity.kafka.groups.streams import placed_standbys
from kafka_capacity.text import plural


def check_groups(view: ClusterView) -> Iterator[Problem]:
    """Look at streams groups whose subtopologies are known: who has neither a task nor a standby does nothing."""
    partitions = view.snapshot.partitions
    slices = dict(zip(partitions.topics, partitions.topic_slices(), strict=True))
    counts = {topic: rows.stop - rows.start for topic, rows in slices.items()}
    for group in view.snapshot.groups:
        known = [(one, max((counts.get(topic, 0) for topic in one.topics), default=0)) for one in group.subtopologies]
        if known and group.members:
            yield from _streams(
                group,
                [
                    TaskParts(subtopology_id=one.name, partitions=tasks, is_stateful=bool(one.changelogs))
                    for one, tasks in known
                ],
                view.snapshot.release,
            )


def _streams(group: Group, parts: Sequence[TaskParts], release: KafkaRelease) -> Iterator[Problem]:
    active = sum(one.partitions for one in parts)
    with_state = sum(one.partitions for one in parts if one.is_stateful)
    where, name, members = f"group {group.group_id}", f"streams group {group.group_id}", len(group.members)
    processes = len({member.process_id or member.member_id for member in group.members})
    wanted = group.num_standby_replicas or 0
    placed = placed_standbys(wanted, processes)
    members_of_tasks = assign_tasks(
        parts,
        [TaskMember(member_id=one.member_id, process_id=one.process_id or one.member_id) for one in group.members],
        standby_replicas=wanted,
        release=release,
    )
    idle = sum(not (one.active or one.standby) for one in members_of_tasks.values())
    standbys = sum(len(one.standby) for one in members_of_tasks.values())
    if idle:
        # A process with many threads may have more than there is to do, while others have too few for its standbys.
        is_uneven = members <= active + with_state * placed
        beside = f" and {plural(standbys, 'standby')}" if standbys else ""
        yield Problem(
            severity=Severity.WARNING,
            code=Code.STREAMS_IDLE_MEMBERS,
            where=where,
            message=(
                f"{name} has {plural(members, 'member')} for {plural(active, 'task')}{beside}: {idle:,} of them have "
                "nothing to do"
            ),
            remedy="run the same number of threads in each process"
            if is_uneven
            else f"run at most {plural(active + standbys, 'thread')}, or give the topics more partitions",
            figure=Figure(float(members), float(members - idle), "members"),
        )
    if with_state and placed < wanted:
        yield Problem(
            severity=Severity.WARNING,
            code=Code.STREAMS_STANDBYS,
            where=where,
            message=(
                f"{name} asks for {plural(wanted, 'standby')} of each stateful task but runs in "
                f"{plural(processes, 'process')}: with one per process only {placed:,} can be placed"
            ),
            remedy=f"run it in at least {wanted + 1:,} processes, or set streams.num.standby.replicas={placed}",
            figure=Figure(float(wanted), float(placed), "standbys"),
        )
