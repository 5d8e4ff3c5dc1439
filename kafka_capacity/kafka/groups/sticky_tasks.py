"""Who runs which task of a streams group (KIP-1071, ``StickyTaskAssignor`` of the group coordinator, 4.3.1 and 4.4.0).

Goals, in this order:
    1. Every task is active at one member.
    2. Stickiness: a task stays where it is active, or goes where it was a standby, as long as that member has fewer
       tasks than its quota (:class:`~kafka_capacity.kafka.groups.processes.Quota`).
    3. Balance: what is left goes to the process with the fewest tasks a member, there to the member with the fewest.
    4. Standbys of stateful tasks, never two copies in one process, in the same way: where the task was active, where it
       was a standby, the least loaded process without it. Where no such process is left, a standby is left out.

Versions:
    Of several members that had a standby of one task the least loaded gets the next. Up to 4.3 nobody does where the
    process of the first of them has the task already; from 4.4 on those processes are passed over. From 4.4 on members
    that report offsets of a task's state on their disks come behind those with a standby, the most advanced first, and
    processes of one bucket of a hash map come the other way round.

Worked example: two processes, the first with two threads, and a standby of each of the two stateful tasks.

>>> members = [TaskMember(member_id=name, process_id=name[:2]) for name in ("p1-a", "p1-b", "p2-a")]
>>> words = Subtopology(subtopology_id="words", partitions=2, is_stateful=True)
>>> for name, tasks in assign_tasks([words], members, standby_replicas=1).items():
...     print(name, tasks.active, tasks.standby)
p1-a [] [('words', 1)]
p1-b [('words', 0)] []
p2-a [('words', 1)] [('words', 0)]
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kafka_capacity.errors import AssignmentError
from kafka_capacity.kafka.cluster.release import KAFKA_4_3, KAFKA_4_4, KafkaRelease
from kafka_capacity.kafka.groups.assignment import Assignment
from kafka_capacity.kafka.groups.model import Group, StreamsTopology
from kafka_capacity.kafka.groups.processes import Process, Quota, Task
from kafka_capacity.kafka.groups.registry import GroupProtocol, register
from kafka_capacity.kafka.java.hash_map import JavaHashMap, put_order
from kafka_capacity.kafka.java.hashing import string_hash, string_hashes, utf16_key
from kafka_capacity.kafka.java.priority_queue import JavaPriorityQueue


def placed_standbys(standby_replicas: int, processes: int) -> int:
    """Return how many standbys a stateful task gets: of each process one at most, and none of that which runs it.

    >>> placed_standbys(2, processes=2), placed_standbys(1, processes=4)
    (1, 1)
    """
    return max(0, min(standby_replicas, processes - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Subtopology:
    """A part of an application's topology that runs as one, and hence a task for each partition that it reads."""

    subtopology_id: str  # its name in the topology
    partitions: int  # of the topic with the most partitions that it reads
    is_stateful: bool  # whether it keeps state, of which there can be standbys


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskMember:
    """A member of a streams group and the tasks it has."""

    member_id: str  # the id that the coordinator knows it by
    process_id: str  # of the JVM that it is a thread of
    active: tuple[Task, ...] = ()
    standby: tuple[Task, ...] = ()
    # how far the state of tasks on its disks is that it does not run, as it reports it: offsets by task. From 4.4 on.
    offsets: Mapping[Task, int] = field(default_factory=dict)


@dataclass(slots=True)
class MemberTasks:
    """The tasks that a member is to have."""

    active: list[Task] = field(default_factory=list)
    standby: list[Task] = field(default_factory=list)


def assign_tasks(
    subtopologies: Sequence[Subtopology],
    members: Iterable[TaskMember],
    *,
    standby_replicas: int = 0,
    release: KafkaRelease = KAFKA_4_3,
) -> dict[str, MemberTasks]:
    """Assign the tasks of a streams group.

    Args:
        subtopologies: what there is to run.
        members: in the order in which Kafka comes to know them. Ids are unique.
        standby_replicas: how many standbys a stateful task is to have (``streams.num.standby.replicas``).
        release: that the brokers run.

    Returns:
        The tasks of each member by its id, sorted.

    Raises:
        AssignmentError: there are tasks and no members.
    """
    listed = list(members)
    tasks = [(each, (each.subtopology_id, number)) for each in subtopologies for number in range(each.partitions)]
    stateful = [task for each, task in tasks if each.is_stateful] if standby_replicas else []
    if tasks and not listed:
        package = "org.apache.kafka.coordinator.group." + ("" if release < KAFKA_4_4 else "api.") + "streams.assignor"
        raise AssignmentError("a streams group without members", kafka_type=f"{package}.TaskAssignorException")
    assigning = _Assigning(listed, len(tasks), len(stateful) * standby_replicas, release)
    assigning.assign_active([task for _, task in tasks])
    assigning.assign_standbys(stateful, standby_replicas)
    for given in assigning.given.values():
        given.active.sort()
        given.standby.sort()
    return assigning.given


@register("sticky", GroupProtocol.STREAMS)
def assign_streams(group: Group) -> Assignment:
    """Assign a streams group whose topics are subtopologies and whose partitions are tasks.

    A member that tells no process is one of its own.
    """
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


