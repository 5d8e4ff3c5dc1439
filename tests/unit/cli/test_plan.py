"""``kafka-capacity plan``: its files, its verdict and its refusals."""

import dataclasses
import json

import pytest

from kafka_capacity.cli import planning
from kafka_capacity.cli.plan_input import read_plan_input
from kafka_capacity.inventory.files import write_snapshot_files
from kafka_capacity.report.formats import format_percent
from kafka_capacity.sizing import PlacementMetrics, evaluate_placement, move_schedule
from kafka_capacity.sizing.grid import scenario_from_json
from kafka_capacity.workflow.simulation import inventory_facts
from tests.builders import cluster, rows_of, with_rows

NINE = [{"id": i, "rack": "abc"[(i - 1) % 3]} for i in range(1, 10)]
MOVES = {"moves.json", "moves-rollback.json"}
FEWEST_AS_NOW = ("--broker-counts", "6", "--placer", "fewest-bytes")
FILES = {"plan.json", "reassignment.json", "rollback.json", "timing.json", "runbook.md", *MOVES}


def names(folder):
    """The files below a folder, those of waves left out."""
    return {name for name in all_names(folder) if "waves/" not in name}


def all_names(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def read(path):
    return json.loads(path.read_text())


@pytest.fixture
def planned(run, snapshot, broker_list, tmp_path):
    """Plan for three more brokers into a folder."""
    out = tmp_path / "out"
    done = run("plan", "--snapshot", snapshot, "--brokers", broker_list(NINE), "--placer", "fewest-bytes", "--out", out)
    assert done.exit_code == 0, done.output
    return out


def test_one_option_gives_these_files(planned):
    assert names(planned) == FILES


def test_the_plan_holds_what_the_evaluation_says(planned, snapshot):
    plan = read(planned / "plan.json")
    found = read_plan_input(str(snapshot))
    asked = {key: plan[key] for key in ("scenario_id", "target", "placer", "replication_factor", "rack_rule", "seed")}
    asked |= {key: plan[key] for key in ("throttle_bytes_per_second", "balance", "tolerance_ratio", "disk_limit_ratio")}
    result = evaluate_placement(found.snapshot, found.load, scenario_from_json(asked))

    assert plan["fits"] is True
    assert plan["excuses"] == []
    assert {f.name for f in dataclasses.fields(PlacementMetrics)} <= set(plan)
    for name, value in dataclasses.asdict(result.metrics).items():
        assert plan[name] == value, name
    assert [row["broker_id"] for row in plan["brokers"]] == list(range(1, 10))
    assert [row["bytes_after"] for row in plan["brokers"]] == result.loads.bytes_after.tolist()
    assert [row["is_new"] for row in plan["brokers"]] == [False] * 6 + [True] * 3


def test_the_reassignment_is_the_whole_target_and_the_rollback_the_whole_cluster(planned, snapshot):
    found = read_plan_input(str(snapshot)).snapshot
    target, back = read(planned / "reassignment.json"), read(planned / "rollback.json")

    assert len(target["partitions"]) == len(back["partitions"]) == 16
    assert [p["replicas"] for p in back["partitions"]] == [
        [b for b in row if b >= 0] for row in found.replicas.tolist()
    ]
    moved = sum(
        len(set(after["replicas"]) - set(before["replicas"]))
        for after, before in zip(target["partitions"], back["partitions"], strict=True)
    )
    assert moved == read(planned / "plan.json")["moved_replicas"] > 0


def test_what_is_to_be_executed_has_the_changed_partitions_only(planned):
    target, back = read(planned / "reassignment.json")["partitions"], read(planned / "rollback.json")["partitions"]
    moves, undo = read(planned / "moves.json"), read(planned / "moves-rollback.json")
    changed = [(a, b) for a, b in zip(target, back, strict=True) if a["replicas"] != b["replicas"]]

    assert 0 < len(changed) < len(target)
    assert moves == {"version": 1, "partitions": [after for after, _ in changed]}
    assert undo == {"version": 1, "partitions": [before for _, before in changed]}
    assert len(changed) == read(planned / "plan.json")["changed_partitions"]


def wave_names(folder):
    return sorted(name for name in all_names(folder) if "waves/" in name)


def replica_lists(path):
    return {(p["topic"], p["partition"]): p["replicas"] for p in read(path)["partitions"]}


def test_all_waves_in_order_are_the_target_and_back_in_order_the_start(run, snapshot, broker_list, tmp_path):
    start = ("plan", "--snapshot", snapshot, "--brokers", broker_list(NINE), "--placer", "fewest-bytes")
    run(*start, "--moves-per-broker", "2", "--out", tmp_path)
    plan = read(tmp_path / "plan.json")
    waves = [next(iter(sorted(wave["files"], key=len))) for wave in plan["waves"]]
    lists = replica_lists(tmp_path / "rollback.json")

    assert {f"waves/{name}" for wave in plan["waves"] for name in wave["files"]} == set(wave_names(tmp_path))
    assert plan["schedule"]["wave_count"] == len(waves) > 2
    for name in waves:
        lists |= replica_lists(tmp_path / "waves" / name)
    assert lists == replica_lists(tmp_path / "reassignment.json")
    for name in reversed(waves):
        lists |= replica_lists(tmp_path / "waves" / name.replace(".json", "-rollback.json"))
    assert lists == replica_lists(tmp_path / "rollback.json")


def test_waves_of_an_earlier_plan_are_taken_away(run, snapshot, broker_list, tmp_path):
    start = ("plan", "--snapshot", snapshot, "--brokers", broker_list(NINE), "--placer", "fewest-bytes")
    run(*start, "--moves-per-broker", "1", "--out", tmp_path)
    many = wave_names(tmp_path)
    run(*start, "--out", tmp_path)

    assert 0 < len(wave_names(tmp_path)) < len(many)
    assert wave_names(tmp_path) == sorted(
        f"waves/{name}" for wave in read(tmp_path / "plan.json")["waves"] for name in wave["files"]
    )


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        (("--wave-order", "smallest-first"), "order", "smallest-first"),
        (("--throttle-auto",), "is_throttle_automatic", True),
        (("--headroom", "0.5"), "headroom_ratio", 0.5),
        (("--moves-per-broker", "3"), "most_moves_per_broker", 3),
        (("--wave-hours", "2"), "longest_wave_seconds", 7200.0),
        (("--pause", "5"), "pause_seconds", 5.0),
    ],
)
def test_every_option_of_the_move_reaches_the_schedule(run, snapshot, options, name, value):
    start = ("plan", "--snapshot", snapshot, "--broker-counts", "9", "--placer", "fewest-bytes", "--json")
    plan = json.loads(run(*start, *options).stdout)

    assert plan["schedule"][name] == value


