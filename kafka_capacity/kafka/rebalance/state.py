"""Who is a member, who owns and who reads what, while an event runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.rebalance.member_events import Roster
from kafka_capacity.kafka.rebalance.model import NOBODY, GroupFacts
from kafka_capacity.kafka.rebalance.reading import Reading
from kafka_capacity.kafka.rebalance.table import PartitionTable


class GroupState:
    """A group in the middle of an event.

    Args:
        facts: the group as it was observed.
        table: its partitions.
        roster: everyone who may be a member.
        live: who is one at the start, in the order in which the coordinator came to know them.
        owner: int64[P], who has each partition, numbers of the roster.

    Attributes:
        live: numbers of those whom the coordinator counts as members.
        silent: those of them that are not there.
        owner: int64[P'], who is assigned each partition.
        reading: who reads it.
        unclean: rows that were read by somebody who died over them.
    """

    def __init__(
        self, facts: GroupFacts, table: PartitionTable, roster: Roster, live: list[int], owner: NDArray[np.int64]
    ) -> None:
        self.facts = facts
        self.table = table
        self.roster = roster
        self.live = list(live)
        self.silent: set[int] = set()
        self.owner = owner.copy()
        self.reading = Reading(owner)
        self.unclean: list[NDArray[np.int64]] = []

    def add(self, member: int) -> None:
        """Count somebody as a member."""
        self.live.append(member)

    def remove(self, member: int, now: float) -> None:
        """Strike a member off; what it read is read no more, and nobody owns it."""
        if member in self.live:
            self.live.remove(member)
        self.silent.discard(member)
        self.reading.stop_all_of(member, now)
        self.owner[self.owner == member] = NOBODY

    def fall_silent(self, member: int, now: float, *, is_clean: bool) -> None:
        """Let a member stop without a word; one that dies has not committed all that it read."""
        rows = np.flatnonzero(self.reading.reader == member)
        if not is_clean:
            self.unclean.append(rows)
        self.reading.stop_all_of(member, now)
        if member in self.live:
            self.silent.add(member)

    def wake(self, member: int) -> None:
        """Let a silent member be there again."""
        self.silent.discard(member)

    def grow(self, factor: int, now: float) -> None:
        """Return every topic more partitions, which nobody owns or reads yet."""
        self.table = self.table.expanded(factor)
        added = len(self.table) - len(self.owner)
        self.owner = np.concatenate([self.owner, np.full(added, NOBODY, dtype=np.int64)])
        self.reading.grow(added, now)
