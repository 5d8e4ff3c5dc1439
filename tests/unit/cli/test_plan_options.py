"""``kafka-capacity plan``: what its options lead to, and what it refuses."""

import dataclasses
import json
import re

import pytest

from kafka_capacity.cli import planning
from kafka_capacity.example import make_example
from kafka_capacity.inventory.files import write_snapshot_files
from kafka_capacity.questions.change import share
from kafka_capacity.questions.change.share import inventory_facts
from tests.builders import cluster, rows_of, topic, with_rows
from tests.unit.cli.plan_folders import FEWEST_AS_NOW, FILES, KAFKAS, NINE, all_names, read


def test_what_kafka_would_refuse_is_told_and_has_no_reassignment(planned, run, snapshot, broker_list):
    done = run(
        "plan", "--snapshot", snapshot, "--brokers", broker_list(NINE[:2]), "--placer", "generate", "--out", planned
    )
    plan = read(planned / "plan.json")

    assert done.exit_code == 0
    assert all_names(planned) == FILES - KAFKAS - {"runbook.md"}
    assert (plan["fits"], plan["moved_bytes"], plan["brokers"]) == (False, None, [])
    assert plan["excuses"][0]["constraint"] == "placement"
    assert "002-brokers.generate │ does not fit │ — │" in " ".join(done.stdout.split())
    assert done.stdout.startswith("payments on 2026-11-20: The move to 2 brokers cannot be made: ")


def test_what_does_not_fit_ends_with_0_unless_that_is_asked_for(run, snapshot):
    arguments = ("plan", "--snapshot", snapshot, "--broker-counts", "6", "--placer", "zk", "--disk-limit", "0.000001")

    assert run(*arguments).exit_code == 0
    unfit = run(*arguments, "--fail-if-unfit")
    assert unfit.exit_code == 3
    assert "of its disk" in unfit.stdout
    assert run(*arguments[:-2], "--fail-if-unfit").exit_code == 0


def test_every_option_reaches_the_scenario(run, snapshot, tmp_path):
    done = run(
        "plan", "--snapshot", snapshot, "--broker-counts", "8", "--placer", "fewest-bytes", "--throttle", "1e6",
        "--replication-factor", "2", "--rack-rule", "two-racks", "--balance", "replicas", "--tolerance", "0.25",
        "--new-broker-racks", "a, d", "--seed", "11", "--disk-limit", "0.5", "--json",
    )  # fmt: skip
    plan = json.loads(done.stdout)

    assert done.exit_code == 0
    assert plan["scenario_id"] == "008-brokers.fewest-bytes"
    assert plan["target"]["racks"][6:] == ["a", "d"]
    wanted = {
        "throttle_bytes_per_second": 1e6,
        "replication_factor": 2,
        "rack_rule": "two-racks",
        "balance": "replicas",
        "tolerance_ratio": 0.25,
        "seed": 11,
        "disk_limit_ratio": 0.5,
    }
    assert {key: plan[key] for key in wanted} == wanted


def test_without_options_today_and_one_more_a_rack_are_compared_with_generate(run, snapshot):
    plan = json.loads(run("plan", "--snapshot", snapshot, "--json").stdout)

    assert [(s["broker_count"], s["placer"], s["seeds_tried"]) for s in plan["scenarios"]] == [
        (6, "fewest-bytes", 1),
        (6, "generate", 20),
        (9, "fewest-bytes", 1),
        (9, "generate", 20),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--throttle", "0"), "error: --throttle: 0.0 is invalid: give at least 1kB/s"),
        (
            ("--placer", "best"),
            "error: --placer: ['best'] is invalid: 'best' is not a placer; choose from fewest-bytes, ",
        ),
        (("--broker-counts", ","), "error: --broker-counts: ',' is invalid: write a value, or leave the option out"),
        (("--broker-counts", "12,x"), "error: --broker-counts: 'x' is invalid: write a whole number"),
        (("--disk-limit", "85"), "error: --disk-limit: '85' is invalid: write 85%; a bare 85 would be 8500%"),
        (
            ("--throttle", "fast"),
            "error: --throttle: 'fast' is invalid: write bytes per second, such as 50MB/s or 48MiB/s",
        ),
        (
            ("--replace-broker", "1=9", "--replace-broker", "1=8"),
            "error: --replace-broker: '1' is invalid: it is given both as '9' and as '8'; choose one\n",
        ),
        (("--pause", "soon"), "error: --pause: 'soon' is invalid: write seconds, or a time such as 90s, 5m or 1h30m"),
        (("--thottle", "1"), "error: --thottle: no such option; did you mean --throttle or "),
        (("--snapshot", "x", "y"), "error: --snapshot: the snapshot is given twice; give its folder once"),
        (("--tolerance", "nan"), "error: --tolerance: nan is invalid: "),
        (
            ("--snapshot", "/nowhere"),
            "error: /nowhere/cluster.json is missing; a snapshot is a folder with cluster.json",
        ),
    ],
)
def test_wrong_options_are_told_by_their_name_and_without_a_traceback(run, snapshot, arguments, message):
    done = run("plan", "--snapshot", snapshot, *arguments)

    assert done.exit_code == 2
    assert done.stderr.startswith(message)
    assert "Traceback" not in done.output
    assert done.stdout == ""