def test_fetchers_and_leadership_first_show_in_the_schedule(run, snapshot, broker_list):
    fewer = ("--brokers", broker_list(NINE[:5]), "--placer", "fewest-bytes", "--json")
    start = ("plan", "--snapshot", snapshot, *fewer, "--rack-rule", "off")
    usual, slow, faster, plain = (
        json.loads(run(*start, *options).stdout)["schedule"]
        for options in (
            (),
            ("--fetcher-rate", "1e5"),
            ("--fetcher-rate", "1e5", "--fetchers", "4"),
            ("--no-leadership-first",),
        )
    )

    assert usual["leaders_moved_first"] > 0
    assert plain["leaders_moved_first"] is None
    assert usual["total_low_seconds"] < faster["total_low_seconds"] < slow["total_low_seconds"]


def test_waves_that_never_end_are_a_warning_of_plan_and_report_alike(run, snapshot, tmp_path):
    start = ("--snapshot", snapshot, "--broker-counts", "9", "--placer", "fewest-bytes")
    waves = json.loads(run("plan", *start, "--json").stdout)["schedule"]
    below = ("--throttle", str(waves["smallest_throttle_expected_bytes_per_second"] * 0.9))
    plan, report = run("plan", *start, *below), run("report", *start, *below, "--out", tmp_path)
    warned = [line.partition(": ")[2] for line in plan.stdout.splitlines() if line.startswith("warning, 009-brokers.")]

    assert any(text.startswith("The move never ends at this throttle") for text in warned)
    assert any("in waves above" in text for text in warned)
    assert {f"warning: {text}" for text in warned} <= set(report.stderr.splitlines())


