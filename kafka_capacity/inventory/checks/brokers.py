"""Brokers and what they can carry, and who votes in the metadata quorum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from kafka_capacity.health.problem import Code, Problem, fatal, info, problem_of, serious, some, warning
from kafka_capacity.inventory.column_values import encode, floats, ints, known, values
from kafka_capacity.inventory.volumes import log_dir_totals, volume_of
from kafka_capacity.kafka.arrays import Flags
from kafka_capacity.text import format_bytes

_CAPACITIES = {
    # The least and the greatest that is believed: a disk of some KB, a line slower than a modem's and a machine with
    # less memory than a JVM takes were given in another unit; a broker with an EiB, a line of 8 Tbit/s, 4,096 cores or
    # 64 TiB of memory does not exist yet.
    "disk_capacity_bytes": (2.0**16, 2.0**60),
    "network_in_bytes_per_second": (1e4, 1e12),
    "network_out_bytes_per_second": (1e4, 1e12),
    "cpu_cores": (0.0, 4096.0),
    "memory_bytes": (2.0**26, 2.0**46),
}
_OTHER_TOTAL_RATIO = 0.1  # by so much the capacity of a broker may differ from what its log dirs have


def check_brokers(brokers: pa.Table) -> Iterator[Problem]:
    """Check the table of brokers by itself."""
    if not len(brokers):
        yield fatal("no_brokers", "brokers", "there are no brokers; list at least one")
        return
    where, what = "brokers.broker_id", "broker id"
    distinct, count = np.unique(ints(brokers.column("broker_id")), return_counts=True)
    message = "{count} given more than once ({names}); keep one entry each"
    yield from problem_of(distinct[count > 1], what, fatal, "duplicate_broker", where, message)
    message = "{count} below 0 ({names}); Kafka's start at 0"
    yield from problem_of(distinct[distinct < 0], what, fatal, "negative_broker_id", where, message)
    yield from _check_capacities(brokers)


def _check_capacities(brokers: pa.Table) -> Iterator[Problem]:
    ids = ints(brokers.column("broker_id"))
    for name, (least, greatest) in _CAPACITIES.items():
        given, where = floats(brokers.column(name)), f"brokers.{name}"
        shown = np.array([f"{value:g} on broker {broker}" for value, broker in zip(given, ids, strict=True)])
        wrong = known(brokers.column(name)) & ~(given > 0)
        message = f"{name} must be above 0, got {{names}}; correct or drop it"
        yield from problem_of(shown[wrong], "broker", fatal, "capacity_not_positive", where, message)
        message = f"{name} above {greatest:g}: {{names}}; check its unit"
        yield from problem_of(shown[given > greatest], "broker", warning, "absurd_capacity", where, message)
        message = f"{name} below {least:g}: {{names}}; check its unit"
        too_small = (given > 0) & (given < least)
        yield from problem_of(shown[too_small], "broker", warning, "absurd_capacity", where, message)
    unknown = ids[~known(brokers.column("disk_capacity_bytes"))]
    message = (
        "{count} without disk_capacity_bytes ({names}): the sizes of their log dirs are used where known; for the "
        "others it is unknown when a disk is full"
    )
    yield from problem_of(unknown, "broker", info, "disk_capacity_unknown", "brokers.disk_capacity_bytes", message)


def check_log_dirs(log_dirs: pa.Table, brokers: pa.Table) -> Iterator[Problem]:
    """Check the table of log directories against the brokers."""
    broker_id = ints(log_dirs.column("broker_id"))
    _, path = encode(log_dirs.column("path"))
    repeated = np.ones(len(path), dtype=np.bool_)
    repeated[np.unique((broker_id << 32) | path, return_index=True)[1]] = False
    message, where = "log dirs listed more than once: {names}; keep one row each", "log_dirs.path"
    yield from problem_of_dirs(log_dirs, repeated, fatal, "duplicate_log_dir", where, message)
    unknown = ~np.isin(broker_id, ints(brokers.column("broker_id")))
    message, where = "{count} of brokers that are not listed: {names}; they are left out", "log_dirs.broker_id"
    yield from problem_of_dirs(log_dirs, unknown, warning, "log_dir_of_unknown_broker", where, message)
    offline = known(log_dirs.column("error"))
    message = "{count} offline: {names}; replicas there cannot be read and stay out of sync, replace the disks"
    yield from problem_of_dirs(log_dirs, offline, serious, Code.LOG_DIR_OFFLINE, "log_dirs.error", message)
    shared = volume_of(log_dirs) != np.arange(len(log_dirs))
    message, where = "{count} on the same volume as another one, which counts once: {names}", "log_dirs.total_bytes"
    yield from problem_of_dirs(log_dirs, shared, info, "log_dirs_share_volume", where, message)
    yield from _check_sizes(log_dirs)
    yield from _check_totals(log_dirs, brokers)


def problem_of_dirs(
    log_dirs: pa.Table, rows: Flags, make: Callable[[str, str, str], Problem], code: str, where: str, message: str
) -> Iterator[Problem]:
    """Make a problem of some rows, bool[D], where it is of any; see :func:`problem_of`."""
    chosen = log_dirs.filter(pa.array(rows))
    pairs = zip(values(chosen.column("path")), values(chosen.column("broker_id")), strict=True)
    names = [f"{path!r} of broker {broker_id}" for path, broker_id in pairs]
    yield from problem_of(names, "log dir", make, code, where, message)


def _check_sizes(log_dirs: pa.Table) -> Iterator[Problem]:
    total, has_total = ints(log_dirs.column("total_bytes")), known(log_dirs.column("total_bytes"))
    usable, has_usable = ints(log_dirs.column("usable_bytes")), known(log_dirs.column("usable_bytes"))
    message, where = "total_bytes must be above 0: {names}; leave it out where unknown", "log_dirs.total_bytes"
    yield from problem_of_dirs(log_dirs, has_total & (total <= 0), fatal, "log_dir_size", where, message)
    message, where = "usable_bytes below 0: {names}; leave it out where unknown", "log_dirs.usable_bytes"
    yield from problem_of_dirs(log_dirs, has_usable & (usable < 0), fatal, "log_dir_size", where, message)
    message, above = "usable_bytes above total_bytes: {names}; check both", has_total & has_usable & (usable > total)
    yield from problem_of_dirs(log_dirs, above, warning, "log_dir_usable_above_total", where, message)


def _check_totals(log_dirs: pa.Table, brokers: pa.Table) -> Iterator[Problem]:
    """Hold what brokers are said to have against what their log dirs have together, where both are known."""
    given = dict(zip(values(brokers.column("broker_id")), floats(brokers.column("disk_capacity_bytes")), strict=True))
    others = [
        f"{format_bytes(float(given[one]))} and {format_bytes(total)} on broker {one}"
        for one, total in sorted(log_dir_totals(log_dirs).items())
        if one in given and total > 0 and abs(given[one] - total) > _OTHER_TOTAL_RATIO * total
    ]
    message = (
        "disk_capacity_bytes is not what the log dirs have in total, {names}; the smaller is used: correct the other"
    )
    where = "brokers.disk_capacity_bytes"
    yield from problem_of(others, "broker", warning, "disk_capacity_and_log_dirs_differ", where, message)


def check_quorum_replicas(replicas: pa.Table) -> Iterator[Problem]:
    """Check the table of voters and observers by itself: an id votes once, and one of the voters is active."""
    rows = replicas.to_pylist()
    votes = Counter(row["node_id"] for row in rows if row["is_voter"])
    twice = sorted(node for node, count in votes.items() if count > 1)
    message = (
        "controllers that vote more than once: {names}; keep one each, and as an observer one that came back with "
        "another directory"
    )
    yield from problem_of(twice, "controller", fatal, "duplicate_voter", "quorum_replicas.node_id", message)
    active = sorted({row["node_id"] for row in rows if row["is_active"]})
    if len(active) > 1:
        message = f"controllers {some(active)} are all active; only one is, keep the one with the latest epoch"
        yield fatal("several_active_controllers", "quorum_replicas.is_active", message)
