"""``kafka-capacity durability``: what could be lost."""

import json

import pytest

from kafka_capacity.inventory.files import write_snapshot_files
from tests.builders import cluster, rows_of, topic, with_rows


@pytest.fixture
def folder(tmp_path):
    """Six brokers in three racks; one topic with a single replica."""
    place = tmp_path / "cluster"
    topics = [topic("orders", partitions=6), topic("scratch", rf=1, min_insync_replicas=1)]
    write_snapshot_files(cluster(topics=topics, hours=24), place)
    return place


def test_the_greatest_loss_comes_first_and_is_explained(run, folder):
    done = run("durability", folder, "--failures", 2, "--explain", "orders", "--check", "--rows", 1)
    assert done.exit_code == 0, done.output
    assert "2 topics, producers with acks=all, idempotent; up to 2 failures explored" in done.stdout
    assert "And 1 more topics with smaller losses." in done.stdout
    assert "scratch" in done.stdout
    assert "lost acknowledged, after 1 failure:" in done.stdout
    assert "1. the producer sends record 1; replica A appends it at offset 0" in done.stdout
    assert "closed form compared with simulated random failures" in done.stdout
    assert "where brokers crash and connections break, and the producer restarts as well" in done.stdout


def test_what_makes_figures_too_good_is_said(run, tmp_path):
    raw = cluster(topics=[topic("orders", size_bytes=None)], hours=24)
    rows = [{**row, "is_in_sync": row["is_leader"] or row["partition"] > 0} for row in rows_of(raw, "replicas")]
    write_snapshot_files(with_rows(raw, "replicas", rows), tmp_path)
    done = run("durability", tmp_path, "--failures", 0)
    assert "warning: 1 partition has replicas out of sync today" in done.stdout
    assert "warning: the size of 6 partitions" in done.stdout
    assert "warning: the size of 6 partitions" in run("failures", tmp_path).stdout


def test_json_is_the_same_each_time(run, folder, tmp_path):
    first, second = (run("durability", folder, "--failures", 1, "--acks", "1", "--json").stdout for _ in range(2))
    assert first == second
    document = json.loads(first)
    assert [row["topic"] for row in document["topics"]] == ["scratch", "orders"]
    assert document["topics"][1]["lost_after_crashes"] == 1
    assert document["assumed"]["acks"] == "1"
    assert document["few_copysets"]["moved_bytes"] >= 0
    run("durability", folder, "--failures", 1, "--acks", "1", "--out", tmp_path / "out", "--quiet")
    assert json.loads((tmp_path / "out" / "durability.json").read_bytes()) == document


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--explain", "nothing"), "error: --explain: 'nothing' is not a topic of this cluster, which has 2"),
        (("--mttf", "0"), "error: --mttf: 0.0 is invalid: give more than 0"),
        (("--crash-mttf", "inf"), "error: --crash-mttf: inf is invalid: write a finite number"),
        (("--rack-mttf", "-1"), "error: --rack-mttf: -1.0 is invalid: give more than 0"),
        (("--replacement", "nan"), "error: --replacement: nan is invalid: write a finite number"),
        (("--throttle", "0"), "error: --throttle: 0.0 is invalid: give at least 1kB/s"),
        (("--replica-lag", "-1"), "error: --replica-lag: -1.0 is invalid: give at least 0"),
    ],
)
def test_what_cannot_be_is_named(run, folder, options, message):
    done = run("durability", folder, *options)
    assert done.exit_code != 0
    assert message in done.stderr


def test_what_is_assumed_is_no_fact_of_the_answer(run, tmp_path):
    unset = {"unclean_leader_election_enable": None}
    topics = [
        topic("logs", partitions=2, size_bytes=None, min_insync_replicas=None, settings=unset),
        topic("orders", partitions=3, settings=unset),
    ]
    write_snapshot_files(cluster(topics=topics, hours=0), tmp_path)
    done = run("durability", tmp_path, "--failures", 0, "--explain", "logs")
    said = " ".join(done.stdout.split())
    assert "Expected loss: at least " in said
    assert " per year: the size of 2 partitions and the traffic of 5 of 5 partitions are unknown." in said
    assert (
        "Unknown, so that Kafka's default is assumed: min.insync.replicas 1 of 1 topic, "
        "unclean.leader.election.enable=false of 2 topics."
    ) in said
    assert "3, 1 (assumed)" in said
    assert "logs: factor 3, min.insync.replicas 1 (assumed)" in said
    document = json.loads(run("durability", tmp_path, "--failures", 0, "--json").stdout)
    assert document["today"]["unknown_size_partitions"] == 2
    assumed = {row["topic"]: (row["is_min_isr_assumed"], row["is_unclean_assumed"]) for row in document["topics"]}
    assert assumed == {"logs": (True, True), "orders": (False, True)}


def test_what_is_known_is_not_called_assumed(run, folder):
    said = " ".join(run("durability", folder, "--failures", 0).stdout.split())
    assert "assumed:" not in said
    assert "at least" not in said
