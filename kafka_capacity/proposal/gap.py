"""How far a plan is above the least possible, where that can be said.

A bound is not always reached by a plan, so what lies between is the most that a better plan could save. Where the bound
is next to nothing against what moves, a ratio of it says nothing, and none is given.
"""

from __future__ import annotations

from kafka_capacity.text.figures import PROVEN_RATIO, format_gap

MAX_GAP_RATIO = 1.0  # above it the bound says too little of a plan for a ratio


def gap_ratio(moved_bytes: float, bound_bytes: float) -> float | None:
    """Return (moved − bound) ÷ bound; ``None`` where that says nothing.

    Below the bound is only a plan that breaks the rack rule, of which the bound says nothing.

    >>> gap_ratio(0, 0), gap_ratio(103, 100), gap_ratio(100, 0), gap_ratio(36_376, 100), gap_ratio(90, 100)
    (0.0, 0.03, None, None, None)
    """
    if moved_bytes == bound_bytes:
        return 0.0
    if not 0 < bound_bytes < moved_bytes:
        return None
    ratio = (moved_bytes - bound_bytes) / bound_bytes
    return ratio if ratio <= MAX_GAP_RATIO else None


def gap_text(moved_bytes: float, bound_bytes: float) -> str | None:
    """Return how far a plan is above the least possible; ``None`` where that says nothing.

    >>> gap_text(100, 100), gap_text(103, 100), gap_text(100_010, 100_000), gap_text(36_376, 100)
    ('0 %', 'at most 3.0 %', '<0.1 %', None)
    """
    ratio = gap_ratio(moved_bytes, bound_bytes)
    return None if ratio is None else format_gap(ratio)


def is_proven_least(moved_bytes: float, bound_bytes: float) -> bool:
    """Return whether no plan with the same balance copies less.

    >>> is_proven_least(100, 100), is_proven_least(103, 100)
    (True, False)
    """
    ratio = gap_ratio(moved_bytes, bound_bytes)
    return ratio is not None and ratio <= PROVEN_RATIO
