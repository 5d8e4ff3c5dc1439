"""What survivors can do, as far as it is known."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.hardware.limits import Resource
from kafka_capacity.hardware.shapes import Hardware
from kafka_capacity.kafka.cluster.brokers import Brokers

SURVIVOR_RESOURCES = (Resource.NETWORK_IN, Resource.NETWORK_OUT, Resource.CPU, Resource.DISK_IO)
"""What a loss changes on those that are left: space on disk and replicas stay as they are until somebody moves them."""


def capacities(brokers: Brokers, has: Hardware | None) -> Mapping[Resource, NDArray[np.float64]]:
    """Return float64[B] of each resource that is known of any broker, NaN for those of which it is not.

    Args:
        brokers: whose networks count where ``has`` says nothing.
        has: what they run on; ``None`` where that is not known.
    """
    networks = {
        Resource.NETWORK_IN: brokers.network_in_bytes_per_second,
        Resource.NETWORK_OUT: brokers.network_out_bytes_per_second,
    }
    found = networks if has is None else has.by_resource()
    return {
        resource: found[resource]
        for resource in SURVIVOR_RESOURCES
        if resource in networks or (resource in found and np.isfinite(found[resource]).any())
    }
