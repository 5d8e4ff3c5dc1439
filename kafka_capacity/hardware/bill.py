"""What a cluster runs on, what it costs a month as it is, and what it is used for, for sharing that out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_capacity.demand.workload import Workload
from kafka_capacity.hardware.cpu import CpuCosts
from kafka_capacity.hardware.limits import Limits, Resource
from kafka_capacity.hardware.rack_traffic import LeavingRatios
from kafka_capacity.hardware.shapes import Shape
from kafka_capacity.kafka.arrays import Floats, Int32s
from kafka_capacity.kafka.cluster.brokers import Brokers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GivenHardware:
    """What a plan takes today's brokers to be, and how far each resource may be used."""

    shape: Shape
    costs: CpuCosts
    limits: Limits
    is_read_in_rack: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceUse:
    """How far a resource of all brokers together is used at peak, and how near the fullest broker is to its limit."""

    resource: Resource
    load: float  # of all brokers, at peak, nothing having failed
    capacity: float  # of all brokers
    allowed: float  # what the limit leaves of it
    needed_ratio: float  # the largest load of a broker, under every condition to be stood, over what the limits allow


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bill:
    """Today's cluster and what it costs a month, priced as sizing prices it."""

    shape: Shape  # of its brokers, whose prices may be an estimate (`priced_as`)
    # US dollars a month by part: `brokers`, `disks`, `between_racks` and `ingest`; NaN where a price is not known
    usd: Mapping[str, float]
    uses: tuple[ResourceUse, ...]  # of the resources whose capacity is known of every broker
    held_bytes: float  # on all disks
    needed_disk_bytes: float  # the same, with the space that its limit keeps free
    billed_disk_bytes: float  # what is paid for
    brokers: Brokers  # with their racks
    workload: Workload  # of the partitions, today
    replicas: Int32s  # int32[P, W], positions of brokers, the preferred leader first, -1 for padding
    stored_bytes: Floats  # float64[P], of one replica
    leaving: LeavingRatios  # how often what is carried leaves its rack
    is_read_in_rack: bool  # whether consumers read from the follower in their rack
    cpu: CpuCosts  # what traffic costs of processors


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallestSize:
    """The fewest of today's brokers that carry something today; ``None`` where no number that was tried does."""

    broker_count: int | None
    usd_per_month: float | None  # ``None`` where a price is not known, too