class _Assigning:
    """One assignment while it is made."""

    def __init__(self, members: list[TaskMember], tasks: int, standbys: int, release: KafkaRelease) -> None:
        self.given = {member.member_id: MemberTasks() for member in members}
        self._release = release
        self._active_quota = Quota(tasks=tasks, members=len(members))
        self._quota = Quota(tasks=tasks + standbys, members=len(members))
        order = put_order(string_hashes([member.member_id for member in members]))
        in_map = [members[i] for i in order.tolist()]
        self._processes = JavaHashMap[str, Process](string_hash, len(members))
        for member in in_map:
            if release >= KAFKA_4_4:
                self._processes.compute_if_absent(member.process_id, Process)
            elif member.process_id not in self._processes:
                self._processes.put(member.process_id, Process())
            self._processes[member.process_id].counts.put(member.member_id, 0)
        self._was_active = {task: member for member in in_map for task in member.active}
        self._had_state = _holders_of_state(in_map, release)

    def assign_active(self, tasks: list[Task]) -> None:
        """Give every task to a member."""
        left = [
            task
            for task in sorted(tasks, key=_by_partition)
            if not self._give_again(task, self._was_active.get(task), self._active_quota)
        ]
        left = [
            task
            for task in left
            if not self._give_again(task, self._least_loaded(self._had_state.get(task)), self._active_quota)
        ]
        queue = self._by_load()
        for task in sorted(left, key=_by_subtopology):
            process = queue.poll()
            member_id, count = process.give_least_loaded(task)
            self.given[member_id].active.append(task)
            self._active_quota.note(count)
            self._quota.note(count)
            queue.add(process.load, process)

    def assign_standbys(self, tasks: list[Task], replicas: int) -> None:
        """Give every task as many standbys as there are processes for."""
        left: list[tuple[Task, int]] = []
        for task in sorted(tasks, key=_by_partition, reverse=True):
            given = 0
            while given < replicas and self._give_standby_again(task):
                given += 1
            left.append((task, replicas - given))
        queue = self._by_load()
        for task, missing in sorted(left, key=lambda each: _by_subtopology(each[0]), reverse=True):
            for _ in range(missing):
                if not self._give_standby_to_any(task, queue):
                    break

    def _give_standby_again(self, task: Task) -> bool:
        was_active = self._was_active.get(task)
        if was_active is not None and task in self._processes[was_active.process_id].tasks:
            was_active = None
        return self._give_again(task, was_active, self._quota, is_active=False) or self._give_again(
            task, self._least_loaded(self._had_state.get(task), task), self._quota, is_active=False
        )

    def _give_again(self, task: Task, member: TaskMember | None, quota: Quota, *, is_active: bool = True) -> bool:
        """Give a task to a member that had it, unless there is none or it has reached its quota."""
        if member is None:
            return False
        process = self._processes[member.process_id]
        if process.counts[member.member_id] >= quota.per_member:
            return False
        count = process.give(member.member_id, task)
        given = self.given[member.member_id]
        (given.active if is_active else given.standby).append(task)
        if is_active:
            self._active_quota.note(count)
        self._quota.note(count)
        return True

    def _give_standby_to_any(self, task: Task, queue: JavaPriorityQueue[Process]) -> bool:
        """Give a task to the least loaded process without it; False where every process has it."""
        polled = [queue.poll()]
        while task in polled[-1].tasks and len(queue):
            polled.append(queue.poll())
        is_free = task not in polled[-1].tasks
        if is_free:
            member_id, count = polled[-1].give_least_loaded(task)
            self.given[member_id].standby.append(task)
            self._quota.note(count)
        for process in reversed(polled):
            queue.add(process.load, process)
        return is_free

    def _least_loaded(self, members: list[TaskMember] | None, standby_of: Task | None = None) -> TaskMember | None:
        """Choose a member that beats those before it in both loads, of its process and its own."""
        free = [each for each in members or () if standby_of not in self._processes[each.process_id].tasks]
        if not members or not free or (free[0] is not members[0] and self._release < KAFKA_4_4):
            return None
        chosen = free[0]
        for member in free[1:]:
            if all(a < b for a, b in zip(self._loads(member), self._loads(chosen), strict=True)):
                chosen = member
        return chosen

    def _loads(self, member: TaskMember) -> tuple[float, int]:
        process = self._processes[member.process_id]
        return process.load, process.counts[member.member_id]

    def _by_load(self) -> JavaPriorityQueue[Process]:
        queue = JavaPriorityQueue[Process]()
        for process in self._processes.values():
            queue.add(process.load, process)
        return queue


def _holders_of_state(members: list[TaskMember], release: KafkaRelease) -> dict[Task, list[TaskMember]]:
    """List by task who had a standby of it and, from 4.4 on, then who has its state otherwise, most advanced first."""
    holders: dict[Task, list[tuple[bool, int, TaskMember]]] = {}
    for member in members:
        offsets = member.offsets if release >= KAFKA_4_4 else {}
        for task in member.standby:
            holders.setdefault(task, []).append((False, -offsets.get(task, 0), member))
        for task in offsets.keys() - set(member.standby):
            holders.setdefault(task, []).append((True, -offsets[task], member))
    return {task: [each for *_, each in sorted(rows, key=lambda row: row[:2])] for task, rows in holders.items()}


def _by_partition(task: Task) -> tuple[int, bytes]:
    return task[1], utf16_key(task[0])


def _by_subtopology(task: Task) -> tuple[bytes, int]:
    return utf16_key(task[0]), task[1]
