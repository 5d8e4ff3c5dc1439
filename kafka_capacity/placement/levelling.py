"""Level loads between brokers by handing over whole items, as few bytes as will do.

One engine for two jobs: replicas from broker to broker, and leadership from replica to replica. What may be handed from
whom to whom is asked of the caller, pair by pair, as arrays.

Algorithm
    1. While a broker is below its lower limit: the one furthest below takes from the one furthest above its share,
       never pulling it below its own lower limit.
    2. While a broker is above its upper limit: it gives to the one furthest below its share, never pushing it above
       its upper limit.
    A hand-over takes the largest items that fit into what is asked for, then the smallest one for the rest. A pair that
    has nothing to hand over is not asked again, so the work is bounded by the pairs of brokers plus the hand-overs.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Exchange(Protocol):
    """What the engine hands over."""

    def candidates(self, donor: int, receiver: int) -> NDArray[np.int64]:
        """List the rows the donor could hand to the receiver, the order in which they should be taken."""

    def hand_over(self, rows: NDArray[np.int64], donor: int, receiver: int) -> None:
        """Do it."""


def pick(unit: NDArray[np.float64], amount: float, room: float) -> NDArray[np.int64]:
    """Choose positions of ``unit`` whose sum comes close to ``amount`` from below, in the order given.

    Args:
        unit: float64[n], what each item is worth, each above 0.
        amount: the sum wanted.
        room: the most a single item may be worth when none fits into ``amount``; then the smallest one is chosen.
    """
    chosen: list[NDArray[np.int64]] = []
    start, rest = 0, amount
    while start < len(unit) and rest > 0:
        fits = np.nonzero(unit[start:] <= rest)[0]
        if not len(fits):
            break
        start += int(fits[0])
        running = np.cumsum(unit[start:])
        length = max(1, int(np.searchsorted(running, rest, side="right")))
        chosen.append(np.arange(start, start + length))
        rest -= float(running[length - 1])
        start += length
    if chosen:
        return np.concatenate(chosen)
    if len(unit) and amount > 0:
        smallest = int(np.argmin(unit))
        if unit[smallest] <= room:
            return np.array([smallest])
    return np.empty(0, dtype=np.int64)


class Leveller:
    """Levels one kind of load.

    Args:
        load: float64[B], changed in place.
        fair: float64[B], the share of each broker.
        lower: float64[B].
        upper: float64[B].
        unit: float64[P], what one item of a row is worth.
        exchange: what may be handed over, and how.
    """

    def __init__(
        self,
        *,
        load: NDArray[np.float64],
        fair: NDArray[np.float64],
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        unit: NDArray[np.float64],
        exchange: Exchange,
    ) -> None:
        self._load, self._fair, self._lower, self._upper = load, fair, lower, upper
        self._unit = unit
        self._exchange = exchange
        self._is_dead = np.eye(len(load), dtype=np.bool_)  # [donor, receiver]

    def run(self) -> None:
        """Level until every broker is inside its limits, or nothing more can be handed over."""
        self._fill_receivers()
        self._relieve_donors()

    def _ratio(self) -> NDArray[np.float64]:
        return self._load / np.where(self._fair > 0, self._fair, 1e-9)

    def _fill_receivers(self) -> None:
        is_stuck = np.zeros(len(self._load), dtype=np.bool_)
        while True:
            ratio = self._ratio()
            short = (self._load < self._lower * (1 - 1e-12)) & ~is_stuck
            if not short.any():
                return
            receiver = int(np.argmin(np.where(short, ratio, np.inf)))
            spare = self._load - self._lower
            can_give = (spare > 0) & ~self._is_dead[:, receiver] & (ratio > ratio[receiver])
            if not can_give.any():
                is_stuck[receiver] = True
                continue
            donor = int(np.argmax(np.where(can_give, ratio, -np.inf)))
            need = self._lower[receiver] - self._load[receiver]
            amount = min(need, spare[donor], self._step(can_give, ratio, donor, need))
            self._transfer(donor, receiver, amount, room=spare[donor])

    def _step(self, can_give: NDArray[np.bool_], ratio: NDArray[np.float64], donor: int, need: float) -> float:
        """How much to take from the fullest donor at once: down to the next one, but not in crumbs."""
        others = can_give.copy()
        others[donor] = False
        if not others.any():
            return need
        down_to = float(ratio[others].max() * self._fair[donor])
        return max(float(self._load[donor]) - down_to, need / (2.0 * float(can_give.sum())), need * 0.01)

    def _relieve_donors(self) -> None:
        is_stuck = np.zeros(len(self._load), dtype=np.bool_)
        while True:
            ratio = self._ratio()
            over = (self._load > self._upper * (1 + 1e-12)) & ~is_stuck
            if not over.any():
                return
            donor = int(np.argmax(np.where(over, ratio, -np.inf)))
            room = self._upper - self._load
            can_take = (room > 0) & ~self._is_dead[donor] & (ratio < ratio[donor])
            if not can_take.any():
                is_stuck[donor] = True
                continue
            receiver = int(np.argmin(np.where(can_take, ratio, np.inf)))
            surplus = self._load[donor] - self._upper[donor]
            self._transfer(donor, receiver, min(surplus, room[receiver]), room=room[receiver])

    def _transfer(self, donor: int, receiver: int, amount: float, *, room: float) -> None:
        room = min(room, self._upper[receiver] - self._load[receiver])
        rows = self._exchange.candidates(donor, receiver)
        chosen = pick(self._unit[rows], amount, room) if len(rows) else rows
        if not len(chosen):
            self._is_dead[donor, receiver] = True
            return
        rows = rows[chosen]
        self._exchange.hand_over(rows, donor, receiver)
        worth = float(self._unit[rows].sum())
        self._load[donor] -= worth
        self._load[receiver] += worth
