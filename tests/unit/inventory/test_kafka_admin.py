"""What is made of the answers of Kafka's admin protocol; the live tests have real answers."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from kafka import TopicPartition
from kafka.admin import OffsetSpec
from kafka.errors import RequestTimedOutError

from kafka_capacity.inventory.kafka_admin_brokers import read_storage
from kafka_capacity.inventory.kafka_admin_groups import read_groups
from kafka_capacity.inventory.kafka_admin_lags import lags_table
from kafka_capacity.inventory.kafka_admin_quorum import read_quorum
from kafka_capacity.inventory.kafka_admin_session import AdminSession
from kafka_capacity.inventory.kafka_connection import KafkaConnection

UP = {"broker_id": 1, "is_fenced": False}
ORDERS = {"name": "orders", "partitions": [{"partition_index": n, "leader_id": n} for n in (1, 2, 3)]}


def session(**methods):
    """Make a session whose client has these methods."""
    connection = KafkaConnection(bootstrap_servers="kafka:9092", request_timeout_seconds=5)
    return AdminSession(connection, SimpleNamespace(**methods))


def assignment(*pairs):
    return SimpleNamespace(
        topic_partitions=[SimpleNamespace(topic_name=name, partitions=list(numbers)) for name, numbers in pairs]
    )


def member(member_id, *pairs, target=(), names=(), regex=None, **changes):
    return SimpleNamespace(
        **{
            "member_id": member_id,
            "instance_id": None,
            "rack_id": None,
            "client_id": "c",
            "client_host": "/10.0.0.1",
            "subscribed_topic_names": list(names),
            "subscribed_topic_regex": regex,
            "assignment": assignment(*pairs),
            "target_assignment": assignment(*target),
        }
        | changes
    )


def members_of(*members):
    """Read one group of the consumer protocol with these members."""
    group = SimpleNamespace(
        error_code=0, error_message=None, group_id="g", group_state="Stable", assignor_name="uniform", members=members
    )
    listed = [{"group_id": "g", "protocol_type": "consumer", "group_state": "Stable", "group_type": "Consumer"}]
    manager = SimpleNamespace(run=lambda _: SimpleNamespace(groups=[group]))
    remarks = []
    groups, rows = read_groups(session(list_groups=lambda **_: listed, _manager=manager), [UP], remarks)
    assert groups == [
        {
            "group_id": "g",
            "state": "Stable",
            "group_type": "consumer",
            "protocol_type": "consumer",
            "assignor": "uniform",
        }
    ]
    assert remarks == []
    return rows


def test_a_member_of_the_consumer_protocol_comes_whole():
    (row,) = members_of(member("m", ("orders", [2, 0]), names=["orders"], instance_id="seat-1", rack_id="a"))

    assert row == {
        "group_id": "g",
        "member_id": "m",
        "client_id": "c",
        "host": "/10.0.0.1",
        "instance_id": "seat-1",
        "rack": "a",
        "subscribed": ["orders"],
        "assigned": [{"topic": "orders", "partition": 0}, {"topic": "orders", "partition": 2}],
    }


def test_who_subscribes_by_a_regular_expression_subscribes_to_what_is_read_by_it():
    rows = members_of(
        member("a", ("orders", [0]), regex="o.*"),
        member("b", target=[("offers", [0])], regex="o.*", names=["audit"]),
        member("c", ("audit", [0]), regex="a.*"),
        member("d", ("stock", [0]), names=["stock"]),
        member("e", regex="e.*"),
        member("f", ("old", [0]), regex=""),
    )

    assert {row["member_id"]: row["subscribed"] for row in rows} == {
        "a": ["offers", "orders"],
        "b": ["audit", "offers", "orders"],
        "c": ["audit"],
        "d": ["stock"],
        "e": [],
        "f": [],
    }


def named(*names):
    return [SimpleNamespace(name=name) for name in names]


def tasks(*pairs):
    return [SimpleNamespace(subtopology_id=name, partitions=list(numbers)) for name, numbers in pairs]


def test_a_streams_group_comes_with_its_subtopologies_tasks_and_standbys():
    parts = [
        SimpleNamespace(
            subtopology_id="1",
            source_topics=["users"],
            repartition_source_topics=named("app-repartition"),
            state_changelog_topics=named("app-changelog"),
        )
    ]
    thread = member(
        "m",
        process_id="p",
        assignment=SimpleNamespace(active_tasks=tasks(("1", [2, 0])), standby_tasks=tasks(("1", [1]))),
    )
    described = SimpleNamespace(
        error_code=0,
        group_id="g",
        group_state="Stable",
        topology=SimpleNamespace(subtopologies=parts),
        members=[thread],
    )
    listed = [{"group_id": "g", "protocol_type": "streams", "group_state": "Stable", "group_type": "Streams"}]
    configs = {"group": {"g": {"streams.num.standby.replicas": {"value": "1"}}}}
    asked = session(
        list_groups=lambda **_: listed,
        describe_configs=lambda *_, **__: configs,
        _manager=SimpleNamespace(run=lambda _: SimpleNamespace(groups=[described])),
    )
    (group,), (row,) = read_groups(asked, [UP], [])

    assert (group["group_type"], group["assignor"], group["num_standby_replicas"]) == ("streams", "sticky", 1)
    assert group["subtopologies"] == [
        {"subtopology": "1", "topics": ["app-repartition", "users"], "changelogs": ["app-changelog"]}
    ]
    assert (row["process_id"], row["standby_tasks"]) == ("p", [{"subtopology": "1", "partition": 1}])
    assert row["assigned"] == [
        {"topic": topic, "partition": number} for topic in ("app-repartition", "users") for number in (0, 2)
    ]


def refused(*_, **__):
    raise RequestTimedOutError


@pytest.mark.parametrize(
    ("describe_configs", "is_cordoned"),
    [
        (lambda *_, **__: {"broker": {"1": {"cordoned.log.dirs": {"value": "/b,/c"}}}}, [False, True]),
        (lambda *_, **__: {"broker": {"1": {"cordoned.log.dirs": {"value": "*"}}}}, [True, True]),
        (lambda *_, **__: {"broker": {"1": {"cordoned.log.dirs": {"value": ""}}}}, [False, False]),
        (lambda *_, **__: {"broker": {"1": {}}}, [None, None]),
        (refused, [None, None]),
    ],
)
def test_a_log_dir_is_cordoned_where_its_broker_says_so(describe_configs, is_cordoned):
    dirs = [{"log_dir": path, "error_code": 0, "topics": []} for path in ("/a", "/b")]
    asked = session(describe_configs=describe_configs, describe_log_dirs=lambda **_: [{"log_dirs": dirs}])

    assert read_storage(asked, [UP], [])[0].column("is_cordoned").to_pylist() == is_cordoned


def test_logs_have_their_first_and_last_offsets_where_they_are_known():
    asked = []

    def offsets(wanted):
        (spec,) = set(wanted.values())
        asked.append((spec, sorted(partition.partition for partition in wanted)))
        silent = {OffsetSpec.LATEST: 3, OffsetSpec.EARLIEST: 2}[spec]
        if TopicPartition("orders", silent) in wanted:
            raise RequestTimedOutError
        return {partition: SimpleNamespace(offset=90 if spec is OffsetSpec.LATEST else 40) for partition in wanted}

    committed = {"g": {TopicPartition("orders", number): SimpleNamespace(offset=50) for number in (1, 2, 3)}}
    remarks = []
    client = session(list_group_offsets=lambda _: committed, list_partition_offsets=offsets)
    rows = lags_table(client, ["g"], [ORDERS], remarks).to_pylist()

    told = [(row["partition"], row["log_start_offset"], row["log_end_offset"], row["lag_records"]) for row in rows]
    assert told == [(1, 40, 90, 40), (2, None, 90, 40), (3, None, None, None)]
    assert (OffsetSpec.EARLIEST, [1, 2]) in asked
    assert [(remark.code, remark.where, remark.message) for remark in remarks] == [
        ("log_ends_unknown", "lags.log_end_offset", "the ends of 1 partition are unknown: orders-3"),
        ("log_starts_unknown", "lags.log_start_offset", "the starts of 1 partition are unknown: orders-2"),
    ]


def described_quorum(*, now=1_000_000, kraft_version=1, config=None):
    """Return what a quorum of 1 to 3, led by 2, answers; 3 has lost its disk, 4 and broker 9 observe."""

    def replica(node_id, end, caught_up, directory=None):
        times = {"last_fetch_timestamp": -1, "last_caught_up_timestamp": caught_up}
        disk = f"00000000-0000-0000-0000-00000000000{directory or node_id}"
        return {"replica_id": node_id, "replica_directory_id": disk, "log_end_offset": end, **times}

    partition = {
        "leader_id": 2,
        "current_voters": [replica(1, 990, now - 1500), replica(2, 1000, now), replica(3, -1, -1)],
        "observers": [replica(9, 1000, now), replica(4, 0, -1), replica(3, 1000, now, directory=7)],
    }
    listener = {"name": "CONTROLLER", "host": "c1", "port": 9093}
    answer = {"topics": [{"partitions": [partition]}], "nodes": [{"node_id": 1, "listeners": [listener]}]}

    def configs(resources, config_filter):
        assert [resource.name for resource in resources] == ["9"]
        return {"broker": {"9": {name: {"value": value} for name, value in (config or {}).items()}}}

    features = {"metadata.version": {"finalized": (1, 27)}, "kraft.version": {"supported": (0, 1)}}
    if kraft_version:
        features["kraft.version"]["finalized"] = (1, kraft_version)
    asked = session(
        describe_metadata_quorum=lambda: answer, describe_features=lambda: features, describe_configs=configs
    )
    return read_quorum(asked, [{"broker_id": 9, "is_fenced": False}, {"broker_id": 8, "is_fenced": True}])


def test_voters_and_observers_come_with_how_far_they_are_behind():
    rows = described_quorum()
    assert [(row["node_id"], row["is_voter"], row["is_active"]) for row in rows] == [
        (1, True, False),
        (2, True, True),
        (3, False, False),
        (3, True, False),
        (4, False, False),
        (9, False, False),
    ]
    first, active, renewed, lost, new, broker = rows
    assert (first["lag_records"], first["behind_seconds"], first["host"], first["port"]) == (10, 1.5, "c1", 9093)
    assert (active["lag_records"], active["behind_seconds"], active["directory_id"]) == (0, 0, "AAAAAAAAAAAAAAAAAAAAAg")
    assert (lost["log_end_offset"], lost["lag_records"], lost["behind_seconds"]) == (None, None, None)
    assert (new["lag_records"], new["behind_seconds"]) == (1000, None)
    assert renewed["directory_id"] != lost["directory_id"]
    assert {row["kraft_version"] for row in rows} == {1}
    assert {row["is_named"] for row in rows} == {None}
    assert broker["host"] is None


def test_what_a_broker_takes_for_the_voters_is_set_against_those_that_vote():
    rows = described_quorum(config={"controller.quorum.voters": "1@c1:9093,2@c2:9093,6@c6:9093"}, kraft_version=0)
    named = {(row["node_id"], row["is_voter"]): row["is_named"] for row in rows}
    assert [key for key, is_named in named.items() if is_named] == [(1, True), (2, True), (6, False)]
    assert rows[0]["kraft_version"] == 0


def test_a_cluster_that_does_not_tell_its_quorum_has_no_rows():
    def refuse():
        raise RequestTimedOutError

    assert read_quorum(session(describe_metadata_quorum=refuse), []) == []


def test_members_of_a_share_group_may_have_one_partition_together():
    sharers = [
        SimpleNamespace(
            member_id=name,
            rack_id=None,
            client_id="c",
            client_host="/10.0.0.1",
            subscribed_topic_names=["orders"],
            assignment=assignment(("orders", [0])),
        )
        for name in ("a", "b")
    ]
    answer = SimpleNamespace(
        error_code=0, error_message=None, group_id="g", group_state="Stable", assignor_name="simple", members=sharers
    )
    listed = [{"group_id": "g", "protocol_type": "share", "group_state": "Stable", "group_type": "Share"}]
    manager = SimpleNamespace(run=lambda _: SimpleNamespace(groups=[answer]))
    remarks = []
    groups, rows = read_groups(session(list_groups=lambda **_: listed, _manager=manager), [UP], remarks)

    assert [(row["group_type"], row["protocol_type"], row["assignor"]) for row in groups] == [
        ("share", "share", "simple")
    ]
    assert [(row["member_id"], row["instance_id"], row["assigned"]) for row in rows] == [
        (name, None, [{"topic": "orders", "partition": 0}]) for name in ("a", "b")
    ]
    assert remarks == []
