"""Kafka 4.4.0 beside 4.3.1: what differs is as predicted. The command line tools of 4.4.0 are not out, nor needed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest
from kafka import TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient
from kafka.errors import InvalidReplicationFactorError

from kafka_capacity.inventory.kafka_admin import read_cluster
from kafka_capacity.inventory.kafka_connection import KafkaConnection
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.snapshot import build_snapshot
from kafka_capacity.kafka.cluster.assignment import replica_lists
from kafka_capacity.kafka.cluster.release import KAFKA_4_3, KAFKA_4_4
from kafka_capacity.kafka.cluster.snapshot import Snapshot
from kafka_capacity.kafka.reassignment.waves import plan_waves
from tests.live.cluster import KafkaCluster
from tests.live.conftest import RACKS
from tests.properties.move_problems import move_problem_of

pytestmark = pytest.mark.live

RELEASES = {"4.3.1": KAFKA_4_3, "4.4.0": KAFKA_4_4}
CORDONED = 3
LISTS = {"led-there": ([1, 3], [3, 1]), "new-there": ([1, 2], [1, 3]), "elsewhere": ([1, 3], [1, 2])}
"""Topics of one partition, their replicas, and those that are asked for."""


@pytest.fixture(scope="module", params=RELEASES)
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    version = request.param
    with KafkaCluster(tmp_path_factory.mktemp("kafka"), RACKS, version=version) as cluster, cluster.admin() as admin:
        admin.create_topics({name: {"assignments": {0: before}} for name, (before, _) in LISTS.items()})
        broker = ConfigResource(ConfigResourceType.BROKER, str(CORDONED), {"cordoned.log.dirs": "*"})
        admin.alter_configs([broker])
        cluster.wait_for(lambda: not _takes_three(admin), "the controller counts two brokers")
        assert read(cluster).brokers.is_cordoned.tolist() == [False, False, True]
        yield cluster


def read_raw(cluster: KafkaCluster) -> RawInventory:
    connection = KafkaConnection(bootstrap_servers=cluster.bootstrap_servers())
    return read_cluster(connection, cluster="live", ds="2026-11-20")


def read(cluster: KafkaCluster) -> Snapshot:
    return build_snapshot(read_raw(cluster))


def _takes_three(admin: KafkaAdminClient) -> bool:
    wanted = {"wide": {"num_partitions": 1, "replication_factor": 3}}
    try:
        admin.create_topics(wanted, validate_only=True)
    except InvalidReplicationFactorError:
        return False
    return True


def test_uploads_are_delayed_by_settings_that_came_with_4_4(running: KafkaCluster) -> None:
    """KIP-1241: by default they are not."""
    topics = read_raw(running).table("topics").select(["remote_copy_lag_ms", "remote_copy_lag_bytes"]).to_pylist()
    wanted = (0, -1) if RELEASES[running.version] == KAFKA_4_4 else (None, None)
    assert {tuple(row.values()) for row in topics} == {wanted}


def test_which_lists_it_takes_is_as_predicted(running: KafkaCluster) -> None:
    found = read(running)
    assert found.release == RELEASES[running.version]
    before = dict(zip(found.partitions.topics, replica_lists(found.replicas), strict=True))
    assert {name: list(before[name]) for name in LISTS} == {name: held for name, (held, _) in LISTS.items()}
    predicted = {}
    for name, lists in LISTS.items():
        problem = move_problem_of(*([one] for one in lists), brokers=found.brokers)
        predicted[name] = not plan_waves(dataclasses.replace(problem, release=found.release)).refusals
    with running.admin() as admin:
        wanted = {TopicPartition(name, 0): after for name, (_, after) in LISTS.items()}
        said = admin.alter_partition_reassignments(wanted)
    assert {partition.topic: error is None for partition, error in said.items()} == predicted
    assert sum(predicted.values()) == (3 if found.release == KAFKA_4_3 else 1)
