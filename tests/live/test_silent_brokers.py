"""Brokers that do not answer, answer late, or know less than those of today. No broker is needed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from kafka import TopicPartition
from kafka.errors import (
    ClusterAuthorizationFailedError,
    NotCoordinatorError,
    NotLeaderForPartitionError,
    RequestTimedOutError,
    UnsupportedVersionError,
)

from kafka_capacity.errors import SourceError
from kafka_capacity.health.problem import Problem
from kafka_capacity.inventory.kafka_admin_brokers import add_missing_brokers, read_brokers, read_storage
from kafka_capacity.inventory.kafka_admin_groups import read_groups
from kafka_capacity.inventory.kafka_admin_lags import lags_table
from kafka_capacity.inventory.kafka_admin_session import AdminSession
from kafka_capacity.inventory.kafka_connection import KafkaConnection
from kafka_capacity.inventory.tables import UNKNOWN_PATH

UP = {"broker_id": 1, "is_fenced": False}
SILENT = {"broker_id": 2, "is_fenced": False}


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka_capacity.inventory.kafka_admin_session._FIRST_PAUSE_SECONDS", 0)


def session(**answers: Any) -> AdminSession:
    """Make a session whose client gives these answers: functions, or values for any arguments."""
    connection = KafkaConnection(bootstrap_servers="kafka:9092", request_timeout_seconds=5)
    answers = {"describe_configs": {}, **answers}
    methods = {name: each if callable(each) else lambda *_, _each=each, **__: _each for name, each in answers.items()}
    return AdminSession(connection, SimpleNamespace(**methods))


def fails(error: Exception) -> Any:
    def answer(*_: Any, **__: Any) -> Any:
        raise error

    return answer


def directory(path: str, **partition: Any) -> dict[str, Any]:
    replica = {"partition_index": 0, "partition_size": 5, "offset_lag": 0, "is_future_key": False} | partition
    topics = [{"name": "orders", "partitions": [replica]}]
    return {"error_code": 0, "log_dir": path, "topics": topics, "total_bytes": 100, "usable_bytes": 40}


def test_a_silent_broker_costs_its_own_sizes_only() -> None:
    def describe(brokers: list[int]) -> Any:
        if brokers == [2]:
            raise ClusterAuthorizationFailedError
        return [{"broker": 1, "log_dirs": [directory("/a"), directory("/b", partition_index=1)]}]

    def cordoned(resources: list[Any], **_: Any) -> Any:
        (resource,) = resources
        return {"broker": {resource.name: {"cordoned.log.dirs": {"value": "/b"}}}}

    remarks: list[Problem] = []
    asked = session(describe_log_dirs=describe, describe_configs=cordoned)
    log_dirs, stored = read_storage(asked, [UP, SILENT], remarks)
    assert [row["is_cordoned"] for row in log_dirs.to_pylist()] == [False, True, None]
    rows = [(row["broker_id"], row["path"], row["error"]) for row in log_dirs.to_pylist()]
    assert rows == [
        (1, "/a", None),
        (1, "/b", None),
        (2, UNKNOWN_PATH, "the broker does not answer: ClusterAuthorizationFailedError"),
    ]
    assert {key: each.log_dir for key, each in stored.items()} == {
        (1, "orders", 0): "/a",
        (1, "orders", 1): "/b",
    }
    assert [remark.code for remark in remarks] == ["log_dirs_unknown"]


def test_a_broken_disk_and_an_old_broker_have_no_volume() -> None:
    broken = directory("/a") | {"error_code": 56, "topics": [], "total_bytes": -1, "usable_bytes": -1}
    old = directory("/b")
    del old["total_bytes"], old["usable_bytes"]
    answer = [{"broker": 1, "log_dirs": [broken, old]}]
    table, _ = read_storage(session(describe_log_dirs=answer), [UP], [])
    assert table.column("error").to_pylist() == ["KafkaStorageError", None]
    assert table.column("total_bytes").to_pylist() == table.column("usable_bytes").to_pylist() == [None, None]


def test_a_replica_on_its_way_between_two_disks_is_counted_once() -> None:
    answer = [{"broker": 1, "log_dirs": [directory("/new", is_future_key=True, partition_size=3), directory("/old")]}]
    (found,) = read_storage(session(describe_log_dirs=answer), [UP], [])[1].values()
    assert (found.log_dir, found.size_bytes) == ("/old", 5)


def test_a_broker_that_may_not_be_asked_is_told_from_an_empty_one() -> None:
    table, _ = read_storage(session(describe_log_dirs=[{"broker": 1, "log_dirs": []}]), [UP], [])
    assert table.column("error").to_pylist() == ["the broker lists none: reading them needs DESCRIBE on the cluster"]


def test_without_a_quorum_the_brokers_word_on_the_controller_holds() -> None:
    described = {"controller_id": 2, "brokers": [{"broker_id": n, "host": "h", "port": 1, "rack": ""} for n in (2, 1)]}
    remarks: list[Problem] = []
    zookeeper = session(describe_cluster=described, describe_metadata_quorum=fails(UnsupportedVersionError()))
    rows = read_brokers(zookeeper, remarks)
    assert [(row["broker_id"], row["is_controller"], row["is_fenced"], row["rack"]) for row in rows] == [
        (1, False, False, None),
        (2, True, False, None),
    ]
    assert remarks == []
    forbidden = session(describe_cluster=described, describe_metadata_quorum=fails(ClusterAuthorizationFailedError()))
    assert [row["is_controller"] for row in read_brokers(forbidden, remarks)] == [None, None]
    assert [remark.code for remark in remarks] == ["controller_unknown"]


def test_a_broker_that_is_not_told_of_is_added_as_fenced() -> None:
    rows, remarks = [{"broker_id": 3}, {"broker_id": 1}], []
    add_missing_brokers(rows, {1, 2, 3}, remarks)
    assert [row["broker_id"] for row in rows] == [1, 2, 3]
    assert rows[1]["is_fenced"]
    assert [remark.code for remark in remarks] == ["broker_not_registered"]


def test_it_asks_again_while_a_coordinator_moves() -> None:
    asked: list[int] = []

    def answer() -> str:
        asked.append(1)
        if len(asked) < 3:
            raise NotCoordinatorError
        return "here"

    assert session().ask("who", answer) == "here"


def test_no_answer_in_the_end_names_the_cluster_and_the_question() -> None:
    with pytest.raises(SourceError) as raised:
        session().ask("describe the topics", fails(ClusterAuthorizationFailedError("hush")))
    assert str(raised.value) == "Kafka at kafka:9092: describe the topics: ClusterAuthorizationFailedError: hush"


def test_one_group_that_cannot_be_decoded_spoils_no_other() -> None:
    listed = [{"group_id": group, "protocol_type": "consumer", "group_state": "Stable"} for group in ("good", "odd")]
    listed.append({"group_id": "sink", "protocol_type": "connect", "group_state": "Stable"})

    def describe(group_ids: list[str], **_: Any) -> Any:
        if "odd" in group_ids:
            raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "odd")
        group = {"group_state": "Empty", "protocol_type": "consumer", "protocol_data": "", "members": []}
        return {"good": group | {"error": None}}

    remarks: list[Problem] = []
    groups, members = read_groups(session(list_groups=listed, describe_groups=describe), [UP], remarks)
    assert [(group["group_id"], group["state"], group["group_type"]) for group in groups] == [
        ("good", "Empty", "classic"),
        ("odd", "Stable", "classic"),
        ("sink", "Stable", "classic"),
    ]
    assert members == []
    assert {remark.code for remark in remarks} == {"group_not_described", "group_of_another_kind"}


def test_groups_of_a_silent_coordinator_are_missed_with_a_remark() -> None:
    remarks: list[Problem] = []
    assert read_groups(session(list_groups=fails(ClusterAuthorizationFailedError())), [UP], remarks) == ([], [])
    assert [remark.code for remark in remarks] == ["groups_not_listed"]


def test_a_partition_that_nobody_answers_for_has_no_lag_and_the_others_have_theirs() -> None:
    topics = [
        {
            "name": "orders",
            "partitions": [{"partition_index": n, "leader_id": leader} for n, leader in enumerate([1, 2, -1])],
        }
    ]
    committed = {TopicPartition("orders", number): SimpleNamespace(offset=10) for number in range(3)}
    committed[TopicPartition("orders", 9)] = SimpleNamespace(offset=-1)

    def ends(wanted: dict[TopicPartition, Any]) -> Any:
        if TopicPartition("orders", 1) in wanted:
            raise RequestTimedOutError if len(wanted) == 1 else NotLeaderForPartitionError
        return {partition: SimpleNamespace(offset=7) for partition in wanted}

    remarks: list[Problem] = []
    asked = session(list_group_offsets={"g": committed}, list_partition_offsets=ends)
    rows = lags_table(asked, ["g"], topics, remarks).to_pylist()
    assert [(row["partition"], row["log_end_offset"], row["lag_records"]) for row in rows] == [
        (0, 7, 0),
        (1, None, None),
        (2, None, None),
    ]
    assert [remark.code for remark in remarks] == ["log_ends_unknown"]
