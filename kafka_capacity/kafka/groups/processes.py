"""What a process of a streams application has been given, and who of its members takes the next task.

A process (one JVM) has a member for each of its threads, and no use for two copies of one task. This is
``ProcessState`` of the group coordinator, 4.3.1 and 4.4.0 alike.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from kafka_capacity.kafka.java.hash_map import JavaHashMap
from kafka_capacity.kafka.java.hashing import string_hash
from kafka_capacity.kafka.java.priority_queue import JavaPriorityQueue

Task = tuple[str, int]
"""A subtopology and a partition number: one member runs the subtopology on that partition of all topics it reads."""


@dataclass(slots=True, eq=False)
class Process:
    """A process while tasks are being given to it."""

    # how many tasks each of its members has
    counts: JavaHashMap[str, int] = field(default_factory=partial(JavaHashMap[str, int], string_hash))
    tasks: set[Task] = field(default_factory=set)  # that any of them has, active or standby
    _by_load: JavaPriorityQueue[str] | None = None  # its members, kept while only the least loaded gets tasks
    _given: int = 0

    @property
    def load(self) -> float:
        """Tasks a member."""
        return self._given / len(self.counts)

    def give(self, member_id: str, task: Task) -> int:
        """Give a member a task, and return how many it has then."""
        self._by_load = None
        return self._add(member_id, task)

    def give_least_loaded(self, task: Task) -> tuple[str, int]:
        """Give the member with the fewest tasks one more, and return who that is and how many it has then."""
        if self._by_load is None:
            self._by_load = JavaPriorityQueue()
            for member_id, count in self.counts.items():
                self._by_load.add(count, member_id)
        member_id = self._by_load.poll()
        count = self._add(member_id, task)
        self._by_load.add(count, member_id)
        return member_id, count

    def _add(self, member_id: str, task: Task) -> int:
        self._given += 1
        self.tasks.add(task)
        count = self.counts[member_id] + 1
        self.counts.put(member_id, count)
        return count


@dataclass(slots=True, kw_only=True)
class Quota:
    """How many tasks a member is to have at most: what is left, over the members that are not full, rounded up."""

    tasks: int
    members: int

    @property
    def per_member(self) -> int:
        """The quota now."""
        return -(-self.tasks // self.members) if self.members else 0

    def note(self, count: int) -> None:
        """Set a member aside that has just reached the quota."""
        if count == self.per_member:
            self.tasks -= count
            self.members -= 1
