"""``kafka-capacity plan``: brokers, racks, topics and throttles that are changed in one request."""

import json

import pytest

from kafka_capacity.cli import planning
from kafka_capacity.cli.plan_input import read_plan_input
from kafka_capacity.inventory.files import write_snapshot_files
from kafka_capacity.kafka.reassignment.kafka_json import reassignment_json
from kafka_capacity.plan.released_files import option_files
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.proposal.evaluate import evaluate_placement
from kafka_capacity.proposal.grid import placement_grid, scenario_to_json
from kafka_capacity.proposal.log_dirs import joining_dirs
from kafka_capacity.questions.change.tables import result_tables
from tests.builders import GIB, cluster, rows_of, topic, with_rows
from tests.unit.cli.plan_folders import read


def test_several_throttles_are_an_option_each_and_one_placement(run, snapshot, tmp_path, monkeypatch):
    given = []

    def evaluate(snapshot, load, scenario, like=None, **traffic):
        given.append(like is not None)
        return evaluate_placement(snapshot, load, scenario, like, **traffic)

    monkeypatch.setattr(planning, "evaluate_placement", evaluate)
    arguments = ("plan", "--snapshot", snapshot, "--broker-counts", "9", "--placer", "fewest-bytes")
    done = run(*arguments, "--throttles", "1e6, 50e6", "--out", tmp_path / "out", "--json")
    slow, fast = json.loads(done.stdout)["scenarios"]

    assert given == [False, True]
    assert [slow["scenario_id"], fast["scenario_id"]] == [f"009-brokers.fewest-bytes.{n}MBps" for n in (1, 50)]
    assert slow["schedule"]["total_expected_seconds"] > fast["schedule"]["total_expected_seconds"]
    target = "reassignment.json"
    assert read(tmp_path / "out" / slow["scenario_id"] / target) == read(
        tmp_path / "out" / fast["scenario_id"] / target
    )
    alone = json.loads(run(*arguments, "--throttle", "1e6", "--json").stdout)
    assert {k: v for k, v in alone.items() if k not in {"waves", "brokers", "scenario_id"}} == {
        k: v for k, v in slow.items() if k != "scenario_id"
    }


def test_any_mix_of_changes_is_one_plan(run, snapshot, tmp_path):
    out = tmp_path / "mixed"
    changes = ["--remove-brokers", "2", "--replace-broker", "3=30", "--rename-rack", "a=zone-a", "--broker-counts", "7"]
    more = ["--replication-factor", "2", "--pin", "audit=1,30", "--most-replicas", "6", "--placer", "fewest-bytes"]
    done = run("plan", "--snapshot", snapshot, *changes, *more, "--out", out)

    assert done.exit_code == 0, done.output
    assert "Requested: 7 brokers; broker 2 removed; broker 3 replaced by 30; rack a renamed to zone-a; replication" in (
        " ".join(done.stdout.split())
    )
    plan, target = read(out / "plan.json"), read(out / "reassignment.json")["partitions"]
    assert plan["target"]["ids"] == [1, 4, 5, 6, 30, 31, 32]
    assert plan["target"]["racks"] == ["zone-a", "zone-a", "b", "c", "c", "b", "b"]
    racks = dict(zip(plan["target"]["ids"], plan["target"]["racks"], strict=True))
    assert all(len({racks[b] for b in row["replicas"]}) == 2 == len(row["replicas"]) for row in target)
    assert {b for row in target if row["topic"] == "audit" for b in row["replicas"]} == {1, 30}
    held = [b for row in target for b in row["replicas"]]
    assert max(held.count(b) for b in held) <= 6
    assert plan["fits"]
    assert "set broker.rack and restart them before the move" in " ".join(done.stdout.split())


def test_changes_of_brokers_that_there_are_not_are_told_by_their_options(run, snapshot):
    wrong = ["--remove-brokers", "9", "--replace-broker", "1=2", "--rename-rack", "z=a"]
    done = run("plan", "--snapshot", snapshot, *wrong)

    assert done.exit_code == 2
    assert done.stderr.splitlines() == [
        "error: --remove-brokers: broker 9 is invalid: the cluster has no such broker (brokers: 1, 2, 3, 4, 5, 6)",
        "--replace-broker: 1 by 2 is invalid: broker 2 exists; choose a free id",
        "--rename-rack: 'z' is invalid: no broker is in it (racks: a, b, c)",
    ]


