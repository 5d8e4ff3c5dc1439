"""Cut a sequence of hops into waves by budgets.

Goals (ordered)
    1. No wave uses more of a resource than there is, whichever hop of it is done first.
    2. As few waves as a greedy cut gives, the first hops of the sequence in the first waves.

Resources are of two kinds. A *stock* (room on a disk) is carried on: a hop takes its share when its wave begins, and
what it gives up comes back for the next wave, not for its own. A *ration* (moves at once, seconds, traffic) is new in
every wave; a hop that alone takes more than a ration gets a wave where it is the only one to take of it.

Algorithm
    Wave by wave over what is left, in order. Whoever does not fit by itself waits. Of the others, everyone whose
    running sum at each of its resources is within the budget goes; the sums are then taken again for the rest, for a
    few rounds. A wave into which nothing fits ends the cut: what is left is stuck.

Worked example, a disk with room for 10 and four hops of 6, of which the second gives back 6 elsewhere:
    >>> import numpy as np
    >>> uses = Uses(hop=np.arange(4), resource=np.array([0, 0, 1, 1]), cost=np.full(4, 6.0))
    >>> gains = Uses(hop=np.array([2]), resource=np.array([0]), cost=np.array([6.0]))
    >>> done = cut(np.arange(4), uses, gains, np.array([10.0, 12.0]), is_ration=np.array([False, False]))
    >>> done.wave.tolist(), done.left.tolist()
    ([0, 1, 0, 0], [4.0, 0.0])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Floats, Indices, Int32s, runs
from kafka_capacity.kafka.reassignment.flow import running
from kafka_capacity.kafka.reassignment.hops import NO_WAVE

_ROUNDS = 4  # of looking for more hops that fit into a wave
_WINDOW = 1024  # how many hops are looked at for a wave, at least
_POOR_RATIO = 0.05
"""Where fewer of the hops looked at go than this, the wave is full enough; the next wave looks at them first."""
_ROUNDING = 1e-9  # of a budget


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Uses:
    """What hops take, or give: parallel arrays."""

    hop: Indices  # intp[U]
    resource: Indices  # intp[U]
    cost: Floats  # float64[U]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cut:
    """Hops in waves."""

    wave: Int32s  # int32[M], from 0, `NO_WAVE` for those not asked for and those stuck
    wave_count: int  # how many waves
    left: Floats  # float64[R], what is left of each resource at the end


def cut(order: Indices, uses: Uses, gains: Uses, budget: Floats, *, is_ration: Flags) -> Cut:
    """Cut the hops of ``order``, intp[N], into waves.

    ``uses`` is what they take of the budget, float64[R], infinite where nothing limits; ``gains`` what they give back
    of stocks when their wave is over. ``is_ration`` is bool[R], new in every wave.
    """
    count = max(int(order.max(initial=-1)), int(uses.hop.max(initial=-1)), int(gains.hop.max(initial=-1))) + 1
    wave = np.full(count, NO_WAVE, dtype=np.int32)
    uses = _clipped(uses, budget, is_ration)
    taken, given = _Table(uses, order, count), _Table(gains, order, count)
    left = budget.copy()
    remaining = np.arange(len(order))
    number, window = 0, _WINDOW
    while len(remaining):
        left[is_ration] = budget[is_ration]
        goes = _fill(remaining, taken, left, window)
        if not goes.any():
            break
        wave[order[remaining[goes]]] = number
        number += 1
        window = max(_WINDOW, 2 * int(goes.sum()))
        resource, cost, _ = given.of(remaining[goes])
        left += np.bincount(resource, weights=cost, minlength=len(left))
        remaining = remaining[~goes]
    return Cut(wave=wave, wave_count=number, left=left)


def _clipped(uses: Uses, budget: Floats, is_ration: Flags) -> Uses:
    is_limited = np.isfinite(budget[uses.resource])
    hop, resource, cost = uses.hop[is_limited], uses.resource[is_limited], uses.cost[is_limited]
    cost = np.where(is_ration[resource], np.minimum(cost, budget[resource]), cost)
    return Uses(hop=hop, resource=resource, cost=cost)


class _Table:
    """Uses by the position of their hop in the order."""

    def __init__(self, uses: Uses, order: Indices, count: int) -> None:
        place = np.full(count, len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        at = place[uses.hop]
        by_place = np.argsort(at, kind="stable")[: int((at < len(order)).sum())]
        self.resource, self.cost = uses.resource[by_place], uses.cost[by_place]
        self.start = np.searchsorted(at[by_place], np.arange(len(order) + 1))

    def of(self, places: Indices) -> tuple[Indices, Floats, Indices]:
        """Return resource and cost of all uses of some places, and for each the position in ``places``."""
        start, length = self.start[places], self.start[places + 1] - self.start[places]
        shift = np.repeat(start - np.concatenate([[0], np.cumsum(length)[:-1]]), length)
        index = np.arange(int(length.sum())) + shift
        return self.resource[index], self.cost[index], np.repeat(np.arange(len(places)), length)


def _fill(remaining: Indices, taken: _Table, left: Floats, window: int) -> Flags:
    """Return which of those that remain go into the next wave, and take what they use from ``left``."""
    goes = np.zeros(len(remaining), dtype=np.bool_)
    begin = 0
    while begin < len(remaining):
        seen = slice(begin, begin + window)
        goes[seen] = _admit(remaining[seen], taken, left)
        if goes.any() and goes[seen].mean() < _POOR_RATIO:
            break
        begin += window
        window *= 2
    return goes


def _admit(places: Indices, taken: _Table, left: Floats) -> Flags:
    """Return which hops go, and take what they use from ``left``."""
    resource, cost, owner = taken.of(places)
    # Of 16 bits numpy sorts by counting.
    by_resource = np.argsort(resource.astype(np.uint16) if len(left) <= 2**16 else resource, kind="stable")
    resource, cost, owner = resource[by_resource], cost[by_resource], owner[by_resource]
    goes = np.zeros(len(places), dtype=np.bool_)
    is_open = np.ones(len(places), dtype=np.bool_)
    for _ in range(_ROUNDS):
        alone = (cost > left[resource] + _ROUNDING * np.abs(left[resource])) & (cost > 0)
        is_open[owner[alone]] = False
        keeps = is_open[owner]
        resource, cost, owner = resource[keeps], cost[keeps], owner[keeps]
        fits = is_open.copy()
        if len(resource):
            over = running(cost, *runs(resource)) > left[resource] + _ROUNDING * np.abs(left[resource])
            fits[owner[over & (cost > 0)]] = False
        goes |= fits
        is_new = fits[owner]
        left -= np.bincount(resource[is_new], weights=cost[is_new], minlength=len(left))
        is_open &= ~fits
        if not is_open.any():
            break
        resource, cost, owner = resource[~is_new], cost[~is_new], owner[~is_new]
    return goes
