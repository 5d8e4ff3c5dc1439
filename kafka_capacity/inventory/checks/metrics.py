"""Histories: hourly rates of partitions, hours of brokers and daily rates of topics.

All have whole hours or days, each once, and values that can be. Of the rates of partitions it also counts whose they
are, how complete and how old.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from kafka_capacity.demand.calendar_days import WEEK_HOURS, midnight
from kafka_capacity.health.problem import Problem, counted, fatal, info, problem_of, serious, some, warning
from kafka_capacity.inventory.chosen_hours import MAX_PARTITION_RATE, RATES, usable_rates
from kafka_capacity.inventory.column_values import Column, ReplicaColumns, encode, floats, ints, values
from kafka_capacity.inventory.daily_history import MAX_TOPIC_RATE
from kafka_capacity.kafka.arrays import Flags, Ints
from kafka_capacity.objects.keys import is_day
from kafka_capacity.text import format_percent, plural

ABSURD_CORES = 4096.0  # no broker has so many cores
LEAST_COVERAGE = 0.95
ALIKE_FACTOR = 5.0  # how far apart two sources of the same days may be; bits, KiB or a whole day are further
_HOUR = 3600
_DAY = 86_400
_LEFT_OUT = "they are left out, check the unit"


def check_metrics(metrics: pa.Table, replicas: ReplicaColumns, ds: str) -> Iterator[Problem]:
    """Check the table of metrics against the partitions and the day of the inventory."""
    if not len(metrics):
        message = (
            "there are no rates; where earlier inventories of the cluster had none either, all traffic counts as 0 and "
            "only the disks of today are judged: add the table of metrics"
        )
        yield warning("no_metrics", "metrics", message)
        return
    place = replicas.index().find(metrics.column("topic"), metrics.column("partition"))
    seconds = ints(metrics.column("hour").cast("int64"))
    for name in RATES:
        column, where = metrics.column(name), f"metrics.{name}"
        if column.null_count == len(column):
            what = "what is produced" if name == RATES[0] else "what consumers read"
            message = f"no row has {name}: {what} counts as 0, and network and CPU load is underestimated; add it"
            yield warning("missing_rates", where, message)
            continue
        yield from _unusable(column, "unusable_rate", where)
        yield from _absurd(column, MAX_PARTITION_RATE, "absurd_rate", where, f" on one partition; {_LEFT_OUT}")
    # A null is no rate: without any that is known, the remark above says so.
    known = floats(metrics.column(RATES[0]))
    if known.size and np.nanmax(known, initial=-1.0) == 0 and replicas.ints("size_bytes").sum():
        message = "bytes_in is 0 in every row although replicas hold data; check where the rates were read"
        yield serious("all_rates_zero", f"metrics.{RATES[0]}", message, "stage an inventory with rates")
    yield from _check_partitions(metrics, place, replicas)
    yield from _check_hours(place, seconds, replicas)
    yield from _check_age(seconds, ds)


def check_broker_metrics(metrics: pa.Table, brokers: pa.Table) -> Iterator[Problem]:
    """Check the table of broker metrics against the brokers of the inventory."""
    if not len(metrics):
        return
    broker, seconds = ints(metrics.column("broker_id")), ints(metrics.column("hour").cast("int64"))
    where = "broker_metrics.hour"
    yield from _not_whole(seconds, _HOUR, "broker_hour_not_whole", where, "hour of a broker")
    if (repeated := repeated_rows(broker, seconds)).any():
        who = counted(np.unique(broker[repeated]), "broker")
        yield _twice(repeated, "duplicate_broker_hour", where, f"a duplicate hour of {who}", "for each hour")
    unknown, where = np.setdiff1d(broker, ints(brokers.column("broker_id"))), "broker_metrics.broker_id"
    message = "metrics of {count} that the inventory lacks ({names}); they still count as CPU samples"
    yield from problem_of(unknown, "broker", warning, "metrics_of_unlisted_broker", where, message)
    for name in metrics.schema.names[2:]:
        yield from _unusable(metrics.column(name), "unusable_broker_metric", f"broker_metrics.{name}")
    cores, where = metrics.column("cpu_cores_used"), "broker_metrics.cpu_cores_used"
    yield from _absurd(cores, ABSURD_CORES, "absurd_cores", where, "; it is cores, not percent")


def check_history(history: pa.Table, ds: str) -> Iterator[Problem]:
    """Check the table of history against the day of the inventory."""
    if not len(history):
        return
    names, topic = encode(history.column("topic"))
    seconds = ints(history.column("day").cast("int64"))
    yield from _not_whole(seconds, _DAY, "day_not_whole", "history.day", "day of a topic")
    if (repeated := repeated_rows(topic, seconds)).any():
        who = counted([names[code] for code in np.unique(topic[repeated])], "topic")
        yield _twice(repeated, "duplicate_day", "history.day", f"a duplicate day of {who}", "a day")
    for name in RATES:
        column, where = history.column(name), f"history.{name}"
        yield from _unusable(column, "unusable_history_rate", where)
        yield from _absurd(column, MAX_TOPIC_RATE, "absurd_history_rate", where, f" of one topic; {_LEFT_OUT}")
    if is_day(ds) and (future := int((seconds > midnight(ds).timestamp()).sum())):
        message = f"{plural(future, 'row')} of history later than the day {ds}; they are left out, check ds"
        yield warning("future_history", "history.day", message)


def check_same_rates(history: pa.Table, metrics: pa.Table) -> Iterator[Problem]:
    """Hold the history against the metrics on the days that both know: one in another unit makes absurd growth."""
    days, rates = ints(history.column("day").cast("int64")), floats(history.column(RATES[0]))
    hours, per_hour = ints(metrics.column("hour").cast("int64")), usable_rates(metrics, RATES[0]).astype(np.float64)
    both = np.intersect1d(days, hours // _DAY * _DAY)
    in_history = np.isin(days, both) & (rates >= 0) & (rates <= MAX_TOPIC_RATE)
    in_metrics = np.isin(hours // _DAY * _DAY, both) & np.isfinite(per_hour)
    if not in_history.any() or not in_metrics.any():
        return
    daily = rates[in_history].sum() / len(np.unique(days[in_history]))
    hourly = per_hour[in_metrics].sum() / len(np.unique(hours[in_metrics]))
    if daily <= 0 or hourly <= 0 or 1 / ALIKE_FACTOR <= daily / hourly <= ALIKE_FACTOR:
        return
    factor = f"{round(daily / hourly):,} times" if daily > hourly else f"only 1 in {round(hourly / daily):,} bytes of"
    message = (
        f"on the {plural(len(both), 'day')} that metrics know as well, the history has {factor} their traffic: "
        "growth and dates that rest on it are wrong"
    )
    remedy = "check the unit of the history, which is bytes per second on average over a day"
    yield serious("history_differs", f"history.{RATES[0]}", message, remedy)


def check_producers(producers: pa.Table, topics: pa.Table) -> Iterator[Problem]:
    """Check the table of producers against the topics of the inventory."""
    unknown = sorted(set(values(producers.column("topic").unique())) - set(values(topics.column("topic"))))
    message = "producers of {count} that the inventory lacks ({names}); they are left out"
    yield from problem_of(unknown, "topic", warning, "producers_of_unknown_topic", "producers.topic", message)
    column, where = producers.column("bytes_per_second"), "producers.bytes_per_second"
    yield from _unusable(column, "unusable_producer_rate", where)
    yield from _absurd(column, MAX_TOPIC_RATE, "absurd_producer_rate", where, " of one topic; check the unit")


def _unusable(column: Column, code: str, where: str) -> Iterator[Problem]:
    value, name = floats(column), where.partition(".")[2]
    if count := int(((value < 0) | ~np.isfinite(value)).sum()) - column.null_count:
        what = f"{plural(count, 'value')} of {name} negative, infinite or not a number; they are left out"
        yield warning(code, where, what)


def _absurd(column: Column, greatest: float, code: str, where: str, remedy: str) -> Iterator[Problem]:
    value, name = floats(column), where.partition(".")[2]
    if count := int((np.isfinite(value) & (value > greatest)).sum()):
        yield warning(code, where, f"{plural(count, 'value')} of {name} above {greatest:g}{remedy}")


def _not_whole(seconds: Ints, length: int, code: str, where: str, row: str) -> Iterator[Problem]:
    if odd := int((seconds % length != 0).sum()):
        whose = "hour is not the start of an hour" if length == _HOUR else "day is not a midnight in UTC"
        yield fatal(code, where, f"{plural(odd, 'row')} whose {whose}; give one row for each {row}")


def _twice(repeated: Flags, code: str, where: str, what: str, row: str) -> Problem:
    return fatal(code, where, f"{plural(int(repeated.sum()), 'row')} for {what}; give one row {row}")


def _check_partitions(metrics: pa.Table, place: Ints, replicas: ReplicaColumns) -> Iterator[Problem]:
    unknown = place < 0
    if unknown.any():
        names, code = encode(metrics.column("topic"))
        pairs = np.unique(np.stack([code[unknown], ints(metrics.column("partition"))[unknown]], axis=1), axis=0)
        shown = some((f"{names[topic]}-{partition}" for topic, partition in pairs), len(pairs))
        partitions = plural(len(pairs), "partition")
        message = f"metrics of {partitions} that the inventory lacks ({shown}); they are left out"
        yield warning("metrics_of_unknown_partition", "metrics.topic", message)
    has_metrics = np.zeros(len(replicas.partitions), dtype=np.bool_)
    rate = floats(metrics.column(RATES[0]))
    # Where no rate is known at all, that is said by itself.
    is_known = ~unknown & (np.isfinite(rate) if np.isfinite(rate).any() else True)
    has_metrics[place[is_known]] = True
    without = np.flatnonzero(~has_metrics).tolist()
    if without:
        shown = some(map(replicas.partitions.name, without), len(without))
        partitions = plural(len(replicas.partitions), "partition")
        message = f"no metrics of {len(without):,} of {partitions} ({shown}); their traffic counts as 0"
        yield warning("partition_without_metrics", "metrics", message)


def _check_hours(place: Ints, seconds: Ints, replicas: ReplicaColumns) -> Iterator[Problem]:
    where = "metrics.hour"
    yield from _not_whole(seconds, _HOUR, "hour_not_whole", where, "hour")
    is_ours = place >= 0
    repeated = repeated_rows(place[is_ours], seconds[is_ours])
    if repeated.any():
        who = counted([replicas.partitions.name(i) for i in np.unique(place[is_ours][repeated]).tolist()], "partition")
        yield _twice(repeated, "duplicate_hour", where, f"a duplicate hour of {who}", "for each hour")
    hours, with_metrics = int(np.ptp(seconds)) // 3600 + 1, len(np.unique(place[is_ours]))
    expected = hours * with_metrics
    coverage = (int(is_ours.sum()) - int(repeated.sum())) / expected if expected else 1.0
    if coverage < LEAST_COVERAGE:
        message = (
            f"{format_percent(coverage)} of the hours are present ({plural(hours, 'hour')} from the first to the "
            f"last, {plural(with_metrics, 'partition')}); means and peaks are based only on those"
        )
        yield warning("metric_gaps", where, message)
    if hours < WEEK_HOURS:
        spans = f"the history spans {plural(hours, 'hour')}"
        message = f"{spans}, less than the {WEEK_HOURS} of a week; its peak may be missing"
        yield info("short_history", where, message)


def repeated_rows(place: Ints, seconds: Ints) -> Flags:
    """Mark the rows whose (thing, moment) an earlier row has, in any order of rows."""
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
    start, newest = int(midnight(ds).timestamp()), int(seconds.max())
    if newest < start - _DAY:
        days = (start - newest) / _DAY
        message = f"the newest metrics are {days:.1f} days older than {ds}; changes since then are not included"
        yield warning("stale_metrics", "metrics.hour", message)
    if future := int((seconds >= start + _DAY).sum()):
        message = f"{plural(future, 'row')} of metrics later than the day {ds}; they are used like the others, check ds"
        yield warning("future_metrics", "metrics.hour", message)
