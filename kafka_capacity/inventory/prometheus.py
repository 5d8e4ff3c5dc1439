"""The history of traffic and processors of a cluster, read from a Prometheus-compatible server.

An inventory tells which partitions there are; a server's counters tell what went through them. Both are joined here:
hours are asked for day by day, the newest first, and turned into the tables ``metrics`` and ``broker_metrics``.
``docs/metrics.md`` says what is derived how.
"""

from __future__ import annotations

import dataclasses
import datetime
import itertools
from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa

from kafka_capacity.demand.calendar_days import midnight
from kafka_capacity.errors import SourceError
from kafka_capacity.health.problem import Problem, warning
from kafka_capacity.inventory.column_values import ReplicaColumns, column_map, values
from kafka_capacity.inventory.counters import HOUR
from kafka_capacity.inventory.metrics_files import PROMETHEUS_FAILED, merged, without_metrics_remarks
from kafka_capacity.inventory.prometheus_client import PrometheusClient, Span
from kafka_capacity.inventory.prometheus_connection import PrometheusConnection, PrometheusSettings
from kafka_capacity.inventory.prometheus_dialects import Quantity
from kafka_capacity.inventory.prometheus_hours import Hours, Places, read_hours
from kafka_capacity.inventory.prometheus_remarks import Noticed, remarks
from kafka_capacity.inventory.prometheus_series import Server, broker_ids, partition_of, put_together
from kafka_capacity.inventory.prometheus_topics import producers_table, topics_with_remote_sizes
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.tables import table_of
from kafka_capacity.inventory.topic_sharing import PartitionRates, partition_rates
from kafka_capacity.kafka.arrays import Floats

_DAY = 86_400


