"""What sizing gives: options, how they fare, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kafka_capacity.hardware.limits import RESOURCE_NAMES, RESOURCES, Condition, Resource
from kafka_capacity.hardware.plain import plain_number, to_plain
from kafka_capacity.hardware.shapes import Shape
from kafka_capacity.kafka.arrays import Floats, Int32s
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.proposal.excuse import Excuse, distance
from kafka_capacity.text import listed


class OptionKind(StrEnum):
    """What an option is, seen from today's cluster."""

    DO_NOTHING = "do-nothing"  # the brokers, the hardware and the placement of today
    SCALE_IN = "scale-in"  # fewer brokers of today's hardware
    REBALANCE = "rebalance"  # the brokers of today, with replicas rebalanced
    SHRINK_VOLUMES = "shrink-volumes"  # as today, on volumes no larger than they must be: everything is copied
    SCALE_OUT = "scale-out"  # more brokers of today's hardware
    WITHOUT_SOME = "without-some"  # any number of brokers of today's hardware, but without some of today's
    OTHER_HARDWARE = "other-hardware"  # brokers of another shape, or with figures that were asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementKey:
    """What a placement hangs on; every shape with disks that are alike is judged on the same one."""

    broker_count: int  # how many brokers
    extra_racks: int = 0  # how many racks more than today, which new brokers go to
    replication_factor: int | None = None  # of all topics; `None` keeps each topic's own
    removed_brokers: tuple[int, ...] = ()  # ids of those of today that go, before brokers are counted
    is_observed: bool = False  # today's placement as it is, and nothing moved
    is_by_disk: bool = False  # brokers hold by the size of their disks, which differ, and not all alike
    used_brokers: int | None = None  # replicas are placed as on so many, and the others stay idle; `None` for on all

    @property
    def idle_brokers(self) -> int:
        """How many brokers hold nothing."""
        return 0 if self.used_brokers is None else self.broker_count - self.used_brokers


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityOption:
    """One option: a placement on brokers of one shape."""

    option_id: str
    kind: OptionKind
    placement: PlacementKey
    shape: Shape

    @property
    def family(self) -> tuple[Any, ...]:
        """What options that differ in their brokers' number only have in common."""
        key = self.placement
        return self.shape.name, key.extra_racks, key.replication_factor, key.removed_brokers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CapacityUse:
    """What each broker is used for and what it has."""

    brokers: Brokers  # the B brokers
    dates: tuple[str, ...]  # the D dates
    # float64[K, Q, 2, D, B]: condition (`CONDITIONS`), resource (`RESOURCES`), estimate (middle, high), date, broker
    load: Floats
    cause: Int32s  # int32[K, Q, 2, D, B], the position of the broker or rack whose loss makes this load, -1 for none
    capacity: Floats  # float64[Q, B], NaN where it is not known
    fallen_out: tuple[tuple[str, str], ...]  # groups that read beyond page caches at the high estimate, and from when


@dataclass(frozen=True, slots=True, kw_only=True)
class Tightest:
    """Where an option is nearest to a limit, or beyond it: the load, and what the limit leaves of the capacity."""

    resource: Resource
    condition: Condition
    broker: int
    date: str
    needed: float
    allowed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhaustion:
    """When a resource passes its limit; ``None`` for not before the horizon."""

    resource: Resource  # which
    middle: str | None  # the day at the middle estimate
    high: str | None  # the day at the high one, which is the earlier
    condition: Condition | None  # under which condition, at the high estimate; `None` where it does not
    broker: int | None  # whose, `None` likewise


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthlyCost:
    """US dollars a month on average over the time up to the horizon, NaN where a price is not known."""

    brokers: float = math.nan  # machines
    disks: float = math.nan  # their volumes as they are provisioned, or what is stored
    between_racks: float = math.nan  # traffic between racks, at mean rates
    ingest: float = math.nan  # what the provider takes for produced bytes
    by_date: tuple[float, ...] = ()  # all of it, at each date of the outlook

    @property
    def total(self) -> float:
        """All of it; NaN when any part is not known."""
        return self.brokers + self.disks + self.between_racks + self.ingest


@dataclass(frozen=True, slots=True, kw_only=True)
class Copying:
    """What a change copies, and how long at mean rates; ``None`` for ever, with no throttle above the least.

    The least is infinite where no throttle helps.
    """

    moved_bytes: float = 0.0
    moved_between_racks_bytes: float = 0.0
    seconds: float | None = 0.0
    least_throttle_bytes_per_second: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeCost(Copying):
    """What it takes to get there from today."""

    usd: float = math.nan  # of traffic, and of brokers until they are empty; NaN for not known, infinite for no end
    break_even_days: float | None = None  # until a lower monthly cost has paid for it; `None` for never or not known
    is_in_place: bool = True  # whether brokers keep their disks


LOAD_MARGIN_RATIO = 0.1  # how much less and more load than expected is answered for
UNKNOWN = frozenset({"rates", "capacities", "sizes"})  # not known, so that an option neither fits nor fails


def speaks_of_unknowns(constraints: Collection[str]) -> bool:
    """Return whether all that speaks against an option, by the constraints named, is that something is not known."""
    return bool(constraints) and UNKNOWN.issuperset(constraints)


