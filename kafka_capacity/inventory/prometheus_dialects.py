"""What exporters call the things that an inventory wants to know.

* ``jmx``: the JMX exporter as an agent in the brokers, by the rules that its project ships for Kafka
  (``kafka-2_0_0.yml``, ``kafka-kraft-3_0_0.yml`` of prometheus/jmx_exporter, which Strimzi's examples follow), by the
  older rules that keep ``PerSec``, or by none.
* ``kminion``: redpanda-data/kminion, ``docs/metrics.md``.
* ``kafka_exporter``: danielqsj/kafka_exporter, ``README.md``; Strimzi deploys it too.
* ``clients``: what producers count themselves: pushed to brokers (KIP-714) and shown there by Strimzi's metrics
  reporter or by a collector of OpenTelemetry, or shown by the application through Micrometer or the JMX exporter.

Counters are asked for as they are, never as a rate: an exporter's own one-minute rate, sampled now and then, misses
what happened between.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Quantity(StrEnum):
    """Something to know; the values are what users write to name a metric of their own for it."""

    TOPIC_BYTES_IN = "topic_bytes_in"
    TOPIC_BYTES_OUT = "topic_bytes_out"
    TOPIC_REMOTE_BYTES = "topic_remote_bytes"
    BROKER_BYTES_IN = "broker_bytes_in"
    BROKER_BYTES_OUT = "broker_bytes_out"
    BROKER_REPLICATION_IN = "broker_replication_in"
    BROKER_REPLICATION_OUT = "broker_replication_out"
    BROKER_CPU_SECONDS = "broker_cpu_seconds"
    LOG_END_OFFSET = "log_end_offset"
    LOG_START_OFFSET = "log_start_offset"
    GROUP_OFFSET = "group_offset"
    GROUP_LAG = "group_lag"
    PRODUCER_BYTES = "producer_bytes"


OF_BROKERS = frozenset(quantity for quantity in Quantity if quantity.startswith("broker_"))
OF_TOPICS = frozenset(quantity for quantity in Quantity if quantity.startswith("topic_"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One way to ask for a quantity."""

    names: tuple[str, ...]  # that it may have; series of several of them are copies of each other
    attribute: str | None = None  # the value of the label `name` where the exporter puts the attribute there
    topic: str = "topic"  # the label of the topic
    partition: str = "partition"  # the label of the partition
    group: str = "group_id"  # the label of the group
    client: str = "client_id"  # the label of the client id
    rack: str = "client_rack"  # the label of `client.rack`, which KIP-714 gives clients


def _kafka_counter(attribute: str) -> tuple[Metric, ...]:
    """Return the names that the rules of the JMX exporter make of a meter, such as ``BytesIn`` (``BytesInPerSec``)."""
    low = attribute.lower()
    lower, mixed = "kafka_server_brokertopicmetrics", "kafka_server_BrokerTopicMetrics"
    names = (
        f"{lower}_{low}_total",
        f"{lower}_{low}persec_total",
        f"{lower}_{low}persec_count",
        f"{lower}_{low}_count",
        f"{mixed}_{attribute}_total",
        f"{mixed}_{attribute}PerSec_total",
        f"{mixed}_{attribute}PerSec_Count",
    )
    return (
        Metric(names=names),
        Metric(names=(f"{lower}_count", f"{lower}_count_total", f"{mixed}_Count"), attribute=f"{attribute}PerSec"),
    )


def _gauge(of: str, attribute: str) -> tuple[Metric, ...]:
    """Return the names that the same rules make of a gauge, such as ``LogEndOffset`` of ``kafka_log_Log``."""
    lower, low = of.lower(), attribute.lower()
    names = (f"{lower}_{low}", f"{lower}_{low}_value", f"{of}_{attribute}")
    return (Metric(names=names), Metric(names=(f"{lower}_value", f"{of}_Value"), attribute=attribute))


def _of_kminion(name: str) -> tuple[Metric, ...]:
    return (Metric(names=(name,), topic="topic_name", partition="partition_id"),)


_IN, _OUT = _kafka_counter("BytesIn"), _kafka_counter("BytesOut")

DIALECTS: Mapping[str, Mapping[Quantity, tuple[Metric, ...]]] = {
    "jmx": {
        Quantity.TOPIC_BYTES_IN: _IN,
        Quantity.TOPIC_BYTES_OUT: _OUT,
        Quantity.TOPIC_REMOTE_BYTES: _gauge("kafka_server_BrokerTopicMetrics", "RemoteLogSizeBytes"),
        Quantity.BROKER_BYTES_IN: _IN,
        Quantity.BROKER_BYTES_OUT: _OUT,
        Quantity.BROKER_REPLICATION_IN: _kafka_counter("ReplicationBytesIn"),
        Quantity.BROKER_REPLICATION_OUT: _kafka_counter("ReplicationBytesOut"),
        Quantity.BROKER_CPU_SECONDS: (Metric(names=("process_cpu_seconds_total",)),),
        Quantity.LOG_END_OFFSET: _gauge("kafka_log_Log", "LogEndOffset"),
        Quantity.LOG_START_OFFSET: _gauge("kafka_log_Log", "LogStartOffset"),
    },
    "kminion": {
        Quantity.LOG_END_OFFSET: _of_kminion("kminion_kafka_topic_partition_high_water_mark"),
        Quantity.LOG_START_OFFSET: _of_kminion("kminion_kafka_topic_partition_low_water_mark"),
        Quantity.GROUP_LAG: _of_kminion("kminion_kafka_consumer_group_topic_partition_lag"),
    },
    "kafka_exporter": {
        Quantity.LOG_END_OFFSET: (Metric(names=("kafka_topic_partition_current_offset",)),),
        Quantity.LOG_START_OFFSET: (Metric(names=("kafka_topic_partition_oldest_offset",)),),
        Quantity.GROUP_OFFSET: (Metric(names=("kafka_consumergroup_current_offset",), group="consumergroup"),),
    },
    "clients": {
        Quantity.PRODUCER_BYTES: tuple(
            Metric(names=(name,))
            for name in (
                "clients_org_apache_kafka_producer_topic_byte_total",
                "org_apache_kafka_producer_topic_byte_total",
                "kafka_producer_topic_byte_total",
                "kafka_producer_producer_topic_metrics_byte_total",
            )
        ),
    },
}
"""By the name that users give; offsets are looked for in the order in which a user lists the dialects."""


def selector(quantity: Quantity, metric: Metric, labels: Mapping[str, str]) -> str:
    """Write the selector of a metric that stands for a quantity, of series that have all these labels."""
    if len(metric.names) == 1:
        name, matchers = metric.names[0], []
    else:
        name, matchers = "", [f'__name__=~"{"|".join(metric.names)}"']
    if metric.attribute is not None:
        matchers.append(f'name="{metric.attribute}"')
    if quantity in OF_TOPICS:
        matchers.append(f'{metric.topic}!=""')
    elif quantity in OF_BROKERS and quantity is not Quantity.BROKER_CPU_SECONDS:
        # Beside the counters of topics there is one without a topic: of all of them together.
        matchers.append(f'{metric.topic}=""')
    # PromQL's double-quoted strings have Go's escapes, of which JSON's are a part.
    matchers += [f"{label}={json.dumps(value, ensure_ascii=False)}" for label, value in sorted(labels.items())]
    return f"{name}{{{','.join(matchers)}}}"
