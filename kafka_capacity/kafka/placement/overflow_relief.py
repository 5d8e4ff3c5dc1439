"""Take replicas off log directories that would hold more than they may (JBOD).

Brokers are chosen by what they hold in all; a directory of theirs can be too small all the same. Which directory a
replica goes to is that of :mod:`.log_dirs`, asked again after each round: what counts in the end
is what it says.

Algorithm
    Of an overfull directory go replicas that are copied anyway before those that would have to be, and of these the
    smallest that is enough by itself, else the largest. Each goes to the broker with the lowest load for its share that
    the rules allow and that has a directory with room for it.
"""

from __future__ import annotations

import numpy as np

from kafka_capacity.kafka.arrays import Floats, Indices, Int32s
from kafka_capacity.kafka.placement.layout import Layout
from kafka_capacity.kafka.placement.log_dirs import LogDirPlacement, place_log_dirs
from kafka_capacity.kafka.placement.problem import LogDirRoom, PlacementProblem

_ROUNDS = 8


def relieve_log_dirs(layout: Layout) -> None:
    """Move replicas until no directory is over its limit, or nothing more can be moved."""
    room = layout.problem.log_dirs
    if room is None or not np.isfinite(room.limit_bytes).any():
        return
    for _ in range(_ROUNDS):
        placed = placed_log_dirs(layout.problem, layout.held_ids())
        if placed is None or not placed.is_over.any() or not _relieve(layout, room, placed):
            return


def placed_log_dirs(problem: PlacementProblem, after: Int32s) -> LogDirPlacement | None:
    """Choose the directories of an assignment, int32[P, W]; ``None`` where the problem says nothing of directories."""
    room = problem.log_dirs
    if room is None:
        return None
    return place_log_dirs(before=problem.before, after=after, size_bytes=problem.size_bytes, room=room)


def _relieve(layout: Layout, room: LogDirRoom, placed: LogDirPlacement) -> bool:
    """Relieve every overfull directory once; returns whether anything was moved."""
    held, limit = placed.bytes_after.copy(), room.limit_bytes
    size = layout.problem.size_bytes.astype(np.float64)
    over = np.flatnonzero(placed.is_over)
    has_moved = False
    for place in over[np.argsort(-(held[over] - limit[over]), kind="stable")].tolist():
        rows, columns = np.nonzero(placed.log_dir == place)
        while held[place] > limit[place] * (1 + 1e-12) and len(rows):
            order = _order(layout, rows, columns, size[rows], float(held[place] - limit[place]))
            chosen = next((at for at in order.tolist() if _hand_over(layout, room, held, rows[at], columns[at])), None)
            if chosen is None:
                break
            held[place] -= size[rows[chosen]]
            has_moved = True
            rows, columns = np.delete(rows, chosen), np.delete(columns, chosen)
    return has_moved


def _order(layout: Layout, rows: Indices, columns: Indices, size: Floats, excess: float) -> Indices:
    is_home = layout.is_home(rows, layout.held[rows, columns])
    is_enough = size >= excess
    order = np.lexsort((rows, np.where(is_enough, size, -size), ~is_enough, is_home))
    return order[size[order] > 0]


def _hand_over(layout: Layout, room: LogDirRoom, held: Floats, row: np.intp, column: np.intp) -> bool:
    """Put one replica on the best broker with room for it; returns whether there was one."""
    brokers = np.arange(len(layout.load), dtype=np.int32)
    rows, columns = np.full(len(brokers), row), np.full(len(brokers), column)
    size = float(layout.problem.size_bytes[row])
    free = np.where(room.takes_replicas, room.limit_bytes - held, -np.inf)
    ids = layout.problem.target.ids
    has_dir = np.isin(ids, room.broker_id[free >= size]) | ~np.isin(ids, room.broker_id)
    can = has_dir & layout.may_go(rows, columns, brokers) & layout.has_room(rows, brokers)
    if not can.any():
        return False
    fair = np.where(layout.limits.fair > 0, layout.limits.fair, 1e-9)
    score = (layout.load + layout.limits.unit[row]) / fair
    best = int(np.argmin(np.where(can, score, np.inf)))
    layout.move_one(int(row), int(column), best)
    own = np.flatnonzero(room.broker_id == ids[best])
    if len(own):
        held[own[np.argmax(free[own])]] += size
    return True
