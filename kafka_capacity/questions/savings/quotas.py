"""Quotas on who reads, or writes, the few topics whose bursts make the peak of the whole cluster.

A topic has bursts where its peak is :data:`BURST_RATIO` times its own mean or more, and few hours have half of it: what
is carried all through working hours is no burst.
Of these the few that carry most in the cluster's peak hours are throttled, each partition to the smallest quota under
which nothing waits longer than it may, and only where the peak of the cluster falls by it. Reads that come at once come
later as well where producers are throttled. Kafka's quotas are for a client id and broker; here they are added up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kafka_capacity.demand.calendar_days import HOUR_SECONDS
from kafka_capacity.demand.profile import PEAK_QUANTILE
from kafka_capacity.demand.quota import least_quota, throttled
from kafka_capacity.demand.reading import late_read_seconds
from kafka_capacity.inventory.topic_use import LEAST_HOURS, named_topics
from kafka_capacity.kafka.arrays import Flags, Float32s, Floats, Ints
from kafka_capacity.kafka.cluster.snapshot import Group
from kafka_capacity.questions.question import SizedCluster
from kafka_capacity.text import format_duration, plural
from kafka_capacity.text.wording import few_names

BURST_RATIO = 3.0
_MAX_BURST_SHARE = 1 / 8  # of the hours, that may have half of the peak or more: three hours a day
_FEW = 5  # topics that are throttled at most
_LEAST_CUT_RATIO = 0.05  # of the cluster's peak, that all quotas together must take away
_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Quotas:
    """Quotas on a few topics, of all that is produced to them or of all that is read of them."""

    is_on_reads: bool  # else on writes
    topics: Flags  # bool[T], which
    total: float  # bytes per second, all quotas together
    cut_ratio: float  # of the cluster's peak of reads or writes, that is gone
    in_quota: Floats  # float64[P], infinite for none
    out_quota: Floats  # float64[P], likewise
    affected: str  # who is throttled, how often and for how long, a clause


def find_quotas(cluster: SizedCluster, can_wait: Flags, needed: Floats, delay_seconds: float) -> Iterator[Quotas]:
    """Yield quotas on consumers and quotas on producers, where they cut the cluster's peak.

    Topics with ``can_wait``, bool[T], may be throttled, so that nothing waits longer than ``delay_seconds``;
    ``needed``, float64[T], is how far back they are read, NaN where that is not known.
    """
    workload, topic = cluster.workload, cluster.workload.partitions.topic
    names = workload.partitions.topics
    coming, going = workload.traffic.bytes_in, workload.read_hours()
    if not workload.traffic.is_unbroken or coming.shape[1] < LEAST_HOURS:
        return
    first = np.searchsorted(topic, np.arange(len(names)))
    # What waits must not be deleted meanwhile; not known is not enough.
    can_wait = can_wait & (needed + delay_seconds <= workload.limits.retention_seconds[first])
    for hours in (going, coming):
        quota, cut = _chosen(hours, first, can_wait, delay_seconds)
        rows = np.flatnonzero(np.isfinite(quota))
        if cut < _LEAST_CUT_RATIO or not len(rows):
            continue
        chosen = np.bincount(topic[rows], minlength=len(names)) > 0
        is_on_reads = hours is going
        who = (
            _readers(cluster.snapshot.groups, {names[place] for place in np.flatnonzero(chosen).tolist()})
            if is_on_reads
            else "producers whose client ids are not known; one that cannot hold back so long runs into "
            "delivery.timeout.ms"
        )
        found = throttled(hours[rows], quota[rows])
        yield Quotas(
            is_on_reads=is_on_reads,
            topics=chosen,
            total=float(quota[rows].sum()),
            cut_ratio=cut,
            in_quota=np.full(len(topic), np.inf) if is_on_reads else quota,
            out_quota=quota if is_on_reads else _of_reads_at_once(coming, going, quota, rows),
            affected=(
                f"throttled in {plural(int(found.is_waiting.any(axis=0).sum()), 'hour')} of {hours.shape[1]:,}, for up "
                f"to {format_duration(float(found.late_hours.max()) * HOUR_SECONDS)}: {who}"
            ),
        )


def _chosen(hours: Float32s, first: Ints, can_wait: Flags, delay_seconds: float) -> tuple[Floats, float]:
    """Return float64[P], the quotas, and by how much of it the cluster's peak falls; ``first`` rows of topics."""
    by_topic = np.add.reduceat(hours, first, axis=0, dtype=np.float64)
    mean, after, quota = by_topic.mean(axis=1), by_topic.sum(axis=0), np.full(len(hours), np.inf)
    peak = float(np.quantile(after, PEAK_QUANTILE))
    top = np.quantile(by_topic, PEAK_QUANTILE, axis=1)
    is_short = (by_topic >= top[:, None] / 2).mean(axis=1) <= _MAX_BURST_SHARE
    is_burst = can_wait & (mean > 0) & (top >= BURST_RATIO * mean) & is_short
    excess = (by_topic[:, after >= peak] - mean[:, None]).mean(axis=1)
    most = sorted(np.flatnonzero(is_burst & (excess > 0)).tolist(), key=lambda place: -excess[place])
    ends = [*first[1:].tolist(), len(hours)]
    for place in most[:_FEW]:
        rows = np.arange(first[place], ends[place])
        rows = rows[hours[rows].max(axis=1) > 0]
        one = least_quota(hours[rows], delay_seconds / HOUR_SECONDS)
        less = after - hours[rows].sum(axis=0, dtype=np.float64) + throttled(hours[rows], one).passed.sum(axis=0)
        if np.quantile(less, PEAK_QUANTILE) < np.quantile(after, PEAK_QUANTILE):
            after, quota[rows] = less, one
    return quota, 1.0 - float(np.quantile(after, PEAK_QUANTILE)) / peak if peak > 0 else 0.0


def _of_reads_at_once(coming: Float32s, going: Float32s, quota: Floats, rows: Ints) -> Floats:
    """Return float64[P], what is read at most of what is read as soon as it is written."""
    read, written = going[rows].sum(axis=1, dtype=np.float64), coming[rows].sum(axis=1, dtype=np.float64)
    is_at_once = (read > 0) & (late_read_seconds(coming[rows], going[rows]) < 2 * HOUR_SECONDS)
    found = np.full(len(quota), np.inf)
    found[rows] = np.where(is_at_once, quota[rows] * read / written, np.inf)
    return found


def _readers(groups: tuple[Group, ...], topics: set[str]) -> str:
    reading = [group for group in groups if named_topics(group) & topics]
    if not reading:
        return "consumers of which no group is known"
    clients = sorted({member.client_id for group in reading for member in group.members if member.client_id})
    known = f" (client {'id' if len(clients) == 1 else 'ids'} {few_names(clients, _NAMED)})" if clients else ""
    groups_words = few_names(sorted(group.group_id for group in reading), _NAMED)
    return f"consumer {'group' if len(reading) == 1 else 'groups'} {groups_words}{known}"
