"""What the commands say of failures and of what is wrong is what a plan with the same parameters says."""

import json

import pytest

from kafka_capacity.example import EXAMPLES, make_example
from kafka_capacity.inventory.files import write_snapshot_files
from kafka_capacity.inventory.validation import inventory_problems
from kafka_capacity.plan.handing import failures_today
from tests.asking import ask, simulate_here
from tests.builders import GIB, cluster, rows_of, topic, with_rows
from tests.unit.inventory.broken import change, change_all

COUNTS = ("offline", "offline_topics", "under_min_isr", "at_min_isr", "new_leaders", "unclean_leaders")


def plan_tables(raw):
    """The tables about failures of a plan that leaves everything to the defaults and proposes nothing."""
    tables = simulate_here(failures_today(ask(raw, {"cluster": raw.cluster, "ds": raw.ds})))
    return {name: table.to_pylist() for name, table in tables.items()}


@pytest.fixture(scope="module", params=EXAMPLES)
def example(request):
    return make_example(request.param)


@pytest.fixture(scope="module")
def planned(example):
    return plan_tables(example)


def lost(run, raw, folder):
    write_snapshot_files(raw, folder)
    done = run("failures", folder, "--pairs", "--json")
    assert done.exit_code == 0, done.output
    return {(one["kind"], one["name"]): one for one in json.loads(done.stdout)["sets"]}


def assert_same(said, tables):
    rows = {(row["kind"], row["name"]): row for row in tables["failures"]}
    assert said.keys() == rows.keys()
    for key, row in rows.items():
        assert {name: said[key][name] for name in COUNTS} == {name: row[name] for name in COUNTS}
        assert len({one["broker"] for one in said[key]["overloads"]}) == row["overloaded_brokers"]
        assert len(said[key]["groups"]) == row["groups_affected"]
        assert said[key]["rebuild_seconds"] == row["rebuild_seconds"]


def test_the_same_loss_does_the_same_in_the_command_and_in_a_plan(run, example, planned, tmp_path):
    assert_same(lost(run, example, tmp_path), planned)


def test_a_plan_and_failures_say_the_same_of_networks_today(run, example, tmp_path):
    write_snapshot_files(example, tmp_path)
    count = str(len(rows_of(example, "brokers")))
    planned = run("plan", tmp_path, "--broker-counts", count, "--placer", "fewest-bytes", "--json")
    plan = {row["broker_id"]: row for row in json.loads(planned.stdout)["brokers"]}
    for row in json.loads(run("failures", tmp_path, "--losses", "broker", "--json").stdout)["brokers"]:
        peaks = tuple(plan[row["broker"]][f"peak_{way}_before"] for way in ("in", "out"))
        assert peaks == pytest.approx((row["peaks"]["network_in"], row["peaks"]["network_out"]), rel=1e-4)


def test_new_partitions_share_the_hours_of_their_topic(run, tmp_path):
    write_snapshot_files(cluster(topics=[topic("orders", bytes_in=1e6, bytes_out=0.0)]), tmp_path)
    move = ("plan", tmp_path, "--broker-counts", "6", "--placer", "fewest-bytes")
    brokers = json.loads(run(*move, "--partitions", "orders=12", "--json").stdout)["brokers"]
    before, after = (sum(row[f"peak_in_{when}"] for row in brokers) for when in ("before", "after"))
    assert (before, after) == pytest.approx((3 * 6 * 1e6, 3 * 6 * 1e6), rel=1e-6)


def test_survivors_short_of_processors_are_over_capacity_in_both(run, tmp_path):
    raw = change_all(make_example("metrics-uneven"), "brokers", cpu_cores=1.0)
    tables = plan_tables(raw)
    assert {row["resource"] for row in tables["failure_brokers"]} == {"cpu"}
    said = lost(run, raw, tmp_path)
    assert {row["resource"] for one in said.values() for row in one["overloads"]} == {"cpu"}
    assert_same(said, tables)


