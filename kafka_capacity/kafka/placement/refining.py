"""Make a small plan cheaper, or closer to its limits, by changing a few replicas at a time.

Goals (ordered)
    1. Fewer bytes (or replicas) outside the limits of the balance.
    2. Fewer bytes moved.

Algorithm
    By count: :mod:`kafka_capacity.kafka.placement.cycles`, which ends at the optimum.
    By bytes: a beam search. A step moves one replica to one broker. The most promising steps are carried on by every
    other step, up to four at a time; what is outside the limits halfway counts half, since a step that fixes it fixes
    a donor and a receiver. As soon as a sequence is better than the plan it is done, and the search starts over. Where
    the plan is not close to its lower bound then, :mod:`kafka_capacity.kafka.placement.exact` has a try.
    There is no clock in it: the work is bounded by the number of steps, and the same problem has the same answer.
"""

from __future__ import annotations

import numpy as np

from kafka_capacity.kafka.arrays import Floats, Int32s, Ints
from kafka_capacity.kafka.placement.bounds import lower_bound
from kafka_capacity.kafka.placement.cycles import CycleCancelling
from kafka_capacity.kafka.placement.exact import CLOSE_ENOUGH, MAX_CELLS, TINY_CELLS, adopt, cheapest_within
from kafka_capacity.kafka.placement.layout import Layout, who_holds
from kafka_capacity.kafka.placement.problem import Balance

MAX_STEPS = 20_000  # replicas times brokers up to which a problem counts as small
_DEPTH = 4
_BEAM_CELLS = 200_000
_WEIGHTS = (0.5, 0.8, 0.4)
_MAX_IMPROVEMENTS = 200


def refine(layout: Layout) -> None:
    """Improve a layout whose rows are complete; large ones stay as they are."""
    steps = int((layout.held >= 0).sum()) * len(layout.rack)
    if not 0 < steps <= MAX_STEPS:
        return
    if layout.problem.balance is Balance.REPLICAS:
        CycleCancelling(layout, layout.limits.lower, layout.limits.upper).run()
    else:
        _Beam(layout).run()


class _Steps:
    """All single steps there are: parallel arrays."""

    def __init__(self, layout: Layout) -> None:
        brokers = len(layout.rack)
        rows, columns = np.nonzero(layout.held >= 0)
        receiver = np.tile(np.arange(brokers, dtype=np.int32), len(rows))
        rows, columns = np.repeat(rows, brokers), np.repeat(columns, brokers)
        allowed = layout.may_go(rows, columns, receiver) & (layout.limits.unit[rows] > 0)
        allowed &= layout.has_room(rows, receiver)
        self.rows, self.columns, self.receiver = rows[allowed], columns[allowed], receiver[allowed]
        self.donor = layout.held[self.rows, self.columns]
        self.unit = layout.limits.unit[self.rows]
        size = layout.problem.size_bytes[self.rows].astype(np.float64)
        come = np.where(layout.is_home(self.rows, self.receiver), 0.0, size)
        self.cost = come - np.where(layout.is_home(self.rows, self.donor), 0.0, size)


