"""What sizing answers of a cluster after a change: brokers and dollars by when, and what stands in the way of fewer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class InTheWay:
    """What keeps a number of brokers from being enough."""

    broker_count: int  # that is not enough
    constraint: str  # what it passes, such as a resource
    reason: str  # the sentence with where, when and the figures
    is_unknown: bool = False  # whether it may be enough, but capacities that it needs are not known


@dataclass(frozen=True, slots=True, kw_only=True)
class Resized:
    """One cluster, sized; each sequence has an entry a date of the outlook, ``None`` where nothing tried lasts."""

    broker_counts: tuple[int | None, ...]
    steps: tuple[tuple[str, int], ...]  # from which day on how many brokers, in order
    usd_per_month: tuple[float | None, ...]  # `None` as well where a price is not known
    # on average over all steps up to the horizon; `None` where a price is not known, or nothing tried lasts so long
    mean_usd_per_month: float | None
    remote_bytes: tuple[float, ...]  # what the object store holds
    stored_bytes: float  # what all replicas hold today
    shape: str | None  # that the brokers run on in the end; `None` where nothing lasts
    is_estimate: bool  # whether dollars are those of another shape
    unknown: tuple[str, ...] = ()  # capacities that are not known and so not judged, of the numbers above, in words
    in_the_way: InTheWay | None  # of fewer brokers than in the end; `None` where fewer were not tried
