"""Copies that share throttles, played event by event: what closed forms are compared with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_NEGLIGIBLE = 1e-12
"""Of a copy's size: what is left by rounding."""


def replay(
    gates: NDArray[np.intp], size_bytes: NDArray[np.float64], closing: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Play copies event by event, max-min fair: float64[C], when each is in sync, infinite for never.

    Each event is a copy that is done. As many events as copies, and at each the shares are worked out again: for small
    waves, and to check :func:`copy_seconds`.
    """
    done = np.full(len(size_bytes), np.inf)
    done[size_bytes <= 0] = 0.0
    left = size_bytes.astype(np.float64)
    is_active = size_bytes > 0
    now = 0.0
    while is_active.any():
        rate = fair_rates(gates, is_active, closing)
        moves = is_active & (rate > 0)
        if not moves.any():
            break
        step = float((left[moves] / rate[moves]).min())
        now += step
        left[moves] -= rate[moves] * step
        ended = moves & (left <= _NEGLIGIBLE * size_bytes)
        done[ended] = now
        is_active &= ~ended
    return done


def fair_rates(
    gates: NDArray[np.intp], is_active: NDArray[np.bool_], closing: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Share all gates among the active copies, max-min fair: float64[C].

    The gate with the smallest even share fixes the rate of its copies; what they take elsewhere is gone there; and so
    on, until every copy has a rate.
    """
    rate = np.zeros(len(is_active))
    open_copies = is_active.copy()
    left = np.maximum(closing, 0.0)
    while open_copies.any():
        count = np.bincount(gates[open_copies].ravel(), minlength=len(left))
        share = np.where(count > 0, left / np.maximum(count, 1), np.inf)
        tightest = int(np.argmin(share))
        fixed = open_copies & (gates == tightest).any(axis=1)
        rate[fixed] = share[tightest]
        taken = np.bincount(gates[fixed].ravel(), minlength=len(left))
        left = np.maximum(left - taken * share[tightest], 0.0)
        open_copies &= ~fixed
    return rate
