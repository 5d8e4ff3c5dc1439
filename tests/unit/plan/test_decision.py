"""A plan is decided once: the same in the scheduled plan, in a report of the command line, and for what is released."""

from __future__ import annotations

import dataclasses
import json

import pytest
from typer.testing import CliRunner

from kafka_capacity.cli.app import load_commands
from kafka_capacity.cli.plan_input import read_plan_input
from kafka_capacity.demand.calendar_days import days_later
from kafka_capacity.health.check import RESOLVED, ListedProblem
from kafka_capacity.health.problem import Code, Problem, Severity
from kafka_capacity.inventory.files import write_snapshot_files
from kafka_capacity.inventory.staging import stage
from kafka_capacity.objects.dataset import read_manifest
from kafka_capacity.objects.store import LocalStore
from kafka_capacity.objects.tables import PLAN_SCHEMA_VERSION
from kafka_capacity.plan.decision import decide
from kafka_capacity.plan.decision_box import approved_actions
from kafka_capacity.plan.plan_dataset import DECISION, DECISION_DATASET_KIND, DECISION_FOLDER
from kafka_capacity.plan.publish import publish_report, read_decision
from kafka_capacity.plan.release import release_plan_files
from kafka_capacity.questions.capacity.sizing_view import is_soon
from tests.builders import cluster, rows_of, topic, with_rows
from tests.published import read_published
from tests.report.decided import build_report, decision_of
from tests.report.sized import sized_inputs
from tests.sized_plans import simulated_plan

_PLACERS = ["fewest-bytes", "generate"]
_LITTLE = {"group_events": ["scale"], "max_savings_sets": 3, "marginal_topics": 1, "failover_runs": 50}


def run(*arguments):
    done = CliRunner().invoke(load_commands(), [str(one) for one in arguments])
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The small example, planned as the DAG does and as ``report`` does: store, pinned plan, the report's folder."""
    folder = tmp_path_factory.mktemp("decided")
    run("example", "metrics-uneven", "--out", folder / "snapshot", "--quiet")
    store = LocalStore(folder / "objects")
    raw = read_plan_input(str(folder / "snapshot")).raw
    stage(raw, store)
    pinned, _ = simulated_plan(store, {"cluster": raw.cluster, "ds": raw.ds, "placers": _PLACERS, **_LITTLE})
    publish_report(store, pinned)
    typed = [word for placer in _PLACERS for word in ("--placer", placer)]
    typed += ["--member-events", "scale", "--max-savings", "3", "--marginal-topics", "1", "--failover-runs", "50"]
    run("report", "--snapshot", folder / "snapshot", *typed, "--out", folder / "report", "--quiet")
    return store, pinned, folder / "report"


def decided_by(decision):
    return {name: value for name, value in decision.items() if name != "plan_id"}


def test_the_scheduled_plan_and_the_command_line_decide_the_same(both):
    store, pinned, folder = both
    scheduled, typed = read_decision(store, pinned.plan_prefix), json.loads((folder / DECISION).read_text())
    assert scheduled["plan_id"] == pinned.plan_id
    assert json.dumps(decided_by(scheduled), indent=1) == json.dumps(decided_by(typed), indent=1)


def test_with_brokers_that_differ_and_one_that_is_named_they_decide_the_same_too(tmp_path):
    raw = cluster(topics=[topic("orders", partitions=36, bytes_in=4e5, bytes_out=8e5)], disk_capacity_bytes=4e14)
    rows = [{**row, "cpu_cores": 2.0 * row["broker_id"]} for row in rows_of(raw, "brokers")]
    rows = [{**row, "disk_capacity_bytes": row["disk_capacity_bytes"] * (1 + row["broker_id"] % 2)} for row in rows]
    write_snapshot_files(with_rows(raw, "brokers", rows), tmp_path / "snapshot")
    store = LocalStore(tmp_path / "objects")
    raw = read_plan_input(str(tmp_path / "snapshot")).raw
    stage(raw, store)
    asked = {"cluster": raw.cluster, "ds": raw.ds, "removed_brokers": [1], **_LITTLE}
    pinned, _ = simulated_plan(store, asked)
    publish_report(store, pinned)
    typed = ["--remove-brokers", "1", "--member-events", "scale", "--max-savings", "3"]
    typed += ["--marginal-topics", "1", "--failover-runs", "50", "--out", tmp_path / "report", "--quiet"]
    run("report", "--snapshot", tmp_path / "snapshot", *typed)
    scheduled = read_decision(store, pinned.plan_prefix)
    assert decided_by(scheduled) == decided_by(json.loads((tmp_path / "report" / DECISION).read_text()))
    assert "5 brokers" in scheduled["headline"]


