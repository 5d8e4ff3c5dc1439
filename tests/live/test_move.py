"""A plan for a broker that does not exist yet, carried out by Kafka's own tool once it does.

What was promised is compared with what came: the assignment to the letter, the bytes to the byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from kafka_capacity.inventory.kafka_admin import read_cluster
from kafka_capacity.inventory.kafka_connection import KafkaConnection
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.snapshot import build_snapshot
from kafka_capacity.inventory.validation import validate
from kafka_capacity.kafka.cluster.assignment import replica_lists
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.kafka.placement.problem import Balance, RackRule
from kafka_capacity.kafka.reassignment.kafka_json import reassignment_json
from kafka_capacity.proposal.evaluate import evaluate_placement
from kafka_capacity.proposal.scenario import PlacementResult, PlacementScenario
from tests.live.clients import make_topics, produce
from tests.live.cluster import KafkaCluster
from tests.live.conftest import RACKS

pytestmark = pytest.mark.live

REASSIGN = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
NEW_BROKER, NEW_RACK = 4, "rack-a"
THROTTLE_BYTES_PER_SECOND = 20_000_000


@dataclass(frozen=True)
class Moved:
    """The cluster before, what was planned, what the tool said, and the cluster after."""

    before: Snapshot
    plan: PlacementResult
    verified: str
    after: RawInventory

    def sizes_after(self) -> dict[tuple[str, int, int], int]:
        """Return the size of every replica by topic, partition and broker."""
        return {
            (row["topic"], row["partition"], row["broker_id"]): row["size_bytes"]
            for row in self.after.table("replicas").to_pylist()
        }

    def copied_bytes(self) -> dict[int, int]:
        """Sum, by broker, the sizes that the replicas have which were not there before."""
        held = dict(_lists(self.before, self.before.replicas))
        copied: dict[int, int] = {}
        for (topic, partition, broker), size in self.sizes_after().items():
            if broker not in held[(topic, partition)]:
                copied[broker] = copied.get(broker, 0) + size
        return copied


def _lists(snapshot: Snapshot, matrix: np.ndarray) -> Iterator[tuple[tuple[str, int], list[int]]]:
    partitions = snapshot.partitions
    for row, brokers in enumerate(replica_lists(matrix)):
        yield (partitions.topics[int(partitions.topic[row])], int(partitions.partition[row])), brokers


@pytest.fixture(scope="module")
def moved(cluster: KafkaCluster, tmp_path_factory: pytest.TempPathFactory) -> Moved:
    make_topics(cluster, {"orders": (8, 2), "clicks": (6, 3), "lone": (5, 1)}, segment_bytes="1048576")
    for seed, (topic, partitions) in enumerate({"orders": 8, "clicks": 6, "lone": 5}.items()):
        produce(cluster, topic, {number: 300_000 * (number + 1) for number in range(partitions)}, seed)
    before = build_snapshot(_read_at_rest(cluster))
    plan = evaluate_placement(before, PartitionLoad.unknown(len(before.partitions)), _scenario(before))
    assert plan.diff is not None
    file = tmp_path_factory.mktemp("plan") / "reassignment.json"
    file.write_bytes(reassignment_json(before.partitions, plan.diff.after, np.flatnonzero(plan.diff.is_changed)))
    cluster.start_broker(NEW_BROKER, NEW_RACK)
    verified = _carry_out(cluster, file)
    return Moved(before, plan, verified, _read_at_rest(cluster))


def _scenario(snapshot: Snapshot) -> PlacementScenario:
    racks = RACKS | {NEW_BROKER: NEW_RACK}
    assert snapshot.brokers.ids.tolist() == list(RACKS)
    return PlacementScenario(
        scenario_id="four-brokers",
        target=Brokers.of(list(racks), list(racks.values()), disk_capacity_bytes=[1e12] * len(racks)),
        placer="fewest-bytes",
        replication_factor=None,
        throttle_bytes_per_second=THROTTLE_BYTES_PER_SECOND,
        rack_rule=RackRule.STRICT,
        balance=Balance.BYTES,
        tolerance_ratio=0.1,
        disk_limit_ratio=0.85,
        seed=7,
    )


def _read_at_rest(cluster: KafkaCluster) -> RawInventory:
    """Read the inventory until it stays as it is: followers write a moment after their leaders."""
    connection = KafkaConnection(bootstrap_servers=cluster.bootstrap_servers())
    seen = [read_cluster(connection, cluster="live", ds="2026-11-20")]

    def is_at_rest() -> bool:
        seen.append(read_cluster(connection, cluster="live", ds="2026-11-20"))
        same = seen[-1].table("replicas").equals(seen[-2].table("replicas"))
        return same and not seen[-1].remarks and not validate(seen[-1]).fatal

    cluster.wait_for(is_at_rest, "an inventory that stays as it is")
    return seen[-1]


def _carry_out(cluster: KafkaCluster, file: Path) -> str:
    """Execute the plan with its throttle, and verify it until nothing is under way."""
    arguments = ("--reassignment-json-file", str(file))
    started = cluster.tool(REASSIGN, *arguments, "--execute", "--throttle", str(THROTTLE_BYTES_PER_SECOND))
    assert "Successfully started partition reassignments" in started
    said: list[str] = []

    def is_done() -> bool:
        said.append(cluster.tool(REASSIGN, *arguments, "--verify"))
        return "still in progress" not in said[-1]

    cluster.wait_for(is_done, "the reassignment")
    return said[-1]


def test_the_tool_verifies_every_partition_of_the_plan(moved: Moved) -> None:
    assert moved.plan.diff is not None
    completed = re.findall(r"Reassignment of partition (\S+) is completed", moved.verified)
    changed = np.flatnonzero(moved.plan.diff.is_changed).tolist()
    assert sorted(completed) == sorted(moved.before.partitions.name(row) for row in changed)
    assert "Clearing broker-level throttles" in moved.verified


def test_the_assignment_is_the_planned_one(moved: Moved) -> None:
    assert moved.plan.diff is not None
    read: dict[tuple[str, int], list[int]] = {}
    for row in moved.after.table("replicas").to_pylist():
        read.setdefault((row["topic"], row["partition"]), []).append(row["broker_id"])
        assert row["is_in_sync"]
    assert read == dict(_lists(moved.before, moved.plan.diff.after))
    assert NEW_BROKER in {broker for brokers in read.values() for broker in brokers}


def test_as_many_bytes_were_copied_as_predicted(moved: Moved) -> None:
    assert moved.plan.metrics is not None
    assert sum(moved.copied_bytes().values()) == moved.plan.metrics.moved_bytes > 1_000_000


def test_each_broker_fetched_what_was_predicted(moved: Moved) -> None:
    assert moved.plan.loads is not None
    loads = moved.plan.loads
    predicted = dict(zip(loads.brokers.ids.tolist(), loads.move_in_bytes.tolist(), strict=True))
    assert moved.copied_bytes() == {broker: size for broker, size in predicted.items() if size}


def test_the_disks_hold_what_was_predicted(moved: Moved) -> None:
    assert moved.plan.loads is not None
    loads = moved.plan.loads
    held: dict[int, int] = {}
    for (_, _, broker), size in moved.sizes_after().items():
        held[broker] = held.get(broker, 0) + size
    assert held == dict(zip(loads.brokers.ids.tolist(), loads.bytes_after.tolist(), strict=True))
