"""The topics of a live cluster: what is set for them, their partitions and replicas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from kafka import TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import KafkaError, for_code

from kafka_capacity.health.problem import Problem, problem_of, warning
from kafka_capacity.inventory.kafka_admin_session import AdminSession, kafka_uuid
from kafka_capacity.inventory.tables import TABLES, StoredReplica

_COLUMN_OF_CONFIG = {
    "min.insync.replicas": "min_insync_replicas",
    "retention.bytes": "retention_bytes",
    "retention.ms": "retention_ms",
    "segment.bytes": "segment_bytes",
    "cleanup.policy": "cleanup_policy",
    "unclean.leader.election.enable": "unclean_leader_election_enable",
    "compression.type": "compression_type",
    "remote.storage.enable": "remote_storage_enable",
    "local.retention.ms": "local_retention_ms",
    "remote.copy.lag.ms": "remote_copy_lag_ms",
    "remote.copy.lag.bytes": "remote_copy_lag_bytes",
}
_TEXTS = frozenset({"cleanup_policy", "compression_type"})
_FLAGS = frozenset({"unclean_leader_election_enable", "remote_storage_enable"})
_TOPICS_AT_ONCE = 1000


def read_topics(session: AdminSession, remarks: list[Problem]) -> list[dict[str, Any]]:
    """Return the cluster's topics as its metadata tells them, sorted by name."""
    topics = session.ask("describe the topics", session.client.describe_topics)
    wrong = [f"{topic['name']} ({for_code(topic['error_code']).__name__})" for topic in topics if topic["error_code"]]
    message = "{count} left out: {names}"
    remarks += problem_of(wrong, "topic", warning, "topic_not_described", "topics.topic", message)
    return sorted((topic for topic in topics if not topic["error_code"]), key=lambda topic: str(topic["name"]))


def topics_table(session: AdminSession, topics: Sequence[dict[str, Any]], remarks: list[Problem]) -> pa.Table:
    """Build the table ``topics``."""
    configs = _read_configs(session, [topic["name"] for topic in topics])
    blank = [name for name, values in configs.items() if not values]
    message = "no permission to read the settings of {count}: {names}"
    remarks += problem_of(blank, "topic", warning, "topic_configs_unknown", "topics.retention_bytes", message)
    rows = [
        {
            "topic": topic["name"],
            "topic_id": kafka_uuid(topic.get("topic_id")),
            "is_internal": bool(topic["is_internal"]),
        }
        | _typed(configs[topic["name"]])
        for topic in topics
    ]
    return pa.Table.from_pylist(rows, TABLES["topics"].schema)


def replicas_table(topics: Sequence[dict[str, Any]], stored: dict[tuple[int, str, int], StoredReplica]) -> pa.Table:
    """Build the table ``replicas``; a replica that its broker told nothing of has no size."""
    columns: dict[str, list[Any]] = {name: [] for name in TABLES["replicas"].schema.names}
    for topic in topics:
        name = topic["name"]
        for partition in sorted(topic["partitions"], key=lambda each: int(each["partition_index"])):
            number, leader, in_sync = partition["partition_index"], partition["leader_id"], partition["isr_nodes"]
            for position, broker_id in enumerate(partition["replica_nodes"]):
                found = stored.get((broker_id, name, number))
                columns["topic"].append(name)
                columns["partition"].append(number)
                columns["position"].append(position)
                columns["broker_id"].append(broker_id)
                columns["is_leader"].append(broker_id == leader)
                columns["is_in_sync"].append(broker_id in in_sync)
                columns["log_dir"].append(found.log_dir if found else None)
                columns["size_bytes"].append(found.size_bytes if found else None)
                columns["offset_lag"].append(found.offset_lag if found else None)
    return pa.table(columns, schema=TABLES["replicas"].schema)


def replica_holders(topics: Sequence[dict[str, Any]]) -> set[int]:
    """Name every broker that stands in a replica list."""
    return {broker for topic in topics for partition in topic["partitions"] for broker in partition["replica_nodes"]}


def leaders_of(topics: Iterable[Mapping[str, Any]]) -> dict[TopicPartition, int]:
    """Return the leader of every partition that has one."""
    return {
        TopicPartition(topic["name"], partition["partition_index"]): partition["leader_id"]
        for topic in topics
        for partition in topic["partitions"]
        if partition["leader_id"] >= 0
    }


def remark_on_partitions(session: AdminSession, remarks: list[Problem]) -> None:
    """Describe partitions that are on their way from broker to broker."""
    try:
        moving = session.try_to_ask(session.client.list_partition_reassignments)
    except KafkaError:
        return  # needs a right that nothing else here needs
    names = [f"{partition.topic}-{partition.partition}" for partition in sorted(moving)]
    message = (
        "{count} being reassigned right now, with old and new brokers in the replica list: {names}; take the inventory "
        "again when the move is done"
    )
    remarks += problem_of(names, "partition", warning, "reassignment_under_way", "replicas.broker_id", message)


def _read_configs(session: AdminSession, names: list[str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for start in range(0, len(names), _TOPICS_AT_ONCE):
        resources = [
            ConfigResource(ConfigResourceType.TOPIC, name, list(_COLUMN_OF_CONFIG))
            for name in names[start : start + _TOPICS_AT_ONCE]
        ]
        answer = session.ask(
            "describe the topics' configs", session.client.describe_configs, resources, config_filter="all"
        )
        found.update(answer["topic"])
    return found


def _typed(config: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for key, column in _COLUMN_OF_CONFIG.items():
        value = config[key]["value"] if key in config else None
        if value is None or column in _TEXTS:
            row[column] = value
        elif column in _FLAGS:
            row[column] = value == "true"
        else:
            row[column] = int(value)
    return row
