"""What a server knows of topics beside their hours: remote sizes, and who produces to them."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa

from kafka_capacity.inventory.column_values import flags, values
from kafka_capacity.inventory.prometheus_client import Series, Span
from kafka_capacity.inventory.prometheus_dialects import Metric, Quantity
from kafka_capacity.inventory.prometheus_hours import LEAD_SECONDS
from kafka_capacity.inventory.prometheus_series import Server, broker_ids, put_together
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.tables import TABLES

INSTANCE_LABELS = ("client_instance_id", "pod", "kubernetes_pod_name", "instance")
"""Labels that may tell producers with the same client id apart, the most telling first."""

_WEEK_DAYS, _DAY_HOURS, _DAY = 7, 24, 86_400


def topics_with_remote_sizes(server: Server, raw: RawInventory, end: int) -> pa.Table | None:
    """Return the table ``topics`` with what it holds in the object store (KIP-405), ``None`` where nothing is known.

    A topic's is known where every broker that leads a partition of it has one.
    """
    span = Span(start=end, end=end, step=server.settings.counter_step_seconds)
    series, metric = server.ask(Quantity.TOPIC_REMOTE_BYTES, span)
    label = server.broker_label(series)
    if not series or label is None:
        return None
    counted = put_together(series, lambda one: (one.label(metric.topic), one.label(label)), span)
    ids = broker_ids({name for _, name in counted.keys}, raw.table("brokers"))
    found: defaultdict[str, dict[int, float]] = defaultdict(dict)
    for (topic, name), copies in zip(counted.keys, counted.values[:, :, 0], strict=True):
        if name in ids and np.isfinite(copies).any():
            found[topic][ids[name]] = float(np.nanmax(copies))
    replicas = raw.table("replicas").filter(pa.array(flags(raw.table("replicas").column("is_leader"))))
    leaders: defaultdict[str, set[int]] = defaultdict(set)
    for topic, broker in zip(values(replicas.column("topic")), values(replicas.column("broker_id")), strict=True):
        leaders[topic].add(broker)
    topics = raw.table("topics")
    sizes = [
        round(sum(found[name][broker] for broker in leaders[name]))
        if leaders[name] and leaders[name] <= found[name].keys()
        else None
        for name in values(topics.column("topic"))
    ]
    place = topics.schema.get_field_index("remote_bytes")
    return topics.set_column(place, topics.schema.field(place), pa.array(sizes, pa.int64()))


def producers_table(server: Server, raw: RawInventory, end: int) -> pa.Table | None:
    """Return who produced to topics in the week before ``end``, since 1970; ``None`` where a server knows of nobody.

    A producer counts what it sends to each topic (``byte-total`` of ``producer-topic-metrics``), and pushes that to
    brokers (KIP-714) or shows it itself. It is summed up by client id and rack; an hour that is not known counts as
    nothing, so that what is missing shows as produced by nobody known.
    """
    days, step = min(server.settings.days, _WEEK_DAYS), server.settings.offset_step_seconds
    span = Span(start=end - days * _DAY - LEAD_SECONDS, end=end + LEAD_SECONDS, step=step)
    series, metric = server.ask(Quantity.PRODUCER_BYTES, span)
    if not series:
        return None
    topics = set(values(raw.table("topics").column("topic")))
    counted = put_together(series, lambda one: _key(one, metric, topics), span)
    found: defaultdict[tuple[str, str, str], float] = defaultdict(float)
    if counted.keys:
        mean = np.nansum(counted.rates(), axis=1) / (days * _DAY_HOURS)
        for (topic, client_id, rack, _), rate in zip(counted.keys, mean.tolist(), strict=True):
            found[topic, client_id, rack] += rate
    rows = [
        {"topic": topic, "client_id": client_id or None, "rack": rack or None, "bytes_per_second": rate}
        for (topic, client_id, rack), rate in sorted(found.items())
        if rate > 0
    ]
    return pa.Table.from_pylist(rows, schema=TABLES["producers"].schema)


def _key(series: Series, metric: Metric, topics: set[str]) -> tuple[str, str, str, str] | None:
    topic = series.label(metric.topic)
    instance = next(filter(None, map(series.label, INSTANCE_LABELS)), "")
    return (topic, series.label(metric.client), series.label(metric.rack), instance) if topic in topics else None
