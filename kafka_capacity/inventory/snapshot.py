"""From the tables of a validated inventory to the arrays that everything is computed on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kafka_capacity.demand.calendar_days import HOUR_SECONDS
from kafka_capacity.demand.profile import GroupProfile, profile_groups
from kafka_capacity.inventory.chosen_hours import RATES, hour_seconds, usable_rates
from kafka_capacity.inventory.column_values import (
    ReplicaColumns,
    column_map,
    encode,
    flags,
    floats,
    ints,
    known,
    log_dir_of_replicas,
    partition_of_rows,
    values,
)
from kafka_capacity.inventory.observed_brokers import (
    BROKER_TABLES,
    observed_brokers,
    observed_log_dirs,
    of_listed_brokers,
    on_failed_dirs,
)
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.volumes import with_other_data
from kafka_capacity.kafka.arrays import Flags, Float32s, Floats, Int32s, Ints
from kafka_capacity.kafka.cluster.assignment import NO_BROKER, Partitions
from kafka_capacity.kafka.cluster.columns import join_columns
from kafka_capacity.kafka.cluster.release import kafka_release
from kafka_capacity.kafka.cluster.snapshot import (
    COMPACTED_TOPICS,
    INTERNAL_TOPICS,
    Group,
    Member,
    PartitionLag,
    PartitionLoad,
    Snapshot,
    Subtopology,
    Topics,
)
from kafka_capacity.kafka.controller.partition_states import led_by_the_living, live_on
from kafka_capacity.kafka.controller.quorum.voters import Quorum, QuorumReplica

DEFAULT_MIN_INSYNC_REPLICAS = 1  # Kafka's own
DEFAULT_RETENTION_SECONDS = 604_800.0  # likewise, `log.retention.hours` 168
FOR_EVER = 2.0**63  # what Kafka's greatest long, 2^63 - 1, is as a float: as retention it means no limit, as -1 does
NO_OFFSET = -1  # a group that has committed nothing on a partition, as on Kafka's wire
_COMPACT = "compact"
PARTITIONS_TOGETHER = 50_000


def build_snapshot(raw: RawInventory) -> Snapshot:
    """Return the arrays of an inventory that has no fatal findings.

    What is not known is filled in as the findings say: a partition without leader flags is led by its first replica,
    one without ISR flags has all replicas in sync, an unknown size is 0. What is on a fenced broker leads nothing, and
    is not in sync while another replica is, whatever is said of it; so is what is in a log dir that failed, where
    nothing is said of the ISR.
    """
    replicas = ReplicaColumns.of(raw.table("replicas"))
    spread = partial(_spread, replicas)
    log_dirs = of_listed_brokers(raw.table("log_dirs"), raw.table("brokers"))
    brokers = observed_brokers(*map(raw.table, BROKER_TABLES))
    held = spread(replicas.broker, NO_BROKER, np.int32)
    has_isr = replicas.has_any(replicas.known("is_in_sync"))[replicas.partition_of_row]
    is_lost = on_failed_dirs(replicas, log_dirs) & ~has_isr
    live = live_on(brokers.index_of(held), ~brokers.is_fenced) & ~spread(is_lost, False, np.bool_)
    in_sync = spread(replicas.flags("is_in_sync") | ~has_isr, False, np.bool_)
    leader, in_sync = led_by_the_living(held, live, in_sync, _leaders(replicas))
    snapshot = Snapshot(
        cluster=raw.cluster,
        ds=raw.ds,
        brokers=brokers,
        log_dirs=observed_log_dirs(log_dirs),
        partitions=replicas.partitions,
        topics=_topics(raw.table("topics"), replicas.partitions.topics),
        replicas=held,
        in_sync=in_sync,
        size_bytes=spread(replicas.ints("size_bytes"), 0, np.int64),
        log_dir=spread(log_dir_of_replicas(replicas, log_dirs), -1, np.int32),
        leader=leader,
        groups=_groups(raw, replicas.partitions.counts()),
        release=kafka_release(raw.kafka_version),
        unknown_size_partitions=int((replicas.per_partition(replicas.known("size_bytes")) == 0).sum()),
    )
    return with_other_data(snapshot, log_dirs)


def observed_assignment(table: pa.Table) -> tuple[Partitions, Int32s]:
    """Return the partitions of an inventory's table of replicas, and int32[P, W], who holds them."""
    replicas = ReplicaColumns.of(table)
    return replicas.partitions, _spread(replicas, replicas.broker, NO_BROKER, np.int32)


