"""Give up what must not stay and make what is missing, before anything is levelled.

Algorithm
    A replica above the factor, or one against the rack rule, goes: one that is not in sync if there is such, else the
    one on the fullest broker, and not the current leader where another can go. Rows are taken in batches, so that the
    loads are up to date.
    The replicas that are missing must be copied whatever the balance, so where they go is free: they are poured onto
    the brokers that are lowest. A replica that only one rack can take comes first, then large ones one by one, then
    the rest. Replicas without bytes are poured by count.
"""

from __future__ import annotations

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Floats, Int32s, Ints
from kafka_capacity.kafka.placement.apportionment import allot, first_in_sequence
from kafka_capacity.kafka.placement.layout import NOWHERE, Layout
from kafka_capacity.kafka.placement.shares import distinct_racks, poured

_BATCHES = 64
_LARGE_RATIO = 0.01  # a replica above this part of a mean share is placed by itself
_MAX_RACKS = 64


def give_up_surplus(layout: Layout) -> None:
    """Drop replicas above the factor or against the rack rule."""
    rows = np.nonzero(_surplus(layout, np.arange(len(layout.held))) > 0)[0]
    size = max(1, -(-len(rows) // _BATCHES))
    for start in range(0, len(rows), size):
        batch = rows[start : start + size]
        while len(batch):
            layout.move(batch, _least_wanted(layout, batch), np.full(len(batch), NOWHERE, dtype=np.int32))
            batch = batch[_surplus(layout, batch) > 0]


def _surplus(layout: Layout, rows: Ints) -> Ints:
    """Count what each row holds too much: above the factor, or in the way of a rack that is missing."""
    held = layout.held[rows]
    lacking = np.maximum(0, layout.spread[rows] - distinct_racks(layout.rack, held))
    return np.asarray((held >= 0).sum(axis=1) - np.maximum(0, layout.factor[rows] - lacking), dtype=np.int64)


def _least_wanted(layout: Layout, rows: Ints) -> Ints:
    """Choose the column to drop in each row."""
    held = layout.held[rows]
    is_held = held >= 0
    rack = np.where(is_held, layout.rack[held], NOWHERE)
    # Only a replica whose rack has another one can go without a rack being lost, if there is such.
    can_go = np.zeros(held.shape, dtype=np.bool_)
    for column in range(held.shape[1]):
        can_go |= (rack == rack[:, column : column + 1]) & (np.arange(held.shape[1]) != column)
    can_go &= is_held
    can_go = np.where(can_go.any(axis=1, keepdims=True), can_go, is_held)
    # The current leader has every record: it stays where another can go. Then the later one in the list goes.
    not_leader = can_go & (layout.problem.target.ids[held] != layout.problem.leader[rows][:, None])
    can_go = np.where(not_leader.any(axis=1, keepdims=True), not_leader, can_go)
    behind = can_go & np.stack([layout.is_behind(rows, held[:, at]) for at in range(held.shape[1])], axis=1)
    can_go = np.where(behind.any(axis=1, keepdims=True), behind, can_go)
    ratio = layout.load / np.maximum(layout.limits.fair, 1e-9)
    score = np.where(can_go, ratio[held], -np.inf)
    return np.asarray(held.shape[1] - 1 - np.argmax(score[:, ::-1], axis=1), dtype=np.int64)


def make_missing(layout: Layout) -> None:
    """Place every replica that is missing."""
    while True:
        missing = layout.missing()
        rows = np.nonzero(missing > 0)[0]
        if not len(rows):
            return
        columns = np.argmax(layout.held[rows] < 0, axis=1)
        later = missing[rows] - 1
        _make(layout, rows, columns, later)


def _make(layout: Layout, rows: Ints, columns: Ints, later: Ints) -> None:
    """Place one replica of each row."""
    unit = layout.limits.unit[rows]
    left = np.ones(len(rows), dtype=np.bool_)
    mean = float(layout.limits.fair.mean()) if len(layout.limits.fair) else 0.0

    def pour(chosen: Ints, rack: Int32s | None) -> None:
        order = chosen[first_in_sequence(len(chosen))]
        room = np.where(layout.usable, layout.limits.fair, 0.0)
        if rack is not None:
            amount = np.zeros(len(layout.load))
            for number in np.unique(rack).tolist():
                inside = np.where(layout.rack == number, room, 0.0)
                amount += poured(layout.load, inside, float(unit[chosen[rack == number]].sum()))
            same_rack = np.full(len(rows), NOWHERE, dtype=np.int32)
            same_rack[chosen] = rack
            wanted = same_rack[order]
        else:
            amount, wanted = poured(layout.load, room, float(unit[chosen].sum())), None
        done = allot(layout, rows[order], columns[order], unit[order], amount, missing=later[order], same_rack=wanted)
        left[order[done]] = False

    is_small = (unit > 0) & (unit <= _LARGE_RATIO * mean)
    large = np.nonzero((unit > 0) & ~is_small)[0]
    _one_by_one(layout, rows[large], columns[large], later[large])
    left[large] = False
    forced = _only_rack(layout, rows, columns, later)
    chosen = np.nonzero(is_small & (forced >= 0))[0]
    if len(chosen):
        pour(chosen, forced[chosen])
    chosen = np.nonzero(is_small & (forced < 0))[0]
    if len(chosen):
        pour(chosen, None)
    rest = np.nonzero(left & (unit > 0))[0]
    _one_by_one(layout, rows[rest], columns[rest], later[rest])
    empty = np.nonzero(unit <= 0)[0]
    _by_count(layout, rows[empty], columns[empty], later[empty])


def _only_rack(layout: Layout, rows: Ints, columns: Ints, later: Ints) -> Int32s:
    """Name the one rack that can take a replica, -1 where several can: int32[n]."""
    only = np.full(len(rows), NOWHERE, dtype=np.int32)
    if not len(rows) or layout.rack_count > _MAX_RACKS:
        return only
    racks, known = layout.racks_without(rows, columns)
    is_bound = (later + 1 <= layout.spread[rows] - known) & (known == layout.rack_count - 1)
    for rack in range(layout.rack_count):
        lacks = is_bound.copy()
        for held in racks:
            lacks &= held != rack
        only[lacks] = rack
    return only


def _one_by_one(layout: Layout, rows: Ints, columns: Ints, later: Ints) -> None:
    """Place each replica on the broker furthest below its share, the largest first."""
    fair = np.where(layout.limits.fair > 0, layout.limits.fair, 1e-9)
    order = np.lexsort((rows, -layout.limits.unit[rows]))
    for place in order.tolist():
        row = int(rows[place])
        score = (layout.load + layout.limits.unit[row]) / fair
        _put(layout, row, int(columns[place]), int(later[place]), score)


def _by_count(layout: Layout, rows: Ints, columns: Ints, later: Ints) -> None:
    """Place replicas that weigh nothing so that the counts of replicas are even."""
    if not len(rows):
        return
    ones = np.ones(len(rows))
    count = layout.sum_by_broker(np.ones(len(layout.held)))
    amount = np.ceil(poured(count, layout.usable.astype(np.float64), float(len(rows))))
    order = first_in_sequence(len(rows))
    done = allot(layout, rows[order], columns[order], ones, amount, missing=later[order])
    count = layout.sum_by_broker(np.ones(len(layout.held)))
    for place in order[~done].tolist():
        broker = _put(layout, int(rows[place]), int(columns[place]), int(later[place]), count)
        count[broker] += 1.0


def _put(layout: Layout, row: int, column: int, later: int, score: Floats) -> int:
    """Place one replica where the score is lowest, on a broker that the rules allow, or the least against them."""
    brokers = np.arange(len(score), dtype=np.int32)
    rows, columns = np.full(len(score), row), np.full(len(score), column)
    allowed = layout.may_go(rows, columns, brokers, np.full(len(score), later))
    for rule in (allowed & layout.has_room(rows, brokers), allowed, _free(layout, row), _free(layout, row, pins=False)):
        if rule.any():
            broker = int(np.argmin(np.where(rule, score, np.inf)))
            layout.move(rows[:1], columns[:1], brokers[broker : broker + 1])
            return broker
    raise AssertionError("more replicas than brokers")  # refused before: see check_enough_brokers


def _free(layout: Layout, row: int, *, pins: bool = True) -> Flags:
    """Return the brokers that do not hold the partition, whatever their racks."""
    free = layout.usable.copy()
    if pins and layout.allowed is not None:
        free &= layout.allowed[layout.problem.partitions.topic[row]]
    free[layout.held[row][layout.held[row] >= 0]] = False
    return free
