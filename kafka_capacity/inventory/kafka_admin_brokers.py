"""The brokers of a live cluster and what lies in their log directories."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import IncompatibleBrokerVersion, KafkaError, UnsupportedVersionError, for_code

from kafka_capacity.health.problem import Problem, info, problem_of, warning
from kafka_capacity.inventory.kafka_admin_session import AdminSession
from kafka_capacity.inventory.tables import TABLES, UNKNOWN_PATH, StoredReplica

_CORDONED = "cordoned.log.dirs"
_BROKERS_AT_ONCE = 8  # so that a few silent brokers cost one timeout, not one each


Stored = dict[tuple[int, str, int], StoredReplica]  # what is in log directories, by (broker, topic, partition)


def read_brokers(session: AdminSession, remarks: list[Problem]) -> list[dict[str, Any]]:
    """Return the rows of ``brokers``: every registered broker, the fenced ones too."""
    described = session.ask("describe the cluster", session.client.describe_cluster)
    controller = _controller(session, described, remarks)
    return [
        {
            "broker_id": broker["broker_id"],
            "rack": broker.get("rack") or None,
            "host": broker["host"],
            "port": broker["port"],
            # Before DescribeCluster v2 (Kafka 4.0) only brokers that are up are told.
            "is_fenced": bool(broker.get("is_fenced", False)),
            "is_controller": None if controller is None else broker["broker_id"] == controller,
        }
        for broker in sorted(described["brokers"], key=lambda each: each["broker_id"])
    ]


def _controller(session: AdminSession, described: dict[str, Any], remarks: list[Problem]) -> int | None:
    """Find the active controller.

    A KRaft broker that is asked names any live broker as the controller; the leader of the metadata quorum is the
    real one. A cluster that has no quorum is of the ZooKeeper kind, where the broker's answer is true.
    """
    try:
        quorum = session.try_to_ask(session.client.describe_metadata_quorum)
    except (IncompatibleBrokerVersion, UnsupportedVersionError):
        return int(described["controller_id"])
    except KafkaError as error:
        message = f"the active controller is unknown: the quorum could not be described ({type(error).__name__})"
        remarks.append(info("controller_unknown", "brokers.is_controller", message))
        return None
    return int(quorum["topics"][0]["partitions"][0]["leader_id"])


def add_missing_brokers(rows: list[dict[str, Any]], holders: set[int], remarks: list[Problem]) -> None:
    """Add the brokers that hold replicas and are not told of: Kafka before 4.0 leaves out those that are down."""
    missing = sorted(holders - {row["broker_id"] for row in rows})
    rows += [{"broker_id": broker_id, "is_fenced": True, "is_controller": False} for broker_id in missing]
    rows.sort(key=lambda row: row["broker_id"])
    message = "brokers that hold replicas but are down, with unknown racks: {names}"
    remarks += problem_of(missing, "broker", warning, "broker_not_registered", "brokers.broker_id", message)


def read_storage(
    session: AdminSession, brokers: Sequence[dict[str, Any]], remarks: list[Problem]
) -> tuple[pa.Table, Stored]:
    """Ask every broker what lies in its log directories; one that does not answer gets a row with the reason."""
    with ThreadPoolExecutor(_BROKERS_AT_ONCE) as pool:
        answers = list(pool.map(lambda broker: _ask_broker(session, broker), brokers))
        ids = [broker["broker_id"] for broker in brokers]
        told = [one for one, answer in zip(ids, answers, strict=True) if not isinstance(answer, str)]
        cordoned = dict(zip(told, pool.map(lambda broker_id: _cordoned(session, broker_id), told), strict=True))
    rows: list[dict[str, Any]] = []
    replicas: Stored = {}
    for broker_id, answer in zip(ids, answers, strict=True):
        if isinstance(answer, str):
            rows.append({"broker_id": broker_id, "path": UNKNOWN_PATH, "error": answer})
            continue
        for directory in answer:
            rows.append(_log_dir_row(broker_id, directory, cordoned.get(broker_id)))
            _collect(replicas, broker_id, directory)
    silent = sorted({row["broker_id"] for row in rows if row.get("error")})
    message = "sizes are unknown or incomplete for brokers {names}; table log_dirs says why"
    remarks += problem_of(silent, "broker", warning, "log_dirs_unknown", "log_dirs.error", message)
    rows.sort(key=lambda row: (row["broker_id"], row["path"]))
    return pa.Table.from_pylist(rows, TABLES["log_dirs"].schema), replicas


def _ask_broker(session: AdminSession, broker: dict[str, Any]) -> list[dict[str, Any]] | str:
    """Return the log directories of one broker, or why there are none."""
    if broker["is_fenced"]:
        return "the broker is fenced"
    try:
        (answer,) = session.try_to_ask(session.client.describe_log_dirs, brokers=[broker["broker_id"]])
    except KafkaError as error:
        return f"the broker does not answer: {type(error).__name__}"
    directories: list[dict[str, Any]] = answer["log_dirs"]
    if not directories:
        # The client does not pass on why; every broker that may be asked has at least one directory.
        return "the broker lists none: reading them needs DESCRIBE on the cluster"
    return directories


def _cordoned(session: AdminSession, broker_id: int) -> frozenset[str] | None:
    """Return the log directories that a broker has cordoned, ``*`` for all; ``None`` where it does not tell.

    Brokers before 4.3 know no such setting.
    """
    settings = broker_settings(session, broker_id, [_CORDONED])
    if _CORDONED not in settings:
        return None
    return frozenset(part.strip() for part in (settings[_CORDONED] or "").split(","))


def broker_settings(session: AdminSession, broker_id: int, names: list[str]) -> dict[str, str | None]:
    """Return settings of a broker, those that it has and tells: reading them takes DESCRIBE_CONFIGS on the cluster."""
    resource = ConfigResource(ConfigResourceType.BROKER, str(broker_id), names)
    try:
        answer = session.try_to_ask(session.client.describe_configs, [resource], config_filter="all")
    except KafkaError:
        return {}
    return {name: entry["value"] for name, entry in answer.get("broker", {}).get(str(broker_id), {}).items()}


def _log_dir_row(broker_id: int, directory: dict[str, Any], cordoned: frozenset[str] | None) -> dict[str, Any]:
    code = directory["error_code"]
    return {
        "broker_id": broker_id,
        "path": directory["log_dir"],
        "total_bytes": _known(directory.get("total_bytes", -1)),
        "usable_bytes": _known(directory.get("usable_bytes", -1)),
        "error": for_code(code).__name__ if code else None,
        "is_cordoned": None if cordoned is None else bool(cordoned & {"*", directory["log_dir"]}),
    }


def _known(number: int) -> int | None:
    return None if number < 0 else number


def _collect(found: Stored, broker_id: int, directory: dict[str, Any]) -> None:
    path = directory["log_dir"]
    for topic in directory["topics"]:
        name = topic["name"]
        for partition in topic["partitions"]:
            # A future replica is a second copy, on its way from one directory of this broker to another.
            if not partition["is_future_key"]:
                key = (broker_id, name, partition["partition_index"])
                found[key] = StoredReplica(path, partition["partition_size"], partition["offset_lag"])
