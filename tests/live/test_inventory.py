"""The inventory of a live cluster is what Kafka's own tools print."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from kafka import TopicPartition
from kafka.errors import InvalidReplicationFactorError

from kafka_capacity.inventory.kafka_admin import read_cluster
from kafka_capacity.inventory.kafka_connection import KafkaConnection
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.snapshot import build_snapshot
from kafka_capacity.kafka.groups import GroupProtocol
from tests.live import kafka_jars
from tests.live.clients import consumer, make_topics, produce
from tests.live.cluster import TOOL_SECONDS, KafkaCluster
from tests.live.conftest import RACKS
from tests.live.groups.coordinator import describe

pytestmark = pytest.mark.live

LOG_DIRS = "org.apache.kafka.tools.LogDirsCommand"
TOPICS = "org.apache.kafka.tools.TopicCommand"
GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
QUORUM = "org.apache.kafka.tools.MetadataQuorumCommand"
CONFIGS = "kafka.admin.ConfigCommand"
OFFSETS = "org.apache.kafka.tools.GetOffsetShell"
CONSOLE = "org.apache.kafka.tools.consumer.ConsoleConsumer"
READ = 60
"""Of the 100 records of clicks, as many as have been read."""
TOOLS = {
    LOG_DIRS: ("--describe",),
    TOPICS: ("--describe",),
    GROUPS: ("--describe", "--all-groups"),
    QUORUM: ("describe", "--status"),
    OFFSETS: ("--time", "earliest"),
}
GROUP_IDS = {"billing", "dashboards"}
FLEETING = {"log_dirs", "quorum_replicas"}
"""The free space of the machine's disks and the ends of the metadata log, which never rest."""


@dataclass(frozen=True)
class Observed:
    """The inventory, and what Kafka's own tools printed at the same moment, by their main class."""

    raw: RawInventory
    printed: dict[str, str]
    said: list[str]

    def rows(self, table: str) -> list[dict[str, Any]]:
        return self.raw.table(table).to_pylist()


@pytest.fixture(scope="module")
def observed(cluster: KafkaCluster) -> Iterator[Observed]:
    make_topics(cluster, {"orders": (6, 3), "lone": (3, 1)})
    make_topics(
        cluster,
        {"clicks": (4, 2)},
        min_insync_replicas="2",
        retention_bytes="50000000",
        retention_ms="3600000",
        segment_bytes="1048576",
        cleanup_policy="compact,delete",
        unclean_leader_election_enable="true",
    )
    for seed, (topic, partitions) in enumerate({"orders": 6, "clicks": 4, "lone": 2}.items()):
        produce(cluster, topic, {partition: 100_000 * (partition + 1) for partition in range(partitions)}, seed)
    with cluster.admin() as admin:
        admin.delete_records({TopicPartition("orders", 5): 7})
    classic = consumer(cluster, "orders", "billing", client_id="billing-0", group_instance_id="seat-1")
    with _modern(cluster, "--max-messages", str(READ)) as reader:
        assert reader.wait(TOOL_SECONDS) == 0
    # Nobody commits any more: what is committed every few seconds makes a log grow that is compared.
    with classic, _modern(cluster, "--command-property", "enable.auto.commit=false"):
        cluster.wait_for(lambda: _is_member(cluster), "dashboards has its member")
        yield _observe(cluster)


def _modern(cluster: KafkaCluster, *options: str) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """Read clicks as a group of the consumer protocol; it commits what it has read when it ends by itself."""
    return cluster.background_tool(
        CONSOLE,
        *("--topic", "clicks", "--group", "dashboards", "--from-beginning", *options),
        *("--command-property", "group.protocol=consumer", "--command-property", "client.id=dash-0"),
    )


def _is_member(cluster: KafkaCluster) -> bool:
    with cluster.admin() as admin:
        group = describe(admin, GroupProtocol.CONSUMER, "dashboards")
    return group.is_settled and [len(member.assigned) for member in group.members.values()] == [4]


def _observe(cluster: KafkaCluster) -> Observed:
    """Read the inventory before and after the tools run, until nothing changed in between."""
    connection = KafkaConnection(bootstrap_servers=cluster.bootstrap_servers())
    for _ in range(10):
        said: list[str] = []
        before = read_cluster(connection, cluster="live", ds="2026-11-20", progress=said.append)
        printed = {tool: cluster.tool(tool, *arguments) for tool, arguments in TOOLS.items()}
        after = read_cluster(connection, cluster="live", ds="2026-11-20")
        if all(table.equals(after.table(name)) for name, table in before.tables.items() if name not in FLEETING):
            return Observed(after, printed, said)
    raise AssertionError("the cluster never came to rest")


