"""Replicas: which brokers hold which, whether the numbers make a cluster, and whether their sizes fit the disks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from kafka_capacity.health.problem import Problem, fatal, info, problem_of, some, warning
from kafka_capacity.inventory.checks.brokers import problem_of_dirs
from kafka_capacity.inventory.column_values import ReplicaColumns, floats, ints, log_dir_of_replicas, values
from kafka_capacity.inventory.observed_brokers import on_failed_dirs
from kafka_capacity.inventory.volumes import OTHER_DATA_RATIO, volume_of
from kafka_capacity.kafka.arrays import Flags, Ints
from kafka_capacity.text import format_bytes, format_percent, plural
from kafka_capacity.text.wording import told_apart

ABSURD_BYTES = 2**50  # a PiB in one replica: no disk has it, and sums of it stop being exact
FOLLOWER_GAP_RATIO = 0.5  # of the leader's size; retention and compaction run at other moments on each broker
FOLLOWER_GAP_BYTES = 2**30  # below a GiB, Kafka's default segment, the active segment alone makes such a gap


def check_placement(replicas: ReplicaColumns, brokers: pa.Table, topics: pa.Table) -> Iterator[Problem]:
    """Check the replicas against the brokers and the topics, and their own numbering."""
    yield from _check_references(replicas, brokers, topics)
    yield from _check_numbering(replicas)
    yield from _check_duplicates(replicas)
    yield from _check_factors(replicas, brokers)


def _problem_in(
    replicas: ReplicaColumns,
    partitions: Flags,
    make: Callable[[str, str, str], Problem],
    code: str,
    where: str,
    message: str,
) -> Iterator[Problem]:
    """Make a problem of some partitions, bool[P], where it is of any; ``{}`` in the message names a few of them."""
    if partitions.any():
        yield make(code, where, message.format(_named(replicas, partitions)))


def _named(replicas: ReplicaColumns, partitions: Flags) -> str:
    chosen = np.flatnonzero(partitions).tolist()
    return f"{plural(len(chosen), 'partition')} ({some(map(replicas.partitions.name, chosen), len(chosen))})"


def _check_references(replicas: ReplicaColumns, brokers: pa.Table, topics: pa.Table) -> Iterator[Problem]:
    broker_ids = np.array(values(brokers.column("broker_id")), dtype=np.int64)
    unknown = ~np.isin(replicas.broker, broker_ids)
    if unknown.any():
        message = (
            f"{plural(int(unknown.sum()), 'replica')} on brokers that are not listed "
            f"({some(np.unique(replicas.broker[unknown]))}), of {_named(replicas, replicas.has_any(unknown))}; "
            "add a row for each to the table of brokers, with is_fenced true where it is down"
        )
        yield fatal("unknown_broker", "replicas.broker_id", message)
    listed = set(values(topics.column("topic")))
    absent = [name for name in replicas.partitions.topics if name not in listed]
    message = "replicas of {count} that the table of topics lacks ({names}); add a row for each"
    yield from problem_of(absent, "topic", fatal, "unknown_topic", "replicas.topic", message)
    if not len(replicas.topic):
        yield fatal("no_replicas", "replicas", "there are no replicas; an inventory needs at least one partition")


def _check_numbering(replicas: ReplicaColumns) -> Iterator[Problem]:
    """Partition numbers must be 0 to n - 1 in each topic, positions 0 to RF - 1 in each partition."""
    starts = replicas.starts
    topic, partition = replicas.partitions.topic, replicas.partitions.partition
    wrong_number = partition != np.arange(len(starts)) - np.searchsorted(topic, topic)
    names = [replicas.partitions.topics[code] for code in np.unique(topic[wrong_number])]
    message = "partition numbers of {count} do not run from 0 without gaps ({names}); export every partition of a topic"
    yield from problem_of(names, "topic", fatal, "partition_gap", "replicas.partition", message)
    wrong = replicas.has_any(replicas.position != np.arange(len(replicas.topic)) - starts[replicas.partition_of_row])
    message = "positions do not run from 0 without a gap or a repeat in {}; give each its place in Kafka's list"
    yield from _problem_in(replicas, wrong, fatal, "replica_positions", "replicas.position", message)


def _check_duplicates(replicas: ReplicaColumns) -> Iterator[Problem]:
    key = np.sort((replicas.partition_of_row << 32) | (replicas.broker + 2**31))
    twice = np.zeros(len(replicas.partitions), dtype=np.bool_)
    twice[key[1:][np.diff(key) == 0] >> 32] = True
    message = "a broker holds more than one replica of {}; Kafka allows one each"
    yield from _problem_in(replicas, twice, fatal, "duplicate_replica", "replicas.broker_id", message)


def _check_factors(replicas: ReplicaColumns, brokers: pa.Table) -> Iterator[Problem]:
    factors, topic = replicas.replication_factors(), replicas.partitions.topic
    differs = (np.diff(topic) == 0) & (np.diff(factors) != 0)
    mixed = [replicas.partitions.topics[code] for code in np.unique(topic[1:][differs])]
    message = (
        "partitions of unequal replication factor in {count} ({names}): a reassignment may be under way; each "
        "partition keeps its own"
    )
    yield from problem_of(mixed, "topic", warning, "rf_mismatch", "replicas", message)
    broker_count = len(set(values(brokers.column("broker_id"))))
    if broker_count:
        message = f"more replicas than the {plural(broker_count, 'listed broker')} on {{}}; list them all"
        above = factors > broker_count
        yield from _problem_in(replicas, above, fatal, "rf_above_brokers", "replicas", message)


def check_leadership(replicas: ReplicaColumns, log_dirs: pa.Table) -> Iterator[Problem]:
    """Check who leads and who is in sync; nobody is assumed to be in a log dir that failed."""
    many = replicas.per_partition(replicas.flags("is_leader")) > 1
    message = "more than one leader on {}; flag the one that leads"
    yield from _problem_in(replicas, many, fatal, "many_leaders", "replicas.is_leader", message)
    if unknown := int((~replicas.has_any(replicas.known("is_leader"))).sum()):
        message = f"the leader of {plural(unknown, 'partition')} is unknown; the first replica is assumed to lead"
        yield info("leader_assumed", "replicas.is_leader", message)
    is_known = replicas.known("is_in_sync")
    leader_out = replicas.has_any(is_known & ~replicas.flags("is_in_sync") & replicas.flags("is_leader"))
    message = "the leader is not in the ISR of {}: the snapshot was taken during a change; take it again"
    yield from _problem_in(replicas, leader_out, warning, "leader_not_in_isr", "replicas.is_in_sync", message)
    is_told = replicas.has_any(is_known)
    if unknown := int((~is_told).sum()):
        message = f"the ISR of {plural(unknown, 'partition')} is unknown; all replicas are assumed in sync"
        if lost := int((on_failed_dirs(replicas, log_dirs) & ~is_told[replicas.partition_of_row]).sum()):
            message += f", but for the {lost:,} in log dirs that are offline"
        yield info("isr_assumed", "replicas.is_in_sync", message)


def check_sizes(replicas: ReplicaColumns, log_dirs: pa.Table) -> Iterator[Problem]:
    """Check that sizes are there, possible, and fit the disks."""
    where = "replicas.size_bytes"
    size, is_known = replicas.ints("size_bytes"), replicas.known("size_bytes")
    is_told = replicas.has_any(is_known)  # by another replica at least
    missing, estimated = int((~is_told).sum()), int((~is_known & is_told[replicas.partition_of_row]).sum())
    if missing:
        share = format_percent(missing / len(is_told)) if missing < len(is_told) else "all"
        message = (
            f"the size of {plural(missing, 'partition')} ({share}) is unknown; they count as 0 bytes, so disk use and "
            "moves are underestimated: add the output of kafka-log-dirs of every broker"
        )
        yield warning("missing_sizes", where, message)
    if estimated:
        what = "replica is unknown; it counts" if estimated == 1 else "replicas is unknown; they count"
        message = f"the size of {estimated:,} {what} as much as other replicas of the same partition"
        yield info("sizes_estimated", where, message)
    negative, absurd = replicas.has_any(size < 0), replicas.has_any(size > ABSURD_BYTES)
    message = "sizes below 0 on {}; leave them out where unknown"
    yield from _problem_in(replicas, negative, fatal, "negative_size", where, message)
    message = "replicas above 1 PiB on {}; check the unit"
    yield from _problem_in(replicas, absurd, fatal, "absurd_size", where, message)
    message = "a follower's size is more than half off its leader's on {}; it may be catching up"
    far = replicas.has_any(_is_far_from_leader(replicas, size, is_known))
    yield from _problem_in(replicas, far, info, "follower_size_differs", where, message)
    if len(log_dirs):
        yield from _check_dirs_hold(replicas, size, log_dirs)
    lag = replicas.has_any(replicas.ints("offset_lag") < 0)
    message = "offset_lag below 0 on {}; it counts as 0"
    yield from _problem_in(replicas, lag, warning, "negative_offset_lag", "replicas.offset_lag", message)


def _is_far_from_leader(replicas: ReplicaColumns, size: Ints, is_known: Flags) -> Flags:
    leads = replicas.flags("is_leader") & is_known
    leader_size = np.full(len(replicas.partitions), -1, dtype=np.int64)
    leader_size[replicas.partition_of_row[leads]] = size[leads]
    expected = leader_size[replicas.partition_of_row]
    gap = np.abs(size - expected)
    is_far = (gap > FOLLOWER_GAP_BYTES) & (gap > FOLLOWER_GAP_RATIO * expected)
    return np.asarray(is_known & (expected >= 0) & is_far, dtype=np.bool_)


def _check_dirs_hold(replicas: ReplicaColumns, size: Ints, log_dirs: pa.Table) -> Iterator[Problem]:
    place = log_dir_of_replicas(replicas, log_dirs)
    lost = replicas.has_any(replicas.known("log_dir") & (place < 0))
    message = "replicas in log dirs that are not listed, of {}; add the log dirs of their brokers"
    yield from _problem_in(replicas, lost, warning, "unknown_log_dir", "replicas.log_dir", message)
    found = place >= 0
    used = np.bincount(place[found], weights=size[found].astype(np.float64), minlength=len(log_dirs))
    full = np.flatnonzero(used > floats(log_dirs.column("total_bytes")))
    shown = []
    for held, row in zip(used[full].tolist(), log_dirs.take(pa.array(full)).to_pylist(), strict=True):
        write = told_apart(format_bytes, held, float(row["total_bytes"]))
        shown.append(f"{row['path']!r} of broker {row['broker_id']}: {write(held)} of {write(row['total_bytes'])}")
    message = "replicas larger than total_bytes in {count} ({names}); check total_bytes"
    yield from problem_of(shown, "log dir", warning, "size_above_log_dir", "log_dirs.total_bytes", message)
    in_use = floats(log_dirs.column("total_bytes")) - floats(log_dirs.column("usable_bytes"))
    # What a broker holds in a directory that nobody names counts in none of them.
    is_whole = ~np.isin(ints(log_dirs.column("broker_id")), replicas.broker[~found])
    if not replicas.known("size_bytes").all():
        return
    volume = volume_of(log_dirs)
    on_volume = np.bincount(volume, weights=used, minlength=len(volume))
    is_whole &= volume == np.arange(len(volume))  # what is in use of a volume counts once
    other = np.where(is_whole, np.maximum(0.0, np.nan_to_num(in_use) - on_volume), 0.0)
    is_much = other > OTHER_DATA_RATIO * floats(log_dirs.column("total_bytes"))
    message = (
        f"{format_bytes(float(other[is_much].sum()))} are in use in {{count}} ({{names}}) that no replica holds: they "
        "count as other data, which stays where it is; if replicas are missing or their sizes too small, complete "
        "replicas and size_bytes"
    )
    yield from problem_of_dirs(log_dirs, is_much, warning, "replicas_below_log_dirs", "replicas.size_bytes", message)
