"""``kafka-capacity failures``: what breaks when brokers die."""

import json

import pytest

from kafka_capacity.inventory.files import write_snapshot_files
from tests.builders import cluster, rows_of, topic, with_rows


@pytest.fixture
def fragile(tmp_path):
    """A folder with six brokers in three racks; one topic has its two replicas on brokers 1 and 4, rack a."""
    folder = tmp_path / "fragile"
    topics = [
        topic("audit", replicas=[[1, 4], [4, 1]], min_insync_replicas=1, bytes_in=2000.0),
        topic("orders", partitions=6),
    ]
    groups = [{"group_id": "billing", "state": "Stable", "group_type": "classic", "protocol_type": "consumer"}]
    members = [{"group_id": "billing", "member_id": "m", "subscribed": ["audit"], "assigned": []}]
    write_snapshot_files(cluster(topics=topics, hours=24, groups=groups, members=members), folder)
    return folder


def test_the_worst_losses_come_first(run, fragile):
    done = run("failures", fragile, "--pairs", "--rows", 1)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("payments on 2026-11-20: today: 0 offline, 0 under min ISR. Any one broker may die: ")
    for words in ("one broker lost, the worst 1 of 6", "a rack lost, the worst 1 of 3", "rack a ", "brokers 1, 4"):
        assert words in done.stdout
    assert "two brokers lost, the worst 1 of 15" in done.stdout


def test_named_sets_are_told_whole(run, fragile, tmp_path):
    done = run("failures", fragile, "--brokers", "2,rack:a", "--racks", "b,c", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "one broker lost" not in done.stdout
    assert "without broker 2 + rack a" in done.stdout
    assert "billing" in done.stdout

    document = json.loads((tmp_path / "out" / "failures.json").read_bytes())
    worst = document["sets"][0]
    assert (worst["brokers"], worst["offline"], worst["offline_topics"]) == ([1, 2, 4], 2, 1)
    assert worst["groups"] == [
        {"group_id": "billing", "offline_partitions": 2, "partitions": 2, "coordinator": "unknown"}
    ]
    assert [row["topic"] for row in worst["topics"]] == ["audit", "orders"]
    assert [row["broker"] for row in worst["survivors"]] == [3, 5, 6]
    assert all(row["peak_out_bytes_per_second"] > 0 for row in worst["survivors"])


def test_json_is_the_same_each_time(run, fragile):
    first, second = (run("failures", fragile, "--json", "--pairs", "--most-sets", 5) for _ in range(2))
    assert first.stdout == second.stdout
    document = json.loads(first.stdout)
    assert document["left_out"] == [
        {"kind": "rack+broker", "possible": 12, "chosen": 5},
        {"kind": "pair", "possible": 15, "chosen": 5},
    ]
    assert document["peaks"] == "same-hours"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--brokers", "x"),
            "--lost-together: 'x' is neither a broker nor a rack: write ids and racks, such as 1,2 or 7,rack:a",
        ),
        (("--brokers", "9"), "--lost-together: 9 is not a broker of this cluster; its 6 brokers have ids 1 to 6"),
        (("--racks", "z"), "--racks: no broker is in rack 'z'; the racks of this cluster: a, b, c"),
        (("--brokers", "1,rack:z"), "--lost-together: no broker is in rack 'z'; the racks of this cluster: a, b, c"),
        (("--racks", ","), "--racks: a set of lost brokers is empty; name at least one"),
        (("--brokers", ","), "--lost-together: a set of lost brokers is empty; name at least one"),
        (("--throttle", "0"), "--throttle: 0.0 is invalid: give at least 1kB/s"),
        (("--throttle", "inf"), "--throttle: inf is invalid: give at most 1TB/s"),
    ],
)
def test_wrong_options_are_refused(run, fragile, options, message):
    done = run("failures", fragile, *options)
    assert done.exit_code == 2
    assert done.stderr == f"error: {message}\n"


def test_a_change_of_controllers_prints_its_steps_and_commands(run, snapshot, tmp_path):
    voters = [part for each in ("1", "2", "3") for part in ("--controllers", each)]
    wanted = [part for each in ("1", "2", "4:a") for part in ("--wanted-controllers", each)]
    done = run("failures", snapshot, "--failover-runs", "10", *voters, *wanted, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "From 3 voters to 3 in 2 steps, one at a time: one controller may fail at the worst moment." in done.stdout
    assert "remove-controller --controller-id 3 --controller-directory-id=$DIRECTORY_ID_3" in done.stdout
    document = json.loads((tmp_path / "out" / "failures.json").read_bytes())
    assert [step["tolerated"] for step in document["controllers"]["change"]["steps"]] == [1, 1]


def test_voters_of_unknown_racks_make_no_loss_of_a_rack_safe(run, snapshot):
    unknown = run("failures", snapshot, "--losses", "rack", "--controllers", "101", "--controllers", "102")
    assert unknown.exit_code == 0, unknown.output
    said = " ".join(unknown.stdout.split())
    assert "whether a majority of the controllers is left is not known" in said
    assert "Any one rack may die" not in said
    # Where nobody says who votes, nothing is said of it.
    assert "majority of the controllers" not in run("failures", snapshot, "--losses", "rack").stdout


def test_a_rack_of_controllers_alone_is_lost_too(run, snapshot):
    voters = [part for each in ("101:q", "102:q", "103:q") for part in ("--controllers", each)]
    for losses in (("--losses", "rack"), ("--racks", "q"), ("--lost-together", "1,rack:q")):
        done = run("failures", snapshot, *voters, *losses)
        assert done.exit_code == 0, done.output
        said = " ".join(done.stdout.split())
        assert "no majority of the controllers, so that no leader is elected" in said
        assert "may die" not in said
        assert "rack q (no majority)" in said
    # That loses no broker, so that no partition is without its leader.
    alone = run("failures", snapshot, *voters, "--racks", "q", "--quiet").stdout
    assert "so that no leader is elected (rack q)" in alone


def test_no_broker_survives_only_where_every_live_broker_is_lost(run, tmp_path):
    raw = cluster(brokers=3, topics=[topic("orders")], hours=0)
    fenced = [{**row, "is_fenced": row["broker_id"] == 3} for row in rows_of(raw, "brokers")]
    write_snapshot_files(with_rows(raw, "brokers", fenced), tmp_path)
    one, every = (run("failures", tmp_path, "--lost-together", lost, "--quiet").stdout for lost in ("1", "1,2"))
    assert "the load of survivors is unknown" in one
    assert "no broker survives" not in one
    assert "no broker survives" in every


def test_what_an_import_does_not_tell_makes_no_loss_safe(run, tmp_path):
    raw = cluster(brokers=3, racks=None, topics=[topic("orders", min_insync_replicas=None)], hours=0)
    write_snapshot_files(raw, tmp_path)
    said = run("failures", tmp_path, "--quiet").stdout
    assert "may die" not in said
    assert "One broker lost: nothing goes offline, no partition falls under min ISR as far as known, the load" in said
    assert said.endswith("min.insync.replicas of 1 topic is unknown. No rack is known: no rack was lost.\n")

    rows = [{**row, "rack": "a" if row["broker_id"] == 1 else None} for row in rows_of(raw, "brokers")]
    write_snapshot_files(with_rows(raw, "brokers", rows), tmp_path / "some")
    said = run("failures", tmp_path / "some", "--losses", "rack", "--quiet").stdout
    assert "One rack lost (2 of 3 brokers have no rack): nothing goes offline" in said
