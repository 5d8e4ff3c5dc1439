"""What a server knows of what topics hold in the object store (KIP-405), put into the table ``topics``."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa

from kafka_capacity.inventory.column_values import flags, values
from kafka_capacity.inventory.prometheus_client import PrometheusClient, Span
from kafka_capacity.inventory.prometheus_connection import PrometheusSettings
from kafka_capacity.inventory.prometheus_dialects import Quantity
from kafka_capacity.inventory.prometheus_series import ask, broker_ids, broker_label, put_together
from kafka_capacity.inventory.raw import RawInventory


def topics_with_remote_sizes(
    client: PrometheusClient, settings: PrometheusSettings, raw: RawInventory, end: int
) -> pa.Table | None:
    """Return the table ``topics`` with what a server knows of remote sizes; ``None`` where it knows nothing of them.

    A topic's is known where every broker that leads a partition of it has one.
    """
    span = Span(start=end, end=end, step=settings.counter_step_seconds)
    series, metric = ask(client, Quantity.TOPIC_REMOTE_BYTES, settings, span)
    label = broker_label(series, settings)
    if metric is None or label is None:
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
