"""State of a streams group's tasks: where it is, and how long a task waits for it where it runs next.

Model (``StoreChangelogReader`` and ``DefaultStateUpdater`` of Kafka Streams, 4.3.1):
    A task that comes to a process without its state reads its changelogs from the start before it runs; a process that
    ran it before or has a standby goes on at once, since it lacks the last records only. What a member is given at one
    time it restores together, and all of it runs when the last is there. A process that is restarted finds its state on
    its disks. A standby that is new during an event does not help yet.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from kafka_capacity.kafka.arrays import Ints
from kafka_capacity.kafka.groups.model import TopicPartition
from kafka_capacity.kafka.rebalance.model import NOBODY
from kafka_capacity.kafka.rebalance.state import GroupState
from kafka_capacity.kafka.rebalance.tasks import state_bytes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Restore:
    member: int
    rows: Ints
    begun_seconds: float
    seconds: float


class Restoring:
    """Starts tasks at once or, where their state must be restored first, after that.

    Args:
        state: the group at the start of an event.
        standby: by member, the tasks of which it has a standby then.
        bytes_per_second: at which a member restores; ``None`` where that is not known.

    Attributes:
        restored_bytes: what was restored so far; NaN where a size is not known.
        longest_seconds: that a member restored at one time.
    """

    def __init__(
        self, state: GroupState, standby: Mapping[str, tuple[TopicPartition, ...]], bytes_per_second: float | None
    ) -> None:
        self.restored_bytes = 0.0
        self.longest_seconds = 0.0
        self._state = state
        self._rate = bytes_per_second
        self._bytes = state_bytes(state.facts)
        self._pending: list[_Restore] = []
        self._has_state: set[tuple[int, str | None]] = set()
        if not self._bytes.any():
            return
        self._has_state |= {(row, self._process(owner)) for row, owner in enumerate(state.owner.tolist())}
        rows_of = {
            topic.name: rows.tolist() for topic, rows in zip(state.table.topics, state.table.row_of, strict=True)
        }
        number = {member.member_id: place for place, member in enumerate(state.roster.members)}
        self._has_state |= {
            (row, self._process(number[member_id]))
            for member_id, tasks in standby.items()
            for name, partition in tasks
            for row in rows_of.get(name, [])[partition : partition + 1]
        }

    def start(self, rows: Ints, member: int, time_seconds: float) -> float:
        """Let a member begin with tasks, and return when it runs the last of them."""
        lacking = self._lacking(rows, member)
        needed = float(self._bytes[lacking].sum())
        seconds = 0.0 if self._rate is None or math.isnan(needed) else needed / self._rate
        if not seconds:
            self.restored_bytes += needed
            self._run(rows, member, time_seconds)
            return time_seconds
        self._run(np.setdiff1d(rows, lacking), member, time_seconds)
        self._pending.append(_Restore(member=member, rows=lacking, begun_seconds=time_seconds, seconds=seconds))
        return time_seconds + seconds

    def finish(self, until: float) -> None:
        """Let those tasks run whose state is there by now; what members no longer have they restore no further."""
        pending, self._pending = sorted(self._pending, key=lambda one: one.begun_seconds + one.seconds), []
        for one in pending:
            is_there = (self._state.owner[one.rows] == one.member) & (one.member not in self._state.silent)
            elapsed = min(max(0.0, until - one.begun_seconds), one.seconds)
            if elapsed == one.seconds:
                self._run(one.rows[is_there], one.member, one.begun_seconds + one.seconds)
            elif is_there.any():
                self._pending.append(replace(one, rows=one.rows[is_there]))
            goes_on = is_there & (elapsed < one.seconds)
            self.restored_bytes += float(self._bytes[one.rows[~goes_on]].sum()) * elapsed / one.seconds
            if not goes_on.all():
                self.longest_seconds = max(self.longest_seconds, elapsed)

    def _lacking(self, rows: Ints, member: int) -> Ints:
        """Return those of some tasks whose state is not where a member runs; tasks that an event added have none."""
        if not self._bytes.any():
            return rows[:0]
        process = self._process(member)
        kept = rows[rows < len(self._bytes)]
        kept = kept[self._bytes[kept] != 0]
        is_lacking = np.array([(row, process) not in self._has_state for row in kept.tolist()], dtype=np.bool_)
        return np.asarray(kept[is_lacking], dtype=np.int64)

    def _run(self, rows: Ints, member: int, time_seconds: float) -> None:
        self._state.reading.start(rows, time_seconds, np.full(len(rows), member, dtype=np.int64))
        if self._bytes.any():
            self._has_state |= {(row, self._process(member)) for row in rows.tolist()}

    def _process(self, member: int) -> str | None:
        if member == NOBODY:
            return None
        found = self._state.roster.members[member]
        return found.process_id or found.member_id
