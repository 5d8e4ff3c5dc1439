"""What disks cost a month at each date, as they are billed: by the space that is provisioned while it is.

A volume can be made larger at any time, never smaller. So one that is kept costs what was once provisioned, and more
where more is needed; one that is bought is as large as it must be and grows with what it holds. Where a volume is
bought anyway, a smaller one may take its place once less is needed, such as after a cut of retention: once at most, on
the date on which that is cheapest. Throughput is provisioned apart, and follows what each date needs.

Managed disks cost what is stored at each date, disks that come with a machine nothing or the space there is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.disk import time_shares
from kafka_capacity.demand.workload import Workload
from kafka_capacity.hardware.limits import CONDITIONS, RESOURCES, Condition, Limits, Resource
from kafka_capacity.hardware.shapes import GIB, MIB, DiskKind, Shape, Volume
from kafka_capacity.questions.capacity.added import added_bytes
from kafka_capacity.questions.capacity.loads import PlacedLoads
from kafka_capacity.questions.capacity.results import CapacityUse

_DISK, _DISK_IO = RESOURCES.index(Resource.DISK), RESOURCES.index(Resource.DISK_IO)


def disk_costs(
    shape: Shape,
    use: CapacityUse,
    placed: PlacedLoads,
    workload: Workload,
    limits: Limits,
    estimate: int,
    *,
    provisioned_bytes: NDArray[np.float64] | None = None,
    is_replaced: bool = True,
) -> NDArray[np.float64]:
    """Return float64[D], US dollars a month.

    Args:
        shape: of the brokers.
        use: what they carry.
        placed: the same, before the shape was known.
        workload: the partitions.
        limits: how far disks may be used: what is bought is larger by that.
        estimate: of growth, that disks are bought for.
        provisioned_bytes: float64[B], the volumes that there are already, 0 for none; ``None`` where all are bought.
        is_replaced: whether smaller volumes may take the place of others.
    """
    if shape.disk_kind is DiskKind.MANAGED:
        stored = placed.sizes[:, estimate].sum(axis=0) + added_bytes(workload)
        return np.asarray(stored / GIB * shape.usd_per_gib_month)
    held = use.load[CONDITIONS.index(Condition.NORMAL), _DISK, estimate] / limits.disk_ratio
    volume = shape.volume
    if volume is None:
        there_is = np.where(np.isfinite(use.capacity[_DISK]), use.capacity[_DISK], held)
        return np.asarray(
            there_is.sum(axis=1) / GIB * shape.usd_per_gib_month if shape.usd_per_gib_month else 0.0 * held[:, 0]
        )
    # A hair less than a whole GiB more is rounding, and not one more to be bought.
    needed = np.ceil(np.minimum(held, volume.largest_bytes) / GIB - 1e-6)
    provisioned = np.zeros(len(use.brokers)) if provisioned_bytes is None else np.ceil(provisioned_bytes / GIB - 1e-6)
    size = provisioned_sizes(needed, provisioned, time_shares(use.dates), is_replaced=is_replaced)
    return np.asarray(size.sum(axis=1) * volume.usd_per_gib_month + _throughput(volume, use, limits, estimate))


def provisioned_sizes(
    needed: NDArray[np.float64], provisioned: NDArray[np.float64], shares: NDArray[np.float64], *, is_replaced: bool
) -> NDArray[np.float64]:
    """Return float64[D, B], how large each volume is at each date.

    Args:
        needed: float64[D, B], how large it must be.
        provisioned: float64[B], how large it is today, 0 where there is none yet.
        shares: float64[D], of the time up to the horizon.
        is_replaced: whether a smaller one may take its place, on the date on which that is cheapest.

    Worked example: 100 are provisioned, 60 are needed at first and 20 in the end
        >>> needed, shares = np.array([[60.0], [60.0], [20.0]]), np.array([0.25, 0.5, 0.25])
        >>> provisioned_sizes(needed, np.array([100.0]), shares, is_replaced=False).ravel().tolist()
        [100.0, 100.0, 100.0]
        >>> provisioned_sizes(needed, np.array([100.0]), shares, is_replaced=True).ravel().tolist()
        [60.0, 60.0, 60.0]
    """
    kept = np.maximum(np.maximum.accumulate(needed, axis=0), provisioned)
    best = kept
    for place in range(len(needed)) if is_replaced else ():
        replaced = np.concatenate([kept[:place], np.maximum.accumulate(needed[place:], axis=0)])
        best = np.where(shares @ replaced < shares @ best, replaced, best)
    return best


def _throughput(volume: Volume, use: CapacityUse, limits: Limits, estimate: int) -> NDArray[np.float64]:
    wanted = limits.conditions()
    ratios = np.array([limits.ratio(Resource.DISK_IO, condition) for condition in wanted])
    places = [CONDITIONS.index(condition) for condition in wanted]
    used = (use.load[places, _DISK_IO, estimate] / ratios[:, None, None]).max(axis=0)
    rate = np.minimum(used, volume.largest_bytes_per_second)
    above = np.ceil(np.maximum(rate - volume.included_bytes_per_second, 0.0) / MIB - 1e-3).clip(min=0).sum(axis=1)
    operations = np.ceil(rate / volume.bytes_per_second_per_iops - volume.included_iops).clip(min=0).sum(axis=1)
    # What nobody needs costs nothing, whether or not it can be bought.
    bought = np.where(above > 0, above * volume.usd_per_mib_per_second_month, 0.0)
    return np.asarray(bought + operations * volume.usd_per_iops_month)
