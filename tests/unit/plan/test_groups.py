"""Consumer groups through the steps of a plan."""

import datetime
import json

import pyarrow as pa
import pytest

from kafka_capacity.errors import MissingManifestError, RequestError
from kafka_capacity.example import make_example
from kafka_capacity.inventory.staging import stage
from kafka_capacity.objects.dataset import parquet_bytes, write_dataset
from kafka_capacity.objects.store import LocalStore
from kafka_capacity.plan.pinned import check_groups, pin_plan, read_plan_inputs
from kafka_capacity.plan.plan_dataset import TABLES, read_plan, read_plan_tables, seal_plan, write_share
from kafka_capacity.plan.publish import report_inputs
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.plan.traffic import read_basis
from kafka_capacity.questions.change.tables import PLAN_TABLES
from kafka_capacity.questions.chargeback.share import CHARGEBACK
from kafka_capacity.questions.consumers import evaluate as group_evaluation
from kafka_capacity.questions.consumers.choice import choose
from kafka_capacity.questions.consumers.evaluate import GroupInputs, simulate_groups, work_tables
from kafka_capacity.questions.consumers.share import CONSUMERS, FoundGroups, find_groups, simulate_found
from kafka_capacity.questions.consumers.tables import GROUP_TABLES
from kafka_capacity.questions.question import PlanContext, run_here
from kafka_capacity.questions.registry import QUESTIONS
from kafka_capacity.questions.savings.share import SAVINGS
from tests.made_up_groups import facts
from tests.sized_plans import write_failures_share, write_shares, write_sizing_share

TODAY = datetime.date(2026, 11, 25)
REQUEST = {
    "cluster": "metrics-uneven",
    "groups": ["app-stock-dashboards", "state-devices-search-index"],
    "group_protocols": ["classic"],
    "group_events": ["scale", "rolling-restart"],
    "broker_counts": [9],
    "placers": ["fewest-bytes"],
}


@pytest.fixture(scope="module")
def pinned(tmp_path_factory):
    """A store with a pinned plan."""
    store = LocalStore(tmp_path_factory.mktemp("objects"))
    stage(make_example("metrics-uneven"), store)
    return store, pin_plan(store, parse_plan_request(REQUEST), run_date=TODAY)


def groups_of(store, plan):
    return find_groups(PlanContext(basis=read_basis(store, plan), parameters=parse_plan_request(REQUEST)))


def simulated(inputs):
    return simulate_groups(inputs, lambda work: [work_tables(inputs, piece) for piece in work])


def test_only_the_groups_asked_for_are_simulated_as_asked(pinned):
    store, plan = pinned
    tables = simulated(groups_of(store, plan).inputs)
    assert tables["group_facts"].column("group_id").to_pylist() == REQUEST["groups"]
    assert set(tables["group_scenarios"].column("protocol").to_pylist()) == {"classic"}
    assert set(tables["group_churn"].column("event").to_pylist()) == {"scale", "rolling-restart"}
    assert {name: table.schema for name, table in tables.items()} == {
        name: schema for name, (schema, _) in GROUP_TABLES.items()
    }


@pytest.mark.parametrize("at_once", [0, 2_000])
def test_of_a_large_grid_today_and_the_recommended_bring_the_same_details(pinned, monkeypatch, at_once):
    store, plan = pinned
    inputs = groups_of(store, plan).inputs
    everything = simulated(inputs)
    monkeypatch.setattr(group_evaluation, "DETAILS_FOR_ALL_UP_TO", 0)
    monkeypatch.setattr(group_evaluation, "DETAILS_AT_ONCE_UP_TO", at_once)
    some = simulated(inputs)
    for name in ("group_facts", "group_scenarios", "group_churn"):
        assert parquet_bytes(some[name]) == parquet_bytes(everything[name])
    wanted = {
        row["scenario_id"]
        for choice in choose(some["group_scenarios"].to_pylist(), some["group_churn"].to_pylist())
        for row in (choice.today, choice.focus)
    }
    for name in ("group_timeline", "group_members"):
        kept = [row for row in everything[name].to_pylist() if row["scenario_id"] in wanted]
        assert some[name].to_pylist() == kept
        assert len(kept) < len(everything[name])