def test_pins_reach_the_placement_and_more_of_them_add_up(run, snapshot, tmp_path):
    out = tmp_path / "pinned"
    pins = ["--pin", "audit=1,2", "--pin", "audit=6", "--pin", "ord*=rack:a,rack:b,rack:c"]
    done = run(
        "plan",
        "--snapshot",
        snapshot,
        *FEWEST_AS_NOW,
        *pins,
        "--most-replicas",
        "9",
        "--max-leaders",
        "8",
        "--out",
        out,
    )

    assert done.exit_code == 0, done.output
    target = read(out / "reassignment.json")["partitions"]
    assert {b for row in target if row["topic"] == "audit" for b in row["replicas"]} <= {1, 2, 6}
    assert {b for row in target if row["topic"] == "orders" for b in row["replicas"]} == {1, 2, 3, 4, 5, 6}
    plan = read(out / "plan.json")
    assert (plan["max_replicas_per_broker"], plan["max_leaders_per_broker"]) == (9, 8)
    assert max(broker["leaders_after"] for broker in plan["brokers"]) <= 8
    assert plan["pins"][0] == {"topics": "audit", "broker_ids": [1, 2, 6], "racks": []}


@pytest.mark.parametrize(
    ("pin", "message"),
    [
        ("audit", "--pin: 'audit' is invalid: write TOPIC=ID,rack:NAME"),
        ("audit=a", "--pin: 'a' is invalid: write a broker id such as 3, or a rack as rack:NAME"),
        ("adit=1,2", "--pin: 'adit' is not a topic of the cluster; correct the name or leave it out"),
        ("audit=1,9", "--pin: 'audit' is pinned to broker 9, which no option of this plan has (brokers: 1, 2, 3, 4"),
    ],
)
def test_wrong_pins_are_told(run, snapshot, pin, message):
    done = run("plan", "--snapshot", snapshot, *FEWEST_AS_NOW, "--pin", pin)

    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())


def test_racks_without_racks_are_refused(run, tmp_path):
    write_snapshot_files(cluster(racks=None, hours=0), tmp_path / "s")
    done = run("plan", "--snapshot", tmp_path / "s", "--broker-counts", "7", "--new-broker-racks", "a")

    assert done.exit_code == 2
    assert done.stderr.startswith("error: --new-broker-racks: ['a'] is invalid: no broker of cluster 'payments'")


def test_a_list_and_counts_exclude_each_other(run, snapshot, broker_list):
    done = run("plan", "--snapshot", snapshot, "--brokers", broker_list(NINE), "--broker-counts", "9")

    assert done.exit_code == 2
    assert done.stderr.startswith("error: --brokers: already lists every broker; leave out --broker-counts")


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([], "brokers.json: "),
        ([{"id": 1}, {"id": 1}], "brokers.json: "),
        ([{"id": "x"}], "entry 1 (id x): id is 'x': "),
        ({"brokers": []}, "is not a list of brokers"),
    ],
)
def test_a_wrong_list_is_told_with_its_file(run, snapshot, broker_list, entries, message):
    done = run("plan", "--snapshot", snapshot, "--brokers", broker_list(entries))

    assert done.exit_code == 4
    assert done.stderr.startswith("error: ")
    assert message in done.stderr