@pytest.mark.parametrize(("cores", "unjudged"), [((2.0, 16.0, 16.0), False), ((None, 2.0, 16.0), True)])
def test_each_broker_is_judged_with_its_own_cores(cores, unjudged, run, tmp_path):
    busy = topic("orders", bytes_in=2e7, bytes_out=2e7)
    raw = cluster(brokers=3, topics=[busy], disk_capacity_bytes=4e14)
    changed = [{**row, "cpu_cores": own} for row, own in zip(rows_of(raw, "brokers"), cores, strict=True)]
    write_snapshot_files(with_rows(raw, "brokers", changed), tmp_path)
    small = cores.index(2.0) + 1

    said = json.loads(run("doctor", tmp_path, "--json").stdout)["problems"]
    assert f"worst is broker {small} " in next(one["message"] for one in said if one["code"] == "cpu-over-limit")
    size = json.loads(run("size", "--snapshot", tmp_path, "--json").stdout)
    nothing = next(option for option in size["options"] if option["kind"] == "do-nothing")
    short = {excuse["reason"].partition(" (")[0] for excuse in nothing["excuses"] if " cores" in excuse["reason"]}
    assert short == {f"broker {small}"}
    assert ("cpu" in nothing["not_judged"]) == unjudged
    assert size["uneven"] == {"cpu": [2.0, 16.0]}
    lost = json.loads(run("failures", tmp_path, "--json").stdout)["sets"]
    short = {row["broker"] for one in lost for row in one["overloads"] if row["resource"] == "cpu"}
    assert short == {small}


