"""``kafka-capacity plan``: its files and its verdict."""

import dataclasses
import json

import pytest

from kafka_capacity.cli.plan_input import read_plan_input
from kafka_capacity.inventory.files import write_snapshot_files
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.proposal.evaluate import evaluate_placement
from kafka_capacity.proposal.grid import placement_grid, scenario_to_json
from kafka_capacity.proposal.scenario import PlacementMetrics
from kafka_capacity.text import format_gap
from tests.builders import cluster, rows_of, with_rows
from tests.unit.cli.plan_folders import FILES, NINE, all_names, names, read


def test_one_option_gives_these_files(planned):
    assert names(planned) == FILES


def test_the_plan_holds_what_the_evaluation_says(planned, snapshot):
    plan = read(planned / "plan.json")
    found = read_plan_input(str(snapshot))
    request = parse_plan_request({"cluster": "payments", "broker_counts": [9], "placers": ["fewest-bytes"]})
    (scenario,) = placement_grid(found.snapshot.brokers, request.grid())
    result = evaluate_placement(found.snapshot, found.load, scenario)

    assert scenario_to_json(scenario).items() <= plan.items()
    assert plan["fits"] is True
    assert plan["excuses"] == []
    assert {f.name for f in dataclasses.fields(PlacementMetrics)} <= set(plan)
    for name, value in dataclasses.asdict(result.metrics).items():
        assert plan[name] == value, name
    assert [row["broker_id"] for row in plan["brokers"]] == list(range(1, 10))
    assert [row["bytes_after"] for row in plan["brokers"]] == result.loads.bytes_after.tolist()
    assert [row["is_new"] for row in plan["brokers"]] == [False] * 6 + [True] * 3


def test_the_target_is_the_whole_assignment_and_the_reassignment_the_same(planned, snapshot):
    found = read_plan_input(str(snapshot)).snapshot
    target = read(planned / "target.json")["partitions"]
    before = [[b for b in row if b >= 0] for row in found.replicas.tolist()]

    assert len(target) == 16
    moved = sum(len(set(row["replicas"]) - set(old)) for row, old in zip(target, before, strict=True))
    assert moved == read(planned / "plan.json")["moved_replicas"] > 0
    assert (planned / "reassignment.json").read_bytes() == (planned / "target.json").read_bytes()


def test_what_is_to_be_executed_and_the_way_back_have_the_changed_partitions_only(planned, snapshot):
    found = read_plan_input(str(snapshot)).snapshot
    target = read(planned / "target.json")["partitions"]
    moves, back = read(planned / "moves.json"), read(planned / "rollback.json")
    before = [
        {**row, "replicas": [b for b in old if b >= 0]}
        for row, old in zip(target, found.replicas.tolist(), strict=True)
    ]
    changed = [(a, b) for a, b in zip(target, before, strict=True) if a["replicas"] != b["replicas"]]

    assert 0 < len(changed) < len(target)
    assert moves == {"version": 1, "partitions": [after for after, _ in changed]}
    assert back == {"version": 1, "partitions": [before for _, before in changed]}
    assert len(changed) == read(planned / "plan.json")["changed_partitions"]


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
    assert names(out) == {"decision.json", "plan.json", "timing.json"} | {
        f"{name}/{file}" for name in ids for file in FILES - {"decision.json", "timing.json"}
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
    assert {name for name in names(out) if "/" not in name} == {"decision.json", "plan.json", "timing.json"}
    assert {name.split("/")[0] for name in names(out) if "/" in name} == {"009-brokers.zk", "009-brokers.modulo"}

    run(*start, "--brokers", broker_list(NINE), "--placer", "zk")
    assert names(out) == FILES


def test_a_plan_that_fails_leaves_what_was_there(planned, run, tmp_path, broker_list):
    before = {name: (planned / name).read_bytes() for name in all_names(planned)}
    done = run(
        "plan", "--snapshot", tmp_path / "nothing", "--brokers", broker_list(NINE), "--placer", "zk", "--out", planned
    )

    assert done.exit_code == 2
    assert {name: (planned / name).read_bytes() for name in all_names(planned)} == before


def test_figures_of_the_table_are_those_of_the_plan(planned, run, snapshot, broker_list):
    plan = read(planned / "plan.json")
    done = run("plan", "--snapshot", snapshot, "--brokers", broker_list(NINE), "--placer", "fewest-bytes")
    row = next(line for line in done.stdout.splitlines() if "fewest-bytes │" in line)
    cells = [cell.strip() for cell in row.strip("│").split("│")]

    assert cells[:2] == ["009-brokers.fewest-bytes", "recommended"]
    assert cells[2] == f"{plan['moved_bytes'] / 2**30:.1f} GiB"
    assert cells[3] == f"{plan['moved_replicas']}"
    assert "it fits" in done.stdout
    assert cells[5] == format_gap(plan["gap_ratio"])


@pytest.mark.parametrize(("share_ratio", "is_told"), [(0.69, False), (0.75, True), (1.0, True)])
def test_networks_that_fit_and_leave_less_headroom_than_sizing_wants_are_told(run, tmp_path, share_ratio, is_told):
    raw = cluster()
    write_snapshot_files(raw, tmp_path / "ample")
    asked = ("--broker-counts", "6", "--placer", "fewest-bytes")
    today = json.loads(run("plan", "--snapshot", tmp_path / "ample", *asked, "--json").stdout)
    busiest = max(row["peak_in_after"] for row in today["brokers"])
    brokers = [row | {"network_in_bytes_per_second": busiest / share_ratio} for row in rows_of(raw, "brokers")]
    write_snapshot_files(with_rows(raw, "brokers", brokers), tmp_path / "tight")

    done = run("plan", "--snapshot", tmp_path / "tight", *asked)

    told = " ".join(done.stdout.split())
    assert "6 brokers fit" in told
    assert (f"{share_ratio:.0%} of network in at peak".replace("%", " %") in told) is is_told
    assert ("whose limit is 70 %" in told) is is_told