def test_an_inventory_with_fatal_findings_is_not_planned_on(run, tmp_path):
    raw = cluster(hours=0)
    rows = rows_of(raw, "replicas")
    rows[0]["size_bytes"] = -5
    write_snapshot_files(with_rows(raw, "replicas", rows), tmp_path / "s")
    done = run("plan", "--snapshot", tmp_path / "s")

    assert done.exit_code == 2
    assert done.stderr.startswith("error: ")
    assert "sizes below 0 on 1 partition (orders-0)" in done.stderr


def test_hostile_names_are_spelled_and_steer_nothing(run, tmp_path):
    raw = dataclasses.replace(cluster(hours=0), cluster="[red]evil[/red]")
    rows = [row | {"rack": f"\x1b[2J[b]{row['rack']}"} for row in rows_of(raw, "brokers")]
    write_snapshot_files(with_rows(raw, "brokers", rows), tmp_path / "s")
    done = run("plan", "--snapshot", tmp_path / "s", "--broker-counts", "6", "--placer", "zk", "--disk-limit", "0.0001")

    assert "\x1b" not in done.output
    assert "[red]evil[/red] on 2026-11-20" in done.stdout
    assert r"(rack \x1b[2J[b]a)" in done.stdout


def test_errors_spell_what_is_not_printable(run, tmp_path):
    write_snapshot_files(dataclasses.replace(cluster(hours=0), cluster="a\x1b[2J"), tmp_path / "s")
    done = run("plan", "--snapshot", tmp_path / "s")

    assert done.exit_code == 2
    assert "\x1b" not in done.output


def test_the_same_seed_moves_the_same_and_another_one_does_not(run, snapshot):
    def moved(seed):
        arguments = ("plan", "--snapshot", snapshot, "--broker-counts", "9", "--placer", "striped", "--json")
        return json.loads(run(*arguments, "--seed", seed).stdout)["moved_bytes_low"]

    assert moved(1) == moved(1)
    assert len({moved(seed) for seed in range(6)}) > 1


@pytest.fixture
def doubtful(monkeypatch):
    """Let the inventory lack sizes and have several log dirs a broker."""

    def facts(*given):
        found = inventory_facts(*given)
        more = {"unknown_size_partitions": 3, "brokers_with_several_log_dirs": 1, "brokers_with_unsized_log_dirs": 1}
        return {**found, "snapshot": {**found["snapshot"], **more}}

    for module in (planning, share):
        monkeypatch.setattr(module, "inventory_facts", facts)


def test_plan_and_report_say_the_same_serious_things(run, snapshot, doubtful, tmp_path):
    said = [
        "The size of 3 of 16 partitions is unknown and counts as zero: copied bytes, disk use and time are "
        "underestimated. Remedy: stage an inventory with the sizes of partitions.",
        "1 broker has several log dirs of unknown size, which are judged as one disk here: a full one next to an "
        "empty one goes unnoticed.",
    ]
    start = ("--snapshot", snapshot, "--broker-counts", "9", "--placer", "fewest-bytes")
    plan, report = run("plan", *start), run("report", *start, "--out", tmp_path / "report")

    for text in said:
        assert f"serious: {text}" in plan.stdout.splitlines()
        assert f"serious: {text}" in report.stderr.splitlines()
        assert text in (tmp_path / "report" / "email.txt").read_text()
    assert json.loads(run("plan", *start, "--json").stdout)["serious_caveats"] == said


@pytest.mark.parametrize("hours", [0, 24])
def test_what_an_inventory_lacks_is_a_warning(run, tmp_path, hours):
    raw = cluster(hours=hours)
    silent = {"bytes_in_bytes_per_second": 0.0, "bytes_out_bytes_per_second": 0.0}
    write_snapshot_files(with_rows(raw, "metrics", [row | silent for row in rows_of(raw, "metrics")]), tmp_path / "s")
    done = run("plan", "--snapshot", tmp_path / "s", "--broker-counts", "6", "--placer", "fewest-bytes")

    assert "serious: No rates are known, or every rate is 0: times ignore" in done.stdout
    assert "Not judged whether 6 brokers fit, because traffic is unknown" in done.stdout