def test_disks_that_differ_are_filled_alike_by_sizing_and_by_the_move(run, tmp_path):
    orders = topic("orders", partitions=36, size_bytes=20 * GIB, bytes_in=2e6, settings={"retention_ms": 10_737_418})
    raw = cluster(topics=[orders], disk_capacity_bytes=1024.0 * GIB)
    changed = [
        {**row, "disk_capacity_bytes": 400.0 * GIB if row["broker_id"] == 3 else row["disk_capacity_bytes"]}
        for row in rows_of(raw, "brokers")
    ]
    write_snapshot_files(with_rows(raw, "brokers", changed), tmp_path / "in")
    none = ("--growth", "0", "--growth-high", "0")
    done = run("report", tmp_path / "in", *none, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    decision = json.loads((tmp_path / "out" / "decision.json").read_text())
    assert decision["box"]["approve"] == (
        "Approve the rebalancing of today’s 6 brokers now. After the move they last beyond 2027-11-20."
    )
    assert decision["recommendation"]["scenario_id"] == "006-brokers.fewest-bytes"
    chosen = next(one for one in decision["options"] if one["is_recommended"])
    assert (chosen["status"], chosen["lasts"]) == ("fits", "horizon")
    size = json.loads(run("size", "--snapshot", tmp_path / "in", *none, "--json").stdout)
    assert size["advice"]["recommended"] == "006-brokers.today"
    plan = json.loads(run("plan", "--snapshot", tmp_path / "in", "--broker-counts", "6", "--json").stdout)
    own = next(option for option in size["options"] if option["option_id"] == "006-brokers.today")
    moved = next(one for one in plan["scenarios"] if one["scenario_id"] == "006-brokers.fewest-bytes")["moved_bytes"]
    assert own["change"]["moved_bytes"] == moved == 160 * GIB


@pytest.mark.parametrize("asked", [("--tolerance", "30%"), ("--balance", "replicas")])
def test_sizing_makes_brokers_as_even_as_the_move_does(run, tmp_path, asked):
    topics = [topic(f"orders{size}", partitions=12, size_bytes=size * GIB) for size in (1, 5, 25)]
    write_snapshot_files(cluster(topics=topics, disk_capacity_bytes=500.0 * GIB), tmp_path)
    size = json.loads(run("size", tmp_path, "--broker-counts", "9", *asked, "--json").stdout)
    plan = json.loads(run("plan", tmp_path, "--broker-counts", "9", *asked, "--json").stdout)
    sized = next(one["change"]["moved_bytes"] for one in size["options"] if one["option_id"] == "009-brokers.today")
    moves = {one["scenario_id"]: one["moved_bytes"] for one in plan["scenarios"]}
    assert sized == moves["009-brokers.fewest-bytes"]


def test_the_bill_that_is_shared_out_is_the_one_of_sizing_today(run, tmp_path):
    # Four days of an outage are filled with what is usual, in both.
    raw = cluster(topics=[topic("orders", bytes_in=1e7, bytes_out=1e7)], hours=21 * 24)
    rows = rows_of(raw, "metrics")
    out = sorted({row["hour"] for row in rows})[10 * 24 : 14 * 24]
    silent = {"bytes_in_bytes_per_second": 0.0, "bytes_out_bytes_per_second": 0.0}
    write_snapshot_files(
        with_rows(raw, "metrics", [row | (silent if row["hour"] in out else {}) for row in rows]), tmp_path
    )
    priced = ("--current-shape", "m7g.xlarge")
    ledger = json.loads(run("chargeback", tmp_path, *priced, "--json").stdout)
    size = json.loads(run("size", tmp_path, *priced, "--json").stdout)
    nothing = next(one for one in size["options"] if one["option_id"] == "do-nothing")["usd_per_month"]
    assert nothing["between_racks"] > 0
    assert sum(row["cents"] for row in ledger["chargeback_bill"]) == round(100 * nothing["by_date"][0])


def test_sizing_is_of_the_replication_factor_that_the_move_gives(run, tmp_path):
    # 36 x 100 GiB in three replicas are 1,800 GiB on each of six brokers, in two 1,200: 1,700 are allowed of 2,000.
    raw = cluster(
        topics=[topic("orders", partitions=36, size_bytes=100 * GIB, min_insync_replicas=1)],
        disk_capacity_bytes=2000.0 * GIB,
    )
    write_snapshot_files(raw, tmp_path / "in")
    asked = ("--growth", "0", "--growth-high", "0", "--broker-counts", "6,9")
    for factor, approve, lasts in (
        ((), "Approve 3 more brokers now", "not-today"),
        (
            ("--replication-factor", "2"),
            "Approve 6 brokers (replication factor 2) now, instead of today’s 6",
            "horizon",
        ),
    ):
        out = tmp_path / ("out" + "".join(factor))
        done = run("report", tmp_path / "in", *asked, *factor, "--out", out)
        assert done.exit_code == 0, done.output
        decision = json.loads((out / "decision.json").read_text())
        assert decision["box"]["approve"].startswith(approve)
        assert {one["lasts"] for one in decision["options"] if one["label"].startswith("6 brokers")} == {lasts}
        assert "other-count" not in {one["code"] for one in decision["problems"]}


def test_sizing_keeps_the_replicas_that_a_broker_may_hold_as_the_move_does(run, tmp_path):
    # 36 partitions in three replicas are 18 replicas on each of six brokers.
    write_snapshot_files(cluster(topics=[topic("orders", partitions=36)]), tmp_path / "in")
    asked = ("--growth", "0", "--growth-high", "0", "--broker-counts", "6,9", "--max-replicas", "13")
    done = run("report", tmp_path / "in", *asked, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    decision = json.loads((tmp_path / "out" / "decision.json").read_text())
    assert decision["box"]["approve"].startswith("Approve 3 more brokers now")
    fitting = {one["label"]: one["status"] for one in decision["options"]}
    assert (fitting["6 brokers, fewest-bytes"], fitting["9 brokers, fewest-bytes"]) == ("does_not_fit", "fits")


def test_one_rack_that_is_left_is_told_by_the_command_and_the_mail(run, tmp_path):
    write_snapshot_files(cluster(topics=[topic("orders", rf=2)]), tmp_path / "in")
    alone = ("--remove-brokers", "2,3,5,6")
    said = "the 2 brokers are all in rack a, where today’s are in 3 racks"
    assert said in " ".join(run("plan", tmp_path / "in", *alone).stdout.split())
    run("report", tmp_path / "in", *alone, "--out", tmp_path / "out")
    assert f"! {said.replace('the', 'The', 1)}" in (tmp_path / "out" / "email.txt").read_text()


def test_the_worst_warnings_about_a_snapshot_are_printed_beside_a_plan(run, tmp_path):
    raw = cluster()
    rows = [{**row, "bytes_out_bytes_per_second": None} for row in rows_of(raw, "metrics")]
    write_snapshot_files(with_rows(raw, "metrics", rows), tmp_path / "in")
    for command in (("plan",), ("failures",)):
        assert "what consumers read counts as 0" in " ".join(run(*command, tmp_path / "in").stdout.split())


def test_sizing_starts_from_the_brokers_that_are_left_where_some_are_named_to_go(run, tmp_path):
    busy = topic("orders", partitions=36, bytes_in=1.2e6, bytes_out=2.4e6)
    raw = cluster(topics=[busy], disk_capacity_bytes=4e14)
    cores = {row["broker_id"]: 0.5 if row["broker_id"] == 3 else 4.0 for row in rows_of(raw, "brokers")}
    changed = [{**row, "cpu_cores": cores[row["broker_id"]]} for row in rows_of(raw, "brokers")]
    write_snapshot_files(with_rows(raw, "brokers", changed), tmp_path / "in")
    asked = ("--growth", "0", "--growth-high", "0", "--remove-brokers", "3")
    done = run("report", tmp_path / "in", *asked, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    decision = json.loads((tmp_path / "out" / "decision.json").read_text())
    assert decision["box"]["approve"].startswith("Approve the removal of broker 3 (")
    assert [one["id"] for one in decision["actions"]] == ["move-to-5-brokers"]
    assert "other-count" not in {one["code"] for one in decision["problems"]}
    chosen = next(one for one in decision["options"] if one["is_recommended"])
    assert (chosen["status"], chosen["lasts"]) == ("fits", "horizon")


def test_a_count_that_sizing_finds_too_small_does_not_fit_whatever_is_moved(run, tmp_path):
    # A move is judged by disks, networks and limits; the processors are sizing's.
    busy = topic("orders", partitions=36, bytes_in=1.2e6, bytes_out=2.4e6)
    raw = cluster(topics=[busy], disk_capacity_bytes=4e14)
    write_snapshot_files(change_all(raw, "brokers", cpu_cores=0.25), tmp_path / "in")
    asked = ("--growth", "0", "--growth-high", "0", "--broker-counts", "6,7", "--placer", "fewest-bytes")
    done = run("report", tmp_path / "in", *asked, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    decision = json.loads((tmp_path / "out" / "decision.json").read_text())
    assert decision["status"] == "does_not_fit"
    assert {(one["status"], one["lasts"]) for one in decision["options"]} == {("does_not_fit", "not-today")}
    page = (tmp_path / "out" / "index.html").read_text()
    assert page.count("Fits today’s sizes") >= 2
    assert "(fits)" not in page


def test_doctor_staging_and_plan_find_the_same(run, example, planned, tmp_path):
    write_snapshot_files(example, tmp_path)
    done = run("doctor", tmp_path, "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)["problems"]
    rows = [row for row in planned["diagnoses"] if row["placement_id"] == "today"]
    assert [(one["severity"], one["code"], one["where"], one["message"], one["remedy"]) for one in said] == [
        (row["severity"], row["code"], row["where"], row["message"], row["remedy"]) for row in rows
    ]
    staged = inventory_problems(example).to_json()
    assert [one for one in said if one["code"] != "rack-loss"] == staged


def test_a_log_dir_that_failed_is_serious_wherever_the_cluster_is_looked_at(run, tmp_path):
    raw = cluster()
    write_snapshot_files(change(raw, "log_dirs", 3, error="KafkaStorageException"), tmp_path / "in")
    assert "1 log dir offline" in run("doctor", tmp_path / "in", "--fail-on", "serious").stdout
    assert run("doctor", tmp_path / "in", "--fail-on", "serious").exit_code == 1
    run("report", tmp_path / "in", "--out", tmp_path / "out")
    decision = json.loads((tmp_path / "out" / "decision.json").read_text())
    assert [one["severity"] for one in decision["problems"] if one["code"] == "log_dir_offline"] == ["serious"]


def test_full_disks_and_late_groups_of_the_shop_are_found(run, tmp_path):
    write_snapshot_files(make_example("shop-eu"), tmp_path)
    done = run("doctor", tmp_path, "--json", "--fail-on", "serious")
    assert done.exit_code == 1
    problems = {one["code"]: one for one in json.loads(done.stdout)["problems"]}
    disks, late = problems["disk-over-limit"], problems["groups-hours-behind"]
    assert disks["message"].startswith("all 12 brokers are over the limit of 85 % of disk space, worst is broker 8 ")
    assert disks["figure"]["needed"] > disks["figure"]["available"]
    assert "clicks-pl-app-dashboards" in late["where"]
    assert late["figure"]["needed"] > late["figure"]["available"] == 3600.0
