"""How many brokers a cluster would need if everything were spread evenly: the fiction that calculators live by.

With N brokers of which k are lost, the others carry what clients send and read, an N - k-th each; replication shrinks
with the followers that are gone, and stays an N-th each.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from kafka_capacity.hardware.cpu import CpuCosts, cores
from kafka_capacity.hardware.limits import Condition, FailureTolerance, Limits, Resource
from kafka_capacity.hardware.shapes import Shape, hardware
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.questions.capacity.calculators import whole_racks

MAX_BROKERS = 3_000
"""Beyond that the answer is of no use to anybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvenLoad:
    """What the whole cluster carries at peak.

    Attributes:
        client_in: produced, bytes per second.
        client_out: read by consumers.
        copied: replicated to followers.
        disk_bytes: held by all replicas.
        replicas: how many.
        cpu: what traffic costs of processors.
    """

    client_in: float
    client_out: float
    copied: float
    disk_bytes: float
    replicas: float
    cpu: CpuCosts


def even_count(
    load: EvenLoad, shape: Shape, limits: Limits, racks: int, resources: Collection[Resource] = tuple(Resource)
) -> int:
    """Return the smallest number of brokers that stays within the limits, the same number in every rack.

    Returns:
        The count; :data:`MAX_BROKERS` in whole racks when more would be needed.
    """
    most = whole_racks(MAX_BROKERS, racks)
    low, high = 1, most // racks
    while low < high:  # more brokers never carry more each
        middle = (low + high) // 2
        if fits_evenly(load, shape, limits, middle * racks, racks, resources):
            high = middle
        else:
            low = middle + 1
    return low * racks


def fits_evenly(
    load: EvenLoad, shape: Shape, limits: Limits, brokers: int, racks: int, resources: Collection[Resource]
) -> bool:
    """Return whether so many brokers would do."""
    capacity = hardware(shape, Brokers.of([0])).by_resource()
    lost = {FailureTolerance.NONE: 0, FailureTolerance.ONE_BROKER: 1, FailureTolerance.ONE_RACK: brokers // racks}
    for condition, gone in ((Condition.NORMAL, 0), (Condition.BROKER_LOST, lost[limits.tolerance])):
        if gone >= brokers:
            return False
        for resource, needed in _each(load, brokers, gone).items():
            available = float(capacity[resource][0])
            if resource in resources and not math.isnan(available):
                allowed = available * limits.ratio(resource, condition if gone else Condition.NORMAL)
                if needed > allowed * (1 + 1e-12):
                    return False
    return True


def _each(load: EvenLoad, brokers: int, gone: int) -> dict[Resource, float]:
    left = brokers - gone
    produced, read, copied = load.client_in / left, load.client_out / left, load.copied / brokers
    written = (load.client_in + load.copied) / brokers  # who holds a replica writes it, whoever leads
    return {
        Resource.NETWORK_IN: written,
        Resource.NETWORK_OUT: read + copied,
        Resource.CLIENT_IN: produced,
        Resource.CLIENT_OUT: read,
        Resource.CPU: float(cores(load.cpu, produced, max(0.0, written - produced), read + copied)),
        Resource.DISK: load.disk_bytes / brokers,
        Resource.DISK_IO: written,
        Resource.REPLICAS: load.replicas / brokers,
        Resource.RECOVERY: 0.0,
    }