def test_brokers_that_vote_and_are_to_go_are_named_first_in_the_runbook(run, tmp_path):
    voters = [{"node_id": i, "is_voter": True, "is_active": i == 6, "kraft_version": 1} for i in (4, 5, 6)]
    raw = dataclasses.replace(with_rows(cluster(hours=24), "quorum_replicas", voters), kafka_version="4.4.0")
    write_snapshot_files(raw, tmp_path / "s")
    asked = ("plan", tmp_path / "s", "--placer", "fewest-bytes")
    done = run(*asked, "--remove-brokers", "4,5", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "controllers 4, 5 vote in the metadata quorum" in done.stdout
    assert "Controllers 4, 5 vote in the metadata quorum" in (tmp_path / "out" / "runbook.md").read_text()
    (line, *_) = read(tmp_path / "out" / "decision.json")["box"]["lines"]
    assert (line["name"], line["text"][:16]) == ("first", "Controllers 4, 5")
    # Asked for a number only, those that vote are kept.
    fewer = run(*asked, "--broker-counts", "3", "--json")
    kept = {one["broker_id"] for one in json.loads(fewer.stdout)["brokers"] if not one["is_removed"]}
    assert kept == {4, 5, 6}


def test_what_is_no_worse_than_today_is_not_unfit(run, snapshot):
    done = run(
        "plan", "--snapshot", snapshot, "--replace-broker", "1=101", "--placer", "fewest-bytes",
        "--disk-limit", "0.000001", "--fail-if-unfit",
    )  # fmt: skip
    assert (done.exit_code, "no worse than today" in done.stdout) == (0, True)


def test_a_throttle_that_clients_pay_for_is_the_last_choice_and_told(run, tmp_path):
    # New brokers are written 13.3 MB/s in the end: their networks of 125 MB/s have 111.7 MB/s left for copies.
    raw = cluster(topics=[topic("orders", bytes_in=20e6 / 3, bytes_out=0.0)])
    networks = dict.fromkeys(("network_in_bytes_per_second", "network_out_bytes_per_second"), 125e6)
    raw = with_rows(raw, "brokers", [row | networks for row in rows_of(raw, "brokers")])
    write_snapshot_files(raw, tmp_path / "in")
    move = ("plan", tmp_path / "in", "--broker-counts", "9", "--placer", "fewest-bytes", "--out", tmp_path / "out")

    def decided(*throttles):
        done = run(*move, *throttles)
        assert done.exit_code == 0, done.output
        decision = read(tmp_path / "out" / "decision.json")
        told = [one["message"] for one in decision["problems"] if one["code"] == "throttle-above-network"]
        return decision["recommended_scenario_id"], told

    assert decided("--throttles", "50MB/s,90MB/s,500MB/s") == ("009-brokers.fewest-bytes.90MBps", [])
    _, (told,) = decided("--throttle", "500MB/s")
    assert told == (
        "A throttle of 500 MB/s is more than a network has left at peak (111.7 MB/s), where copies and clients slow "
        "each other down"
    )


def test_what_is_down_is_part_of_the_answer(run, tmp_path):
    raw = cluster()
    rows = [row | {"is_fenced": row["broker_id"] == 2} for row in rows_of(raw, "brokers")]
    write_snapshot_files(with_rows(raw, "brokers", rows), tmp_path)
    move = ("plan", tmp_path, "--broker-counts", "6", "--placer", "fewest-bytes", "--quiet")
    said = run(*move).stdout
    assert "6 brokers fit: nothing has to move." in said
    wrong = "Broker 2 is fenced and holds replicas of 3 partitions. Remedy: start it, or move its replicas away."
    assert said.endswith(f" Wrong today: {wrong}\n")
    write_snapshot_files(raw, tmp_path)
    assert "Wrong today: " not in run(*move).stdout


def test_limits_that_no_plan_was_found_to_keep_are_not_called_impossible(run, tmp_path):
    write_snapshot_files(make_example("metrics-uneven"), tmp_path)
    asked = ("plan", tmp_path, "--broker-counts", "12", "--placer", "fewest-bytes", "--quiet")
    # 1,162 replicas are 96.8 on each of 12 brokers: 97 may do, and 98 do.
    assert (
        ": No placement on 12 brokers was found that keeps all limits: " in run(*asked, "--max-replicas", "97").stdout
    )
    assert ": 12 brokers fit" in run(*asked, "--max-replicas", "98").stdout
    said = run(*asked, "--max-leaders", "30").stdout
    assert ": 12 brokers are not enough: " in said
    assert "; it needs at least 2 more brokers of this size, or a limit of " in said
    assert re.search(r"\(\d+ other brokers exceed this limit\)\.$", said.strip())
