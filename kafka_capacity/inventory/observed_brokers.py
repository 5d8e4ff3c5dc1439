"""The brokers of an inventory and their log directories, as domain objects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from kafka_capacity.inventory.brokers_file import brokers_of
from kafka_capacity.inventory.column_values import (
    ReplicaColumns,
    flags,
    floats,
    ints,
    known,
    log_dir_of_replicas,
    values,
)
from kafka_capacity.inventory.tables import UNKNOWN_PATH
from kafka_capacity.inventory.volumes import log_dir_totals
from kafka_capacity.kafka.arrays import Flags
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.snapshot import LogDirs

BROKER_TABLES = ("brokers", "log_dirs", "quorum_replicas")
"""What :func:`observed_brokers` takes."""


def of_listed_brokers(log_dirs: pa.Table, brokers: pa.Table) -> pa.Table:
    """Keep the log directories of brokers that are listed, sorted by broker and path."""
    is_ours = np.isin(ints(log_dirs.column("broker_id")), ints(brokers.column("broker_id")))
    return log_dirs.filter(pa.array(is_ours)).sort_by([("broker_id", "ascending"), ("path", "ascending")])


def observed_brokers(table: pa.Table, log_dirs: pa.Table, quorum: pa.Table) -> Brokers:
    """Return the brokers of an inventory, from its tables of them, of their log dirs and of who votes.

    Take for the capacity of a broker the total of its log dirs, where all of them are known, or what is given.

    The smaller of both: more than the log dirs have was never there, and several of them may share a disk; those that
    are told to be on one volume count once. Those of brokers that are not listed say nothing.

    A broker is cordoned where all of its log dirs are known to be, down where all of them have failed (it stops then),
    and votes where the quorum names its id.
    """
    log_dirs = of_listed_brokers(log_dirs, table)
    totals = log_dir_totals(log_dirs)
    capacities = zip(values(table.column("broker_id")), values(table.column("disk_capacity_bytes")), strict=True)
    filled = [float(np.fmin(np.nan if given is None else given, totals.get(one, np.nan))) for one, given in capacities]
    place = table.schema.get_field_index("disk_capacity_bytes")
    found = brokers_of(table.set_column(place, table.schema.field(place), pa.array(filled, pa.float64())))
    broker_id, is_cordoned = ints(log_dirs.column("broker_id")), flags(log_dirs.column("is_cordoned"))
    is_failed = _are_failed(log_dirs)
    is_told = np.isin(found.ids, broker_id)
    takes_some = np.isin(found.ids, broker_id[~(is_cordoned | is_failed)]) | ~is_told
    is_down = is_told & ~np.isin(found.ids, broker_id[~is_failed])
    is_voter = np.isin(found.ids, ints(quorum.column("node_id"))[flags(quorum.column("is_voter"))])
    return replace(found, is_fenced=found.is_fenced | is_down, is_cordoned=~(takes_some | is_down), is_voter=is_voter)


def _are_failed(log_dirs: pa.Table) -> Flags:
    """Return bool[D], which log directories have an error: nothing can go there. A broker that is silent tells none."""
    is_told = np.array([path != UNKNOWN_PATH for path in values(log_dirs.column("path"))], dtype=np.bool_)
    return np.asarray(known(log_dirs.column("error")) & is_told, dtype=np.bool_)


def on_failed_dirs(replicas: ReplicaColumns, log_dirs: pa.Table) -> Flags:
    """Return bool[N], which replicas are known to be in a log directory that has an error."""
    # The last entry is for the -1 of a directory that is not known.
    return np.append(_are_failed(log_dirs), False)[log_dir_of_replicas(replicas, log_dirs)]


def observed_log_dirs(table: pa.Table) -> LogDirs:
    """Return the log directories of an inventory, as :func:`of_listed_brokers` gives them."""
    return LogDirs(
        broker_id=ints(table.column("broker_id")).astype(np.int32),
        path=tuple(values(table.column("path"))),
        total_bytes=floats(table.column("total_bytes")),
        usable_bytes=floats(table.column("usable_bytes")),
        is_cordoned=flags(table.column("is_cordoned")),
        is_failed=_are_failed(table),
    )
