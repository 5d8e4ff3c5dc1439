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
    process of the first of them has the task already; from 4.4 on those processes are passed over, and processes of one
    bucket of a hash map come the other way round. Not modelled: from 4.4 on members may report state on their disks of
    tasks that they have no standby of.

Worked example: two processes, the first with two threads, and a standby of each of the two stateful tasks.

>>> from kafka_capacity.kafka.groups.model import Topic
>>> ids = ("p1-a", "p1-b", "p2-a")
>>> members = tuple(Member(member_id=name, topics=("words",), process_id=name[:2]) for name in ids)
>>> streams = StreamsTopology(sources={"words": ("lines",)}, state_bytes={"words": ()}, standby_replicas=1)
>>> answer = assign_streams(Group(topics=(Topic(name="words", partitions=2),), members=members, streams=streams))
>>> answer.lists()
{'p1-a': [], 'p1-b': [('words', 0)], 'p2-a': [('words', 1)]}
>>> answer.standby
{'p1-a': (('words', 1),), 'p2-a': (('words', 0),)}
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from kafka_capacity.errors import AssignmentError
from kafka_capacity.kafka.cluster.release import KAFKA_4_4, KafkaRelease
from kafka_capacity.kafka.groups.assignment import Assignment
from kafka_capacity.kafka.groups.model import Group, Member, StreamsTopology
from kafka_capacity.kafka.groups.processes import Process, Quota, Task
from kafka_capacity.kafka.java.hash_map import JavaHashMap, put_order
from kafka_capacity.kafka.java.hashing import string_hash, string_hashes, utf16_key
from kafka_capacity.kafka.java.priority_queue import JavaPriorityQueue


def placed_standbys(standby_replicas: int, processes: int) -> int:
    """Return how many standbys a stateful task gets: of each process one at most, and none of that which runs it.

    >>> placed_standbys(2, processes=2), placed_standbys(1, processes=4)
    (1, 1)
    """
    return max(0, min(standby_replicas, processes - 1))


def assign_streams(group: Group) -> Assignment:
    """Assign a streams group whose topics are subtopologies and whose partitions are tasks; all lists are sorted.

    A member that tells no process is one of its own.

    Raises:
        AssignmentError: there are tasks and no members.
    """
    streams = group.streams or StreamsTopology(sources={})
    tasks = [(topic.name, number) for topic in group.topics for number in range(topic.partitions)]
    stateful = [task for task in tasks if task[0] in streams.state_bytes] if streams.standby_replicas else []
    if tasks and not group.members:
        api = "" if streams.release < KAFKA_4_4 else "api."
        kafka_type = f"org.apache.kafka.coordinator.group.{api}streams.assignor.TaskAssignorException"
        raise AssignmentError("a streams group without members", kafka_type=kafka_type)
    assigning = _Assigning(group.members, len(tasks), len(stateful) * streams.standby_replicas, streams.release)
    assigning.assign_active(tasks)
    assigning.assign_standbys(stateful, streams.standby_replicas)
    answer = Assignment.of(group, {name: sorted(given) for name, given in assigning.active.items()})
    return dataclasses.replace(
        answer, standby={name: tuple(sorted(given)) for name, given in assigning.standby.items() if given}
    )


class _Assigning:
    """One assignment while it is made; ``active`` and ``standby`` are the tasks that each member is to have, by id."""

    def __init__(self, members: Sequence[Member], tasks: int, standbys: int, release: KafkaRelease) -> None:
        self.active: dict[str, list[Task]] = {member.member_id: [] for member in members}
        self.standby: dict[str, list[Task]] = {member.member_id: [] for member in members}
        self._release = release
        self._active_quota = Quota(tasks=tasks, members=len(members))
        self._quota = Quota(tasks=tasks + standbys, members=len(members))
        self._processes = JavaHashMap[str, Process](string_hash, len(members))
        self._process: dict[str, Process] = {}
        self._was_active: dict[Task, Member] = {}
        self._had_standby: dict[Task, list[Member]] = {}
        for place in put_order(string_hashes([member.member_id for member in members])).tolist():
            member = members[place]
            process_id = member.process_id or member.member_id
            if release >= KAFKA_4_4:
                self._processes.compute_if_absent(process_id, Process)
            elif process_id not in self._processes:
                self._processes.put(process_id, Process())
            self._process[member.member_id] = self._processes[process_id]
            self._process[member.member_id].counts.put(member.member_id, 0)
            self._was_active |= dict.fromkeys(member.owned, member)
            for task in member.standby:
                self._had_standby.setdefault(task, []).append(member)

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
            if not self._give_again(task, self._least_loaded(self._had_standby.get(task)), self._active_quota)
        ]
        queue = self._by_load()
        for task in sorted(left, key=_by_subtopology):
            process = queue.poll()
            member_id, count = process.give_least_loaded(task)
            self.active[member_id].append(task)
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
        if was_active is not None and task in self._process[was_active.member_id].tasks:
            was_active = None
        return self._give_again(task, was_active, self._quota, is_active=False) or self._give_again(
            task, self._least_loaded(self._had_standby.get(task), task), self._quota, is_active=False
        )

    def _give_again(self, task: Task, member: Member | None, quota: Quota, *, is_active: bool = True) -> bool:
        """Give a task to a member that had it, unless there is none or it has reached its quota."""
        if member is None:
            return False
        process = self._process[member.member_id]
        if process.counts[member.member_id] >= quota.per_member:
            return False
        count = process.give(member.member_id, task)
        (self.active if is_active else self.standby)[member.member_id].append(task)
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
            self.standby[member_id].append(task)
            self._quota.note(count)
        for process in reversed(polled):
            queue.add(process.load, process)
        return is_free

    def _least_loaded(self, members: list[Member] | None, standby_of: Task | None = None) -> Member | None:
        """Choose a member that beats those before it in both loads, of its process and its own."""
        free = [each for each in members or () if standby_of not in self._process[each.member_id].tasks]
        if not members or not free or (free[0] is not members[0] and self._release < KAFKA_4_4):
            return None
        chosen = free[0]
        for member in free[1:]:
            if all(a < b for a, b in zip(self._loads(member), self._loads(chosen), strict=True)):
                chosen = member
        return chosen

    def _loads(self, member: Member) -> tuple[float, int]:
        process = self._process[member.member_id]
        return process.load, process.counts[member.member_id]

    def _by_load(self) -> JavaPriorityQueue[Process]:
        queue = JavaPriorityQueue[Process]()
        for process in self._processes.values():
            queue.add(process.load, process)
        return queue


def _by_partition(task: Task) -> tuple[int, bytes]:
    return task[1], utf16_key(task[0])


def _by_subtopology(task: Task) -> tuple[bytes, int]:
    return utf16_key(task[0]), task[1]