def test_the_table_says_how_many_waves_and_how_long(run, snapshot):
    done = run("plan", "--snapshot", snapshot, "--broker-counts", "9", "--placer", "fewest-bytes", "--throttle", "1")

    assert "in waves: quiet – mean –" in done.stdout
    assert "never" in done.stdout


def test_an_explanation_has_bound_limits_orders_and_waves(run, snapshot):
    start = ("plan", "--snapshot", snapshot, "--broker-counts", "6,9", "--placer", "fewest-bytes", "--throttle", "1e8")
    lines = run(*start, "--explain", "--moves-per-broker", "2").stdout.splitlines()
    own = lines[lines.index("009-brokers.fewest-bytes:") :]

    assert "006-brokers.fewest-bytes:" in lines
    for beginning in (
        "  bound: ", "  binds: ", "  waves: ", "  smallest throttle: ", "  order: ", "    relief-first: ",
        "    smallest-first: ", "    hottest-first: ", "  wave 1 copy: ", "  wave 2 ",
    ):  # fmt: skip
        assert any(line.startswith(beginning) for line in own), beginning
    wave = next(line for line in own if line.startswith("  wave 1 copy: "))
    for word in (" bottleneck broker ", " throttle 100 MB/s", " disk up to ", " of its limit)"):
        assert word in wave
    assert run(*start, "--explain", "--json").exit_code == 2


def test_an_explanation_says_what_would_relieve_a_full_disk(run, snapshot):
    done = run(
        "plan", "--snapshot", snapshot, "--broker-counts", "6", "--placer", "fewest-bytes", "--disk-limit", "0.000001",
        "--explain",
    )  # fmt: skip

    assert "  binds: disks of brokers 1, 2, 3, 4, 5, 6, " in done.stdout
    assert "would do" in done.stdout


def test_the_closing_line_names_the_file_that_the_time_is_of(run, snapshot, broker_list, tmp_path):
    start = ("plan", "--snapshot", snapshot, "--placer", "fewest-bytes", "--throttle", "1e6")
    nine = ("--brokers", broker_list(NINE))
    one = run(*start, *nine, "--out", tmp_path / "one").stdout.splitlines()[-1]
    several = run(*start, "--broker-counts", "8,9", "--out", tmp_path / "several").stdout.splitlines()[-1]
    unfit = run(*start, "--broker-counts", "8,9", "--disk-limit", "1e-6", "--out", tmp_path / "unfit").stdout

    assert one.startswith("to do it, give moves.json to kafka-reassign-partitions.sh --execute --throttle 1000000: ")
    assert several.startswith("to do it, give 008-brokers.fewest-bytes/moves.json to ")
    assert unfit.splitlines()[-1].startswith("to do it, give ID/moves.json to ")
    assert "moves.json" not in run(*start, *nine).stdout
    refused = run("plan", "--snapshot", snapshot, "--brokers", broker_list(NINE[:2]), "--out", tmp_path / "refused")
    assert "moves.json" not in refused.stdout
    help_text = " ".join(run("plan", "--help").stdout.replace("│", " ").split())
    assert "give this one to kafka-reassign-partitions.sh --execute --throttle" in help_text


def test_where_nothing_changes_there_is_nothing_to_execute(run, snapshot, tmp_path):
    out = tmp_path / "out"
    start = ("plan", "--snapshot", snapshot, "--broker-counts", "6", "--placer", "fewest-bytes", "--tolerance", "1")
    done = run(*start, "--out", out)

    assert read(out / "plan.json")["changed_partitions"] == 0
    assert read(out / "moves.json") == {"version": 1, "partitions": []}
    assert done.stdout.splitlines()[-1].startswith("nothing changes, so moves.json is empty")


def test_times_are_apart_and_the_plan_is_the_same_bytes(planned, run, snapshot, broker_list, tmp_path):
    again = tmp_path / "again"
    run("plan", "--snapshot", snapshot, "--brokers", broker_list(NINE), "--placer", "fewest-bytes", "--out", again)

    for name in FILES - {"timing.json"}:
        assert (again / name).read_bytes() == (planned / name).read_bytes()
    timing = read(planned / "timing.json")
    assert set(timing) == {"read_seconds", "evaluate_seconds", "total_seconds"}
    assert timing["total_seconds"] >= timing["evaluate_seconds"]["009-brokers.fewest-bytes"] > 0


