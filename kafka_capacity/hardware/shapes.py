"""Kinds of machines that brokers may run on, and what a list of brokers can do.

A figure that is not known is NaN: what it would limit is then not judged, and the result says so; a price that is not
known makes the cost not known. Nothing is made up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from kafka_capacity.hardware.limits import RECOVERIES, Resource
from kafka_capacity.hardware.plain import known_median
from kafka_capacity.kafka.arrays import Floats
from kafka_capacity.kafka.cluster.brokers import Brokers

_UNKNOWN = -1.0  # stands for NaN where machines are compared
TODAY = "today"  # names the hardware of the observed brokers


class DiskKind(StrEnum):
    """Where a broker's log is."""

    OWN = "own"  # disks that come with the machine: they go with it, so a broker on another machine copies everything
    ATTACHED = "attached"  # a network volume up to a limit, paid for apart; it can be attached to another machine
    MANAGED = "managed"  # the provider's affair; what is stored is paid for once, whatever the replication factor


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """A kind of network volume and what it costs."""

    name: str  # such as `gp3`
    largest_bytes: float  # of one volume
    usd_per_gib_month: float  # of its size
    included_bytes_per_second: float  # throughput that comes with it
    largest_bytes_per_second: float  # throughput that can be had
    usd_per_mib_per_second_month: float  # of throughput above what is included, NaN where none can be bought
    included_iops: float = 0.0  # operations per second that come with it
    bytes_per_second_per_iops: float = math.inf  # throughput that each of them allows, infinite where they limit none
    usd_per_iops_month: float = 0.0  # of operations above what is included


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One kind of machine; rates are what it sustains, and bursts are told beside them."""

    name: str  # as people know it, such as `m7g.2xlarge`
    provider: str  # such as `aws-ec2`; its brokers can change their shape in place when their disks are attached
    vcpu: float  # how many, NaN where it is not known
    is_vcpu_given: bool = False  # whether that is said of all of today's brokers, whatever the inventory has of each
    core_speed_ratio: float = math.nan  # how much each does over one of an m5, NaN where it is not known
    memory_bytes: float  # of the whole machine
    network_bytes_per_second: float  # in each direction
    disk_bytes_per_second: float  # between machine and disk, reads and writes together; a volume may give less
    disk_kind: DiskKind  # where the log is
    disk_bytes: float  # how much a broker can store
    fullest_volume_ratio: float = 1.0  # how much of what a broker holds is on the fullest of its disks
    volume: Volume | None = None  # what is attached, `None` for other disks
    client_in_bytes_per_second: float = math.nan  # clients may produce to a broker, NaN for no limit of its own
    client_out_bytes_per_second: float = math.nan  # what clients may read from one broker, likewise
    replica_limit: float  # how many replicas one broker should hold
    usd_per_hour: float  # of one machine
    usd_per_gib_month: float = 0.0  # of what is stored, for managed disks; of the space there is, for own ones
    usd_per_gib_in: float = 0.0  # of what clients produce
    usd_per_gib_between_racks: float  # of client traffic between racks, both ends together
    is_replication_free: bool = False  # whether replication between racks costs nothing
    priced_on: str = ""  # the day of the prices, `YYYY-MM-DD`
    source: str  # of the figures
    has_quotas: bool = False  # whether the provider publishes what a broker takes, which stands for processors
    is_discounted: bool = True  # whether a commitment, reserved or a savings plan, lowers the price of the machine
    priced_as: str | None = None  # whose prices stand in for those that nobody gave, which makes dollars an estimate
    bursts: Mapping[Resource, float] = field(default_factory=dict)  # more than it sustains: what it reaches for minutes


def observed_shape(
    brokers: Brokers,
    *,
    vcpu: float = math.nan,
    core_speed_ratio: float = math.nan,
    disk_bytes_per_second: float = math.nan,
    usd_per_hour: float = math.nan,
    usd_per_gib_between_racks: float = math.nan,
    replica_limit: float = math.nan,
) -> Shape:
    """Describe today's hardware: the medians of the observed brokers, and what the user adds."""
    network = np.fmin(brokers.network_in_bytes_per_second, brokers.network_out_bytes_per_second)
    return Shape(
        name=TODAY,
        provider=TODAY,
        vcpu=known_median(brokers.cpu_cores) if math.isnan(vcpu) else vcpu,
        is_vcpu_given=not math.isnan(vcpu),
        core_speed_ratio=core_speed_ratio,
        memory_bytes=known_median(brokers.memory_bytes),
        network_bytes_per_second=known_median(network),
        disk_bytes_per_second=disk_bytes_per_second,
        disk_kind=DiskKind.OWN,
        disk_bytes=known_median(brokers.disk_capacity_bytes),
        replica_limit=replica_limit,
        usd_per_hour=usd_per_hour,
        usd_per_gib_between_racks=usd_per_gib_between_racks,
        source="the inventory and the request",
    )