def _spread(replicas: ReplicaColumns, column: NDArray[Any], padding: Any, kind: Any) -> NDArray[Any]:
    row = replicas.partition_of_row
    width = int(replicas.replication_factors().max(initial=0))
    matrix = np.full((len(replicas.partitions), width), padding, dtype=kind)
    matrix[row, np.arange(len(row)) - replicas.starts[row]] = column
    return matrix


def partition_load(raw: RawInventory, snapshot: Snapshot) -> PartitionLoad:
    """Return the traffic of each partition: mean and 99th percentile of its hourly rates.

    Hours that are missing or not known are left out of both; values that cannot be a rate (negative, too much) count
    as not known. The percentile is numpy's linear one, see :mod:`kafka_capacity.demand.profile`. Where nothing is known
    of what is produced, nothing is known: what is read alone tells no load.
    """
    metrics, partitions = raw.table("metrics"), snapshot.partitions
    if raw.hours is not None:
        is_unknown, hours = np.isnan(raw.hours.rates[RATES[0]]).all(), len(raw.hours.seconds)
        profiles = (_profile_of_chosen(raw.hours.rates[column]) for column in RATES)
    else:
        place = partition_of_rows(partitions, metrics)
        is_unknown = np.isnan(usable_rates(metrics, RATES[0])[place >= 0]).all()
        hours = len(metrics.column("hour").filter(pa.array(place >= 0)).unique())
        profiles = (_profile(metrics, column, place, len(partitions)) for column in RATES)
    if is_unknown:
        return PartitionLoad.unknown(len(partitions))
    bytes_in, bytes_out = profiles
    return PartitionLoad(
        bytes_in_mean_bytes_per_second=bytes_in.mean,
        bytes_in_peak_bytes_per_second=bytes_in.peak,
        bytes_out_mean_bytes_per_second=bytes_out.mean,
        bytes_out_peak_bytes_per_second=bytes_out.peak,
        hours=hours,
    )


def known_rates(raw: RawInventory, snapshot: Snapshot) -> Flags:
    """Return bool[2, P], of which partitions anything is known of what is produced, and of what is read."""
    if raw.hours is not None:
        return np.stack([~np.isnan(raw.hours.rates[column]).all(axis=1) for column in RATES])
    metrics = raw.table("metrics")
    place = partition_of_rows(snapshot.partitions, metrics)
    found = np.zeros((len(RATES), len(snapshot.partitions)), dtype=np.bool_)
    for is_known, column in zip(found, RATES, strict=True):
        is_known[place[(place >= 0) & ~np.isnan(usable_rates(metrics, column))]] = True
    return found


def profiled_rates(profile: pa.Table, snapshot: Snapshot) -> Flags:
    """Return the same as :func:`known_rates` of the table ``profile_partitions`` of a load profile."""
    place = partition_of_rows(snapshot.partitions, profile)
    found = np.zeros((len(RATES), len(snapshot.partitions)), dtype=np.bool_)
    for is_known, way in zip(found, ("in", "out"), strict=True):
        rate = floats(profile.column(f"bytes_{way}_mean_bytes_per_second"))
        is_known[place[(place >= 0) & np.isfinite(rate)]] = True
    return found


def known_sizes(raw: RawInventory) -> Flags:
    """Return bool[P], of which partitions any replica tells its size."""
    replicas = ReplicaColumns.of(raw.table("replicas"))
    return replicas.has_any(replicas.known("size_bytes"))


def _profile_of_chosen(rates: Float32s) -> GroupProfile:
    """Profile float32[P, H], some partitions after others: what is sorted takes 16 bytes a value."""
    found = []
    for start in range(0, len(rates), PARTITIONS_TOGETHER):
        some = rates[start : start + PARTITIONS_TOGETHER]
        row, column = np.nonzero(~np.isnan(some))
        found.append(profile_groups(row, some[row, column], len(some)))
    return join_columns(found)


def _profile(metrics: pa.Table, column: str, place: Ints, count: int) -> GroupProfile:
    rate = usable_rates(metrics, column)
    usable = (place >= 0) & ~np.isnan(rate)
    return profile_groups(place[usable], rate[usable], count)