def test_neither_format_nor_order_of_rows_shows(planned, run, snapshot, broker_list, tmp_path):
    raw = read_plan_input(str(snapshot)).raw
    for name in ("brokers", "topics", "replicas", "metrics"):
        raw = with_rows(raw, name, rows_of(raw, name)[::-1])
    write_snapshot_files(raw, tmp_path / "shuffled", file_format="json")
    out = tmp_path / "again"
    run(
        "plan", "--snapshot", tmp_path / "shuffled", "--brokers", broker_list(NINE[::-1]),
        "--placer", "fewest-bytes", "--out", out,
    )  # fmt: skip

    for name in FILES - {"timing.json"}:
        assert (out / name).read_bytes() == (planned / name).read_bytes()


def test_a_list_of_brokers_is_the_whole_target(run, snapshot, broker_list, tmp_path):
    wanted = [
        {"id": 1},
        {"id": 2, "rack": None, "disk_capacity_bytes": 9e12},
        {"id": 3, "rack": "z"},
        {"id": 70, "rack": "b"},
        {"id": 71, "rack": "c", "network_in_bytes_per_second": 5e8},
    ]
    out = tmp_path / "out"
    # A list in which only some have a rack is planned without a rack rule only.
    chosen = ("--brokers", broker_list(wanted), "--placer", "fewest-bytes", "--rack-rule", "off")
    done = run("plan", "--snapshot", snapshot, *chosen, "--out", out)
    plan = read(out / "plan.json")

    assert done.exit_code == 0
    assert plan["target"]["ids"] == [1, 2, 3, 70, 71]
    assert plan["target"]["racks"] == ["a", None, "z", "b", "c"]
    assert plan["target"]["disk_capacity_bytes"] == [4e12, 9e12, 4e12, 4e12, 4e12]
    assert plan["target"]["network_in_bytes_per_second"] == [1.25e9, 1.25e9, 1.25e9, 1.25e9, 5e8]
    removed = [row["broker_id"] for row in plan["brokers"] if row["is_removed"]]
    assert removed == [4, 5, 6]
    used = {b for p in read(out / "reassignment.json")["partitions"] for b in p["replicas"]}
    assert used <= {1, 2, 3, 70, 71}


def test_new_brokers_have_the_median_of_what_is_known(run, tmp_path, broker_list):
    raw = cluster(hours=0)
    rows = rows_of(raw, "brokers")
    for row, size in zip(rows, [1e12, 2e12, 9e12, None, None, None], strict=True):
        row["disk_capacity_bytes"] = size
    write_snapshot_files(with_rows(with_rows(raw, "brokers", rows), "log_dirs", []), tmp_path / "s")
    run("plan", "--snapshot", tmp_path / "s", "--brokers", broker_list(NINE), "--placer", "zk", "--out", tmp_path / "o")

    given = read(tmp_path / "o" / "plan.json")["target"]["disk_capacity_bytes"]
    assert given == [1e12, 2e12, 9e12, None, None, None, 2e12, 2e12, 2e12]


def test_several_options_have_a_folder_each_and_a_recommendation(run, snapshot, tmp_path):
    out = tmp_path / "out"
    done = run(
        "plan", "--snapshot", snapshot, "--broker-counts", "6,9", "--placer", "fewest-bytes", "--placer", "generate",
        "--out", out,
    )  # fmt: skip
    ids = [f"00{count}-brokers.{placer}" for count in (6, 9) for placer in ("fewest-bytes", "generate")]

    assert done.exit_code == 0
    assert names(out) == {"plan.json", "timing.json"} | {
        f"{name}/{file}" for name in ids for file in FILES - {"timing.json"}
    }
    summary = read(out / "plan.json")
    assert [scenario["scenario_id"] for scenario in summary["scenarios"]] == ids
    assert summary["recommended"] == "006-brokers.fewest-bytes"
    assert "recommended: 006-brokers.fewest-bytes" in done.stdout
    for scenario in summary["scenarios"]:
        alone = read(out / scenario["scenario_id"] / "plan.json")
        assert {key: alone[key] for key in scenario} == scenario


