"""What a machine costs that nobody named or priced: as much as the nearest of the catalogue, which is an estimate."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable

from kafka_capacity.hardware.shapes import DiskKind, Shape


def with_estimated_price(shape: Shape, catalogue: Iterable[Shape]) -> Shape:
    """Return a shape with the prices of the nearest one that has attached volumes; as it is where none is near.

    Nearest is the one whose cores, memory and network differ least, each by its ratio, of those that are known of both;
    of equals the cheapest. The disks there are cost what volumes of that size would.
    """
    if math.isnan(shape.vcpu) and math.isnan(shape.memory_bytes):
        return shape
    priced = [
        (distance, one.usd_per_hour, one.name, one)
        for one in catalogue
        if one.disk_kind is DiskKind.ATTACHED and not one.has_quotas and not math.isnan(one.usd_per_hour)
        if (distance := _distance(shape, one)) is not None
    ]
    if not priced:
        return shape
    *_, nearest = min(priced, key=lambda found: found[:3])
    is_rack_price_known = not math.isnan(shape.usd_per_gib_between_racks)
    return dataclasses.replace(
        shape,
        usd_per_hour=nearest.usd_per_hour,
        usd_per_gib_month=0.0 if nearest.volume is None else nearest.volume.usd_per_gib_month,
        usd_per_gib_between_racks=shape.usd_per_gib_between_racks
        if is_rack_price_known
        else nearest.usd_per_gib_between_racks,
        priced_on=nearest.priced_on,
        priced_as=nearest.name,
    )


def _distance(one: Shape, other: Shape) -> float | None:
    """Return how far two machines are apart, ``None`` where nothing is known of both."""
    pairs = (
        (one.vcpu, other.vcpu),
        (one.memory_bytes, other.memory_bytes),
        (one.network_bytes_per_second, other.network_bytes_per_second),
    )
    known = [abs(math.log(a / b)) for a, b in pairs if not math.isnan(a) and not math.isnan(b)]
    return round(sum(known), 6) if known else None