def check_shown(report, decision):
    for action in report["verdict"]["actions"]:
        assert action.pop("state") == "new"
    for name in ("status", "headline", "reasons", "actions", "recommendation"):
        assert report["verdict"][name] == decision[name]


def test_page_and_released_files_show_what_was_decided(both):
    store, pinned, _ = both
    decision = read_decision(store, pinned.plan_prefix)
    report = json.loads(read_published(store, pinned, "report.json"))
    assert json.loads(read_published(store, pinned, DECISION)) == decision
    check_shown(report, decision)
    assert release_plan_files(store, pinned)
    facts = read_manifest(store, pinned.report_prefix + "reassignment/").facts
    assert facts["scenario_id"] == decision["recommended_scenario_id"]


def test_what_was_decided_is_stored_with_the_plan_and_listed_with_its_hash(both):
    store, pinned, _ = both
    prefix = pinned.plan_prefix + DECISION_FOLDER
    manifest = read_manifest(store, prefix, kind=DECISION_DATASET_KIND, schema_version=PLAN_SCHEMA_VERSION)
    assert manifest.documents[DECISION].key == DECISION
    assert len(manifest.documents[DECISION].sha256) == 64


def table_of(report, section):
    data = next(one["data"] for one in report["sections"] if one["name"] == section)
    return data["table"]["rows"] + (data.get("others") or {"rows": []})["rows"]


def test_a_page_has_one_recommendation_and_one_date_for_it(both):
    store, pinned, _ = both
    check_one_recommendation(json.loads(read_published(store, pinned, "report.json")))


def check_one_recommendation(report):
    verdict = report["verdict"]
    now, *later = verdict["recommendation"]["steps"]
    # The count that is needed now is what the first figure says, and what the move goes to unless more are due soon.
    assert verdict["sizing"]["figures"][0]["value"] == now["broker_count"]
    assert now["until"] == days_later(later[0]["from_day"], -1)
    taken = later[0] if is_soon(later[0]["from_day"], report["ds"]) else now
    assert (verdict["recommendation"]["moves_to"], verdict["recommendation"]["until"]) == (
        taken["broker_count"],
        taken["until"],
    )
    # Every table that names it says so, and until when; none says that it does not fit.
    (move,) = [row for row in table_of(report, "comparison") if row["verdict"].startswith("recommended")]
    is_last = taken["until"] is None
    assert move["verdict"] == (
        "recommended_unjudged" if not verdict["fits"] else "recommended" if is_last else "recommended_now"
    )
    # One verdict: what the badge says is what the option says.
    (option,) = [one for one in verdict["options"] if one["is_recommended"]]
    assert option["status"] == verdict["status"]
    assert is_last or f"lasts until {taken['until']}" in move["note"]
    sized = [row for row in table_of(report, "options_costs") if row["verdict"].startswith("needed")]
    (keep,) = [row for row in table_of(report, "options_costs") if "do nothing" in row["label"]]
    if "do-nothing" in now["option_id"]:  # today's brokers are enough now, so there is nothing to buy
        assert [row["verdict"] for row in sized] == ["needed_later"] * len(later)
        assert (keep["verdict"], keep["fits_until"]) == ("lasts", now["until"])
    else:
        assert [row["verdict"] for row in sized] == ["needed_now"] + ["needed_later"] * len(later)
        assert sized[0]["fits_until"] == now["until"]
    steps = next(one["data"] for one in report["sections"] if one["name"] == "by_when")["steps"]["rows"]
    assert steps[0]["until"] == now["until"]
    assert "default counts" in verdict["sizing"]["relation"]
    lasts = "beyond" if is_last else f"until {taken['until']}"
    assert f"last {lasts}" in verdict["sizing"]["relation"]
    assert ("are needed now" in verdict["sizing"]["relation"]) == (taken is now)


