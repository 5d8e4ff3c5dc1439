"""What actions are looked for with."""

from __future__ import annotations

from dataclasses import dataclass

_DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SavingsSettings:
    """Bounds of the search, and what is assumed."""

    max_sets: int = 20  # how many sets of actions are sized at most, 0 for none
    max_partitions: int = 10_000  # with more, nothing is looked for unless somebody asks
    lag_margin: float = 2.0  # retention is at least so many times what consumers were behind at most
    least_retention_seconds: float = _DAY_SECONDS  # retention is cut no further
    compressions: tuple[tuple[str, float], ...] = ()  # patterns of topics, and their bytes then over today's
    compactions: tuple[tuple[str, float], ...] = ()  # likewise, and what compaction would leave of what they hold
    uncritical_topics: tuple[str, ...] = ()  # patterns of topics that two replicas are enough for
    quota_delay_seconds: float = 3600.0  # a quota delays nothing longer
    local_retention_seconds: float = _DAY_SECONDS  # how long brokers keep what is tiered
    object_store_usd_per_gib_month: float = 0.023  # S3 Standard in us-east-1, first 50 TB a month, as of 2025
