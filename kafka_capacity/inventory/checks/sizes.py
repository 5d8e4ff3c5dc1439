"""The sizes of replicas, by themselves and against the disks that hold them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from kafka_capacity.health.problem import Problem, fatal, info, problem_of, warning
from kafka_capacity.inventory.checks.placement import problem_of_partitions
from kafka_capacity.inventory.column_values import Flags, Ints, ReplicaColumns, floats, log_dir_of_replicas
from kafka_capacity.text import format_percent, plural

ABSURD_BYTES = 2**50  # a PiB in one replica: no disk has it, and sums of it stop being exact
FOLLOWER_GAP_RATIO = 0.5  # of the leader's size; retention and compaction run at other moments on each broker
FOLLOWER_GAP_BYTES = 2**30  # below a GiB, Kafka's default segment, the active segment alone makes such a gap


def check_sizes(replicas: ReplicaColumns, log_dirs: pa.Table) -> Iterator[Problem]:
    """Check that sizes are there, possible, and fit the disks."""
    where = "replicas.size_bytes"
    size, is_known = replicas.ints("size_bytes"), replicas.known("size_bytes")
    missing = int((~is_known).sum())
    if missing:
        share = format_percent(missing / len(size)) if missing < len(size) else "all"
        message = (
            f"the size of {plural(missing, 'replica')} ({share}) is unknown; they count as 0 bytes, so disk use and "
            "moves are underestimated: add the output of kafka-log-dirs"
        )
        yield warning("missing_sizes", where, message)
    negative, absurd = replicas.has_any(size < 0), replicas.has_any(size > ABSURD_BYTES)
    message = "sizes below 0 on {}; leave them out where unknown"
    yield from problem_of_partitions(replicas, negative, fatal, "negative_size", where, message)
    message = "replicas above 1 PiB on {}; check the unit"
    yield from problem_of_partitions(replicas, absurd, fatal, "absurd_size", where, message)
    message = "a follower's size is more than half off its leader's on {}; it may be catching up"
    far = replicas.has_any(_is_far_from_leader(replicas, size, is_known))
    yield from problem_of_partitions(replicas, far, info, "follower_size_differs", where, message)
    if len(log_dirs):
        yield from _check_dirs_hold(replicas, size, log_dirs)
    lag = replicas.has_any(replicas.ints("offset_lag") < 0)
    message = "offset_lag below 0 on {}; it counts as 0"
    yield from problem_of_partitions(replicas, lag, warning, "negative_offset_lag", "replicas.offset_lag", message)


def _is_far_from_leader(replicas: ReplicaColumns, size: Ints, is_known: Flags) -> Flags:
    leads = replicas.flags("is_leader") & is_known
    leader_size = np.full(replicas.partition_count, -1, dtype=np.int64)
    leader_size[replicas.partition_of_row[leads]] = size[leads]
    expected = leader_size[replicas.partition_of_row]
    gap = np.abs(size - expected)
    return is_known & (expected >= 0) & (gap > FOLLOWER_GAP_BYTES) & (gap > FOLLOWER_GAP_RATIO * expected)


def _check_dirs_hold(replicas: ReplicaColumns, size: Ints, log_dirs: pa.Table) -> Iterator[Problem]:
    place = log_dir_of_replicas(replicas, log_dirs)
    lost = replicas.has_any(replicas.known("log_dir") & (place < 0))
    message = "replicas in log dirs that are not listed, of {}; add the log dirs of their brokers"
    yield from problem_of_partitions(replicas, lost, warning, "unknown_log_dir", "replicas.log_dir", message)
    found = place >= 0
    used = np.bincount(place[found], weights=size[found].astype(np.float64), minlength=len(log_dirs))
    full = np.flatnonzero(used > floats(log_dirs.column("total_bytes")))
    shown = [
        f"{row['path']!r} of broker {row['broker_id']}: {used[i]:.0f} of {row['total_bytes']}"
        for i, row in zip(full, log_dirs.take(pa.array(full)).to_pylist(), strict=True)
    ]
    message = "replicas larger than total_bytes in {count} ({names}); check total_bytes"
    yield from problem_of(shown, "log dir", warning, "size_above_log_dir", "log_dirs.total_bytes", message)
