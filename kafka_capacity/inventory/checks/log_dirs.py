"""The log directories of the brokers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from kafka_capacity.health.problem import Problem
from kafka_capacity.inventory.column_values import Flags, encode, ints, known, values
from kafka_capacity.inventory.findings import counted, fatal, some, warning


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
            f"{counted(int(unknown.sum()), 'log dir')} of brokers that are not listed: {_named(log_dirs, unknown)}; "
            "they are left out",
        )
    offline = known(log_dirs.column("error"))
    if offline.any():
        yield warning(
            "log_dir_offline",
            "log_dirs.error",
            f"{counted(int(offline.sum()), 'log dir')} offline: {_named(log_dirs, offline)}; their replicas cannot be "
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