def test_what_an_earlier_plan_left_is_never_taken_for_this_one(run, snapshot, tmp_path, broker_list):
    out = tmp_path / "out"
    start = ("plan", "--snapshot", snapshot, "--out", out)
    run(*start, "--brokers", broker_list(NINE), "--placer", "zk")
    assert names(out) == FILES

    run(*start, "--brokers", broker_list(NINE), "--placer", "zk", "--placer", "modulo")
    assert {name for name in names(out) if "/" not in name} == {"plan.json", "timing.json"}


def test_a_plan_that_fails_leaves_what_was_there(planned, run, tmp_path, broker_list):
    before = {name: (planned / name).read_bytes() for name in all_names(planned)}
    done = run(
        "plan", "--snapshot", tmp_path / "nothing", "--brokers", broker_list(NINE), "--placer", "zk", "--out", planned
    )

    assert done.exit_code == 2
    assert {name: (planned / name).read_bytes() for name in all_names(planned)} == before


def test_what_kafka_would_refuse_is_told_and_has_no_reassignment(planned, run, snapshot, broker_list):
    done = run(
        "plan", "--snapshot", snapshot, "--brokers", broker_list(NINE[:2]), "--placer", "generate", "--out", planned
    )
    plan = read(planned / "plan.json")

    assert done.exit_code == 0
    assert all_names(planned) == FILES - MOVES - {"reassignment.json", "runbook.md"}
    assert (plan["fits"], plan["moved_bytes"], plan["brokers"]) == (False, None, [])
    assert plan["excuses"][0]["constraint"] == "placement"
    assert "refused" in done.stdout
    assert "it does not fit" in done.stdout


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
        (("--throttle", "0"), "error: --throttle: 0.0 is refused: input should be greater than 0"),
        (("--placer", "best"), "error: --placer: ['best'] is refused: 'best' is no placer; choose from fewest-bytes, "),
        (("--broker-counts", "12,x"), "error: --broker-counts: 'x' is refused: input should be a valid integer"),
        (("--disk-limit", "85"), "error: --disk-limit: 85.0 is refused: input should be less than or equal to 1"),
        (("--tolerance", "nan"), "error: --tolerance: nan is refused: "),
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
    done = run("plan", "--snapshot", snapshot, *FEWEST_AS_NOW, *pins, "--most-replicas", "9", "--out", out)

    assert done.exit_code == 0, done.output
    target = read(out / "reassignment.json")["partitions"]
    assert {b for row in target if row["topic"] == "audit" for b in row["replicas"]} <= {1, 2, 6}
    assert {b for row in target if row["topic"] == "orders" for b in row["replicas"]} == {1, 2, 3, 4, 5, 6}
    plan = read(out / "plan.json")
    assert plan["most_replicas_per_broker"] == 9
    assert plan["pins"][0] == {"topics": "audit", "broker_ids": [1, 2, 6], "racks": []}


@pytest.mark.parametrize(
    ("pin", "message"),
    [
        ("audit", "--pin: 'audit' is refused: write TOPIC=1,2,3 or TOPIC=rack:a"),
        ("audit=a", "--pin: 'a' is refused: write a broker id such as 3, or a rack as rack:NAME"),
        ("adit=1,2", "--pin: 'adit' is no topic of the cluster; mend the name or leave it out"),
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
    assert done.stderr.startswith("error: --new-broker-racks: ['a'] is refused: no broker of cluster 'payments'")


def test_a_list_and_counts_exclude_each_other(run, snapshot, broker_list):
    done = run("plan", "--snapshot", snapshot, "--brokers", broker_list(NINE), "--broker-counts", "9")

    assert done.exit_code == 2
    assert done.stderr.startswith("error: --brokers: lists every broker already; leave out --broker-counts")


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([], "brokers.json: "),
        ([{"id": 1}, {"id": 1}], "brokers.json: "),
        ([{"id": "x"}], "entry 0 (id x): id is 'x': "),
        ({"brokers": []}, "is not a list of brokers"),
    ],
)
def test_a_wrong_list_is_told_with_its_file(run, snapshot, broker_list, entries, message):
    done = run("plan", "--snapshot", snapshot, "--brokers", broker_list(entries))

    assert done.exit_code == 2
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