def test_a_plan_is_sealed_when_all_shares_are_there_and_the_report_reads_them(pinned):
    store, plan = pinned
    inputs = read_plan_inputs(store, plan.request_key)
    found = groups_of(store, plan)
    found = FoundGroups(inputs=found.inputs, skipped=({"group_id": "dead", "reason": "it has no members"},))
    write_share(store, inputs, CONSUMERS.share, simulate_found(found, run_here))
    in_one_go = [question.share for question in QUESTIONS if not question.has_pieces]
    apart = write_shares(store, plan, *in_one_go, SAVINGS.share, CHARGEBACK.share)
    with pytest.raises(MissingManifestError, match=r"has no sizing\.manifest\.json, so it is not complete"):
        seal_plan(store, plan)
    sizing, failures = write_sizing_share(store, plan), write_failures_share(store, plan)
    with pytest.raises(MissingManifestError, match=r"has no manifest\.json, so it is not complete"):
        read_plan(store, plan)
    seal_plan(store, plan)

    manifest = read_plan(store, plan)
    report = report_inputs(store, plan, manifest)
    assert set(report.tables) == set(TABLES)
    assert report.snapshot_facts["skipped_groups"] == [{"group_id": "dead", "reason": "it has no members"}]
    assert manifest.facts["scenarios"] == {
        "placement": 1,
        "groups": len(report.tables["group_scenarios"]),
        "sizing": sizing.facts["scenarios"],
        "failures": failures.facts["scenarios"],
        **{name: apart[name].facts["scenarios"] for name in (SAVINGS.share, CHARGEBACK.share)},
        **dict.fromkeys(in_one_go, 1),
    }


def test_a_plan_from_before_there_were_groups_is_read(pinned, tmp_path):
    store = LocalStore(tmp_path)
    tables = {name: schema.empty_table() for name, (schema, _) in PLAN_TABLES.items()}
    tiered, _ = TABLES["chargeback_tiered"]
    tables["chargeback_tiered"] = tiered.empty_table().drop_columns(["is_measured"])
    write_dataset(store, pinned[1].plan_prefix, kind="plan", schema_version=1, tables=tables, documents={}, facts={})
    found = read_plan_tables(store, read_plan(store, pinned[1]))
    assert found["group_scenarios"].schema == GROUP_TABLES["group_scenarios"][0]
    assert len(found["group_scenarios"]) == 0
    assert found["chargeback_tiered"].column("is_measured").type == tiered.field("is_measured").type


def test_a_group_that_there_is_not_is_refused_when_the_plan_is_pinned(pinned):
    store, _ = pinned
    with pytest.raises(RequestError) as refused:
        pin_plan(store, parse_plan_request({**REQUEST, "groups": ["app-stok-dashboards", "x"]}), run_date=TODAY)
    assert str(refused.value).splitlines() == [
        "groups: 'app-stok-dashboards' is invalid: cluster 'metrics-uneven' has no such group; "
        "did you mean 'app-stock-dashboards'?",
        "groups: 'x' is invalid: cluster 'metrics-uneven' has no such group; it has 'app-accounts-etl', "
        "'app-carts-billing', 'app-media-billing', 'app-payments-alerts', 'app-returns-fraud' and 7 more",
    ]
    with pytest.raises(RequestError, match="has no such group; it has none at all; leave groups empty"):
        check_groups(["a"], pa.table({"group_id": pa.array([], pa.string())}), cluster="c")


def test_what_kafka_would_throw_is_a_row(monkeypatch):
    from kafka_capacity.errors import AssignmentError

    def throws(*_):
        raise AssignmentError("no", kafka_type="x")

    monkeypatch.setattr(group_evaluation, "smallest_counts", throws)
    monkeypatch.setattr("kafka_capacity.questions.consumers.simulate.smallest_counts", throws)
    request = parse_plan_request({**REQUEST, "groups": []}).group_grid(seed=0)
    tables = simulated(GroupInputs(groups=(facts(),), request=request))
    rows = tables["group_scenarios"].to_pylist()
    assert {row["partition_count"] for row in rows} == {None}
    assert {json.loads(row["excuses"])[0]["constraint"] for row in rows} == {"assignment"}


def test_without_groups_the_tables_are_empty():
    request = parse_plan_request({"cluster": "c"}).group_grid(seed=0)
    tables = simulated(GroupInputs(groups=(), request=request))
    assert {name: len(table) for name, table in tables.items()} == dict.fromkeys(GROUP_TABLES, 0)
