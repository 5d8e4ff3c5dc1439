"""Brokers and what they can carry."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from kafka_capacity.health.problem import Problem, fatal, info, some, warning
from kafka_capacity.inventory.column_values import Flags, encode, floats, ints, known, values
from kafka_capacity.text import plural

_CAPACITIES = {
    # The greatest that is believed: a broker with an EiB, a line of 8 Tbit/s, 4,096 cores or 64 TiB of memory does not
    # exist yet.
    "disk_capacity_bytes": 2.0**60,
    "network_in_bytes_per_second": 1e12,
    "network_out_bytes_per_second": 1e12,
    "cpu_cores": 4096.0,
    "memory_bytes": 2.0**46,
}


def check_brokers(brokers: pa.Table) -> Iterator[Problem]:
    """Check the table of brokers by itself."""
    if not len(brokers):
        yield fatal("no_brokers", "brokers", "there are no brokers; list at least one")
        return
    ids = ints(brokers.column("broker_id"))
    distinct, count = np.unique(ids, return_counts=True)
    twice = distinct[count > 1]
    if len(twice):
        yield fatal(
            "duplicate_broker",
            "brokers.broker_id",
            f"{plural(len(twice), 'broker id')} given more than once ({some(twice, len(twice))}); keep one entry each",
        )
    negative = distinct[distinct < 0]
    if len(negative):
        yield fatal(
            "negative_broker_id",
            "brokers.broker_id",
            f"{plural(len(negative), 'broker id')} below 0 ({some(negative, len(negative))}); Kafka's start at 0",
        )
    yield from _check_capacities(brokers)


def _check_capacities(brokers: pa.Table) -> Iterator[Problem]:
    ids = ints(brokers.column("broker_id"))
    for name, greatest in _CAPACITIES.items():
        column = brokers.column(name)
        given = floats(column)
        is_known = known(column)
        wrong = is_known & ~(given > 0)
        if wrong.any():
            shown = some((f"{v:g} on broker {b}" for v, b in zip(given[wrong], ids[wrong], strict=True)), wrong.sum())
            yield fatal(
                "capacity_not_positive", f"brokers.{name}", f"{name} must be above 0, got {shown}; correct or drop it"
            )
        absurd = is_known & (given > greatest)
        if absurd.any():
            shown = some(
                (f"{v:g} on broker {b}" for v, b in zip(given[absurd], ids[absurd], strict=True)), absurd.sum()
            )
            yield warning("absurd_capacity", f"brokers.{name}", f"{name} above {greatest:g}: {shown}; check its unit")
    if brokers.column("disk_capacity_bytes").null_count:
        unknown = ids[~known(brokers.column("disk_capacity_bytes"))]
        yield info(
            "disk_capacity_unknown",
            "brokers.disk_capacity_bytes",
            f"{plural(len(unknown), 'broker')} without disk_capacity_bytes ({some(unknown, len(unknown))}): the "
            "sizes of their log dirs are used where known; for the others it is unknown when a disk is full",
        )


def check_log_dirs(log_dirs: pa.Table, brokers: pa.Table) -> Iterator[Problem]:
    """Check the table of log directories against the brokers."""
    broker_id = ints(log_dirs.column("broker_id"))
    _, path = encode(log_dirs.column("path"))
    repeated = np.ones(len(path), dtype=np.bool_)
    repeated[np.unique((broker_id << 32) | path, return_index=True)[1]] = False
    if repeated.any():
        yield fatal(
            "duplicate_log_dir",
            "log_dirs.path",
            f"log dirs listed more than once: {_named(log_dirs, repeated)}; keep one row each",
        )
    unknown = ~np.isin(broker_id, ints(brokers.column("broker_id")))
    if unknown.any():
        yield warning(
            "log_dir_of_unknown_broker",
            "log_dirs.broker_id",
            f"{plural(int(unknown.sum()), 'log dir')} of brokers that are not listed: {_named(log_dirs, unknown)}; "
            "they are left out",
        )
    offline = known(log_dirs.column("error"))
    if offline.any():
        yield warning(
            "log_dir_offline",
            "log_dirs.error",
            f"{plural(int(offline.sum()), 'log dir')} offline: {_named(log_dirs, offline)}; their replicas cannot be "
            "read, replace the disks before anything moves",
        )
    yield from _check_sizes(log_dirs)


def _named(log_dirs: pa.Table, rows: Flags) -> str:
    chosen = log_dirs.filter(pa.array(rows))
    pairs = zip(values(chosen.column("path")), values(chosen.column("broker_id")), strict=True)
    return some((f"{path!r} of broker {broker_id}" for path, broker_id in pairs), len(chosen))


def _check_sizes(log_dirs: pa.Table) -> Iterator[Problem]:
    total, has_total = ints(log_dirs.column("total_bytes")), known(log_dirs.column("total_bytes"))
    usable, has_usable = ints(log_dirs.column("usable_bytes")), known(log_dirs.column("usable_bytes"))
    if (empty := has_total & (total <= 0)).any():
        yield fatal(
            "log_dir_size",
            "log_dirs.total_bytes",
            f"total_bytes must be above 0: {_named(log_dirs, empty)}; leave it out where unknown",
        )
    if (negative := has_usable & (usable < 0)).any():
        yield fatal(
            "log_dir_size",
            "log_dirs.usable_bytes",
            f"usable_bytes below 0: {_named(log_dirs, negative)}; leave it out where unknown",
        )
    if (above := has_total & has_usable & (usable > total)).any():
        yield warning(
            "log_dir_usable_above_total",
            "log_dirs.usable_bytes",
            f"usable_bytes above total_bytes: {_named(log_dirs, above)}; check both",
        )