def test_figures_of_the_table_are_those_of_the_plan(planned, run, snapshot, broker_list):
    plan = read(planned / "plan.json")
    done = run("plan", "--snapshot", snapshot, "--brokers", broker_list(NINE), "--placer", "fewest-bytes", "--quiet")
    row = next(line for line in done.stdout.splitlines() if "fewest-bytes" in line)
    cells = [cell.strip() for cell in row.strip("│").split("│")]

    assert cells[:3] == ["9", "fewest-bytes", "yes"]
    assert cells[3] == f"{plan['moved_replicas']} of {plan['total_replicas']}"
    assert cells[4] == f"{plan['moved_bytes'] / 2**30:.1f} GiB"
    assert "it fits" in done.stdout
    assert cells[6] == format_percent(plan["gap_ratio"])


@pytest.fixture
def slow(monkeypatch):
    """Let every move take a day at mean rates and what is said at peak."""

    def let(peak):
        def evaluate(*given):
            result = evaluate_placement(*given)
            figures = {"duration_seconds": 86_400.0, "duration_peak_seconds": peak}
            figures["smallest_throttle_peak_bytes_per_second"] = 61_000_000.0
            return dataclasses.replace(result, metrics=dataclasses.replace(result.metrics, **figures))

        monkeypatch.setattr(planning, "evaluate_placement", evaluate)
        # Its waves would have times of their own.
        monkeypatch.setattr(move_schedule, "is_scheduled", lambda result: False)

    return let


@pytest.mark.parametrize(
    ("peak", "shown", "is_warned"),
    [(151_200.0, "1 d – 1 d 18 h", False), (None, "1 d, never at peak", True), (86_400.0, "1 d", False)],
)
def test_the_time_is_shown_at_mean_and_at_peak(run, snapshot, slow, peak, shown, is_warned):
    slow(peak)
    done = run("plan", "--snapshot", snapshot, "--broker-counts", "9", "--placer", "fewest-bytes")
    row = next(line for line in done.stdout.splitlines() if "│ fewest-bytes" in line)
    warning = (
        "warning, 009-brokers.fewest-bytes: At peak rates the copies fall behind and the move never ends: "
        "run it off-peak, or with a throttle above 61 MB/s."
    )

    assert row.strip("│ ").split("│")[-3].strip() == shown
    assert (warning in done.stdout.splitlines()) is is_warned


@pytest.fixture
def doubtful(monkeypatch):
    """Let the inventory lack sizes and have several log dirs a broker."""

    def facts(*given):
        found = inventory_facts(*given)
        more = {"unknown_size_partitions": 3, "brokers_with_several_log_dirs": 1}
        return {**found, "snapshot": {**found["snapshot"], **more}}

    monkeypatch.setattr(planning, "inventory_facts", facts)


def test_plan_and_report_say_the_same_serious_things(run, snapshot, doubtful, tmp_path):
    said = [
        "The size of 3 of 16 partitions is not known and counts as nothing: copied bytes, disks and time are too low.",
        "1 broker has several log dirs, which are judged as one disk here: a full one beside an empty one is not seen.",
    ]
    start = ("--snapshot", snapshot, "--broker-counts", "9", "--placer", "fewest-bytes")
    plan, report = run("plan", *start), run("report", *start, "--out", tmp_path / "report")

    for text in said:
        assert f"warning: {text}" in plan.stdout.splitlines()
        assert f"warning: {text}" in report.stderr.splitlines()
        assert text in (tmp_path / "report" / "email.txt").read_text()
    assert json.loads(run("plan", *start, "--json").stdout)["serious_caveats"] == said


def test_what_an_inventory_lacks_is_a_warning(run, tmp_path):
    write_snapshot_files(cluster(hours=0), tmp_path / "s")
    done = run("plan", "--snapshot", tmp_path / "s", "--broker-counts", "6", "--placer", "fewest-bytes")

    assert "warning: There is no traffic history: times leave out" in done.stdout