def test_brokers_have_their_racks_and_the_quorum_leader_is_the_controller(
    cluster: KafkaCluster, observed: Observed
) -> None:
    (leader,) = map(int, re.findall(r"LeaderId:\s+(\d+)", observed.printed[QUORUM]))
    rows = observed.rows("brokers")
    assert {row["broker_id"]: row["rack"] for row in rows} == RACKS
    assert [row["broker_id"] for row in rows if row["is_controller"]] == [leader]
    assert {row["broker_id"]: row["port"] for row in rows} == {
        broker_id: node.ports["PLAINTEXT"] for broker_id, node in cluster.nodes.items()
    }
    assert not any(row["is_fenced"] for row in rows)


def test_sizes_are_those_of_kafka_log_dirs(observed: Observed) -> None:
    printed = {
        (broker["broker"], *replica["partition"].rsplit("-", 1)): (directory["logDir"], replica["size"])
        for broker in json.loads(observed.printed[LOG_DIRS].splitlines()[-1])["brokers"]
        for directory in broker["logDirs"]
        for replica in directory["partitions"]
    }
    read = {
        (row["broker_id"], row["topic"], str(row["partition"])): (row["log_dir"], row["size_bytes"])
        for row in observed.rows("replicas")
    }
    assert read == printed
    assert read[(1, "orders", "5")][1] > 600_000


def test_volumes_have_their_size_and_their_free_space(observed: Observed) -> None:
    rows = observed.rows("log_dirs")
    assert [(row["broker_id"], row["path"].rpartition("/")[2]) for row in rows] == [
        (broker_id, name) for broker_id in RACKS for name in ("data0", "data1")
    ]
    assert all(0 < row["usable_bytes"] <= row["total_bytes"] and row["error"] is None for row in rows)


def test_partitions_are_those_of_kafka_topics(observed: Observed) -> None:
    printed = observed.printed[TOPICS]
    partition_line = re.compile(r"Topic: (\S+)\tPartition: (\d+)\tLeader: (\d+)\tReplicas: (\S+)\tIsr: (\S+)")
    expected = {
        (topic, int(partition)): (int(leader), _ids(replicas), set(_ids(in_sync)))
        for topic, partition, leader, replicas, in_sync in partition_line.findall(printed)
    }
    read: dict[tuple[str, int], tuple[int | None, list[int], set[int]]] = {}
    for row in observed.rows("replicas"):
        leader, replicas, in_sync = read.get((row["topic"], row["partition"]), (None, [], set()))
        assert row["position"] == len(replicas)
        leader = row["broker_id"] if row["is_leader"] else leader
        in_sync |= {row["broker_id"]} if row["is_in_sync"] else set()
        read[(row["topic"], row["partition"])] = (leader, [*replicas, row["broker_id"]], in_sync)
    assert read == expected
    ids = dict(re.findall(r"Topic: (\S+)\tTopicId: (\S+)", printed))
    assert {row["topic"]: row["topic_id"] for row in observed.rows("topics")} == ids


