"""Stage the inventory of every cluster, daily: one mapped group a cluster, none of which waits for another.

Each cluster is read (over the admin API, or from snapshot files; its rates from Prometheus or files of metrics, where
the setting says so), checked, and written as Parquet with a manifest last.
A fatal finding fails that cluster's task and leaves what was staged before as it was; the others go on. The hourly
rates are added to the cluster's history, which is then described, on Spark where it is large: percentiles, trends and
seasons of every partition, topic, group and broker. Then the asset `kafka_inventory` has an event that names the
cluster, the day and the version, and what is planned after inventories is planned from that.

Clusters are those of the Airflow variable `kafka_capacity_clusters`; start by hand with a cluster or a day to stage
only that.
"""

from __future__ import annotations

import datetime
import importlib.util
import os
import sys
from pathlib import Path

from airflow.sdk import DAG, Asset, CronTriggerTimetable, Param, get_current_context, task, task_group

if importlib.util.find_spec("kafka_capacity_airflow") is None:  # the repository is a bundle of DAGs, as it is
    sys.path += [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "plugins")]

from kafka_capacity_airflow.params import offered_clusters
from kafka_capacity_airflow.pool import spark_pool
from kafka_capacity_airflow.spark import KafkaCapacitySparkOperator
from kafka_capacity_airflow.task_defaults import dag_defaults

_CLUSTER = "{{ task.op_kwargs['staged']['cluster'] }}"

INVENTORY = Asset(name="kafka_inventory", uri="x-kafka-capacity://inventory")

with DAG(
    dag_id="kafka_inventory",
    schedule=CronTriggerTimetable(
        os.environ.get("KAFKA_CAPACITY_INVENTORY_SCHEDULE", "0 3 * * *"), timezone="UTC", run_immediately=False
    ),
    max_active_runs=1,
    doc_md=__doc__,
    **dag_defaults(),
    params={
        "cluster": Param(
            None,
            type=["string", "null"],
            title="Cluster",
            description_md="Empty: every cluster of the variable `kafka_capacity_clusters`.",
            **offered_clusters(),
        ),
        "ds": Param(
            None,
            type=["string", "null"],
            format="date",
            title="Day",
            description_md="The day that the inventory is for (UTC). Empty: the day of the run.",
        ),
        "history_days": Param(
            90,
            type="integer",
            minimum=1,
            maximum=3660,
            title="Days of history",
            description_md="How many days of traffic to profile, up to that day.",
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

    @task(map_index_template="{{ task.op_kwargs['setting']['name'] }}{{ of_day | default('') }}")
    def stage_inventory(setting: dict, day: str) -> dict[str, str]:
        """Read, check and stage one cluster."""
        from kafka_capacity_airflow import steps

        staged = steps.stage_inventory(setting, day)
        get_current_context()["of_day"] = "" if staged["ds"] == day else f", of {staged['ds']}"
        return staged

    @task(map_index_template=_CLUSTER)
    def describe_traffic(staged: dict, params: dict) -> list[str]:
        """Describe the traffic here where that is little work; else return what the job needs to do it."""
        from kafka_capacity_airflow import steps

        return steps.describe_traffic(staged, params["history_days"])

    @task(outlets=[INVENTORY], trigger_rule="none_failed", map_index_template=_CLUSTER)
    def announce(staged: dict, *, outlet_events: dict) -> None:
        """Update the asset: this cluster is there."""
        outlet_events[INVENTORY].extra = dict(staged)

    # The tasks keep the names that they had before they were a group.
    @task_group(prefix_group_id=False)
    def inventory(setting: dict, day: str) -> None:
        """One cluster's inventory and its profile."""
        staged = stage_inventory(setting=setting, day=day)
        load_profile = KafkaCapacitySparkOperator(
            task_id="load_profile",
            job="load_profile",
            arguments=describe_traffic(staged=staged),
            pool=spark_pool(),
            map_index_template="{{ ti.xcom_pull('stage_inventory', map_indexes=ti.map_index)['cluster'] }}",
        )
        load_profile >> announce(staged=staged)

    inventory.partial(day=choose_day()).expand(setting=list_clusters())
