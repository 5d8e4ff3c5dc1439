"""A broker that died: the inventory is read all the same, and says what is not known."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kafka_capacity.health.problem import Code
from kafka_capacity.inventory.files import write_snapshot_files
from kafka_capacity.inventory.kafka_admin import read_cluster
from kafka_capacity.inventory.kafka_connection import KafkaConnection
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.snapshot import build_snapshot
from kafka_capacity.inventory.validation import inventory_problems, validate
from tests.live.clients import make_topics, produce
from tests.live.cluster import KafkaCluster
from tests.live.conftest import RACKS
from tests.live.live_moves import make_topic

pytestmark = pytest.mark.live

DEAD = 2
REASSIGN = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"


@pytest.fixture(scope="module")
def raw(cluster: KafkaCluster) -> RawInventory:
    make_topics(cluster, {"orders": (3, 3)})
    # Broker 3 has none of the topic without copies, whatever Kafka would draw: something is to be copied to it.
    make_topic(cluster, "lone", {number: [1 if number % 3 else DEAD] for number in range(9)})
    make_topic(cluster, "pairs", {number: [1, 3] if number % 3 else [DEAD, 1] for number in range(9)})
    produce(cluster, "orders", {0: 50_000, 1: 50_000, 2: 50_000})
    for topic in ("lone", "pairs"):
        produce(cluster, topic, {number: 100_000 * (number + 1) ** 2 for number in range(9)})
    servers = cluster.bootstrap_servers()
    cluster.kill_broker(DEAD)
    cluster.wait_until_fenced(DEAD)
    cluster.wait_for(lambda: _dead_leads_nothing(cluster), "leaders have moved")
    connection = KafkaConnection(bootstrap_servers=servers)
    return read_cluster(connection, cluster="live", ds="2026-11-20")


def _dead_leads_nothing(cluster: KafkaCluster) -> bool:
    topics = cluster.ask(lambda admin: admin.describe_topics(), "topics described")
    return all(each["leader_id"] != DEAD for topic in topics for each in topic["partitions"])


def test_the_dead_broker_is_listed_with_its_rack_as_fenced(raw: RawInventory) -> None:
    brokers = raw.table("brokers").to_pylist()
    assert {row["broker_id"]: row["rack"] for row in brokers} == RACKS
    assert [row["broker_id"] for row in brokers if row["is_fenced"]] == [DEAD]


def test_its_replicas_have_no_size_and_the_others_have_theirs(raw: RawInventory) -> None:
    rows = raw.table("replicas").to_pylist()
    assert {row["broker_id"] for row in rows if row["size_bytes"] is None} == {DEAD}
    assert all(row["size_bytes"] is None and not row["is_leader"] for row in rows if row["broker_id"] == DEAD)
    alive = [row["size_bytes"] for row in rows if row["topic"] == "orders" and row["broker_id"] != DEAD]
    assert min(alive) > 50_000


def test_the_log_dirs_say_why(raw: RawInventory) -> None:
    reasons = [(row["broker_id"], row["error"]) for row in raw.table("log_dirs").to_pylist()]
    assert reasons == [(1, None), (1, None), (DEAD, "the broker is fenced"), (3, None), (3, None)]


def test_what_it_held_alone_is_offline(raw: RawInventory) -> None:
    replicas = raw.table("replicas").to_pylist()
    lone = [row for row in replicas if row["topic"] == "lone" and row["broker_id"] == DEAD]
    assert lone
    remarks: dict[str, Any] = {remark.code: remark.message for remark in raw.remarks}
    assert remarks == {
        "log_dirs_unknown": f"sizes are unknown or incomplete for brokers {DEAD}; table log_dirs says why",
    }
    (offline,) = [one for one in inventory_problems(raw) if one.code == Code.OFFLINE]
    assert (offline.where, offline.partitions) == ("lone", len(lone))


def test_nothing_about_it_forbids_planning(raw: RawInventory) -> None:
    assert validate(raw).fatal == ()
    snapshot = build_snapshot(raw)
    assert (snapshot.leader == -1).sum() == sum(
        row["broker_id"] == DEAD for row in raw.table("replicas").to_pylist() if row["topic"] == "lone"
    )


def test_kafkas_tool_takes_each_file_of_a_plan_and_none_that_names_it(
    cluster: KafkaCluster, raw: RawInventory, tmp_path: Path
) -> None:
    write_snapshot_files(raw, tmp_path / "inventory")
    asked = "--broker-counts 3 --placer fewest-bytes --tolerance 1% --rack-rule off --out"
    command = (sys.executable, "-m", "kafka_capacity.cli", "plan", str(tmp_path / "inventory"), *asked.split())
    subprocess.run((*command, str(tmp_path / "out")), check=True, capture_output=True)
    files = [one for one in (tmp_path / "out" / "waves").glob("*.json") if one.stem.endswith(("copy", "reorder"))]
    assert files
    for file in (*sorted(files), tmp_path / "out" / "moves.json"):
        assert "Successfully started" in cluster.tool(REASSIGN, "--reassignment-json-file", str(file), "--execute")
        cluster.wait_for(lambda: "No partition" in cluster.tool(REASSIGN, "--list"), f"{file.name} is done")
    whole = tmp_path / "out" / "target.json"
    with pytest.raises(AssertionError, match=f"Unknown broker id {DEAD}"):
        cluster.tool(REASSIGN, "--reassignment-json-file", str(whole), "--execute")