class _Beam:
    """The search by bytes."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._lower, self._upper = layout.limits.lower, layout.limits.upper
        self._close = 1e-9 * float(layout.limits.fair.max(initial=0.0))

    def run(self) -> None:
        """Search until nothing better is found."""
        self._search()
        if self._layout.held.shape[0] * len(self._layout.rack) <= MAX_CELLS and not self._is_proven():
            self._solve()
            self._search()

    def _search(self) -> None:
        for _ in range(_MAX_IMPROVEMENTS):
            if not any(self._improve(weight) for weight in _WEIGHTS):
                return

    def _is_proven(self) -> bool:
        """Return whether the plan is as good as can be shown: inside the limits and at the bound."""
        layout = self._layout
        brokers = np.arange(len(layout.load), dtype=np.int32)
        if self._outside(layout.load, brokers).any():
            return False
        return _moved(layout) <= lower_bound(layout.problem, layout.limits).bytes * CLOSE_ENOUGH

    def _solve(self) -> None:
        """Put the plan as an integer program, with its own loads as limits where it is outside those asked for."""
        layout = self._layout
        if len(layout.narrow()):
            return
        brokers = np.arange(len(layout.load), dtype=np.int32)
        outside = float(self._outside(layout.load, brokers).sum())
        lower, upper = self._lower, self._upper
        known = None if outside else who_holds(layout.held, len(brokers))
        holds = cheapest_within(layout, lower, upper, known)
        if holds is None and outside and layout.held.shape[0] * len(brokers) <= TINY_CELLS:
            lower, upper = np.minimum(lower, layout.load), np.maximum(upper, layout.load)
            holds = cheapest_within(layout, lower, upper)
        if holds is None or (holds.sum(axis=1) != layout.factor).any():
            return
        before, moved = layout.held.copy(), _moved(layout)
        adopt(layout, holds)
        outside_then = float(self._outside(layout.load, brokers).sum())
        if outside_then > outside + self._close or (outside_then >= outside and _moved(layout) >= moved):
            adopt(layout, who_holds(before, len(brokers)))

    def _outside(self, load: Floats, broker: Int32s) -> Floats:
        away = np.maximum(self._lower[broker] - load, load - self._upper[broker])
        return np.where(away > self._close, away, 0.0)

    def _improve(self, weight: float) -> bool:
        """Find one sequence of steps that makes the plan better, and do it."""
        layout = self._layout
        steps = _Steps(layout)
        count = len(steps.rows)
        if not count:
            return False
        width = max(8, min(300, _BEAM_CELLS // count))
        load = layout.load[None, :].copy()
        outside, cost = np.zeros(1), np.zeros(1)  # against the plan as it is
        chains = np.empty((1, 0), dtype=np.int64)
        for _ in range(_DEPTH):
            away, price = self._extended(steps, load, chains)
            away, price = away + outside[:, None], price + cost[:, None]
            found = self._best(away, price)
            if found is not None:
                return self._do(steps, np.append(chains[found[0]], found[1]))
            promise = price + weight * away
            flat = promise.ravel()
            keep = min(4 * width, len(flat))
            order = np.argpartition(flat, keep - 1)[:keep]
            order = order[np.isfinite(flat[order])]
            order = order[np.lexsort((order, flat[order]))]
            state, step = order // count, order % count
            state, step = _distinct(chains, state, step, width, count)
            if not len(state):
                return False
            chains = np.concatenate([chains[state], step[:, None]], axis=1)
            outside, cost = away[state, step], price[state, step]
            load = load[state].copy()
            numbers = np.arange(len(state))
            load[numbers, steps.donor[step]] -= steps.unit[step]
            load[numbers, steps.receiver[step]] += steps.unit[step]
        return False

    def _extended(self, steps: _Steps, load: Floats, chains: Ints) -> tuple[Floats, Floats]:
        """Describe what each step adds to each sequence, outside the limits and in bytes: float64[S, N] both."""
        donor, receiver, unit = steps.donor, steps.receiver, steps.unit
        brokers = np.arange(load.shape[1], dtype=np.int32)
        now = self._outside(load, brokers)
        away = self._outside(load[:, donor] - unit, donor) - now[:, donor]
        away += self._outside(load[:, receiver] + unit, receiver) - now[:, receiver]
        for column in range(chains.shape[1]):
            same = steps.rows[chains[:, column]][:, None] == steps.rows[None, :]
            away = np.where(same, np.inf, away)
        return away, np.broadcast_to(steps.cost, away.shape)

    def _best(self, away: Floats, price: Floats) -> tuple[int, int] | None:
        """Find the best sequence that is better than the plan: outside the limits first, then in bytes."""
        least = float(away.min())
        if least < -self._close:
            near = away <= least + self._close
            place = int(np.argmin(np.where(near, price, np.inf)))
            return place // away.shape[1], place % away.shape[1]
        cheap = np.where(away <= self._close, price, np.inf)
        place = int(np.argmin(cheap))
        if float(cheap.ravel()[place]) < -0.5:
            return place // away.shape[1], place % away.shape[1]
        return None

    def _do(self, steps: _Steps, chain: Ints) -> bool:
        """Do the steps of a sequence; undo them where one may not follow another."""
        layout = self._layout
        for done, step in enumerate(chain.tolist()):
            row, column = int(steps.rows[step]), int(steps.columns[step])
            if not layout.may_go_one(row, column, int(steps.receiver[step])):
                for earlier in chain[:done][::-1].tolist():
                    layout.move_one(int(steps.rows[earlier]), int(steps.columns[earlier]), int(steps.donor[earlier]))
                return False
            layout.move_one(row, column, int(steps.receiver[step]))
        return True


def _distinct(chains: Ints, state: Ints, step: Ints, width: int, count: int) -> tuple[Ints, Ints]:
    """Keep one of the sequences with the same steps in another order; steps are numbers below a count."""
    every = np.sort(np.concatenate([chains[state], step[:, None]], axis=1), axis=1)
    # As digits of one number: at most four of them below the 20,000 steps of a small problem.
    number = every @ (count ** np.arange(every.shape[1], dtype=np.int64))
    first = np.sort(np.unique(number, return_index=True)[1])[:width]
    return state[first], step[first]


def _moved(layout: Layout) -> float:
    """Sum the bytes that are copied."""
    rows, columns = np.nonzero(layout.held >= 0)
    is_new = ~layout.is_home(rows, layout.held[rows, columns])
    return float(layout.problem.size_bytes[rows[is_new]].sum())
