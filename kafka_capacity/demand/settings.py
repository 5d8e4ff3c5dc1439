"""What is asked of the future: the horizon, growth where the user knows it, and planned events."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_capacity.demand.calendar_days import DAYS_PER_YEAR
from kafka_capacity.demand.events import PlannedEvent
from kafka_capacity.kafka.arrays import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassPattern:
    """Topics that the user says grow alike."""

    name: str  # of the class
    topics: str  # a pattern of names such as `orders.*`


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """Growth in a year, as ratios: 0.3 is 30 % a year."""

    middle: float  # expected
    high: float  # at the high estimate, not below the middle


USUAL_GROWTH = Growth(middle=0.3, high=0.6)  # of traffic of which nothing is known; the high rate is the 0.9 quantile


def growth_ratio(days: Floats, growth_per_year_ratio: float) -> Floats:
    """Return float64[D], traffic over that of day 0: the same share more each year, also within it."""
    return np.asarray((1.0 + growth_per_year_ratio) ** (days / DAYS_PER_YEAR), dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandSettings:
    """What is asked of the future."""

    horizon_months: int = 12  # how far ahead, in months
    growth_per_year_ratio: float | None = None  # holds instead of the forecast; `None` for what the history says
    growth_high_per_year_ratio: float | None = None  # the same for the high estimate; never below the middle one
    class_growth: tuple[tuple[str, float], ...] = ()  # by name of a class, its growth, which holds before that of all
    high_quantile: float = 0.9  # of the high estimate where there is a forecast
    is_forecast: bool = True  # whether forecasts are made at all; without, a growth rate holds for all
    topic_classes: tuple[ClassPattern, ...] = ()  # topics that grow alike; the first pattern that matches counts
    events: tuple[PlannedEvent, ...] = ()

    def growth_of(self, name: str) -> Growth | None:
        """Return the growth that was asked for a class, ``None`` where its history decides.

        Where the high one is not given it stands to the other as the usual ones do.
        """
        middle, high = self.growth_per_year_ratio, self.growth_high_per_year_ratio
        if name in dict(self.class_growth):
            middle, high = dict(self.class_growth)[name], None
        if middle is None:
            return None
        usual = (1 + middle) * (1 + USUAL_GROWTH.high) / (1 + USUAL_GROWTH.middle) - 1
        return Growth(middle=middle, high=usual if high is None else max(middle, high))
