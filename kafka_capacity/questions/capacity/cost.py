"""What an option costs a month, what the change to it costs, and after how long it has paid for itself.

Traffic between racks is that of :mod:`kafka_capacity.hardware.rack_traffic`, at mean rates.

Disks cost what is provisioned. A volume can be made larger at any time, never smaller: one that is kept costs what was
once provisioned, and more where more is needed; one that is bought is as large as it must be and grows with what it
holds. Where a volume is bought anyway, a smaller one may take its place once less is needed, such as after a cut of
retention: once at most, when that is cheapest. Throughput is provisioned apart, and follows what each date needs.
Managed disks cost what is stored at each date, disks that come with a machine nothing or the space there is.

Each part is reckoned at each date of the outlook, and a month costs their average over the time up to the horizon.
Traffic is that of the middle estimate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kafka_capacity.demand.disk import time_shares
from kafka_capacity.demand.outlook import AddedTopic
from kafka_capacity.demand.workload import Workload
from kafka_capacity.hardware.limits import CONDITIONS, GIB, MIB, RESOURCES, Condition, Limits, Resource
from kafka_capacity.hardware.rack_traffic import HOURS_A_MONTH, leaving_ratios, rack_aware_of, usd_per_month
from kafka_capacity.hardware.shapes import DiskKind, Shape, Volume, usd_per_hour
from kafka_capacity.kafka.arrays import Flags, Floats, Int32s, Ints
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.questions.capacity.added import added_bytes, added_totals
from kafka_capacity.questions.capacity.loads import PlacedLoads
from kafka_capacity.questions.capacity.options import SizingRequest
from kafka_capacity.questions.capacity.results import CapacityUse, MonthlyCost

DAYS_A_MONTH = HOURS_A_MONTH / 24
_DISK, _DISK_IO = RESOURCES.index(Resource.DISK), RESOURCES.index(Resource.DISK_IO)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrafficBetweenRacks:
    """Mean bytes per second at each date, float64[D]: what leaves its rack, and ``ingest``, all that is produced."""

    produced: Floats
    replicated: Floats
    consumed: Floats
    ingest: Floats


def traffic_between_racks(placed: PlacedLoads, *, replication_factor: int | None = None) -> TrafficBetweenRacks:
    """Add up what leaves its rack; topics that the outlook adds keep their own factor where none is given."""
    workload = placed.workload
    produced = workload.load.bytes_in_mean_bytes_per_second
    consumed = workload.load.bytes_out_mean_bytes_per_second
    racks = len(placed.brokers.rack_names())
    brokers = len(placed.brokers)

    def copied(topic: AddedTopic) -> float:
        factor = min(replication_factor or topic.replication_factor, brokers)
        return topic.bytes_in_mean_bytes_per_second * _followers_elsewhere(factor, racks)

    new_in, new_out, new_copies = added_totals(
        workload,
        lambda topic: topic.bytes_in_mean_bytes_per_second,
        lambda topic: topic.bytes_out_mean_bytes_per_second,
        copied,
    )
    ingest = _at_dates(workload, produced) + new_in
    leaving = leaving_ratios(placed.replicas, placed.brokers, is_read_in_rack=placed.settings.is_read_in_rack)
    # Replicas and leaders of new topics are spread over the racks.
    if placed.settings.is_read_in_rack:
        new_out = np.zeros_like(new_out)
    away = leaving.produced * ingest
    if placed.settings.is_produced_in_rack and racks > 1:
        aware = rack_aware_of(workload, placed.replicas, placed.brokers)
        away = _at_dates(workload, produced * aware.leaving[workload.partitions.topic])
    return TrafficBetweenRacks(
        produced=away,
        replicated=_at_dates(workload, produced * leaving.replicated) + new_copies,
        consumed=_at_dates(workload, consumed * leaving.consumed) + leaving.produced * new_out,
        ingest=ingest,
    )


def _at_dates(workload: Workload, rates: Floats) -> Floats:
    """Return float64[D], the sum of what partitions carry today, float64[P], at the middle estimate of each date."""
    outlook = workload.outlook
    by_class = np.bincount(outlook.class_of, weights=rates, minlength=len(outlook.classes))
    return np.asarray(by_class @ outlook.rate_ratio)


def _followers_elsewhere(factor: int, racks: int) -> float:
    """Return how many followers are in other racks than their leader, on average, where racks hold as even as can be.

    >>> _followers_elsewhere(3, 3), round(_followers_elsewhere(3, 2), 3), _followers_elsewhere(4, 2)
    (2.0, 1.333, 2.0)
    """
    least, more = divmod(factor, max(1, racks))
    together = more * (least + 1) ** 2 + (max(1, racks) - more) * least**2
    return factor - together / factor


def monthly_cost(
    shape: Shape,
    use: CapacityUse,
    placed: PlacedLoads,
    traffic: TrafficBetweenRacks,
    request: SizingRequest,
    *,
    provisioned_bytes: Floats | None = None,
    is_replaced: bool = True,
) -> MonthlyCost:
    """Return what an option costs a month.

    Disks are larger than what they hold by how far the request lets them be used. ``provisioned_bytes`` is float64[B],
    the volumes that there are already, 0 for none, or ``None`` where all are bought; smaller ones may replace them.
    """
    billed = billed_disk_bytes(shape, use, placed, request, provisioned_bytes, is_replaced=is_replaced)
    between = traffic.produced + traffic.consumed + (0.0 if shape.is_replication_free else traffic.replicated)
    at_dates = {
        "brokers": np.full(len(use.dates), usd_per_hour(shape, use.brokers, request.estimates).sum() * HOURS_A_MONTH),
        "disks": _disk_costs(shape, use, request, billed),
        "between_racks": usd_per_month(between, shape.usd_per_gib_between_racks),
        "ingest": usd_per_month(traffic.ingest, shape.usd_per_gib_in),
    }
    shares = time_shares(use.dates)
    return MonthlyCost(
        **{part: float(shares @ usd) for part, usd in at_dates.items()},
        by_date=tuple(np.sum(list(at_dates.values()), axis=0).tolist()),
    )


def _disk_costs(shape: Shape, use: CapacityUse, request: SizingRequest, billed: Floats) -> Floats:
    """Return float64[D], US dollars a month for so many bytes."""
    volume = shape.volume
    price = shape.usd_per_gib_month if volume is None else volume.usd_per_gib_month
    # Disks that come with the machine cost nothing of their own, however large.
    usd = np.asarray(billed / GIB * price if price else 0.0 * billed)
    return usd if volume is None else usd + _throughput(volume, use, request.limits, request.estimate)


def billed_disk_bytes(
    shape: Shape,
    use: CapacityUse,
    placed: PlacedLoads,
    request: SizingRequest,
    provisioned_bytes: Floats | None,
    *,
    is_replaced: bool,
) -> Floats:
    """Return float64[D], the bytes of disks that are paid for at each date; arguments as for :func:`monthly_cost`."""
    limits, estimate = request.limits, request.estimate
    if shape.disk_kind is DiskKind.MANAGED:
        stored = placed.sizes[:, estimate].sum(axis=0)
        return np.asarray(stored + added_bytes(placed.workload, is_every_replica=False))
    held = use.load[CONDITIONS.index(Condition.NORMAL), _DISK, estimate] / limits.disk_ratio
    volume = shape.volume
    if volume is None:
        return np.asarray(np.where(np.isfinite(use.capacity[_DISK]), use.capacity[_DISK], held).sum(axis=1))
    # A hair less than a whole GiB more is rounding, and not one more to be bought.
    needed = np.ceil(np.minimum(held, volume.largest_bytes) / GIB - 1e-6)
    provisioned = np.zeros(len(use.brokers)) if provisioned_bytes is None else np.ceil(provisioned_bytes / GIB - 1e-6)
    size = provisioned_sizes(needed, provisioned, time_shares(use.dates), is_replaced=is_replaced)
    return np.asarray(size.sum(axis=1) * GIB)


def provisioned_sizes(needed: Floats, provisioned: Floats, shares: Floats, *, is_replaced: bool) -> Floats:
    """Return float64[D, B], how large each volume is at each date, where so much is needed, of the same shape.

    ``provisioned`` is float64[B], how large they are today, ``shares`` float64[D], of the time up to the horizon. A
    smaller one may take the place of each, on the date on which that is cheapest.

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