def _topics(table: pa.Table, names: Sequence[str]) -> Topics:
    """Return the settings of the topics that have replicas, in their order."""
    chosen = table.take(pc.index_in(pa.array(names, pa.string()), value_set=table.column("topic")))
    retention_seconds = _limit(chosen, "retention_ms") / 1000
    return Topics(
        min_insync_replicas=ints(chosen.column("min_insync_replicas"), null=DEFAULT_MIN_INSYNC_REPLICAS).astype(
            np.int32
        ),
        is_min_isr_assumed=~known(chosen.column("min_insync_replicas")),
        is_internal=flags(chosen.column("is_internal")),
        retention_bytes=_limit(chosen, "retention_bytes"),
        retention_seconds=np.where(is_retention_assumed(chosen), DEFAULT_RETENTION_SECONDS, retention_seconds),
        is_compacted=_is_compacted(chosen),
        allows_unclean_election=flags(chosen.column("unclean_leader_election_enable")),
        is_unclean_assumed=~known(chosen.column("unclean_leader_election_enable")),
    )


def is_retention_assumed(topics: pa.Table) -> Flags:
    """Return which topics of a table of them get Kafka's default because none is known, and it would count."""
    is_kafkas = np.array([name in INTERNAL_TOPICS for name in values(topics.column("topic"))], dtype=np.bool_)
    return ~known(topics.column("retention_ms")) & ~_is_compacted(topics) & ~is_kafkas


def _is_compacted(topics: pa.Table) -> Flags:
    policies = zip(values(topics.column("topic")), values(topics.column("cleanup_policy")), strict=True)
    found = [_COMPACT in policy if policy else name in COMPACTED_TOPICS for name, policy in policies]
    return np.array(found, dtype=np.bool_)


def _limit(table: pa.Table, column: str) -> Floats:
    limit = floats(table.column(column))
    return np.where((limit >= 0) & (limit < FOR_EVER), limit, np.nan)


def _leaders(replicas: ReplicaColumns) -> Int32s:
    has_flags = replicas.per_partition(replicas.known("is_leader")) > 0
    leader = np.where(has_flags, np.int64(NO_BROKER), replicas.broker[replicas.starts])
    leads = replicas.flags("is_leader")
    leader[replicas.partition_of_row[leads]] = replicas.broker[leads]
    return leader.astype(np.int32)


def _groups(raw: RawInventory, counts: Mapping[str, int]) -> tuple[Group, ...]:
    members, lags = _members(raw.table("members"), counts), _lags(raw.table("lags"), counts)
    return tuple(
        Group(
            group_id=row["group_id"],
            state=row["state"] or "",
            group_type=(row["group_type"] or "").lower(),
            protocol_type=row["protocol_type"] or "",
            assignor=row["assignor"],
            members=tuple(members.get(row["group_id"], ())),
            lags=tuple(lags.get(row["group_id"], ())),
            subtopologies=tuple(
                Subtopology(name=one["subtopology"], topics=tuple(one["topics"]), changelogs=tuple(one["changelogs"]))
                for one in sorted(row["subtopologies"] or (), key=lambda one: one["subtopology"])
            ),
            num_standby_replicas=row["num_standby_replicas"],
        )
        for row in raw.table("groups").sort_by("group_id").to_pylist()
    )


def _members(table: pa.Table, counts: Mapping[str, int]) -> dict[str, list[Member]]:
    found: dict[str, list[Member]] = defaultdict(list)
    for row in table.sort_by([("group_id", "ascending"), ("member_id", "ascending")]).to_pylist():
        assigned = sorted((item["topic"], item["partition"]) for item in row["assigned"] or ())
        found[row["group_id"]].append(
            Member(
                member_id=row["member_id"],
                client_id=row["client_id"] or "",
                instance_id=row["instance_id"],
                rack=row["rack"],
                subscribed=tuple(sorted(topic for topic in row["subscribed"] or () if topic is not None)),
                assigned=tuple(pair for pair in assigned if 0 <= pair[1] < counts.get(pair[0], 0)),
                process_id=row["process_id"],
                standby=tuple(sorted((one["subtopology"], one["partition"]) for one in row["standby_tasks"] or ())),
            )
        )
    return found