def _ids(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def test_topics_have_what_is_set_for_them(observed: Observed) -> None:
    topics = {row["topic"]: row for row in observed.rows("topics")}
    assert sorted(topic for topic, row in topics.items() if row["is_internal"]) == ["__consumer_offsets"]
    clicks = {name: value for name, value in topics["clicks"].items() if name not in ("topic", "topic_id")}
    assert clicks == {
        "is_internal": False,
        "min_insync_replicas": 2,
        "retention_bytes": 50_000_000,
        "retention_ms": 3_600_000,
        "segment_bytes": 1_048_576,
        "cleanup_policy": "compact,delete",
        "unclean_leader_election_enable": True,
        "compression_type": "producer",
        "remote_storage_enable": False,
        "local_retention_ms": -2,
        "remote_copy_lag_ms": None,  # of Kafka 4.4
        "remote_copy_lag_bytes": None,
        "remote_bytes": None,
    }
    assert topics["orders"]["retention_bytes"] == -1
    assert topics["orders"]["unclean_leader_election_enable"] is False


def test_groups_of_both_protocols_have_their_members(observed: Observed) -> None:
    groups = {row["group_id"]: row for row in observed.rows("groups")}
    not_of_streams = {"num_standby_replicas": None, "subtopologies": None}
    assert groups == {
        "billing": {
            "group_id": "billing",
            "state": "Stable",
            "group_type": "classic",
            "protocol_type": "consumer",
            "assignor": "range",
            **not_of_streams,
        },
        "dashboards": {
            "group_id": "dashboards",
            "state": "Stable",
            "group_type": "consumer",
            "protocol_type": "consumer",
            "assignor": "uniform",
            **not_of_streams,
        },
    }
    billing, dashboards = observed.rows("members")
    assert (billing["client_id"], billing["instance_id"], billing["host"]) == ("billing-0", "seat-1", "/127.0.0.1")
    assert (dashboards["client_id"], dashboards["instance_id"]) == ("dash-0", None)
    assert (billing["subscribed"], dashboards["subscribed"]) == (["orders"], ["clicks"])
    assert billing["assigned"] == [{"topic": "orders", "partition": number} for number in range(6)]
    assert dashboards["assigned"] == [{"topic": "clicks", "partition": number} for number in range(4)]


def test_lags_are_those_of_kafka_consumer_groups(observed: Observed) -> None:
    printed = observed.printed[GROUPS]
    line = re.compile(r"^(\S+) +(\S+) +(\d+) +(\d+) +(\d+) +(\d+) ", re.MULTILINE)
    expected = {
        (group, topic, int(partition)): (int(committed), int(end), int(lag))
        for group, topic, partition, committed, end, lag in line.findall(printed)
    }
    read = {
        (row["group_id"], row["topic"], row["partition"]): (
            row["committed_offset"],
            row["log_end_offset"],
            row["lag_records"],
        )
        for row in observed.rows("lags")
    }
    assert read == expected
    assert {group for group, _, _ in read} == GROUP_IDS
    lags = {name: sum(lag for (group, *_), (*_, lag) in read.items() if group == name) for name in GROUP_IDS}
    assert lags["billing"] > 0
    assert lags["dashboards"] == 100 - READ


def test_logs_start_where_kafka_get_offsets_says(observed: Observed) -> None:
    lines = (line.split(":") for line in observed.printed[OFFSETS].split() if line.count(":") == 2)
    expected = {(topic, int(partition)): int(offset) for topic, partition, offset in lines}
    read = {(row["topic"], row["partition"]): row["log_start_offset"] for row in observed.rows("lags")}
    assert read == {partition: expected[partition] for partition in read}
    assert read[("orders", 5)] == 7


def test_it_says_what_it_read_and_has_nothing_to_remark(observed: Observed) -> None:
    version = kafka_jars.NODES.rpartition(".")[0]
    assert (observed.raw.source, observed.raw.kafka_version, observed.raw.remarks) == ("kafka_admin", version, ())
    assert observed.said[0] == "3 brokers, 4 topics"
    assert observed.said[1] == f"{6 * 3 + 3 + 4 * 2 + 3 * 3} replicas in 6 log dirs"
    assert observed.said[2].startswith("2 groups, 2 members, ")


def test_a_cordoned_broker_gets_nothing_that_is_made_meanwhile(cluster: KafkaCluster, observed: Observed) -> None:
    """The last test: it cordons a broker (KIP-1066)."""
    assert not build_snapshot(observed.raw).brokers.is_cordoned.any()
    of_broker = ("--alter", "--entity-type", "brokers", "--entity-name", "3")
    cluster.tool(CONFIGS, *of_broker, "--add-config", "cordoned.log.dirs=*")
    connection = KafkaConnection(bootstrap_servers=cluster.bootstrap_servers())

    def is_told() -> bool:
        raw = read_cluster(connection, cluster="live", ds="2026-11-20")
        return build_snapshot(raw).brokers.is_cordoned.tolist() == [False, False, True]

    cluster.wait_for(is_told, "broker 3 is cordoned")
    # To the controller it is not there.
    with pytest.raises(InvalidReplicationFactorError):
        make_topics(cluster, {"too-wide": (1, 3)})
    make_topics(cluster, {"made-meanwhile": (12, 2)})
    after = build_snapshot(read_cluster(connection, cluster="live", ds="2026-11-20"))
    partitions = after.partitions
    is_new = partitions.topic == partitions.topics.index("made-meanwhile")
    assert np.unique(after.replicas[is_new, :2]).tolist() == [1, 2]
    assert 3 in after.replicas[~is_new]  # what was there stays
