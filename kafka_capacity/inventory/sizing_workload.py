"""From an inventory and an outlook to what sizing works on.

What the inventory does not tell is filled in:

* an hour of which a partition has no rate counts its mean;
* with less than :data:`LEAST_HOURS` hours, every partition counts its own peak at once;
* a limit of retention that is not known is none; the size of a segment is Kafka's default;
* repartition topics of Kafka Streams without limits hold as much as today, as their traffic grows: Streams purges them;
* leaders of tiered topics send what is produced to the object store as it comes, beside what consumers read;
* brokers keep what is in tiered storage as well for ``local.retention.ms``, else as long as the topic's retention;
* how long ago what a group reads now was produced is its lag in bytes over what is produced on average.
"""

from __future__ import annotations

import dataclasses
import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.demand.disk import DEFAULT_SEGMENT_BYTES
from kafka_capacity.demand.outlook import DemandOutlook
from kafka_capacity.demand.workload import Lags, LogLimits, PeakBasis, Traffic, Workload
from kafka_capacity.hardware.cpu import CpuCalibration, calibrate
from kafka_capacity.inventory.column_values import column_map, floats
from kafka_capacity.inventory.group_facts import GroupFactsFound
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.snapshot import HourlyRates, hourly_rates
from kafka_capacity.kafka.arrays import Flags, Float32s, Floats, Ints
from kafka_capacity.kafka.cluster.snapshot import REPARTITION, PartitionLoad, Snapshot

LEAST_HOURS = 24  # a day: with less, the hours say nothing of which partitions peak together


def sizing_workload(
    raw: RawInventory,
    snapshot: Snapshot,
    load: PartitionLoad,
    outlook: DemandOutlook,
    traffic: Traffic,
    groups: GroupFactsFound,
) -> Workload:
    """Put together what sizing needs to know of the partitions, all of one inventory without fatal findings."""
    load, is_tiered = _mean_of_today(load, outlook), _is_tiered(raw, snapshot)[snapshot.partitions.topic]
    return Workload(
        partitions=snapshot.partitions,
        load=load,
        traffic=traffic,
        size_bytes=snapshot.partition_size_bytes(),
        limits=_as_purged(log_limits(raw, snapshot), snapshot, load),
        is_tiered=is_tiered,
        remote_size_bytes=_remote_partitions(raw, snapshot, load, is_tiered),
        lags=group_lags(groups, is_simulated_only=True),
        outlook=outlook,
    )


def log_limits(raw: RawInventory, snapshot: Snapshot) -> LogLimits:
    """Return what ends the log of each partition."""
    segment, topic = _topic_column(raw, snapshot, "segment_bytes"), snapshot.partitions.topic
    return LogLimits(
        retention_seconds=kept_seconds(raw, snapshot)[topic],
        whole_retention_seconds=_unlimited(snapshot.topics.retention_seconds)[topic],
        retention_bytes=_unlimited(snapshot.topics.retention_bytes)[topic],
        segment_bytes=np.where(segment > 0, segment, DEFAULT_SEGMENT_BYTES)[topic],
        is_compacted=snapshot.topics.is_compacted[topic],
    )


def _as_purged(limits: LogLimits, snapshot: Snapshot, load: PartitionLoad) -> LogLimits:
    """Let repartition topics without limits keep records for as long as what they hold now takes to be written.

    Kafka Streams creates them with ``retention.ms=-1`` and deletes what it has read, every
    ``repartition.purge.interval.ms``.
    """
    topic, rate, held = snapshot.partitions.topic, load.bytes_in_mean_bytes_per_second, snapshot.partition_size_bytes()
    is_theirs = np.array([name.endswith(REPARTITION) for name in snapshot.partitions.topics], dtype=np.bool_)[topic]
    is_purged = is_theirs & np.isinf(limits.retention_seconds) & np.isinf(limits.retention_bytes) & (rate > 0)
    kept = np.divide(held, rate, out=limits.retention_seconds.copy(), where=is_purged)
    return dataclasses.replace(limits, retention_seconds=kept)


def _mean_of_today(load: PartitionLoad, outlook: DemandOutlook) -> PartitionLoad:
    """Take the means that every further day will have, where a launch ran for a part of the measured days."""
    ratio = outlook.mean_ratio[outlook.class_of]
    return dataclasses.replace(
        load,
        bytes_in_mean_bytes_per_second=load.bytes_in_mean_bytes_per_second * ratio,
        bytes_out_mean_bytes_per_second=load.bytes_out_mean_bytes_per_second * ratio,
    )