def _lags(table: pa.Table, counts: Mapping[str, int]) -> dict[str, list[PartitionLag]]:
    found: dict[str, list[PartitionLag]] = defaultdict(list)
    order = [("group_id", "ascending"), ("topic", "ascending"), ("partition", "ascending")]
    for row in table.sort_by(order).to_pylist():
        lag, committed, end = row["lag_records"], row["committed_offset"], row["log_end_offset"]
        if lag is None and committed is not None and end is not None:
            lag = end - committed
        if lag is None or not 0 <= row["partition"] < counts.get(row["topic"], 0):
            continue
        found[row["group_id"]].append(
            PartitionLag(
                topic=row["topic"],
                partition=row["partition"],
                committed_offset=NO_OFFSET if committed is None else committed,
                lag_records=max(lag, 0),
            )
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HourlyRates:
    """The history of some partitions of a snapshot."""

    row: Ints  # int64[P], the row of each partition of the snapshot in `rates`, -1 where it has none
    rates: Float32s  # float32[R, H], bytes per second, hours ascending, NaN where it is not known
    seconds: Ints  # int64[H], when each hour begins, since 1970

    @property
    def hours(self) -> int:
        """How many hours the history has."""
        return int(self.rates.shape[1])

    @property
    def last_hours(self) -> slice:
        """Which hours have no gap between them and the last."""
        gaps = np.flatnonzero(np.diff(self.seconds) != HOUR_SECONDS)
        return slice(int(gaps[-1]) + 1 if len(gaps) else 0, None)

    def of(self, partitions: Ints) -> Float32s:
        """Return float32[N, H], the rates of these partitions of the snapshot, which all have a row."""
        return self.rates[self.row[partitions]]


def hourly_rates(
    raw: RawInventory, snapshot: Snapshot, wanted: Flags, *, metric: str = "bytes_in_bytes_per_second"
) -> HourlyRates:
    """Take the history of the wanted partitions, bool[P], out of a column of the table of metrics.

    Values that cannot be a rate (negative, too much) count as not known; hours of which nothing is known are left out.
    """
    row = np.where(wanted, np.cumsum(wanted) - 1, -1).astype(np.int64)
    if raw.hours is not None:
        cells = raw.hours.rates[metric] if wanted.all() else raw.hours.rates[metric][wanted]
        is_known = ~np.isnan(cells).all(axis=0)
        rates = cells if is_known.all() else cells[:, is_known]
        return HourlyRates(row=row, rates=rates, seconds=raw.hours.seconds[is_known])
    metrics = raw.table("metrics")
    place = partition_of_rows(snapshot.partitions, metrics)
    rate = usable_rates(metrics, metric)
    is_usable = (place >= 0) & ~np.isnan(rate)
    is_usable &= wanted[place] if len(wanted) else False
    hours, column = encode(pa.array(hour_seconds(metrics)[is_usable]))
    rates = np.full((int(wanted.sum()), len(hours)), np.nan, dtype=np.float32)
    rates[row[place[is_usable]], column] = rate[is_usable]
    return HourlyRates(row=row, rates=rates, seconds=np.array(hours, dtype=np.int64))


def read_quorum(raw: RawInventory) -> Quorum:
    """Return who votes and who observes; a node without a rack of its own has that of the broker with its id."""
    brokers = raw.table("brokers")
    racks = column_map(brokers, "broker_id", "rack")
    rows = raw.table("quorum_replicas").sort_by([("node_id", "ascending"), ("is_voter", "ascending")]).to_pylist()
    return Quorum(
        replicas=tuple(
            QuorumReplica(
                node_id=row["node_id"],
                is_voter=row["is_voter"],
                is_broker=row["node_id"] in racks,
                rack=row["rack"] if row["rack"] is not None else racks.get(row["node_id"]),
                directory_id=row["directory_id"],
                is_active=bool(row["is_active"]),
                **{name: row[name] for name in ("lag_records", "behind_seconds", "is_named", "auto_joins")},
            )
            for row in rows
        ),
        kraft_version=next((row["kraft_version"] for row in rows if row["kraft_version"] is not None), None),
        fenced=frozenset(one for one, is_fenced in column_map(brokers, "broker_id", "is_fenced").items() if is_fenced),
    )
