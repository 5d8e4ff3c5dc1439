"""Expected traffic by a yearly growth rate: what there is where no forecast can be made, or where it was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.calendar_days import DAYS_PER_YEAR, days_between
from kafka_capacity.demand.outlook import Basis, ClassBasis
from kafka_capacity.demand.settings import Growth
from kafka_capacity.text import whole_percent


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExpectedPath:
    """Traffic of one class over today's, and what that rests on."""

    basis: ClassBasis  # of the class
    middle: NDArray[np.float64]  # float64[D], 1 at the first date
    high: NDArray[np.float64]  # float64[D], never below the middle
    mean_ratio: float = 1.0  # today's mean over the measured one, which outages lower while peaks have none of them


def growth_ratio(days: NDArray[np.float64], growth_per_year_ratio: float) -> NDArray[np.float64]:
    """Return float64[D], traffic over that of day 0: the same share more each year, also within it."""
    return np.asarray((1.0 + growth_per_year_ratio) ** (days / DAYS_PER_YEAR), dtype=np.float64)


def growth_path(name: str, dates: Sequence[str], growth: Growth, *, history_days: int, why: str) -> ExpectedPath:
    """Let a class grow by a yearly rate; ``why`` there is no forecast is a sentence without its stop."""
    days = np.array([days_between(dates[0], date) for date in dates], dtype=np.float64)
    middle = growth_ratio(days, growth.middle)
    high = np.maximum(middle, growth_ratio(days, growth.high))
    usual, most = whole_percent(growth.middle), whole_percent(growth.high)
    rates = f"traffic grows by {usual} a year, and by {most} in the high estimate"
    basis = ClassBasis(name=name, basis=Basis.GROWTH_RATE, history_days=history_days, reason=f"{why}: {rates}.")
    return ExpectedPath(basis=basis, middle=middle, high=high)
