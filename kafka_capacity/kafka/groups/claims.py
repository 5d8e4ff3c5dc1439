"""What the members of a group say they had, and who is believed (``AbstractStickyAssignor`` of the client, 4.3.1).

Rules:
    * Members are asked in the order of the leader's hash map; topics that nobody subscribes to are left out.
    * A partition that two claim goes to the one of the later generation; in one generation to neither, and
      whoever gets it later takes it over from someone.
    * The generation of the member that claimed *first* is read from its subscription, not from its user data.

Partitions are numbers here (:mod:`kafka_capacity.kafka.groups.codes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Ints
from kafka_capacity.kafka.groups.codes import Codes
from kafka_capacity.kafka.groups.model import UserData, known_rows
from kafka_capacity.kafka.groups.subscriptions import Subscriptions


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Claims:
    """Who is believed to have had what."""

    member: Ints  # int64[N], position of the member in the group; members follow in the order of the leader's map
    code: Ints  # int64[N], number of the partition, in the order of the member's list
    disputed: frozenset[int]  # numbers of the partitions that two claimed in one generation
    latest_generation: int  # the latest that any member names, -1 if none does


def settle_claims(found: Subscriptions, memories: Sequence[UserData], codes: Codes) -> Claims:
    """Hear what all members remember, as the group lists them; partitions that do not exist are added to ``codes``."""
    place, topic, partition = known_rows([memories[i].partitions for i in found.order], found.table)
    member, code = np.array(found.order, dtype=np.int64)[place], codes.encode(topic, partition)
    stated = [-1 if memory.generation is None else memory.generation for memory in memories]
    kept, disputed = _believed(found, stated, member, code)
    return Claims(member=member[kept], code=code[kept], disputed=disputed, latest_generation=max([-1, *stated]))


def _believed(found: Subscriptions, stated: list[int], member: Ints, code: Ints) -> tuple[Flags, frozenset[int]]:
    kept = np.ones(len(code), dtype=np.bool_)
    times = np.bincount(code)
    disputed: set[int] = set()
    # For each partition claimed again and again: who claimed it last with success, and the row that stands for it.
    claimed: dict[int, tuple[int, int | None]] = {}
    for row in np.flatnonzero(times[code] > 1).tolist():
        number, claimant = int(code[row]), int(member[row])
        if number not in claimed:
            claimed[number] = (claimant, row)
            continue
        other, other_row = claimed[number]
        other_generation = found.group.members[other].known_generation
        if stated[claimant] < other_generation:
            kept[row] = False
            continue
        is_disputed = stated[claimant] == other_generation
        if is_disputed:
            disputed.add(number)
        if other_row is not None:
            kept[other_row] = False
        if is_disputed or (other_row is None and other == claimant):
            # Who takes over from itself what it has not got removes it again.
            kept[row] = False
            claimed[number] = (claimant, None)
        else:
            claimed[number] = (claimant, row)
    return kept, frozenset(disputed)
