"""The rebalance job on a real standalone master and worker, whose Python does not have our package."""

from __future__ import annotations

import datetime

import pytest

from kafka_capacity.example import make_example
from kafka_capacity.inventory.staging import stage
from kafka_capacity.objects.dataset import parquet_bytes, read_manifest, read_table
from kafka_capacity.objects.store import open_store
from kafka_capacity.plan.group_simulation import load_groups, write_groups
from kafka_capacity.plan.pinned import pin_plan, read_plan_inputs
from kafka_capacity.plan.plan_dataset import FAILURES, GROUPS, SHARES, SIZING, seal_plan
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.questions.capacity.tables import SIZING_TABLES
from kafka_capacity.questions.change.tables import PLAN_TABLES
from kafka_capacity.questions.consumers import evaluate as group_evaluation
from kafka_capacity.questions.consumers.evaluate import simulate_groups, work_tables
from kafka_capacity.questions.failures.tables import FAILURE_TABLES
from tests.sized_plans import write_failures_share, write_sizing_share

pytestmark = pytest.mark.spark


def in_process(store, plan):
    """Give what one process finds out, without Spark."""
    found = load_groups(store, read_plan_inputs(store, plan.request_key))
    return found, simulate_groups(found.inputs, lambda work: [work_tables(found.inputs, piece) for piece in work])


@pytest.fixture(scope="module")
def pinned(tmp_path_factory):
    """A staged example and a pinned grid of so many scenarios that only some bring details."""
    folder = tmp_path_factory.mktemp("store")
    store = open_store(str(folder))
    stage(make_example("metrics-uneven"), store)
    request = parse_plan_request(
        {
            "cluster": "metrics-uneven",
            "groups": ["app-media-billing", "app-returns-fraud", "app-stock-dashboards", "state-devices-search-index"],
            "consumer_counts": [2, 3, 4, 5, 6, 7, 8, 9],
            "group_assignors": ["range", "cooperative-sticky", "uniform"],
            "group_events": ["scale", "rolling-restart"],
            "member_capacity_bytes_per_second": 20e6,
            "controllers": ["1", "2", "3"],
            "failover_runs": 10,
        }
    )
    plan = pin_plan(store, request, run_date=datetime.date(2026, 12, 1))
    found, tables = in_process(store, plan)
    assert len(tables["group_scenarios"]) > group_evaluation.DETAILS_FOR_ALL_UP_TO
    assert write_groups(store, read_plan_inputs(store, plan.request_key), found, tables)
    return folder, store, plan, tables


def test_a_cluster_gives_what_one_process_gives(master, pinned, submit):
    folder, store, plan, tables = pinned
    expected = read_manifest(store, plan.plan_prefix, share=GROUPS)
    for key in store.list_keys(plan.plan_prefix):
        store.delete(key)
    done = submit("simulate_rebalance", master, folder, plan, "--tasks", "3")
    assert done.returncode == 0, done.stderr[-4000:]
    found = read_manifest(store, plan.plan_prefix, kind="plan_groups", share=GROUPS)
    for name, table in tables.items():
        assert parquet_bytes(read_table(store, found, name)) == parquet_bytes(table), name
    assert found.sha256 == expected.sha256
    assert "in 3 tasks" in done.stdout
    assert "4 groups with" in done.stdout


def test_each_job_writes_its_share_and_one_manifest_names_them(pinned, submit):
    folder, store, plan, tables = pinned
    expected = {SIZING: write_sizing_share(store, plan).sha256, FAILURES: write_failures_share(store, plan).sha256}
    for share in expected:
        store.delete(f"{plan.plan_prefix}{share}.manifest.json")
    jobs = ("simulate_rebalance", "simulate_placement", "simulate_sizing", "simulate_failures")
    done = [submit(job, "local[2]", folder, plan) for job in jobs]
    assert [job.returncode for job in done] == [0] * len(jobs), done[-1].stderr[-4000:]
    sealed = seal_plan(store, plan)
    shares = {share: read_manifest(store, plan.plan_prefix, share=share).sha256 for share in SHARES}
    assert sealed.facts["shares"] == shares
    assert {share: shares[share] for share in expected} == expected
    assert {*PLAN_TABLES, *tables, *SIZING_TABLES, *FAILURE_TABLES} == set(sealed.tables)
    before = {key: store.read_bytes(key) for key in store.list_keys(plan.plan_prefix)}
    assert submit("simulate_rebalance", "local[2]", folder, plan).returncode == 0
    assert seal_plan(store, plan) == sealed
    assert {key: store.read_bytes(key) for key in store.list_keys(plan.plan_prefix)} == before
