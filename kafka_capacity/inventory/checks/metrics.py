"""The history of rates: whose it is, how complete and how old."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from kafka_capacity.demand.calendar_days import WEEK_HOURS
from kafka_capacity.health.problem import Problem
from kafka_capacity.inventory.column_values import Flags, Ints, encode, floats, ints
from kafka_capacity.inventory.findings import counted, fatal, info, some, warning
from kafka_capacity.inventory.raw import is_day
from kafka_capacity.inventory.replica_columns import ReplicaColumns

RATE_COLUMNS = ("bytes_in_bytes_per_second", "bytes_out_bytes_per_second")
ABSURD_RATE = 1e11  # bytes per second on one partition: no line of one broker carries 800 Gbit/s
LEAST_COVERAGE = 0.95
_DAY = 86_400


def check_metrics(metrics: pa.Table, replicas: ReplicaColumns, ds: str) -> Iterator[Problem]:
    """Check the table of metrics against the partitions and the day of the inventory."""
    if not len(metrics):
        yield warning(
            "no_metrics",
            "metrics",
            "there is no history of rates; all traffic counts as 0, so only disks are judged: add the table of metrics",
        )
        return
    place = replicas.index().find(metrics.column("topic"), metrics.column("partition"))
    seconds = ints(metrics.column("hour").cast("int64"))
    yield from _check_rates(metrics)
    yield from _check_partitions(metrics, place, replicas)
    yield from _check_hours(place, seconds, replicas)
    yield from _check_age(seconds, ds)


def _check_rates(metrics: pa.Table) -> Iterator[Problem]:
    for name in RATE_COLUMNS:
        column = metrics.column(name)
        rate = floats(column)
        if column.null_count == len(column):
            what = "what is produced" if name == RATE_COLUMNS[0] else "what consumers read"
            yield warning(
                "missing_rates",
                f"metrics.{name}",
                f"no row tells {name}: {what} counts as 0, and networks and processors are underestimated; add it",
            )
            continue
        unusable = int(((rate < 0) | ~np.isfinite(rate)).sum()) - column.null_count
        if unusable:
            yield warning(
                "unusable_rate",
                f"metrics.{name}",
                f"{counted(unusable, 'value')} of {name} negative, infinite or not a number; they are left out",
            )
        absurd = int((np.isfinite(rate) & (rate > ABSURD_RATE)).sum())
        if absurd:
            yield warning(
                "absurd_rate",
                f"metrics.{name}",
                f"{counted(absurd, 'value')} of {name} above {ABSURD_RATE:g} on one partition; check the unit",
            )


def _check_partitions(metrics: pa.Table, place: Ints, replicas: ReplicaColumns) -> Iterator[Problem]:
    unknown = place < 0
    if unknown.any():
        names, code = encode(metrics.column("topic"))
        pairs = np.stack([code[unknown], ints(metrics.column("partition"))[unknown]], axis=1)
        distinct = np.unique(pairs, axis=0)
        shown = some((f"{names[topic]}-{partition}" for topic, partition in distinct), len(distinct))
        yield warning(
            "metrics_of_unknown_partition",
            "metrics.topic",
            f"metrics of {counted(len(distinct), 'partition')} that the inventory lacks ({shown}); they are left out",
        )
    has_metrics = np.zeros(replicas.partition_count, dtype=np.bool_)
    has_metrics[place[~unknown]] = True
    without = np.flatnonzero(~has_metrics)
    if len(without):
        yield warning(
            "partition_without_metrics",
            "metrics",
            f"no metrics of {len(without):,} of {counted(replicas.partition_count, 'partition')} "
            f"({some((replicas.name(i) for i in without), len(without))}); their traffic counts as 0",
        )


def _check_hours(place: Ints, seconds: Ints, replicas: ReplicaColumns) -> Iterator[Problem]:
    odd = int((seconds % 3600 != 0).sum())
    if odd:
        yield fatal(
            "hour_not_whole",
            "metrics.hour",
            f"{counted(odd, 'row')} whose hour is not the start of an hour; give one row for each hour",
        )
    is_ours = place >= 0
    repeated = _repeated(place[is_ours], seconds[is_ours])
    if repeated.any():
        twice = np.unique(place[is_ours][repeated])
        shown = some((replicas.name(i) for i in twice), len(twice))
        yield fatal(
            "duplicate_hour",
            "metrics.hour",
            f"{counted(int(repeated.sum()), 'row')} for an hour that is there already, of "
            f"{counted(len(twice), 'partition')} ({shown}); give one row for each hour",
        )
    hours = int(np.ptp(seconds)) // 3600 + 1
    with_metrics = len(np.unique(place[is_ours]))
    expected = hours * with_metrics
    coverage = (int(is_ours.sum()) - int(repeated.sum())) / expected if expected else 1.0
    if coverage < LEAST_COVERAGE:
        yield warning(
            "metric_gaps",
            "metrics.hour",
            f"{coverage:.1%} of the hours are there ({counted(hours, 'hour')} from the first to the last, "
            f"{counted(with_metrics, 'partition')}); means and peaks rest on those alone",
        )
    if hours < WEEK_HOURS:
        yield info(
            "short_history",
            "metrics.hour",
            f"the history spans {counted(hours, 'hour')}, less than the {WEEK_HOURS} of a week; its peak may be "
            "missing",
        )


def _repeated(place: Ints, seconds: Ints) -> Flags:
    """Mark the rows whose (partition, hour) an earlier row has, in any order of rows."""
    repeated = np.zeros(len(place), dtype=np.bool_)
    same_partition, later = place[1:] == place[:-1], seconds[1:] > seconds[:-1]
    if (np.diff(place) >= 0).all() and (later | ~same_partition).all():
        return repeated
    order = np.lexsort((seconds, place))
    repeated[order[1:]] = (np.diff(place[order]) == 0) & (np.diff(seconds[order]) == 0)
    return repeated


def _check_age(seconds: Ints, ds: str) -> Iterator[Problem]:
    if not is_day(ds):
        return
    midnight = datetime.datetime.combine(datetime.date.fromisoformat(ds), datetime.time(), datetime.UTC)
    start = int(midnight.timestamp())
    newest = int(seconds.max())
    if newest < start - _DAY:
        days = (start - newest) / _DAY
        yield warning(
            "stale_metrics",
            "metrics.hour",
            f"the newest metrics are {days:.1f} days older than {ds}; what has changed since is not seen",
        )
    future = int((seconds >= start + _DAY).sum())
    if future:
        yield warning(
            "future_metrics",
            "metrics.hour",
            f"{counted(future, 'row')} of metrics later than the day {ds}; they count like the others, check ds",
        )