def window_end(ds: str, now: datetime.datetime) -> int:
    """Return the end of the newest whole hour of an inventory's day, since 1970: hours after the day do not count."""
    return min(int(now.timestamp()) // HOUR * HOUR, int(midnight(ds).timestamp()) + _DAY)


def with_prometheus(
    raw: RawInventory,
    connection: PrometheusConnection,
    settings: PrometheusSettings,
    *,
    end: int,
    progress: Callable[[str], None] | None = None,
    client: PrometheusClient | None = None,
) -> RawInventory:
    """Return an inventory with the rates that a server knows; hours that it has already are replaced by the server's.

    A server that does not answer takes nothing else with it: the inventory is given with what could be read and a
    warning that says what could not. The last hour ends at ``end``, since 1970; ``progress`` is told what has been
    read.
    """
    say = progress or (lambda _: None)
    try:
        with client or PrometheusClient(connection) as asking:
            tables, found = _read(asking, settings, raw, end, say)
            for text in sorted(asking.warnings):
                message = f"prometheus returned a warning: {text}; check its logs"
                found.append(warning("prometheus_warns", "metrics", message))
    except SourceError as error:
        tables, found = {}, [_failed(error, 0, settings.days)]
    together = {name: merged(name, [raw.table(name), table]) for name, table in tables.items()}
    return dataclasses.replace(
        raw, tables={**raw.tables, **together}, remarks=(*without_metrics_remarks(raw.remarks), *found)
    )


def _failed(error: SourceError, done: int, days: int) -> Problem:
    message = (
        f"{done} of {days} days of metrics could be read, newest first, then: {error}. Rates are based on these days; "
        "fix it and stage again"
    )
    return warning(PROMETHEUS_FAILED, "metrics", message)


def _read(
    client: PrometheusClient, settings: PrometheusSettings, raw: RawInventory, end: int, say: Callable[[str], None]
) -> tuple[dict[str, pa.Table], list[Problem]]:
    places = _places(raw)
    if not len(places.topic):
        return {}, []
    now, server = (Server(client=client, settings=settings) for _ in range(2))  # what has hours is noticed by itself
    stored = _stored_record_bytes(now, raw, places, end)
    noticed = Noticed(*np.zeros((3, len(places.topics)), dtype=np.bool_))
    metrics: list[pa.Table] = []
    brokers: list[pa.Table] = []
    failure: list[Problem] = []
    days = _days(end, settings.days)
    for done, (first, last) in enumerate(days):
        try:
            hours = read_hours(server, places, start=first, end=last)
        except SourceError as error:
            failure = [_failed(error, done, len(days))]
            break
        rates = partition_rates(places, hours, stored)
        ids = broker_ids({name for of in hours.brokers.values() for name in of}, raw.table("brokers"))
        noticed.add(hours, rates, ids)
        metrics.append(_metrics_table(places, first, rates))
        brokers.append(_broker_table(hours, ids, first))
        say(f"metrics of {datetime.datetime.fromtimestamp(first, datetime.UTC).date()}: {len(metrics[-1]):,} hours")
    tables = {"metrics": merged("metrics", metrics), "broker_metrics": merged("broker_metrics", brokers)}
    beside = {"topics": topics_with_remote_sizes, "producers": producers_table} if not failure else {}
    try:
        for name, read in beside.items():
            found = read(now, raw, end)
            tables |= {} if found is None else {name: found}
    except SourceError as error:
        failure = [_failed(error, len(days), len(days))]
    if metrics:
        failure += remarks(noticed, places, server, set(values(raw.table("brokers").column("broker_id"))))
    return tables, failure


def _days(end: int, days: int) -> list[tuple[int, int]]:
    """Cut the time before the end at midnights, the newest first."""
    start = end - days * _DAY
    edges = [start, *range((start // _DAY + 1) * _DAY, end, _DAY), end]
    return list(itertools.pairwise(edges))[::-1]


def _places(raw: RawInventory) -> Places:
    replicas = ReplicaColumns.of(raw.table("replicas"))
    topic, number = replicas.partitions.topic, replicas.partitions.partition
    names = replicas.partitions.topics
    return Places(
        topics=names,
        topic=topic,
        number=number,
        starts=np.searchsorted(topic, np.arange(len(names))),
        of={(names[code], n): row for row, (code, n) in enumerate(zip(topic.tolist(), number.tolist(), strict=True))},
    )


def _stored_record_bytes(server: Server, raw: RawInventory, places: Places, end: int) -> Floats:
    """Return float64[N], bytes of a record on disk: of logs that are not compacted, NaN for the others."""
    last = _newest_offsets(server, places, Quantity.LOG_END_OFFSET, end)
    records = last - _newest_offsets(server, places, Quantity.LOG_START_OFFSET, end)
    replicas = ReplicaColumns.of(raw.table("replicas"))
    size = np.maximum.reduceat(replicas.ints("size_bytes", null=-1), replicas.starts)  # of the largest replica
    is_usable = (size >= 0) & (records > 0)
    count = len(places.topics)
    total = np.bincount(places.topic, np.where(is_usable, size, 0.0), minlength=count)
    number = np.bincount(places.topic, np.where(is_usable, records, 0.0), minlength=count)
    policy = column_map(raw.table("topics"), "topic", "cleanup_policy")
    is_compacted = np.array(["compact" in (policy.get(name) or "") for name in places.topics], dtype=np.bool_)
    is_known = (number > 0) & (total > 0) & ~is_compacted
    found: Floats = np.divide(total, number, out=np.full(count, np.nan), where=is_known)
    return found


def _newest_offsets(server: Server, places: Places, quantity: Quantity, end: int) -> Floats:
    span = Span(start=end, end=end, step=server.settings.offset_step_seconds)
    series, metric = server.ask(quantity, span)
    found = np.full(len(places.topic), np.nan)
    counted = put_together(series, lambda one: partition_of(one, metric, places.of), span)
    if counted.keys:
        found[list(counted.keys)] = np.nanmax(counted.values[:, :, 0], axis=1)
    return found


def _metrics_table(places: Places, start: int, rates: PartitionRates) -> pa.Table:
    row, hour = np.nonzero(np.isfinite(rates.bytes_in) | np.isfinite(rates.bytes_out))
    return table_of(
        "metrics",
        {
            "topic": pa.array(places.topics, pa.string()).take(pa.array(places.topic[row])),
            "partition": places.number[row],
            "hour": pa.array(start + hour * HOUR),
            "bytes_in_bytes_per_second": rates.bytes_in[row, hour],
            "bytes_out_bytes_per_second": rates.bytes_out[row, hour],
        },
    )


def _broker_table(hours: Hours, ids: Mapping[str, int], start: int) -> pa.Table:
    brokers = sorted(set(ids.values()))
    row = {broker: place for place, broker in enumerate(brokers)}
    found = np.full((len(hours.brokers), len(brokers), hours.topic_in.shape[1]), np.nan)
    for known, by_name in zip(found, hours.brokers.values(), strict=True):
        for name, rates in by_name.items():
            if name in ids:
                # A broker that came back under another name has an hour of each.
                known[row[ids[name]]] = np.where(np.isnan(known[row[ids[name]]]), rates, known[row[ids[name]]])
    broker, hour = np.nonzero(np.isfinite(found).any(axis=0))
    return table_of(
        "broker_metrics",
        {
            "broker_id": np.array(brokers, dtype=np.int32)[broker],
            "hour": pa.array(start + hour * HOUR),
            **dict(zip(hours.brokers, found[:, broker, hour], strict=True)),
        },
    )
