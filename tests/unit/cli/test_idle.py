"""``kafka-capacity idle``: topics that nobody uses."""

import json

import pytest

from kafka_capacity.inventory.files import write_snapshot_files
from tests.builders import GIB, cluster, topic


@pytest.fixture
def folder(tmp_path):
    old = [topic(f"old-{number}", partitions=number, bytes_in=0.0, bytes_out=0.0) for number in (1, 2)]
    write_snapshot_files(cluster(topics=[topic("orders"), *old]), tmp_path / "snapshot")
    return tmp_path / "snapshot"


def test_idle_topics_and_what_they_free_are_shown(run, folder):
    done = run("idle", folder, "--rows", 1)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("payments on 2026-11-20: 2 topics are idle: nobody has written to or read from them")
    assert "Idle topics\n" in done.stdout
    assert "1 more with fewer bytes are not listed." in done.stdout
    assert "old-2" in done.stdout
    assert "old-1" not in done.stdout
    assert "What removing them would free\n" in done.stdout
    assert "3 more with fewer bytes are not listed." in done.stdout


def test_what_is_printed_is_what_is_written(run, folder, tmp_path):
    printed = run("idle", folder, "--json", "--out", tmp_path / "out").stdout
    assert printed == (tmp_path / "out" / "idle.json").read_text()
    document = json.loads(printed)
    assert [(one["topic"], one["size_bytes"]) for one in document["idle_topics"]] == [
        ("old-2", 6 * GIB),
        ("old-1", 3 * GIB),
    ]
    assert document["brokers"][0]["broker_id"] == 2
    assert (document["topics"], document["not_judged_topics"]) == (3, 0)


def test_a_cluster_without_any_is_said_so(run, tmp_path):
    write_snapshot_files(cluster(topics=[topic("orders"), topic("audit")]), tmp_path)
    done = run("idle", tmp_path)
    assert (
        done.stdout
        == "payments on 2026-11-20: No topic is idle: each of the 2 judged topics was written to, read from, or "
        "has subscribers that have committed offsets.\n"
    )
