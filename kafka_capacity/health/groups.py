"""Streams groups that have more members than there is to run."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_capacity.health.cluster_view import ClusterView
from kafka_capacity.health.problem import Code, Figure, Problem, Severity, counted


def check_groups(view: ClusterView) -> Iterator[Problem]:
    """Look at streams groups whose subtopologies are known: who has neither a task nor a standby does nothing."""
    partitions = view.snapshot.partitions
    slices = dict(zip(partitions.topics, partitions.topic_slices(), strict=True))
    counts = {topic: rows.stop - rows.start for topic, rows in slices.items()}
    for group in view.snapshot.groups:
        known = [(one, max((counts.get(topic, 0) for topic in one.topics), default=0)) for one in group.subtopologies]
        copies = group.num_standby_replicas or 0
        active = sum(tasks for _, tasks in known)
        standbys = sum(tasks * copies for one, tasks in known if one.changelogs)
        members = len(group.members)
        if known and members > active + standbys:
            beside = f" and {counted(standbys, 'standby')}" if standbys else ""
            yield Problem(
                severity=Severity.WARNING,
                code=Code.STREAMS_IDLE_MEMBERS,
                where=f"group {group.group_id}",
                message=(
                    f"streams group {group.group_id} has {counted(members, 'member')} for "
                    f"{counted(active, 'task')}{beside}: {members - active - standbys:,} of them get nothing to do"
                ),
                remedy=f"run {counted(active + standbys, 'thread')} at most, or give the topics more partitions",
                figure=Figure(float(members), float(active + standbys), "members"),
            )
