"""The DAGs beside the plan, run in process."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.airflow, pytest.mark.spark]


def test_staging_keeps_the_history_and_describes_it(staged):
    root = staged.state / "s3" / "kafka-capacity" / "capacity"
    assert len(list(root.glob("history/cluster=shop-eu/day=*/manifest.json"))) >= 28
    tables = {path.name for path in root.glob("profiles/cluster=shop-eu/ds=*/*") if path.is_dir()}
    assert {"profile_partitions", "profile_topics", "profile_brokers", "profile_days"} <= tables


def test_the_scoreboard_scores_every_cluster_that_has_an_inventory(staged):
    from local.airflow_runs import run_dag

    run = run_dag("kafka_capacity_scoreboard")
    assert run.state == "success"
    root = staged.state / "s3" / "kafka-capacity" / "capacity"
    scored = {path.parent.parent.name for path in root.glob("scores/cluster=*/ds=*/manifest.json")}
    # Other tests may have staged more.
    assert scored == {path.parent.parent.name for path in root.glob("inventory/cluster=*/ds=*/manifest.json")}
    assert scored >= {"cluster=shop-eu", "cluster=metrics-uneven"}
