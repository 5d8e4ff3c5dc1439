"""What is asked of the future: the horizon, the growth rate where no forecast can be made, and planned events."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_capacity.demand.events import PlannedEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassPattern:
    """Topics that the user says grow alike.

    Attributes:
        name: of the class.
        topics: a pattern of names such as ``orders.*``.
    """

    name: str
    topics: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandSettings:
    """What is asked of the future.

    Attributes:
        horizon_months: how far ahead, in months.
        growth_per_year_ratio: growth in a year where the history is too short for a forecast; 0.3 is 30 % a year.
        growth_high_per_year_ratio: the same for the high estimate; never below the middle one.
        high_quantile: of the high estimate where there is a forecast.
        is_forecast: whether forecasts are made at all; without, the growth rate holds for all.
        topic_classes: topics that grow alike, the first pattern that matches counts; topics that none matches are
            classed by the start of their name.
        events: planned events.
    """

    horizon_months: int = 12
    growth_per_year_ratio: float = 0.3
    growth_high_per_year_ratio: float = 0.6
    high_quantile: float = 0.9
    is_forecast: bool = True
    topic_classes: tuple[ClassPattern, ...] = ()
    events: tuple[PlannedEvent, ...] = ()
