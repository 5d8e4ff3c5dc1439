"""Share consumers that take their time over each record pass as many as record locks are predicted to let through."""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_capacity.kafka.groups.share import ShareSettings, members_needed, useful_members
from tests.live.clients import make_topics, produce
from tests.live.cluster import KafkaCluster

pytestmark = pytest.mark.live

CONSUMER = "org.apache.kafka.tools.consumer.ConsoleShareConsumer"
CONFIGS = "kafka.admin.ConfigCommand"
TOPIC = "work"
RECORD_BYTES = 10_000
RECORD_SECONDS = 0.02
LOCKS = 100  # the fewest that a partition may be given
WATCHED_SECONDS = 6.0
MEMBERS = 2
_F_SETPIPE_SZ = 1031


class SlowMember:
    """A share consumer that waits for whoever reads what it prints: one record in so many seconds."""

    def __init__(self, cluster: KafkaCluster, group: str, poll_records: int, log: Path) -> None:
        reading, writing = os.pipe()
        fcntl.fcntl(writing, _F_SETPIPE_SZ, 4096)  # less than a record: none is done with before it is read
        options = ("--topic", TOPIC, "--group", group, "--command-property", f"max.poll.records={poll_records}")
        limit = ("--command-property", "share.acquire.mode=record_limit")
        self.at: list[float] = []
        self._lines = os.fdopen(reading, "rb", buffering=0)
        with os.fdopen(writing, "wb") as stdout:
            self.process = cluster.spawn_tool(CONSUMER, *options, *limit, stdout=stdout, stderr=log)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        due = 0.0
        with contextlib.suppress(OSError):
            while data := _exactly(self._lines.fileno(), RECORD_BYTES + 1):
                self.at.append(time.monotonic())
                assert data.endswith(b"\n")
                due = max(due + RECORD_SECONDS, self.at[-1])
                time.sleep(max(0.0, due - time.monotonic()))

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._thread.join(timeout=10)
        self._lines.close()


def _exactly(descriptor: int, count: int) -> bytes:
    found = b""
    while len(found) < count and (data := os.read(descriptor, count - len(found))):
        found += data
    return found


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    settings = {"group.share.partition.max.record.locks": LOCKS}
    with KafkaCluster(tmp_path_factory.mktemp("kafka"), {1: None}, settings=settings) as running:
        make_topics(running, {TOPIC: (1, 1)})
        produce(running, TOPIC, {0: 2_500 * RECORD_BYTES}, is_text=True)
        yield running


@pytest.mark.parametrize("poll_records", [LOCKS, LOCKS // 4])
def test_members_pass_what_record_locks_let_through(broker: KafkaCluster, tmp_path: Path, poll_records: int) -> None:
    group = f"by-{poll_records}"
    of_group = ("--alter", "--entity-type", "groups", "--entity-name", group)
    broker.tool(CONFIGS, *of_group, "--add-config", "share.auto.offset.reset=earliest")
    members = [SlowMember(broker, group, poll_records, tmp_path / f"{one}.log") for one in range(MEMBERS)]
    try:
        broker.wait_for(lambda: sum(len(one.at) for one in members) > 1.5 * LOCKS, "both have begun")
        counts = [len(one.at) for one in members]
        time.sleep(WATCHED_SECONDS)
        passed = sum(len(one.at) for one in members) - sum(counts)
    finally:
        for one in members:
            one.close()
    settings = ShareSettings(max_record_locks=LOCKS, max_poll_records=poll_records)
    busy = min(MEMBERS, useful_members(1, settings))
    expected = min(busy / RECORD_SECONDS, settings.max_partition_rate(RECORD_SECONDS))
    measured = passed / WATCHED_SECONDS
    print(f"{MEMBERS} members, {poll_records} records a poll: {measured:.1f} records/s, {expected:.1f} predicted")
    assert 0.75 * expected <= measured <= 1.1 * expected
    # So many members are needed for what was predicted, and no more of them were of use.
    assert members_needed(expected, RECORD_SECONDS) == busy
