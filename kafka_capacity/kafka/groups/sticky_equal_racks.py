"""The rack-aware step of the sticky assignment with equal subscriptions (4.3.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.groups.racks import Racks
from kafka_capacity.kafka.groups.shares import Shares

Dealt = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


def deal_in_rack(left: NDArray[np.int64], racks: Racks, shares: Shares) -> Dealt:
    """Assign partitions to members in their racks.

    Members below the smaller share are asked round and round, those at it from the first on.

    Args:
        left: numbers of the partitions to be given.
        racks: where everything is.
        shares: how far the members are; brought up to date.

    Returns:
        int64: the partitions given, to whom, and the partitions that are left.
    """
    given: list[int] = []
    to: list[int] = []
    remaining: list[int] = []
    turn = 0
    for code in left.tolist():
        position = racks.next_in_rack(code, shares.below, turn)
        if position is not None:
            member = shares.below[position]
            turn = _fill(position, shares)
        else:
            at_smaller = racks.next_in_rack(code, shares.at_smaller, 0)
            if at_smaller is None:
                remaining.append(code)
                continue
            member = shares.at_smaller[at_smaller]
            _raise_above(at_smaller, shares)
        shares.count[member] += 1
        given.append(code)
        to.append(member)
    return np.array(given, dtype=np.int64), np.array(to, dtype=np.int64), np.array(remaining, dtype=np.int64)


def _fill(position: int, shares: Shares) -> int:
    """Move a member on that is about to get one more; give the position to go on from."""
    member = shares.below[position]
    count = int(shares.count[member]) + 1
    if count >= shares.smaller:
        del shares.below[position]
        if count < shares.larger and shares.wants_larger:
            shares.at_smaller.append(member)
    else:
        position += 1
    return position % len(shares.below) if shares.below else 0


def _raise_above(position: int, shares: Shares) -> None:
    """Note that a member at the smaller share is about to get the larger."""
    member = shares.at_smaller[position]
    if shares.count[member] + 1 == shares.larger:
        del shares.at_smaller[position]
        shares.larger_given += 1
        if not shares.wants_larger:
            shares.at_smaller.clear()
