"""Give each of many replicas a broker, so that each gets about the amount meant for it: linear in the replicas.

Algorithm
    The amounts stand one after another on a line, and so do the replicas, in the order given; a replica goes to the
    broker whose stretch its middle falls on. Those that may not go there (a replica of the partition or its rack is
    there already), or for which the amount is used up, are laid out again, turned by the golden ratio, until few are
    left. What none of the turns could place is the caller's.
"""

from __future__ import annotations

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Floats, Int32s, Ints, runs
from kafka_capacity.kafka.placement.layout import Layout

GOLDEN_RATIO = 0.6180339887498949
_TURNS = 12


def first_in_sequence(length: int) -> Ints:
    """Order so many places so that any first part of the order is spread evenly over all of them.

    >>> first_in_sequence(8).tolist()
    [0, 5, 2, 7, 4, 1, 6, 3]
    """
    step = max(1, round(length * GOLDEN_RATIO))
    while np.gcd(step, max(length, 1)) != 1:
        step += 1
    return np.asarray((np.arange(length, dtype=np.int64) * step) % max(length, 1), dtype=np.int64)


def within_amount(group: Int32s, unit: Floats, amount: Floats) -> Flags:
    """Return which items fit into their group's amount, taken in the order given: bool[n].

    An item that does not fit by itself is passed over; after the first that overflows a group's sum none is taken.

    >>> group, unit = np.array([0, 1, 0, 0], dtype=np.int32), np.array([2.0, 9.0, 3.0, 1.0])
    >>> within_amount(group, unit, np.array([5.0, 8.0])).tolist()
    [True, False, True, False]
    """
    fits = unit <= amount[group]
    chosen = np.nonzero(fits)[0]
    if not len(chosen):
        return fits
    order = chosen[np.argsort(group[chosen], kind="stable")]
    sorted_group = group[order]
    running = np.cumsum(unit[order])
    starts, lengths = runs(sorted_group)
    before = np.where(starts > 0, running[starts - 1], 0.0)
    fits[order] = running - np.repeat(before, lengths) <= amount[sorted_group] * (1 + 1e-12)
    return fits


def one_a_row(rows: Ints) -> Flags:
    """Mark the first item of each row: bool[n]."""
    first = np.zeros(len(rows), dtype=np.bool_)
    first[np.unique(rows, return_index=True)[1]] = True
    return first


def allot(
    layout: Layout,
    rows: Ints,
    columns: Ints,
    unit: Floats,
    amount: Floats,
    *,
    missing: Ints | None = None,
    same_rack: Int32s | None = None,
) -> Flags:
    """Move replicas of a layout to brokers up to the amount of each, float64[B]; return which were placed, bool[n].

    ``rows`` and ``columns`` are those of n replicas, in the order in which they should be taken, and ``unit`` what each
    counts against the amounts, which become what is left. ``missing`` are other replicas of each row still to be made;
    ``same_rack`` is the rack each must go to, any by default.
    """
    done = np.zeros(len(rows), dtype=np.bool_)
    left = np.arange(len(rows))
    for turn in range(_TURNS):
        wanted = np.maximum(amount, 0.0)
        if not len(left) or wanted.sum() <= 0:
            break
        receiver = _proposed(layout, unit[left], wanted, turn, None if same_rack is None else same_rack[left])
        known = receiver >= 0
        candidates, receiver = left[known], receiver[known]
        allowed = layout.may_go(
            rows[candidates], columns[candidates], receiver, None if missing is None else missing[candidates]
        )
        candidates, receiver = candidates[allowed], receiver[allowed]
        single = one_a_row(rows[candidates])
        candidates, receiver = candidates[single], receiver[single]
        fits = within_amount(receiver, unit[candidates], amount)
        for hard in layout.hard:
            fits &= within_amount(receiver, hard.unit[rows[candidates]], hard.limit - hard.load)
        candidates, receiver = candidates[fits], receiver[fits]
        layout.move(rows[candidates], columns[candidates], receiver)
        amount -= np.bincount(receiver, weights=unit[candidates], minlength=len(amount))
        done[candidates] = True
        left = left[~done[left]]
    return done


def _proposed(layout: Layout, unit: Floats, wanted: Floats, turn: int, same_rack: Int32s | None) -> Int32s:
    """Lay replicas and amounts along a line: the broker each falls on, -1 where its rack wants nothing."""
    if same_rack is None:
        return _along(unit, wanted, turn, np.arange(len(wanted)))
    receiver = np.full(len(unit), -1, dtype=np.int32)
    for rack in range(layout.rack_count):
        of_rack, brokers = np.nonzero(same_rack == rack)[0], np.nonzero((layout.rack == rack) & (wanted > 0))[0]
        if len(of_rack) and len(brokers):
            receiver[of_rack] = _along(unit[of_rack], wanted[brokers], turn, brokers)
    return receiver


def _along(unit: Floats, wanted: Floats, turn: int, brokers: Ints) -> Int32s:
    ends = np.cumsum(wanted)
    middle = np.cumsum(unit) - unit / 2 + turn * GOLDEN_RATIO * float(ends[-1])
    place = np.searchsorted(ends, middle % float(ends[-1]), side="right")
    return np.asarray(brokers[np.minimum(place, len(brokers) - 1)], dtype=np.int32)
