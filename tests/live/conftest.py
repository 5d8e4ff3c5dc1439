"""Real brokers, one cluster a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.live.cluster import KafkaCluster

RACKS = {1: "rack-a", 2: "rack-b", 3: "rack-c"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    """Three brokers in three racks, speaking PLAINTEXT, with two disks each."""
    with KafkaCluster(tmp_path_factory.mktemp("kafka"), RACKS, log_dirs=2) as running:
        yield running
