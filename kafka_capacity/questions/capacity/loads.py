"""What every broker carries: each resource, under each condition, at each date, at both estimates.

The part that hangs on the placement alone (:func:`placed_loads`) is computed once and serves every shape; what a shape
adds, reads beyond its page cache, is little (:func:`capacity_use`).

After a loss the next live replica in each list leads, and groups that are behind read from its disk; what moves is
written to and read from disk; a broker that returns is sent its partitions from the disks of those that lead them, in
the proportion of what they lead; and what is produced to a leader is re-read from its disk times ``reread_ratio``.

What groups read that is only in the object store any more (KIP-405) comes in over the network of who leads, and is read
from no disk; that it goes out again is among what consumers read.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from kafka_capacity.demand.disk import partition_sizes
from kafka_capacity.demand.workload import HIGH, Lags, Workload
from kafka_capacity.hardware.cpu import STATED, CpuCosts, cores, speed_factor
from kafka_capacity.hardware.flows import PEAKS, Placed, flows_after_losses, normal_flows, peaks
from kafka_capacity.hardware.limits import CONDITIONS, NEVER_SECONDS, RESOURCES, Condition, Resource
from kafka_capacity.hardware.shapes import DiskKind, Shape, hardware, memory_bytes
from kafka_capacity.kafka.arrays import Floats, Int32s
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.reassignment.flow import DEFAULT_THROTTLE_BYTES_PER_SECOND, gate_seconds
from kafka_capacity.kafka.storage.page_cache import HEAP_BYTES, cache_bytes, window_seconds
from kafka_capacity.questions.capacity.added import AddedLoad, added_load
from kafka_capacity.questions.capacity.results import CapacityUse


def read_by_leaders(
    workload: Workload, lags: Lags, leader: Int32s, window: Floats
) -> tuple[Floats, tuple[tuple[str, str], ...]]:
    """Return what leaders read for groups that are further behind than a window, and which are, from which date on.

    ``leader`` is int32[P], the position of the broker that leads, -1 for none; the window, float64[2, D, B], how far
    back each page cache reaches at peak, 0 for what none has and NaN where it is not known. Reads, of the same shape,
    are bytes per second, and groups those that are out at the high estimate.
    """
    read = np.zeros(window.shape)
    # Who is behind by nothing that could be told is served from memory, whatever the memory.
    is_asked = (lags.seconds > 0) & (leader[lags.row] >= 0)
    if not is_asked.any():
        return read, ()
    row, group, seconds = lags.row[is_asked], lags.group[is_asked], lags.seconds[is_asked]
    broker = leader[row]
    rate = workload.load.bytes_in_peak_bytes_per_second[row]
    of_class = workload.outlook.class_of[row]
    ratios = workload.rate_ratios()
    first = np.full(len(lags.groups), -1, dtype=np.int64)
    for estimate, place in np.ndindex(*window.shape[:2]):
        is_out = seconds > window[estimate, place, broker]  # not known is not out
        weight = rate[is_out] * ratios[of_class[is_out], estimate, place]
        read[estimate, place] = np.bincount(broker[is_out], weights=weight, minlength=window.shape[2])
        if estimate == HIGH:
            new = np.unique(group[is_out])
            first[new] = np.where(first[new] < 0, place, first[new])
    dates = workload.outlook.dates
    out = sorted((lags.groups[g], dates[place]) for g, place in enumerate(first.tolist()) if place >= 0)
    return read, tuple(out)


def reads_taken_over(
    workload: Workload, lags: Lags, replicas: Int32s, unit_of: Int32s, window: Floats
) -> tuple[Floats, Int32s]:
    """Return what who leads after a loss reads for groups that are behind, beside what it reads for them now.

    ``unit_of``, int32[B], says what is lost together. Returned is what the loss that is worst for each broker adds,
    float64[2, D, B], and which loss that is, -1 for none. A window, of the same shape, is how far back each page cache
    reaches, 0 for what none has.
    """
    brokers = window.shape[2]
    found, cause = np.zeros(window.shape), np.full(window.shape, -1, dtype=np.int32)
    if not len(lags.row):
        return found, cause
    units = np.append(unit_of, -1)[replicas]
    survives = (replicas >= 0) & (units != units[:, :1])
    is_moved = (lags.seconds > 0) & survives.any(axis=1)[lags.row] & (units[lags.row, 0] >= 0)
    row, seconds = lags.row[is_moved], lags.seconds[is_moved]
    if not len(row):
        return found, cause
    broker, lost = replicas[row, survives.argmax(axis=1)[row]], units[row, 0].astype(np.int64)
    rate, of_class = workload.load.bytes_in_peak_bytes_per_second[row], workload.outlook.class_of[row]
    ratios, count = workload.rate_ratios(), int(unit_of.max()) + 1
    for estimate, place in np.ndindex(*window.shape[:2]):
        is_out = seconds > window[estimate, place, broker]
        weight = np.where(is_out, rate * ratios[of_class, estimate, place], 0.0)
        by_loss = np.bincount(lost * brokers + broker, weight, minlength=count * brokers).reshape(count, brokers)
        found[estimate, place] = by_loss.max(axis=0)
        cause[estimate, place] = np.where(found[estimate, place] > 0, by_loss.argmax(axis=0), -1)
    return found, cause


_AT = {condition: place for place, condition in enumerate(CONDITIONS)}
_OF = {resource: place for place, resource in enumerate(RESOURCES)}
_TRAFFIC = [_OF[one] for one in PEAKS]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSettings:
    """What loads hang on beside the placement."""

    cpu: CpuCosts = STATED  # what traffic costs of processors, those of today's brokers
    is_read_in_rack: bool = False  # whether consumers read from followers in their rack (KIP-392)
    # whether producers that can choose partitions led in their rack (KIP-1123): `PlacedLoads.workload` has the effect
    is_produced_in_rack: bool = False
    # of reassignments and of brokers that catch up, per broker and direction
    throttle_bytes_per_second: float = DEFAULT_THROTTLE_BYTES_PER_SECOND
    reread_ratio: float = 1.0  # how often, at once, everything is read once more in `re-reading`
    heap_bytes: float = HEAP_BYTES  # of the JVM on every broker
    recovery_seconds: float = math.inf  # how long re-replicating a lost broker may take
    volume_recovery_seconds: float = math.inf  # the same for one disk of a broker
    only_estimate: int | None = None  # the one that traffic is summed up at, in the place of both; `None` for both
    is_client_traffic_limited: bool = True  # whether it counts what clients produce and read after losses


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacedLoads:
    """What a placement puts on brokers, whatever these are."""

    workload: Workload  # the partitions as this placement loads them
    brokers: Brokers  # the B brokers
    replicas: Int32s  # int32[P, W], positions of brokers
    load: Floats  # float64[K, Q, 2, D, B] as in `CapacityUse`, without reads beyond the page cache
    cause: Int32s  # int32[K, Q, 2, D, B] likewise
    written: Floats  # float64[2, D, B], bytes per second written at peak, for the page caches
    sizes: Floats  # float64[P, 2, D], bytes of one replica
    produced: Floats  # float64[2, D, B], bytes per second produced on average to the replicas of each
    settings: LoadSettings  # the request


def placed_loads(
    workload: Workload,
    brokers: Brokers,
    replicas: Int32s,
    settings: LoadSettings,
    *,
    replication_factor: int | None = None,
    sizes: Floats | None = None,
    conditions: Collection[Condition] = CONDITIONS,
) -> PlacedLoads:
    """Sum up what each broker carries.

    ``replicas`` is int32[P, W], broker ids, the preferred leader first, padded with -1; the factor is that of topics
    that the outlook adds, ``None`` keeps each topic's own; ``sizes`` is what :func:`partition_sizes` gives, where the
    caller has it already. Losses that are not among the conditions are not looked at, and carry nothing.
    """
    outlook = workload.outlook
    placed = Placed(
        replicas=brokers.index_of(replicas),
        rack_of=brokers.rack_indexes(),
        class_of=outlook.class_of,
        class_count=len(outlook.classes),
        is_read_in_rack=settings.is_read_in_rack,
    )
    sizes = partition_sizes(workload) if sizes is None else sizes
    shape = (len(CONDITIONS), len(RESOURCES), 2, len(outlook.dates), len(brokers))
    load, cause = np.zeros(shape), np.full(shape, -1, dtype=np.int32)
    written = _fill_traffic(load, cause, workload, placed, settings, replication_factor, conditions)
    added = added_load(workload, len(brokers), replication_factor)
    load[:, _OF[Resource.DISK]] = _per_broker(placed.replicas, sizes, len(brokers)) + added.disk_bytes[:, None]
    counts = np.bincount(placed.replicas[placed.replicas >= 0], minlength=len(brokers))
    load[:, _OF[Resource.REPLICAS]] = counts + added.replicas[:, None]
    rates = workload.load.bytes_in_mean_bytes_per_second[:, None, None] * workload.rate_ratios()[outlook.class_of]
    _add_movement(load, placed, workload, settings)
    return PlacedLoads(
        workload=workload,
        brokers=brokers,
        replicas=placed.replicas,
        load=load,
        cause=cause,
        written=written + (added.client_in + added.follower_in)[:, None],
        sizes=sizes,
        produced=_per_broker(placed.replicas, rates, placed.broker_count),
        settings=settings,
    )


def _fill_traffic(
    load: Floats,
    cause: Int32s,
    workload: Workload,
    placed: Placed,
    settings: LoadSettings,
    factor: int | None,
    conditions: Collection[Condition],
) -> Floats:
    """Fill in network, clients, CPU and writes, normal and after losses; returns what traffic normally writes."""
    ratios, brokers = workload.rate_ratios(), placed.broker_count
    if settings.only_estimate is not None:
        ratios = np.broadcast_to(ratios[:, [settings.only_estimate]], ratios.shape)
    flows = normal_flows(placed, workload.traffic)
    normal = peaks(flows, ratios, settings.cpu)
    added = _added_peaks(added_load(workload, brokers, factor), settings)
    load[:, _TRAFFIC] = normal + added
    load[:, _OF[Resource.DISK_IO]] = load[:, _OF[Resource.NETWORK_IN]]
    for condition, unit_of in _lost_together(placed.rack_of):
        load[_AT[condition], _TRAFFIC] = 0.0
        if unit_of.max(initial=0) < 1 or condition not in conditions:
            continue
        worst = np.zeros((len(_TRAFFIC), *load.shape[2:]))
        why = np.full(worst.shape, -1)
        for unit, after in flows_after_losses(placed, workload.traffic, flows, unit_of):
            survives = unit_of != unit
            added = _added_peaks(added_load(workload, int(survives.sum()), factor), settings)
            has_clients = settings.is_client_traffic_limited
            found = peaks(after, ratios, settings.cpu, has_clients=has_clients, known=worst - added)
            state = np.where(survives, found + added, 0.0)
            is_worse = state > worst
            np.copyto(worst, state, where=is_worse)
            why[is_worse] = unit
        load[_AT[condition], _TRAFFIC], cause[_AT[condition], _TRAFFIC] = worst, why
        load[_AT[condition], _OF[Resource.DISK_IO]] = load[_AT[condition], _OF[Resource.NETWORK_IN]]
    return np.asarray(normal[0])


def _lost_together(rack_of: Int32s) -> tuple[tuple[Condition, Int32s], ...]:
    """Return the losses, and int32[B], what of the brokers is lost together by each."""
    alone = np.arange(len(rack_of), dtype=np.int32)
    return (Condition.BROKER_LOST, alone), (Condition.RACK_LOST, rack_of)


def _added_peaks(added: AddedLoad, settings: LoadSettings) -> Floats:
    """Return float64[5, 1, D, 1], what added topics put on top of each of the peaks."""
    out = added.client_out + added.replication_out
    processors = cores(settings.cpu, added.client_in, added.follower_in, out) - settings.cpu.base_cores
    found = np.stack([added.client_in + added.follower_in, out, added.client_in, added.client_out, processors])
    return found[:, None, :, None]


def _add_movement(load: Floats, placed: Placed, workload: Workload, settings: LoadSettings) -> None:
    """Put what moves, catches up and is read once more on top of the normal load."""
    throttle, costs = settings.throttle_bytes_per_second, settings.cpu
    sends = throttle * _largest_source_share(placed, workload)
    again = settings.reread_ratio * load[_AT[Condition.NORMAL], _OF[Resource.CLIENT_IN]]
    for condition, coming, going in (
        (Condition.MOVING, throttle, np.full(placed.broker_count, throttle)),
        (Condition.BROKER_RETURNS, throttle, sends),
        (Condition.REREADING, 0.0, again),
    ):
        at = load[_AT[condition]]
        at[_OF[Resource.NETWORK_IN]] += coming
        at[_OF[Resource.NETWORK_OUT]] += going
        # Written by the one that receives, read by the one that sends; a broker does one or the other when one returns.
        both = np.maximum(coming, going) if condition is Condition.BROKER_RETURNS else coming + going
        at[_OF[Resource.DISK_IO]] += both
        if condition is Condition.REREADING:
            at[_OF[Resource.CLIENT_OUT]] += going
        at[_OF[Resource.CPU]] += cores(costs, 0.0, coming, going) - costs.base_cores


def _recovery_seconds(placed: PlacedLoads, share: float, network_bytes_per_second: Floats) -> Floats:
    """Return float64[2, D, B], how long it takes to copy a share of what a broker held, and what comes meanwhile.

    It copies no faster than its network, float64[B], takes beside what is produced to it; NaN where that is not known.
    """
    held, produced = share * placed.load[0, _OF[Resource.DISK]], share * placed.produced
    closing = placed.settings.throttle_bytes_per_second - produced
    closing = np.fmin(closing, network_bytes_per_second - placed.produced)
    return np.minimum(gate_seconds(held, closing), NEVER_SECONDS)


def _largest_source_share(placed: Placed, workload: Workload) -> Floats:
    """Return float64[B], the largest share of what any other broker misses that this one leads."""
    count, replicas = placed.broker_count, placed.replicas
    if not replicas.shape[1]:
        return np.zeros(count)
    weight = workload.load.bytes_in_mean_bytes_per_second + 1e-9  # without rates every partition counts the same
    leader = replicas[:, 0]
    missed = np.zeros((count, count))
    for column in range(1, replicas.shape[1]):
        is_there = (replicas[:, column] >= 0) & (leader >= 0)
        np.add.at(missed, (replicas[is_there, column], leader[is_there]), weight[is_there])
        # While it was away the first successor led what it leads now.
        if column == 1:
            np.add.at(missed, (leader[is_there], replicas[is_there, 1]), weight[is_there])
    total = missed.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(missed, total, out=np.zeros_like(missed), where=total > 0).max(axis=0, initial=0.0))


def _per_broker(replicas: Int32s, values: Floats, count: int) -> Floats:
    """Sum float64[P, 2, D] over the replicas of each broker: float64[2, D, B]."""
    from scipy.sparse import csr_matrix

    rows, columns = np.nonzero(replicas >= 0)
    matrix = csr_matrix((np.ones(len(rows)), (replicas[rows, columns], rows)), shape=(count, len(replicas)))
    flat = np.asarray(matrix @ values.reshape(len(values), values.shape[1] * values.shape[2]))
    return np.ascontiguousarray(np.moveaxis(flat.reshape(count, *values.shape[1:]), 0, -1))


def capacity_use(placed: PlacedLoads, shape: Shape, *, keeps_disks: bool = True) -> CapacityUse:
    """Put the loads on brokers of a shape: what each has, what else is on its disks, what it reads beyond its cache.

    ``keeps_disks`` says whether brokers of that shape have the disks of today's, with what these hold beside replicas.
    """
    workload, settings = placed.workload, placed.settings
    cache = cache_bytes(memory_bytes(shape, placed.brokers), heap_bytes=settings.heap_bytes)
    leader = placed.replicas[:, 0] if placed.replicas.shape[1] else np.empty(0, dtype=np.int32)
    window = window_seconds(np.broadcast_to(cache, placed.written.shape), placed.written)
    (local, remote), uncached = workload.lags_by_source(), np.zeros_like(window)
    read, fallen_out = read_by_leaders(workload, local, leader, window)
    load, cause = placed.load.copy(), placed.cause.copy()
    # Whoever holds no replica passes no limit, whatever else is on its disk, as in a planned move.
    brokers = placed.brokers
    if not keeps_disks:
        brokers = replace(brokers, other_bytes=np.full(len(brokers), np.nan))
    held = load[:, _OF[Resource.DISK]]
    held += np.where(held > 0, brokers.known_other_bytes, 0.0)
    load[:, _OF[Resource.CPU]] *= speed_factor(settings.cpu, shape.core_speed_ratio)
    load[:, _OF[Resource.DISK_IO]] += read
    load[:, _OF[Resource.NETWORK_IN]] += read_by_leaders(workload, remote, leader, uncached)[0]
    for condition, unit_of in _lost_together(placed.brokers.rack_indexes()):
        more, why = reads_taken_over(workload, local, placed.replicas, unit_of, window)
        load[_AT[condition], _OF[Resource.DISK_IO]] += more
        cause[_AT[condition], _OF[Resource.DISK_IO]] = why
        more, _ = reads_taken_over(workload, remote, placed.replicas, unit_of, uncached)
        load[_AT[condition], _OF[Resource.NETWORK_IN]] += more
    capacity = hardware(shape, placed.brokers)
    for resource, seconds, share in (
        (Resource.RECOVERY, settings.recovery_seconds, 1.0),
        (Resource.VOLUME_RECOVERY, settings.volume_recovery_seconds, shape.fullest_volume_ratio),
    ):
        if math.isfinite(seconds) and shape.disk_kind is not DiskKind.MANAGED:
            load[:, _OF[resource]] = _recovery_seconds(placed, share, capacity[Resource.NETWORK_IN])
            capacity[resource] = np.full(len(placed.brokers), seconds)
    return CapacityUse(
        brokers=brokers,
        dates=workload.outlook.dates,
        load=load,
        cause=cause,
        capacity=np.stack([capacity[resource] for resource in RESOURCES]),
        fallen_out=fallen_out,
    )