def _unlimited(values: Floats) -> Floats:
    """Return limits, infinite where none is known."""
    return np.where(np.isnan(values), np.inf, values)


def kept_seconds(raw: RawInventory, snapshot: Snapshot) -> Floats:
    """Return float64[T], how long brokers keep records, infinite for no limit."""
    whole = _unlimited(snapshot.topics.retention_seconds)
    local = _topic_column(raw, snapshot, "local_retention_ms") / 1000
    return np.where(_is_tiered(raw, snapshot) & (local >= 0), np.fmin(local, whole), whole)


def _is_tiered(raw: RawInventory, snapshot: Snapshot) -> Flags:
    """Return bool[T], whether topics are in tiered storage (KIP-405)."""
    return np.asarray(_topic_column(raw, snapshot, "remote_storage_enable") > 0, dtype=np.bool_)


def _topic_column(raw: RawInventory, snapshot: Snapshot, column: str) -> Floats:
    """Return float64[T], a column of the table ``topics``, NaN where it is not known."""
    known = column_map(raw.table("topics"), "topic", column)
    found = [known.get(name) for name in snapshot.partitions.topics]
    return np.array([np.nan if value is None else float(value) for value in found], dtype=np.float64)


def remote_sizes(raw: RawInventory, snapshot: Snapshot, rate: Floats) -> tuple[Floats, Flags]:
    """Return what the object store holds of each topic, if all of it is tiered (KIP-405).

    Brokers measure it topic by topic, of the partitions that they lead (``RemoteLogSizeBytes``, KIP-963). Without that,
    it is what is produced on average, ``rate`` as float64[P], over the whole retention, less the time by which uploads
    are held back (KIP-1241, Kafka 4.4): a closed segment is uploaded as soon as it is as old as
    ``remote.copy.lag.ms`` or as far from the end of the log as ``remote.copy.lag.bytes``, whichever comes first.

    Returns:
        float64[T], bytes, infinite or NaN where that is not known; and bool[T], whether brokers measured it.
    """
    estimate = _of_topics(snapshot, _remote_estimate(raw, snapshot, rate))
    measured = _topic_column(raw, snapshot, "remote_bytes")
    is_measured = np.asarray(measured >= 0, dtype=np.bool_)  # not known is not
    return np.where(is_measured, measured, estimate), is_measured


def _of_topics(snapshot: Snapshot, values: Floats) -> Floats:
    topic, count = snapshot.partitions.topic, len(snapshot.partitions.topics)
    return np.bincount(topic, weights=values, minlength=count).astype(np.float64)


def _remote_partitions(raw: RawInventory, snapshot: Snapshot, load: PartitionLoad, is_tiered: Flags) -> Floats:
    """Return float64[P], what the object store holds of each: its part by traffic of what is known of its topic."""
    if not is_tiered.any():
        return np.zeros(len(is_tiered))
    rate, topic = load.bytes_in_mean_bytes_per_second, snapshot.partitions.topic
    held, total = remote_sizes(raw, snapshot, rate)[0], _of_topics(snapshot, rate)
    even = 1.0 / np.bincount(topic, minlength=len(total))[topic]
    share = np.divide(rate, total[topic], out=even, where=total[topic] > 0)
    return np.where(is_tiered, np.where(np.isfinite(held), held, 0.0)[topic] * share, 0.0)


def _remote_estimate(raw: RawInventory, snapshot: Snapshot, rate: Floats) -> Floats:
    """Return float64[P], what is produced over the whole retention, less what is held back."""
    topics, topic = snapshot.topics, snapshot.partitions.topic
    local = kept_seconds(raw, snapshot)
    lag = np.nan_to_num(_topic_column(raw, snapshot, "remote_copy_lag_ms")) / 1000
    held_back = np.where(lag < 0, local, np.minimum(lag, local))[topic]
    lag_bytes = _topic_column(raw, snapshot, "remote_copy_lag_bytes")
    beyond = np.where(lag_bytes >= 0, lag_bytes, np.inf)[topic]
    is_moving = rate > 0

    def produced(seconds: Floats) -> Floats:
        return np.multiply(rate, seconds, out=np.zeros(len(rate)), where=is_moving)

    whole = np.fmin(produced(_unlimited(topics.retention_seconds)[topic]), topics.retention_bytes[topic])
    kept_back = np.minimum(np.minimum(produced(held_back), beyond), whole)
    return np.asarray(whole - np.where(np.isinf(whole), 0.0, kept_back), dtype=np.float64)


