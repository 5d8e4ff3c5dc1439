"""Whole cents that sum to the cent, by the method of the largest remainder."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def in_cents(usd: float) -> int:
    """Return an amount in whole cents, half a cent to the even one.

    >>> in_cents(12.345678), in_cents(0.1 + 0.2)
    (1235, 30)
    """
    return round(usd * 100)


def shared_cents(cents: int, weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Share out cents in proportion to weights: int64[N] that sums to the cents, each within one cent of its share.

    Of equal remainders the first gets the cent. Something cannot be shared out among nobody.

    Args:
        cents: 0 or more.
        weights: float64[N], 0 or more each; some above 0 unless there are no cents.

    Raises:
        ValueError: there are cents, and no weight is above 0.

    >>> shared_cents(100, np.array([1.0, 1.0, 1.0])).tolist(), shared_cents(0, np.zeros(2)).tolist()
    ([34, 33, 33], [0, 0])
    """
    found = np.zeros(len(weights), dtype=np.int64)
    if not cents:
        return found
    has_any = np.flatnonzero(weights > 0)
    if not len(has_any):
        msg = f"{cents} cents cannot be split: no weight is above 0"
        raise ValueError(msg)
    exact = weights[has_any] / weights[has_any].sum() * cents
    whole = np.floor(exact)
    order = np.argsort(whole - exact, kind="stable")
    missing = cents - int(whole.sum())
    if missing < 0:  # rounding of very many shares
        order, missing = order[::-1][whole[order[::-1]] > 0], -missing
        whole[order[:missing]] -= 1
    else:
        whole[order[:missing]] += 1
    found[has_any] = whole.astype(np.int64)
    return found
