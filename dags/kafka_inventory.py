"""Stage the inventory of every cluster, daily: one mapped task a cluster.

Each cluster is read (over the admin API, or from snapshot files; its rates from Prometheus or files of metrics, where
the setting says so), checked, and written as Parquet with a manifest last.
A fatal finding fails that cluster's task and leaves what was staged before as it was. The hourly rates are added to the
cluster's history, which is then described, on Spark where it is large: percentiles, trends and seasons of every
partition, topic, group and broker. The asset `kafka_inventory` is updated once all of them are there.

Clusters are those of the Airflow variable `kafka_capacity_clusters`; start by hand with a cluster or a day to stage
only that.
"""

from __future__ import annotations

import datetime
import os

from airflow.sdk import DAG, Asset, CronTriggerTimetable, Param, task

from kafka_capacity_airflow.spark import KafkaCapacitySparkOperator
from kafka_capacity_airflow.task_defaults import task_defaults

INVENTORY = Asset(name="kafka_inventory", uri="x-kafka-capacity://inventory")

with DAG(
    dag_id="kafka_inventory",
    schedule=CronTriggerTimetable(os.environ.get("KAFKA_CAPACITY_INVENTORY_SCHEDULE", "0 3 * * *"), timezone="UTC"),
    start_date=datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
    catchup=False,
    max_active_runs=1,
    tags=["kafka-capacity"],
    doc_md=__doc__,
    default_args=task_defaults(),
    params={
        "cluster": Param(
            None,
            type=["string", "null"],
            title="Cluster",
            description_md="Empty: every cluster of the variable `kafka_capacity_clusters`.",
        ),
        "ds": Param(
            None,
            type=["string", "null"],
            format="date",
            title="Day",
            description_md="The day that the inventory stands for (UTC). Empty: the day of the run.",
        ),
        "history_days": Param(
            90,
            type="integer",
            minimum=1,
            maximum=3660,
            title="Days of history",
            description_md="How far back the traffic is described, up to that day.",
        ),
    },
) as dag:

    @task
    def list_clusters(params: dict) -> list[dict]:
        """List the clusters to read."""
        from kafka_capacity_airflow import steps

        return steps.list_clusters(params["cluster"])

    @task
    def choose_day(params: dict, dag_run: object) -> str:
        """Return the day that this run stands for."""
        return params["ds"] or dag_run.run_after.astimezone(datetime.UTC).date().isoformat()

    @task(map_index_template="{{ cluster_name }}")
    def stage_inventory(setting: dict, day: str) -> dict[str, str]:
        """Read, check and stage one cluster."""
        from airflow.sdk import get_current_context

        from kafka_capacity_airflow import steps

        get_current_context()["cluster_name"] = setting["name"]
        return steps.stage_inventory(setting, day)

    @task(map_index_template="{{ task.op_kwargs['staged']['cluster'] }}")
    def describe_traffic(staged: dict, params: dict) -> list[str]:
        """Describe the traffic here where that is little work; else return what the job needs to do it."""
        from kafka_capacity_airflow import steps

        return steps.describe_traffic(staged, params["history_days"])

    @task(outlets=[INVENTORY], trigger_rule="none_failed")
    def announce(staged: list[dict], *, outlet_events: dict) -> None:
        """Update the asset, once for all clusters."""
        outlet_events[INVENTORY].extra = {"staged": [dict(item) for item in staged[:]]}

    inventories = stage_inventory.partial(day=choose_day()).expand(setting=list_clusters())
    profiles = KafkaCapacitySparkOperator.partial(
        task_id="load_profile", job="load_profile", map_index_template="{{ task.arguments[0].partition('=')[2] }}"
    ).expand(arguments=describe_traffic.expand(staged=inventories))
    profiles >> announce(inventories)
