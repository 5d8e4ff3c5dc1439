"""The sizes of replicas, by themselves and against the disks that hold them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from kafka_capacity.health.problem import Problem, fatal, info, some, warning
from kafka_capacity.inventory.checks.placement import named
from kafka_capacity.inventory.column_values import Flags, Ints, ReplicaColumns, floats, log_dir_of_replicas
from kafka_capacity.text import format_percent, plural

ABSURD_BYTES = 2**50  # a PiB in one replica: no disk has it, and sums of it stop being exact
FOLLOWER_GAP_RATIO = 0.5  # of the leader's size; retention and compaction run at other moments on each broker
FOLLOWER_GAP_BYTES = 2**30  # below a GiB, Kafka's default segment, the active segment alone makes such a gap


def check_sizes(replicas: ReplicaColumns, log_dirs: pa.Table) -> Iterator[Problem]:
    """Check that sizes are there, possible, and fit the disks."""
    size, is_known = replicas.ints("size_bytes"), replicas.known("size_bytes")
    missing = int((~is_known).sum())
    if missing:
        share = format_percent(missing / len(size)) if missing < len(size) else "all"
        yield warning(
            "missing_sizes",
            "replicas.size_bytes",
            f"the size of {plural(missing, 'replica')} ({share}) is unknown; they count as 0 bytes, so disk use and "
            "moves are underestimated: add the output of kafka-log-dirs",
        )
    if (negative := size < 0).any():
        yield fatal(
            "negative_size",
            "replicas.size_bytes",
            f"sizes below 0 on {named(replicas, replicas.per_partition(negative) > 0)}; leave them out where unknown",
        )
    if (absurd := size > ABSURD_BYTES).any():
        yield fatal(
            "absurd_size",
            "replicas.size_bytes",
            f"replicas above 1 PiB on {named(replicas, replicas.per_partition(absurd) > 0)}; check the unit",
        )
    yield from _check_followers(replicas, size, is_known)
    yield from _check_dirs_hold(replicas, size, log_dirs)
    if ((lag := replicas.ints("offset_lag")) < 0).any():
        yield warning(
            "negative_offset_lag",
            "replicas.offset_lag",
            f"offset_lag below 0 on {named(replicas, replicas.per_partition(lag < 0) > 0)}; it counts as 0",
        )


def _check_followers(replicas: ReplicaColumns, size: Ints, is_known: Flags) -> Iterator[Problem]:
    leads = replicas.flags("is_leader") & is_known
    leader_size = np.full(replicas.partition_count, -1, dtype=np.int64)
    leader_size[replicas.partition_of_row[leads]] = size[leads]
    expected = leader_size[replicas.partition_of_row]
    gap = np.abs(size - expected)
    far = is_known & (expected >= 0) & (gap > FOLLOWER_GAP_BYTES) & (gap > FOLLOWER_GAP_RATIO * expected)
    if far.any():
        yield info(
            "follower_size_differs",
            "replicas.size_bytes",
            f"a follower's size is more than half off its leader's on "
            f"{named(replicas, replicas.per_partition(far) > 0)}; it may be catching up",
        )


def _check_dirs_hold(replicas: ReplicaColumns, size: Ints, log_dirs: pa.Table) -> Iterator[Problem]:
    if not len(log_dirs):
        return
    place = log_dir_of_replicas(replicas, log_dirs)
    if (lost := replicas.known("log_dir") & (place < 0)).any():
        yield warning(
            "unknown_log_dir",
            "replicas.log_dir",
            f"replicas in log dirs that are not listed, of {named(replicas, replicas.per_partition(lost) > 0)}; "
            "add the log dirs of their brokers",
        )
    found = place >= 0
    used = np.bincount(place[found], weights=size[found].astype(np.float64), minlength=len(log_dirs))
    full = np.flatnonzero(used > floats(log_dirs.column("total_bytes")))
    if len(full):
        rows = log_dirs.take(pa.array(full)).to_pylist()
        shown = (
            f"{row['path']!r} of broker {row['broker_id']}: {used[i]:.0f} of {row['total_bytes']}"
            for i, row in zip(full, rows, strict=True)
        )
        yield warning(
            "size_above_log_dir",
            "log_dirs.total_bytes",
            f"replicas larger than total_bytes in {plural(len(full), 'log dir')} ({some(shown, len(full))}); "
            "check total_bytes",
        )