def test_more_partitions_come_before_the_first_wave(run, snapshot, tmp_path):
    out = tmp_path / "more"
    start = ("plan", "--snapshot", snapshot, "--broker-counts", "9", "--placer", "fewest-bytes")
    done = run(*start, "--partitions", "orders=18", "--out", out)
    runbook, plan = (out / "runbook.md").read_text(), read(out / "plan.json")

    assert done.exit_code == 0, done.output
    assert plan["created_partitions"] == 6
    assert "18 partitions of orders" in " ".join(done.stdout.split())
    assert any("6 partitions are added before the first wave" in text for text in plan["serious_caveats"])
    command = next(line.strip() for line in runbook.splitlines() if "--alter" in line and "kafka-topics.sh" in line)
    assert runbook.index(command) < runbook.index("## Wave 1")
    lists = command.rpartition(" ")[2].split(",")
    target = {
        (row["topic"], row["partition"]): row["replicas"] for row in read(out / "reassignment.json")["partitions"]
    }
    assert [[int(b) for b in one.split(":")] for one in lists[12:]] == [target["orders", n] for n in range(12, 18)]
    assert not {row["partition"] for row in read(out / "moves.json")["partitions"]} & set(range(12, 18))


def test_a_runbook_that_adds_partitions_says_which_application_stops(run, tmp_path):
    parts = [{"subtopology": "0", "topics": ["orders"], "changelogs": ["app-changelog"]}]
    group = {"group_id": "app", "state": "Stable", "group_type": "streams", "subtopologies": parts}
    topics = (topic("orders", partitions=4), topic("app-changelog", partitions=4))
    write_snapshot_files(cluster(topics=topics, groups=[group]), tmp_path)
    start = ("plan", "--snapshot", tmp_path, "--broker-counts", "6", "--placer", "fewest-bytes")
    done = run(*start, "--partitions", "orders=8", "--out", tmp_path / "out")

    stops = (
        "the Kafka Streams application app reads orders, and its own topics keep their partitions: app-changelog (4)"
    )
    assert f"serious, group app: {stops}" in " ".join(done.stdout.split())
    runbook = (tmp_path / "out" / "runbook.md").read_text()
    assert runbook.index("The Kafka Streams application app") < runbook.index("kafka-topics.sh")
    assert "Kafka Streams" not in run(*start, "--partitions", "app-changelog=8").stdout


def test_more_partitions_alone_have_a_runbook_too(run, snapshot, tmp_path):
    out = tmp_path / "more"
    start = ("plan", "--snapshot", snapshot, "--broker-counts", "6", "--placer", "fewest-bytes", "--tolerance", "1")
    done = run(*start, "--partitions", "orders=13", "--out", out)

    assert done.exit_code == 0, done.output
    runbook = (out / "runbook.md").read_text()
    assert "--topic 'orders' --partitions 13 --replica-assignment " in runbook
    assert "export BOOTSTRAP=" in runbook


def test_fewer_partitions_are_refused(run, snapshot):
    done = run("plan", "--snapshot", snapshot, "--partitions", "orders=6")

    assert done.exit_code == 2
    assert done.stderr.startswith("error: --partitions: 6 for 'orders' is invalid: it has 12 partitions, and Kafka")


@pytest.fixture
def jbod(tmp_path):
    """Six brokers with two log dirs each, whose replicas are in them in turn."""
    raw = cluster(topics=[topic("audit", partitions=4, rf=2), topic("orders", partitions=12)], hours=24)
    dirs = [
        {"broker_id": b, "path": path, "total_bytes": 10 * GIB, "usable_bytes": None}
        for b in range(1, 7)
        for path in ("/data0", "/data1")
    ]
    brokers = [{**row, "disk_capacity_bytes": 20.0 * GIB} for row in rows_of(raw, "brokers")]
    replicas = [{**row, "log_dir": f"/data{row['partition'] % 2}"} for row in rows_of(raw, "replicas")]
    for name, rows in (("log_dirs", dirs), ("brokers", brokers), ("replicas", replicas)):
        raw = with_rows(raw, name, rows)
    write_snapshot_files(raw, tmp_path / "jbod")
    return tmp_path / "jbod"


