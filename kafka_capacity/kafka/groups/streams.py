"""``sticky`` of streams groups (KIP-1071), whose topics here are subtopologies and whose partitions are tasks."""

from __future__ import annotations

import dataclasses

from kafka_capacity.kafka.groups.assignment import Assignment
from kafka_capacity.kafka.groups.model import Group, StreamsTopology
from kafka_capacity.kafka.groups.registry import GroupProtocol, register
from kafka_capacity.kafka.groups.sticky_tasks import Subtopology, TaskMember, assign_tasks


def placed_standbys(standby_replicas: int, processes: int) -> int:
    """Return how many standbys a stateful task gets: of each process one at most, and none of that which runs it.

    >>> placed_standbys(2, processes=2), placed_standbys(1, processes=4)
    (1, 1)
    """
    return max(0, min(standby_replicas, processes - 1))


@register("sticky", GroupProtocol.STREAMS)
def assign_streams(group: Group) -> Assignment:
    """Assign active tasks and standbys; a member that tells no process is one of its own."""
    streams = group.streams or StreamsTopology(sources={})
    assigned = assign_tasks(
        [
            Subtopology(
                subtopology_id=topic.name, partitions=topic.partitions, is_stateful=topic.name in streams.state_bytes
            )
            for topic in group.topics
        ],
        [
            TaskMember(
                member_id=member.member_id,
                process_id=member.process_id or member.member_id,
                active=tuple(member.owned),
                standby=member.standby,
            )
            for member in group.members
        ],
        standby_replicas=streams.standby_replicas,
        release=streams.release,
    )
    answer = Assignment.of(group, {name: tasks.active for name, tasks in assigned.items()})
    return dataclasses.replace(
        answer, standby={name: tuple(tasks.standby) for name, tasks in assigned.items() if tasks.standby}
    )