def test_the_move_goes_to_the_count_that_is_needed_now_and_not_to_the_smallest_that_fits():
    inputs = sized_inputs()
    decision = decide(inputs)
    assert decision.sizing.count_due == 6
    scenarios = inputs.tables["scenarios"]
    assert {7} == set(scenarios.column("target_broker_count").to_pylist())
    # Seven were asked for, and six are needed: what is asked for is planned, and said to be another count.
    decided = decision.as_dict()
    assert decided["recommendation"]["moves_to"] == 7
    assert "approve the move, and" not in decided["box"]["approve"].lower()
    day = next((one["from_day"] for one in decided["recommendation"]["steps"] if one["broker_count"] == 7), None)
    wanted = f"to the 7 of {day}: approve it" if day else "to 7 brokers: "
    assert f"The planned move goes {wanted}" in decided["box"]["approve"]
    assert "today’s 6 last until" in decision.relation


def test_what_is_wrong_with_the_brokers_of_the_move_is_said_of_the_move_and_once():
    inputs = sized_inputs()
    layout = Problem(severity=Severity.WARNING, code=Code.UNEVEN_RACKS, where="7 brokers", message="racks are uneven")
    proposed = {name: [layout.as_dict()] for name in inputs.tables["scenarios"].column("scenario_id").to_pylist()}
    problems = decide(dataclasses.replace(inputs, proposed=proposed)).as_dict()["problems"]
    (uneven,) = [one for one in problems if one["code"] == "uneven-racks"]
    assert (uneven["question"], uneven["where"]) == ("change", "7 brokers")


def test_of_equal_severity_what_is_wrong_today_comes_before_what_may_become_so():
    inputs = sized_inputs()
    later = Problem(severity=Severity.SERIOUS, code=Code.UNEVEN_RACKS, where="7 brokers", message="racks are uneven")
    today = Problem(severity=Severity.SERIOUS, code=Code.SINGLE_REPLICA, where="orders", message="it has one replica")
    proposed = {name: [later.as_dict()] for name in inputs.tables["scenarios"].column("scenario_id").to_pylist()}
    changed = dataclasses.replace(inputs, proposed=proposed, findings=[*inputs.findings, today.as_dict()])
    problems = [one for one in decide(changed).as_dict()["problems"] if one["severity"] == "serious"]
    places = [one["question"] == "cluster" for one in problems]
    assert {"uneven-racks", "single-replica"} <= {one["code"] for one in problems}
    assert places == sorted(places, reverse=True)


@pytest.mark.parametrize("unknown", [0, 3])
def test_how_full_the_fullest_disk_is_is_not_known_where_sizes_are_not(unknown):
    inputs = sized_inputs()
    facts = {**inputs.snapshot_facts, "unknown_size_partitions": unknown}
    today = decide(dataclasses.replace(inputs, snapshot_facts=facts)).as_dict()["today"]
    assert (today["fullest_disk_ratio"] is None) is bool(unknown)


def test_whoever_approves_takes_on_what_is_due_within_four_weeks():
    days = (None, "2026-11-23", "2026-12-13", "2026-12-14")
    actions = [{"id": f"{day}", "code": "brokers", "by": day} for day in days]
    actions.append({"id": "another plan", "code": "plan-again", "by": None})
    decided = {"ds": "2026-11-15", "actions": actions}
    assert approved_actions(decided) == ["None", "2026-11-23", "2026-12-13"]


