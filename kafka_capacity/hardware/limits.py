"""What must not be passed: resources, the conditions under which they are judged, and how far each may be used."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from kafka_capacity.text.amounts import format_bytes, format_rate
from kafka_capacity.text.wording import told_apart


class Resource(StrEnum):
    """What a broker can run out of."""

    NETWORK_IN = "network_in"
    NETWORK_OUT = "network_out"
    CLIENT_IN = "client_in"
    CLIENT_OUT = "client_out"
    CPU = "cpu"
    DISK = "disk"
    DISK_IO = "disk_io"
    REPLICAS = "replicas"
    RECOVERY = "recovery"  # how long it takes to re-replicate the broker once it is lost, where somebody set a limit
    VOLUME_RECOVERY = "volume_recovery"  # the same for the fullest of its disks


RESOURCES = tuple(Resource)
RECOVERIES = frozenset({Resource.RECOVERY, Resource.VOLUME_RECOVERY})
UNITS = dict.fromkeys(RESOURCES, "bytes_per_second") | {
    Resource.CPU: "cores",
    Resource.DISK: "bytes",
    Resource.REPLICAS: "replicas",
    Resource.RECOVERY: "seconds",
    Resource.VOLUME_RECOVERY: "seconds",
}
RESOURCE_NAMES = {
    Resource.NETWORK_IN: "network in",
    Resource.NETWORK_OUT: "network out",
    Resource.CLIENT_IN: "producers' throughput",
    Resource.CLIENT_OUT: "consumers' throughput",
    Resource.CPU: "CPU",
    Resource.DISK: "disk space",
    Resource.DISK_IO: "disk throughput",
    Resource.REPLICAS: "replicas",
    Resource.RECOVERY: "recovery time",
    Resource.VOLUME_RECOVERY: "recovery time of a disk",
}
"""As they stand in sentences."""

MIB = 1024.0**2
GIB = 1024.0**3

NEVER_SECONDS = 365 * 86_400.0  # a broker that takes longer to re-replicate, or for ever, counts as taking so long


class Condition(StrEnum):
    """When a load is judged; all at peak."""

    NORMAL = "normal"
    BROKER_LOST = "broker-lost"  # after the loss of the broker whose loss is the worst for the one that is looked at
    RACK_LOST = "rack-lost"  # the same for racks
    MOVING = "moving"  # a reassignment uses its whole throttle in both directions on every broker
    BROKER_RETURNS = "broker-returns"  # it fetches what it missed from whoever leads, as fast as the throttle lets it
    REREADING = "re-reading"  # somebody reads everything once more, as fast as it is produced, from disk


CONDITIONS = tuple(Condition)


class FailureTolerance(StrEnum):
    """What may fail while everything goes on."""

    NONE = "none"
    ONE_BROKER = "one-broker"
    ONE_RACK = "one-rack"


def shown_amount(resource: Resource, value: float, more_digits: int = 0) -> str:
    """Write an amount of a resource with its unit, to the usual number of digits or more."""
    if resource is Resource.CPU:
        return f"{value:,.{1 + more_digits}f} cores"
    if resource is Resource.DISK:
        return format_bytes(value, more_digits)
    if resource is Resource.REPLICAS:
        return f"{value:,.{more_digits}f} replicas"
    if resource in RECOVERIES:
        return f"{value / 3600:,.{1 + more_digits}f} hours" if value < NEVER_SECONDS else "more than a year"
    return format_rate(value, more_digits)


def amounts_apart(resource: Resource, needed: float, allowed: float) -> Callable[[float], str]:
    """Return how to write two amounts of a resource so that they are seen to differ: :func:`told_apart`."""
    return told_apart(functools.partial(shown_amount, resource), needed, allowed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How far each resource may be used, as a share of what there is."""

    network_ratio: float = 0.7  # 0.7 leaves bursts within the hour, of which hourly means know nothing, their room
    cpu_ratio: float = 0.6  # 0.6: Amazon MSK's best practices keep CpuUser + CpuSystem below 60 %
    disk_ratio: float = 0.85  # 0.85 of the space: a disk that is full stops its broker
    disk_io_ratio: float = 0.8  # 0.8 of the disk's throughput
    client_ratio: float = 0.75  # of clients' throughput, as Amazon's MSK sizing script uses that of Express brokers
    # of all but space, which does not come back by waiting, while something has failed, is moved or caught up
    lost_ratio: float = 0.9
    tolerance: FailureTolerance = FailureTolerance.ONE_BROKER  # which failures must fit
    is_move_included: bool = False  # whether it must also fit while a reassignment runs
    is_catch_up_included: bool = False  # whether it must also fit while a broker or a reader catches up

    def ratio(self, resource: Resource, condition: Condition) -> float:
        """Return how far a resource may be used under a condition; all of replicas and of the time to recover."""
        if resource is Resource.REPLICAS or resource in RECOVERIES:
            return 1.0
        if resource is Resource.DISK:
            return self.disk_ratio
        normal = {
            Resource.CPU: self.cpu_ratio,
            Resource.DISK_IO: self.disk_io_ratio,
            Resource.CLIENT_IN: self.client_ratio,
            Resource.CLIENT_OUT: self.client_ratio,
        }.get(resource, self.network_ratio)
        return normal if condition is Condition.NORMAL else max(normal, self.lost_ratio)

    def conditions(self) -> tuple[Condition, ...]:
        """Return the conditions that an option must stand; losing a rack includes losing a broker."""
        is_wanted = {
            Condition.NORMAL: True,
            Condition.BROKER_LOST: self.tolerance is not FailureTolerance.NONE,
            Condition.RACK_LOST: self.tolerance is FailureTolerance.ONE_RACK,
            Condition.MOVING: self.is_move_included,
            Condition.BROKER_RETURNS: self.is_catch_up_included,
            Condition.REREADING: self.is_catch_up_included,
        }
        return tuple(condition for condition in CONDITIONS if is_wanted[condition])


def resource_name(resource: str) -> str:
    """Return the name of a resource as people read it."""
    return RESOURCE_NAMES[Resource(resource)]