def worst_reason(excuses: Sequence[Mapping[str, Any]], tightest: tuple[str | None, float | None]) -> str:
    """Return what stands in the way most: what no hardware fixes, else the limit that is exceeded most.

    ``tightest`` is the resource with the least headroom and what it needs.
    """
    found = excuses[0]
    if found["constraint"] in set(RESOURCES):
        found = next((one for one in excuses if (one["constraint"], one["needed"]) == tightest), found)
    return str(found["reason"])


def is_refused(constraints: Collection[str], headroom_ratio: float | None) -> bool:
    """Return whether Kafka would refuse an option's placement, so that nothing else is known of it."""
    return headroom_ratio is None and UNKNOWN.isdisjoint(constraints)


def carries(constraints: Collection[str], headroom_ratio: float | None, factor: float) -> bool:
    """Return whether an option's tightest place keeps its limit with every load times a factor."""
    return (
        headroom_ratio is not None and (1.0 - headroom_ratio) * factor <= 1.0 and set(RESOURCES).issuperset(constraints)
    )


def nearness(
    excuses: Sequence[Mapping[str, Any]], headroom_ratio: float | None, usd_per_month: float | None, broker_count: int
) -> tuple[bool, int, float, float, int]:
    """Return what is less the nearer an option is to fitting; of equals the cheapest, then that of the fewest brokers.

    What Kafka would refuse is the last of all. ``usd_per_month`` is ``None`` where it is not known.
    """
    refused = is_refused([excuse["constraint"] for excuse in excuses], headroom_ratio)
    usd = math.inf if usd_per_month is None else usd_per_month
    return refused, *distance(excuses), usd, broker_count


def unknown_of_fewer(not_judged: Collection[str]) -> list[Resource]:
    """Return the resources of unknown capacity that speak against fewer brokers: all but the throughput of disks."""
    return [one for one in RESOURCES if one in not_judged and one is not Resource.DISK_IO]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judgement:
    """How the loads of an option stand to the limits."""

    excuses: tuple[Excuse, ...] = ()  # the limits that it passes; of a result, by day
    not_judged: tuple[Resource, ...] = ()  # resources of which the capacity is not known
    fits_until: str | None = None  # the last day on which it fits, the horizon at most; `None` when not even today
    # of what is allowed, at the tightest place, negative beyond; `None` for no judgement
    headroom_ratio: float | None = None
    tightest: Tightest | None = None  # that place
    exhaustion: tuple[Exhaustion, ...] = ()  # one entry a judged resource


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CapacityResult(Judgement):
    """How an option fares; without any figures where Kafka would refuse its placement."""

    option: CapacityOption  # which
    fits: bool  # whether it stays within every limit up to the horizon, as far as capacities are known
    cost: MonthlyCost = MonthlyCost()  # per month
    change: ChangeCost = ChangeCost(seconds=None)  # from today to here
    use: CapacityUse | None = None  # the details, where they are kept
    is_fewer: bool = False  # whether it has fewer of today's brokers
    unknown_load: str = ""  # which loads are not known, as a clause; empty where all that matter are

    @property
    def why_as_far_as_known(self) -> str:
        """What is not known and may take more brokers, as a clause; empty for nothing."""
        unknown = [RESOURCE_NAMES[one] for one in unknown_of_fewer(self.not_judged)]
        return f"the capacity is unknown: {listed(unknown)}" if unknown else self.unknown_load

    @property
    def is_unproved(self) -> bool:
        """Whether it has fewer of today's brokers, and something is not known that may take more."""
        return self.is_fewer and bool(self.why_as_far_as_known)

    @property
    def option_id(self) -> str:
        """The option's name."""
        return self.option.option_id

    @property
    def is_not_judged(self) -> bool:
        """Whether all that speaks against it is that something is not known."""
        return speaks_of_unknowns([excuse.constraint for excuse in self.excuses])

    def lasts(self, date: str) -> bool:
        """Return whether it fits until a date at least."""
        return self.fits or (self.fits_until or "") >= date

    def carries(self, factor: float) -> bool:
        """Return whether it keeps every limit up to the horizon with all loads times a factor."""
        return carries([excuse.constraint for excuse in self.excuses], self.headroom_ratio, factor)

    @property
    def is_refused(self) -> bool:
        """Whether Kafka would refuse its placement."""
        return is_refused([excuse.constraint for excuse in self.excuses], self.headroom_ratio)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, without the details; what is not known is null."""
        option = self.option
        return {
            "option_id": option.option_id,
            "kind": str(option.kind),
            **to_plain(option.placement),
            "idle_brokers": option.placement.idle_brokers,
            "shape": option.shape.name,
            "priced_on": option.shape.priced_on or None,
            "priced_as": option.shape.priced_as,
            "fits": self.fits,
            "fits_until": self.fits_until,
            "excuses": [excuse.as_dict() for excuse in self.excuses],
            "not_judged": [str(resource) for resource in self.not_judged],
            "headroom_ratio": plain_number(self.headroom_ratio),
            "tightest": to_plain(self.tightest),
            "exhaustion": [to_plain(one) for one in self.exhaustion],
            "usd_per_month": {
                **to_plain(self.cost),
                "total": plain_number(self.cost.total),
                "is_estimate": option.shape.priced_as is not None,
            },
            "change": to_plain(self.change),
        }