def _throughput(volume: Volume, use: CapacityUse, limits: Limits, estimate: int) -> Floats:
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


def moved_between_racks(
    observed: Brokers, target: Brokers, leader: Int32s, after: Int32s, added: Flags, size_bytes: Ints
) -> float:
    """Return the bytes that are copied from a leader of today, int32[P], in one rack to a broker in another.

    Of the replicas wanted after, int32[P, W], those are copied that were added, bool[P, W].
    """
    numbers = {rack: number for number, rack in enumerate({*observed.racks, *target.racks})}

    def racks_of(brokers: Brokers, ids: Int32s) -> Ints:
        return np.array([*(numbers[rack] for rack in brokers.racks), -1])[brokers.index_of(ids)]

    rows, columns = np.nonzero(added & (leader >= 0)[:, None])
    leaves = racks_of(observed, leader[rows]) != racks_of(target, after[rows, columns])
    return float(size_bytes[rows][leaves].sum())


def break_even_days(change_usd: float, today: MonthlyCost, then: MonthlyCost) -> float | None:
    """Return the days after which a lower monthly cost has paid for the change; ``None`` for never or not known.

    >>> now, later = (MonthlyCost(brokers=b, disks=0.0, between_racks=0.0, ingest=0.0) for b in (730.0, 365.0))
    >>> break_even_days(120.0, now, later), break_even_days(120.0, later, now)
    (10.0, None)
    """
    saved = (today.total - then.total) / DAYS_A_MONTH
    if math.isnan(change_usd) or not saved > 0:
        return None
    return change_usd / saved
