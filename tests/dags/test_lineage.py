"""What tasks say that they read and wrote, as a provider of lineage hears it from Airflow's own collector."""

from __future__ import annotations

import pytest

from tests.builders import DS

pytestmark = pytest.mark.airflow


@pytest.fixture
def collector(services, monkeypatch, tmp_path):
    from airflow.sdk.lineage import HookLineageCollector

    from kafka_capacity_airflow import lineage, steps
    from kafka_capacity_airflow.store import airflow_store

    found = HookLineageCollector()
    monkeypatch.setattr(lineage, "get_hook_lineage_collector", lambda: found)
    monkeypatch.setattr(lineage, "store_uri", lambda: "s3a://bucket/capacity/")
    monkeypatch.setattr(steps, "airflow_store", lambda: airflow_store(str(tmp_path)))
    return found


def told(collector):
    """Return what was read and written, and forget it."""
    assets = collector.collected_assets
    found = tuple(
        [one.asset.uri.removeprefix("s3://bucket/capacity/") for one in of] for of in (assets.inputs, assets.outputs)
    )
    collector._inputs.clear()
    collector._outputs.clear()
    return found


def test_datasets_have_one_name_from_day_to_day(collector):
    from kafka_capacity_airflow import steps

    staged = steps.stage_inventory({"name": "metrics-uneven", "source": "example"}, DS)
    inventory, history = "inventory/cluster=metrics-uneven", "history/cluster=metrics-uneven"
    assert told(collector) == ([], [inventory, history])
    assert steps.describe_traffic(staged, 90) == []
    assert told(collector) == ([inventory, history], ["profiles/cluster=metrics-uneven"])


def test_jobs_say_what_they_did_and_not_what_they_left(collector):
    from kafka_capacity_airflow.spark import KafkaCapacitySparkOperator

    of_plan = KafkaCapacitySparkOperator(task_id="simulate", job="simulate", pinned={"cluster": "payments"})
    of_plan._record_lineage()
    assert told(collector) == (["inventory/cluster=payments", "profiles/cluster=payments"], ["plans/cluster=payments"])
    arguments = ["--cluster=-odd=name", f"--ds={DS}", "--days=90"]
    of_profile = KafkaCapacitySparkOperator(task_id="load_profile", job="load_profile", arguments=arguments)
    of_profile._record_lineage()
    assert told(collector)[1] == ["profiles/cluster=-odd%3Dname"]