def test_log_dirs_and_new_partitions_are_released_as_they_are_planned_here(run, jbod, tmp_path):
    out = tmp_path / "out"
    start = ("plan", "--snapshot", jbod, "--broker-counts", "9", "--placer", "fewest-bytes")
    done = run(*start, "--partitions", "audit=9", "--out", out)

    assert done.exit_code == 0, done.output
    named = {place for row in read(out / "moves.json")["partitions"] for place in row["log_dirs"]}
    assert named == {"any", "/data0", "/data1"}
    found = read_plan_input(str(jbod))
    request = {
        "cluster": "payments",
        "broker_counts": [9],
        "placers": ["fewest-bytes"],
        "partition_counts": {"audit": 9},
    }
    (scenario,) = placement_grid(found.snapshot.brokers, parse_plan_request(request).grid())
    assert scenario_to_json(scenario).items() <= read(out / "plan.json").items()
    result = evaluate_placement(found.snapshot, found.load, scenario)
    tables = result_tables(result, found.snapshot, has_moves=True)
    released = option_files(tables, scenario.scenario_id, (found.snapshot.partitions, found.snapshot.replicas))
    start = result.start(found.snapshot)
    _, to, paths = joining_dirs(result, found.snapshot)
    whole = reassignment_json(start.partitions, result.diff.after, log_dirs=to, paths=paths)
    assert whole == (out / "target.json").read_bytes()
    assert {name: (out / name).read_bytes() for name in released} == released


def test_the_report_shows_the_fullest_log_dirs_on_the_way(run, jbod, tmp_path):
    start = ("report", "--snapshot", jbod, "--broker-counts", "9", "--placer", "fewest-bytes")
    done = run(*start, "--out", tmp_path / "report")

    assert done.exit_code == 0, done.output
    report = read(tmp_path / "report" / "report.json")
    rows = next(one for one in report["sections"] if one["name"] == "waves")["data"]["dirs"]["rows"]
    assert [row["wave"] for row in rows] == list(range(1, len(rows) + 1))
    assert all(row["log_dir"].startswith("/data") and row["limit_bytes"] == 8.5 * GIB for row in rows)
    notes = [one["text"] for one in report["verdict"]["caveats"]]
    assert "New brokers are planned with the log dirs (paths and sizes) of an existing broker." in notes
    assert not any("judged as one disk" in text for text in notes)


@pytest.mark.parametrize("usable_gib", [17, 3])
def test_disks_that_hold_more_than_their_replicas_do_not_take_what_a_change_brings(run, tmp_path, usable_gib):
    raw = cluster(brokers=4, racks=None, topics=[topic("orders", partitions=12, rf=1, size_bytes=GIB)], hours=24)
    dirs = [
        {**row, "total_bytes": 20 * GIB, "usable_bytes": usable_gib * GIB if row["broker_id"] == 2 else 17 * GIB}
        for row in rows_of(raw, "log_dirs")
    ]
    brokers = [{**row, "disk_capacity_bytes": 20.0 * GIB} for row in rows_of(raw, "brokers")]
    for name, rows in (("log_dirs", dirs), ("brokers", brokers)):
        raw = with_rows(raw, name, rows)
    write_snapshot_files(raw, tmp_path / "full")
    given = ("--snapshot", tmp_path / "full", "--remove-brokers", "4", "--placer", "fewest-bytes")
    answer = json.loads(run("plan", *given, "--json").stdout)
    gained = {one["broker_id"]: one["bytes_after"] - one["bytes_before"] for one in answer["brokers"]}
    other = {one["broker_id"]: one["other_bytes"] for one in answer["brokers"]}
    assert other == dict.fromkeys(other, 0.0) | {2: (17 - usable_gib) * GIB}
    assert gained == ({1: GIB, 2: GIB, 3: GIB} if usable_gib == 17 else {1: 2 * GIB, 2: 0, 3: GIB}) | {4: -3 * GIB}


def test_new_brokers_are_started_before_partitions_are_made_on_them(run, snapshot, tmp_path):
    start = ("plan", "--snapshot", snapshot, "--broker-counts", "9", "--placer", "fewest-bytes")
    run(*start, "--out", tmp_path / "as it is")
    run(*start, "--partitions", "orders=40", "--out", tmp_path / "more")

    def started(name):
        lines = (tmp_path / name / "runbook.md").read_text(encoding="utf-8").splitlines()
        return [line for line in lines if line.startswith("1. **Start.** ")]

    assert len(started("as it is")) == 1
    assert started("more") == started("as it is")
    text = (tmp_path / "more" / "runbook.md").read_text(encoding="utf-8")
    assert "New brokers must be up: do the step Start of wave 1 first. **This cannot be undone**" in text
