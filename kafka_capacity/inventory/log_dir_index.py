"""Finds the log directory of each replica."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from kafka_capacity.inventory.column_values import Ints, encode, ints
from kafka_capacity.inventory.replica_columns import ReplicaColumns


def log_dir_of_replicas(replicas: ReplicaColumns, log_dirs: pa.Table) -> Ints:
    """Return the row of each replica's log dir, -1 where it is not known or not listed."""
    paths, path = encode(log_dirs.column("path"))
    code_of = {name: code for code, name in enumerate(paths)}
    names, code = encode(replicas.table.column("log_dir").fill_null(""))
    translated = np.array([code_of.get(name, -1) for name in names], dtype=np.int64)
    wanted_path = translated[code] if len(names) else code
    wanted_path = wanted_path if replicas.order is None else wanted_path[replicas.order]
    key = (ints(log_dirs.column("broker_id")) << 32) | path
    order = np.argsort(key, kind="stable")
    if not len(order):
        return np.full(len(wanted_path), -1, dtype=np.int64)
    wanted = np.where(wanted_path >= 0, (replicas.broker << 32) | wanted_path.clip(min=0), -1)
    place = np.searchsorted(key[order], wanted).clip(max=len(order) - 1)
    found = (key[order][place] == wanted) & (wanted_path >= 0)
    return np.where(found, order[place], -1)
