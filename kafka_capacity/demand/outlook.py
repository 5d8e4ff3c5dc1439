"""What traffic is expected at each date: the one thing that sizing knows of the future.

Topics that grow alike are a class. Each class has, for every date, how its traffic stands to today's: the middle
estimate and a high one. A forecast fills this in where the history is long enough, a growth rate where it is not, and
planned events (a launch, a change of retention) are folded in: a topic that an event names is a class of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from kafka_capacity.kafka.arrays import Floats, Int32s


class Basis(StrEnum):
    """What the growth of a class rests on."""

    FORECAST = "forecast"  # a model fitted to its history, whose error on that history is told
    GROWTH_RATE = "growth-rate"  # a yearly rate, asked for, or taken where the history is too short for a forecast


TRAFFIC, STORED = "traffic", "stored"  # what is produced to the cluster at peak, and what all replicas take on disk


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassBasis:
    """What the expectation for one class of topics rests on."""

    name: str  # of the class
    basis: Basis  # forecast or growth rate
    model: str = ""  # what was fitted; empty for a growth rate
    history_days: int  # how many days of history there are
    reason: str  # why it is this basis, a sentence with the figures
    error_ratio: float = math.nan  # mean absolute error in the backtest, as a ratio; NaN where there was none
    seasonal_naive_error_ratio: float = math.nan  # the same of repeating the last week
    coverage_ratio: float = math.nan  # share of the backtest's weeks inside their interval, likewise
    interval_ratio: float = math.nan  # what share should be inside, such as 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedTopic:
    """A topic that does not exist yet, from a planned event."""

    name: str  # of the topic, which no topic of the snapshot has
    from_date: str  # the first day of its traffic, `YYYY-MM-DD`
    partitions: int  # how many
    replication_factor: int  # of each
    bytes_in_peak_bytes_per_second: float  # produced to all its partitions together, at peak
    bytes_in_mean_bytes_per_second: float  # the same, on average
    bytes_out_peak_bytes_per_second: float  # read by consumers, at peak
    bytes_out_mean_bytes_per_second: float  # the same, on average
    retention_seconds: float  # infinite for no limit


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DemandOutlook:
    """Traffic and retention at each date, against the day of the inventory."""

    dates: tuple[str, ...]  # D days, YYYY-MM-DD, ascending: the first is that of the inventory, the last the horizon
    classes: tuple[ClassBasis, ...]  # C entries, what each rests on
    class_of: Int32s  # int32[P], the class of each partition, in the order of `Snapshot.partitions`
    rate_ratio: Floats  # float64[C, D], traffic, in and out, over today's, the middle estimate; 1 at the first date
    rate_ratio_high: Floats  # float64[C, D], the high estimate, never below the middle one
    high_quantile: float  # of the high estimate, such as 0.9
    retention_ratio: Floats  # float64[C, D], retention over today's, for planned changes of it; else 1
    # float64[C], today's mean over the measured one, which has a part of a launch; peaks have it from its first day
    mean_ratio: Floats
    added: tuple[AddedTopic, ...] = ()  # topics that do not exist yet