def hardware(shape: Shape, brokers: Brokers) -> dict[Resource, Floats]:
    """Return how much each broker has of each resource when it runs on a shape, float64[B], NaN where it is not known.

    For today's hardware the figures of ``brokers`` come first, broker by broker, but for cores that the request gives.
    Where a provider publishes quotas, processors are not known: the quotas stand for them. How long recovery may take
    is nothing of the machine.
    """
    network, disk_rate = shape.network_bytes_per_second, shape.disk_bytes_per_second
    if shape.volume is not None and not math.isnan(disk_rate):
        disk_rate = min(disk_rate, shape.volume.largest_bytes_per_second)
    found = {
        Resource.CLIENT_IN: shape.client_in_bytes_per_second,
        Resource.CLIENT_OUT: shape.client_out_bytes_per_second,
        Resource.CPU: math.nan if shape.has_quotas else shape.vcpu,
        Resource.DISK_IO: disk_rate,
        Resource.REPLICAS: shape.replica_limit,
        **dict.fromkeys(RECOVERIES, math.nan),
    }
    has = {one: np.full(len(brokers), value) for one, value in found.items()} | {
        Resource.NETWORK_IN: _own_first(shape, brokers.network_in_bytes_per_second, network),
        Resource.NETWORK_OUT: _own_first(shape, brokers.network_out_bytes_per_second, network),
        Resource.DISK: _own_first(shape, brokers.disk_capacity_bytes, shape.disk_bytes),
    }
    if not (shape.has_quotas or shape.is_vcpu_given):
        has[Resource.CPU] = _own_first(shape, brokers.cpu_cores, shape.vcpu)
    return has


def memory_bytes(shape: Shape, brokers: Brokers) -> Floats:
    """Return float64[B], the memory of each broker when it runs on a shape, NaN where it is not known."""
    return _own_first(shape, brokers.memory_bytes, shape.memory_bytes)


def _own_first(shape: Shape, own: Floats, value: float) -> Floats:
    is_known = np.isfinite(own) & (shape.name == TODAY)
    # Where the others were observed, that one is not known to be like them; a shape that was named is that of all.
    return own if is_known.any() and shape.provider == TODAY else np.where(is_known, own, value)


def usd_per_hour(shape: Shape, brokers: Brokers, estimates: Sequence[Shape]) -> Floats:
    """Return float64[B], what each broker costs on a shape: on today's that of the nearest of the estimates.

    Without any, and of a broker of which nothing is known, it is the price of the shape.
    """
    if shape.name != TODAY or not estimates:
        return np.full(len(brokers), shape.usd_per_hour)
    nearest = nearest_prices(shape, brokers, estimates)
    return np.array([shape.usd_per_hour if price is None else price.usd_per_hour for price in nearest])


def nearest_prices(shape: Shape, brokers: Brokers, estimates: Sequence[Shape]) -> list[Shape | None]:
    """Return the estimate for each broker: whose cores, memory and network differ least, each by its ratio.

    Only what is known of both counts, and of equals the first; ``None`` where neither cores nor memory are known.
    """
    has = hardware(shape, brokers)
    network = np.fmin(has[Resource.NETWORK_IN], has[Resource.NETWORK_OUT])
    # Brokers that are alike are looked up once; what is not known is alike too, as NaN is not.
    figures = np.nan_to_num(np.stack([has[Resource.CPU], memory_bytes(shape, brokers), network], axis=1), nan=_UNKNOWN)
    machines, machine_of = np.unique(figures, axis=0, return_inverse=True)
    found = [_nearest(estimates, machine) for machine in np.where(machines == _UNKNOWN, np.nan, machines).tolist()]
    return [found[place] for place in machine_of.ravel().tolist()]


def _nearest(prices: Iterable[Shape], machine: Sequence[float]) -> Shape | None:
    vcpu, memory_bytes, _ = machine
    if math.isnan(vcpu) and math.isnan(memory_bytes):
        return None
    far = ((_distance(machine, (one.vcpu, one.memory_bytes, one.network_bytes_per_second)), one) for one in prices)
    return min(((far, one) for far, one in far if far is not None), key=lambda found: found[0], default=(0, None))[1]


def _distance(machine: Sequence[float], other: Sequence[float]) -> float | None:
    """Return how far two machines are apart, ``None`` where nothing is known of both."""
    ratios = [one / another for one, another in zip(machine, other, strict=True)]
    known = [abs(math.log(ratio)) for ratio in ratios if not math.isnan(ratio)]
    return round(sum(known), 6) if known else None


def is_changed_in_place(now: Shape, then: Shape) -> bool:
    """Return whether a broker can go from one shape to the other with its disk, so that nothing is copied."""
    if now.name == then.name:
        return True
    return now.provider == then.provider and now.disk_kind == then.disk_kind and now.disk_kind is not DiskKind.OWN