def known_hours(load: PartitionLoad, snapshot: Snapshot) -> int:
    """Return of how many hours rates are known.

    What is stored has been produced: where every rate is 0 all the same, the metrics are likelier to have ended.
    """
    is_silent = not load.bytes_in_peak_bytes_per_second.any() and snapshot.partition_size_bytes().any()
    return 0 if is_silent else load.hours


def hourly_traffic(raw: RawInventory, snapshot: Snapshot, load: PartitionLoad) -> Traffic:
    """Return the hours of which something is known, or each partition's own peak where there are too few."""
    if not known_hours(load, snapshot):
        return dataclasses.replace(Traffic.of_peaks(load), basis=PeakBasis.UNKNOWN)
    is_tiered = _is_tiered(raw, snapshot)[snapshot.partitions.topic]
    everything = np.ones(len(snapshot.partitions), dtype=np.bool_)
    coming = hourly_rates(raw, snapshot, everything)
    going = hourly_rates(raw, snapshot, everything, metric="bytes_out_bytes_per_second")
    hours = np.intersect1d(coming.seconds, going.seconds)
    if len(hours) < LEAST_HOURS:
        return Traffic.of_peaks(load).with_uploads(is_tiered)
    traffic = Traffic(
        bytes_in=_filled(coming, hours, load.bytes_in_mean_bytes_per_second),
        bytes_out=_filled(going, hours, load.bytes_out_mean_bytes_per_second),
        basis=PeakBasis.SAME_HOURS,
        is_unbroken=bool(hours[-1] - hours[0] == 3600 * (len(hours) - 1)),
    )
    return traffic.with_uploads(is_tiered)


def _filled(rates: HourlyRates, hours: Ints, mean: Floats) -> Float32s:
    found = rates.rates
    if len(hours) < rates.hours:
        found = found[:, np.searchsorted(rates.seconds, hours)]
    unknown = np.isnan(found)
    return np.where(unknown, mean[:, None].astype(np.float32), found) if unknown.any() else found


def group_lags(facts: GroupFactsFound, *, is_simulated_only: bool = False) -> Lags:
    """Return how long ago what each group reads now was produced, or would read if its members were there.

    Of groups that cannot be simulated nobody can say how far back they read at other times.
    """
    simulated = {one.group_id for one in facts.facts}
    found = [one for one in facts.lags if not is_simulated_only or one.group_id in simulated]
    if not found:
        return Lags.none()
    rows = np.concatenate([one.rows for one in found]).astype(np.int64)
    group = np.repeat(np.arange(len(found), dtype=np.int32), [len(one.rows) for one in found])
    seconds = np.concatenate([one.lag_seconds for one in found])
    lags = Lags(
        groups=tuple(one.group_id for one in found),
        group=group,
        row=rows,
        seconds=seconds,
        unknown=frozenset(one.group_id for one in found if not one.is_known),
        lost_records={one.group_id: one.lost_records for one in found if one.lost_records},
    )
    return lags.part(seconds > 0)


MEASURES = ("cpu_cores_used", "leader_in_bytes_per_second", "follower_in_bytes_per_second", "out_bytes_per_second")


def observed_costs(raw: RawInventory, *, after: str | None = None) -> CpuCalibration | None:
    """Fit the costs of traffic to the hours, after that day, of brokers of which all is known; ``None`` without any."""
    samples = broker_hours(raw, after=after)
    return calibrate(samples[0], samples[1], samples[2], samples[3]) if samples.shape[1] else None


def broker_hours(raw: RawInventory, *, after: str | None = None) -> Floats:
    """Return float64[4, N], :data:`MEASURES` of the hours, after that day, of brokers of which all are known."""
    table = raw.table("broker_metrics")
    if after is not None:
        day = datetime.datetime.fromisoformat(after).replace(tzinfo=datetime.UTC) + datetime.timedelta(days=1)
        table = table.filter(pc.greater_equal(table.column("hour"), pa.scalar(day, table.schema.field("hour").type)))
    samples = np.stack([floats(table.column(name)) for name in MEASURES])
    return samples[:, (np.isfinite(samples) & (samples >= 0)).all(axis=0)]
