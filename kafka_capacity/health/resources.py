"""Resources of brokers that are over their limit today: the limits, and the loads, that sizing judges by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from kafka_capacity.demand.workload import PeakBasis
from kafka_capacity.hardware.flows import PEAKS, Placed, normal_flows, peaks
from kafka_capacity.hardware.limits import RESOURCE_NAMES, UNITS, Condition, Resource, amounts_apart
from kafka_capacity.health.cluster_view import ClusterView, called
from kafka_capacity.health.problem import Code, Figure, Problem, serious, warning
from kafka_capacity.kafka.arrays import Floats, Indices
from kafka_capacity.kafka.cluster.snapshot import LogDirs
from kafka_capacity.kafka.reassignment.kafka_json import has_several
from kafka_capacity.proposal.constraints.kinds import where_of
from kafka_capacity.proposal.log_dirs import held_today
from kafka_capacity.text import format_limit, plural, whole_percent
from kafka_capacity.text.wording import told_apart

_CODES = {
    Resource.DISK: Code.DISK_OVER_LIMIT,
    Resource.NETWORK_IN: Code.NETWORK_IN_OVER_LIMIT,
    Resource.NETWORK_OUT: Code.NETWORK_OUT_OVER_LIMIT,
    Resource.CPU: Code.CPU_OVER_LIMIT,
    Resource.DISK_IO: Code.DISK_IO_OVER_LIMIT,
}
_REMEDIES = {
    Resource.DISK: "add brokers or larger disks, or shorten retention, before a full disk stops its broker",
    Resource.NETWORK_IN: "add brokers, or move replicas of busy topics to brokers with headroom",
    Resource.NETWORK_OUT: "add brokers, or move leaders of busy partitions to brokers with headroom",
    Resource.CPU: "add brokers or cores, or move leaders of busy partitions to brokers with headroom",
    Resource.DISK_IO: "add brokers or faster disks, or move replicas of busy topics to brokers with headroom",
}


def check_resources(view: ClusterView) -> Iterator[Problem]:
    """Judge what every broker carries; one problem for each resource, with the broker where it is worst.

    What a broker has or carries of a resource that is not known is not judged.
    """
    if view.has is None:
        return
    brokers = view.snapshot.brokers
    for resource, load in broker_loads_today(view).items():
        capacity, share = view.has[resource], view.limits.ratio(resource, Condition.NORMAL)
        allowed = capacity * share
        over = np.flatnonzero(np.isfinite(allowed) & (load > allowed))
        if not len(over):
            continue
        worst = int(over[np.argmax(load[over] / np.maximum(capacity[over], 1e-9))])
        needed, there = float(load[worst]), float(capacity[worst])
        count, total = len(over), len(brokers)
        message = (
            f"{f'all {total:,}' if count == total > 1 else f'{count:,} of {total:,}'} brokers "
            f"{'is' if count == 1 else 'are'} over the limit of {format_limit(share)} of {RESOURCE_NAMES[resource]}, "
            f"worst is {where_of(brokers, worst)} with {_used(resource, needed, there, share)}"
        )
        where, figure = called("broker", brokers.ids[over].tolist()), Figure(needed, there * share, UNITS[resource])
        remedy = _REMEDIES[resource]
        if resource is Resource.DISK and (other := float(brokers.known_other_bytes[worst])) > 0:
            message += f", {amounts_apart(resource, needed, there)(other)} of it other data than replicas"
            if other > allowed[worst]:
                remedy = f"remove other data, or replace broker {int(brokers.ids[worst])}"
        yield serious(_CODES[resource], where, message, remedy, figure=figure)


def _used(resource: Resource, needed: float, there: float, share: float) -> str:
    """Write what is used of what there is, so that it can be told from a share of it that is allowed."""
    written, ratio = amounts_apart(resource, needed, there), needed / there
    return f"{written(needed)} of {written(there)}, {told_apart(whole_percent, ratio, share)(ratio)}"


_FULLER_RATIO = 0.1  # by how much of its disk a log dir may be fuller than its broker: sizing counts them as one disk


def check_log_dirs(view: ClusterView) -> Iterator[Problem]:
    """Judge the log dirs of brokers that have several: one may be full, or will be, where its broker is not.

    Brokers of which the log dir of a replica is not known are not judged.
    """
    snapshot = view.snapshot
    dirs, brokers, is_held = snapshot.log_dirs, snapshot.brokers, snapshot.replicas >= 0
    if not len(dirs.path):
        return
    is_told = is_held & (snapshot.log_dir >= 0)
    held = held_today(snapshot, dirs, {}) + dirs.known_other_bytes
    ids, owner = np.unique(dirs.broker_id, return_inverse=True)
    is_judged = has_several(dirs, ids) & ~np.isin(ids, snapshot.replicas[is_held & ~is_told])
    share = view.limits.ratio(Resource.DISK, Condition.NORMAL)
    is_known = is_judged[owner] & np.isfinite(dirs.total_bytes)
    used = held / np.maximum(dirs.total_bytes, 1e-9)
    over = np.flatnonzero(is_known & (held > dirs.total_bytes * share))
    of_broker = np.bincount(owner, held) / np.maximum(np.bincount(owner, dirs.total_bytes), 1e-9)
    fuller = np.flatnonzero(is_known & (held <= dirs.total_bytes * share) & (used > of_broker[owner] + _FULLER_RATIO))
    if len(fuller):
        yield _fuller_than_broker(dirs, fuller, used, of_broker[owner])
    if not len(over):
        return
    worst = int(over[np.argmax(used[over])])
    needed, there = float(held[worst]), float(dirs.total_bytes[worst])
    are, its = ("is", "its disk") if len(over) == 1 else ("are", "their disks")
    owner_of_worst = where_of(brokers, int(brokers.index_of(dirs.broker_id[[worst]])[0]))
    message = (
        f"{len(over):,} of {plural(len(dirs.path), 'log dir')} {are} over the limit of {format_limit(share)} of {its},"
        f" worst is {dirs.path[worst]} of {owner_of_worst} with "
        f"{_used(Resource.DISK, needed, there, share)}"
    )
    remedy = "move replicas to other log dirs of the same broker, as a plan does, before a full one goes offline"
    where = called("broker", np.unique(dirs.broker_id[over]).tolist())
    yield serious(Code.LOG_DIR_OVER_LIMIT, where, message, remedy, figure=Figure(needed, there * share, "bytes"))


def _fuller_than_broker(dirs: LogDirs, fuller: Indices, used: Floats, of_broker: Floats) -> Problem:
    """Tell of log dirs that are fuller than their brokers; both used shares are float64[L], one for each log dir."""
    worst = int(fuller[np.argmax(used[fuller])])
    message = (
        f"{plural(len(fuller), 'log dir')} {'is' if len(fuller) == 1 else 'are'} much fuller than the broker as a "
        f"whole, worst is {dirs.path[worst]} of broker {int(dirs.broker_id[worst])} at {whole_percent(used[worst])}, "
        f"the broker at {whole_percent(of_broker[worst])}: sizing counts the log dirs of a broker as one disk, so this "
        "one is full earlier than it says"
    )
    where = called("broker", np.unique(dirs.broker_id[fuller]).tolist())
    return warning(Code.LOG_DIRS_UNEVEN, where, message, "move replicas to other log dirs of the same broker")


def broker_loads_today(view: ClusterView) -> Mapping[Resource, Floats]:
    """Return float64[B] of each resource of which something is known: bytes in use now, and loads at peak.

    What is written goes to the disks; what consumers that are behind read from disk comes on top and is not counted.
    """
    snapshot = view.snapshot
    brokers, place = snapshot.brokers, snapshot.brokers.index_of(snapshot.replicas)
    held = brokers.sum_held(snapshot.replicas, snapshot.partition_size_bytes())
    loads = {Resource.DISK: held + brokers.known_other_bytes}
    if view.traffic is None or view.traffic.basis is PeakBasis.UNKNOWN:
        return loads
    placed = Placed(
        replicas=place,
        rack_of=brokers.rack_indexes(),
        class_of=np.zeros(len(place), dtype=np.int32),
        class_count=1,
        is_read_in_rack=view.is_read_in_rack,
    )
    found = peaks(normal_flows(placed, view.traffic), np.ones((1, 1, 1)), view.costs, has_clients=False)[:, 0, 0]
    at_peak = dict(zip(PEAKS, found, strict=True))
    kept = (Resource.NETWORK_IN, Resource.NETWORK_OUT, Resource.CPU)
    return loads | {one: at_peak[one] for one in kept} | {Resource.DISK_IO: at_peak[Resource.NETWORK_IN]}
