"""Leadership first: move the leaders off brokers that are drained before anything is copied.

Every copy of a partition comes from its leader. A broker that is drained leads many of the partitions that leave it,
and then sends them all alone; with the leaders moved off first, everyone else sends a share. The price is one more
step: the same replicas in another order, and an election.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.cluster.diff import AssignmentDiff
from kafka_capacity.kafka.reassignment.hops import State
from kafka_capacity.kafka.reassignment.problem import MoveProblem

_PASSES = 256  # new leaders are chosen in so many passes, each of which sees the load of those before it


def lead_away(
    problem: MoveProblem, state: State, target: NDArray[np.int32], rows: NDArray[np.intp], diff: AssignmentDiff
) -> tuple[State, NDArray[np.intp]]:
    """Return each partition that a drained broker leads and that is copied another leader among those that stay.

    Of the replicas that can take it (in sync, kept, not fenced) the one does that has the least to send. The result is
    the state with new leaders, preferred ones, and the partitions whose leader changed.
    """
    brokers = problem.brokers
    drained = problem.drained()
    leader_at = brokers.index_of(state.leader)
    is_led_away = (leader_at >= 0) & drained[leader_at] & diff.added.any(axis=1)
    is_led_away &= ~problem.names_cordoned(state.replicas)  # such a list may go, and not change its order
    chosen = rows[is_led_away[rows]]
    replicas = state.replicas[chosen]
    index = brokers.index_of(replicas)
    usable = (index >= 0) & ~brokers.is_fenced[index] & state.in_sync[chosen] & ~diff.removed[chosen]
    can_go = usable.any(axis=1)
    chosen, index, usable = chosen[can_go], index[can_go], usable[can_go]
    if not len(chosen):
        return state, chosen
    copies = diff.added.sum(axis=1)
    amount = (copies * problem.size_bytes).astype(np.float64)
    stays = np.ones(len(copies), dtype=np.bool_)
    stays[chosen] = False
    sends = brokers.sum_at(state.leader[stays], amount[stays])
    column = _least_loaded(index, usable, amount[chosen], sends)
    return _led_by(state, chosen, column), chosen


def _least_loaded(
    index: NDArray[np.int32], usable: NDArray[np.bool_], amount: NDArray[np.float64], sends: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Choose a column for each row, the largest amounts first; ``sends`` is what each broker sends already."""
    column = np.zeros(len(index), dtype=np.intp)
    order = np.argsort(-amount, kind="stable")
    passes = min(_PASSES, len(order))
    bounds = np.linspace(0, len(order), passes + 1).astype(np.intp)
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        now = order[begin:end]
        load = np.where(usable[now], sends[index[now]], np.inf)
        column[now] = load.argmin(axis=1)
        sends += np.bincount(index[now, column[now]], weights=amount[now], minlength=len(sends))
    return column


def _led_by(state: State, rows: NDArray[np.intp], column: NDArray[np.intp]) -> State:
    """Put the chosen column of some rows first, the others behind it in their order."""
    width = state.replicas.shape[1]
    place = np.tile(np.arange(width), (len(rows), 1))
    place = np.where(place <= column[:, None], place - 1, place)
    place[:, 0] = column
    changed = {}
    for name in ("replicas", "in_sync", "log_dir"):
        matrix = getattr(state, name).copy()
        matrix[rows] = np.take_along_axis(matrix[rows], place, axis=1)
        changed[name] = matrix
    leader = state.leader.copy()
    leader[rows] = changed["replicas"][rows, 0]
    return State(**changed, leader=leader)