def test_the_box_names_what_was_asked_beside_counts_and_throttles():
    decision = decide(sized_inputs())

    def asked(request):
        results = dataclasses.replace(decision.results, request=request)
        box = dataclasses.replace(decision, results=results).as_dict()["box"]
        return [line["text"] for line in box["lines"] if line["name"] == "asked"]

    assert asked({"broker_counts": [9], "throttles_bytes_per_second": [1e6]}) == []
    assert asked({"broker_counts": [9], "replaced_brokers": {"3": 13}}) == ["Broker 3 replaced by 13."]


@pytest.mark.parametrize("code", [Code.OFFLINE, Code.FENCED])
def test_what_is_down_now_is_mended_before_anything_is_moved(code):
    decision = decide(sized_inputs())
    down = Problem(severity=Severity.SERIOUS, code=code, where="orders", message="something is down")
    other = Problem(severity=Severity.SERIOUS, code=Code.SINGLE_REPLICA, where="orders", message="it has one replica")

    def first(then):
        listed = (("cluster", ListedProblem(other)), ("cluster", ListedProblem(down, then)))
        lines = dataclasses.replace(decision, problems=listed).as_dict()["box"]["lines"]
        return [line["text"] for line in lines if line["name"] == "first"]

    assert first("") == ["Something is down. Fix this before anything is moved."]
    # Unless the move is how it is mended: a broker that does not come back is removed.
    assert first(RESOLVED) == []


def test_a_count_that_sizing_finds_too_small_today_does_not_fit():
    inputs = sized_inputs()
    rows = inputs.tables["sizing_options"].to_pylist()
    excuse = {
        "reason": "broker 1 would hold 2 bytes in a year, 1 is allowed",
        "constraint": "disk",
        "where": "broker 1",
        "when": inputs.ds,
        "needed": 2.0,
        "available": 1.0,
        "unit": "bytes",
    }
    for row in rows:
        if row["broker_count"] in (6, 7):
            row |= {"fits": False, "fits_until": None, "excuses": json.dumps([excuse])}
    table = inputs.tables["sizing_options"]
    changed = dataclasses.replace(
        inputs, tables={**inputs.tables, "sizing_options": type(table).from_pylist(rows, schema=table.schema)}
    )
    decision = decision_of(changed)
    assert (decision["status"], decision["fits"]) == ("does_not_fit", False)
    assert decision["headline"] == decision["box"]["lines"][-1]["text"]
    assert decision["because"] == [
        "according to sizing, 7 are not enough today: disk space of broker 1 is over its limit"
    ]
    (problem,) = [one for one in decision["problems"] if one["code"] == "other-count"]
    # The box says so as well, and does not ask for the move to be approved.
    assert "move" not in {action["code"] for action in decision["actions"]}
    assert "and the move" not in decision["box"]["approve"]
    assert decision["box"]["lines"][-1]["text"].startswith(
        f"Does not fit: {decision['because'][0]}. At today’s sizes: "
    )
    assert problem["severity"] == "serious"
    assert problem["remedy"] == "plan the move to 9 with broker_counts 9"
    assert "plan-again" in [action["code"] for action in decision["actions"]]
    comparison = table_of(build_report(changed), "comparison")
    assert "recommended" not in [row["verdict"] for row in comparison]


def test_a_count_that_sizing_did_not_try_is_not_judged():
    inputs = sized_inputs()
    table = inputs.tables["sizing_options"]
    rows = [row for row in table.to_pylist() if row["broker_count"] != 7]
    assert len(rows) < table.num_rows
    tables = {**inputs.tables, "sizing_options": type(table).from_pylist(rows, schema=table.schema)}
    decision = decision_of(dataclasses.replace(inputs, tables=tables))
    assert (decision["status"], decision["fits"]) == ("not_judged", False)
    (because,) = decision["because"]
    assert because.startswith("sizing did not try 7 brokers of today’s hardware; ")
    assert {(one["status"], one["lasts"]) for one in decision["options"]} == {("not_judged", "not-judged")}
