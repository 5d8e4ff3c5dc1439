"""Hold earlier plans' predictions against what the newest inventory of each cluster says.

What a plan expected of traffic and of stored bytes is compared with what came; the scores of the last weeks are summed
up, a drift is named (since when, how much, what it does), also of what traffic costs of processors and disks and of the
times of moves, and the next plan says so. Runs weekly, before the plans.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

from airflow.sdk import DAG, CronTriggerTimetable, Param, task

if importlib.util.find_spec("kafka_capacity_airflow") is None:  # the repository is a bundle of DAGs, as it is
    sys.path += [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "plugins")]

from kafka_capacity_airflow.task_defaults import dag_defaults

with DAG(
    dag_id="kafka_capacity_scoreboard",
    schedule=CronTriggerTimetable(
        os.environ.get("KAFKA_CAPACITY_SCOREBOARD_SCHEDULE", "0 5 * * 1"), timezone="UTC", run_immediately=False
    ),
    max_active_runs=1,
    doc_md=__doc__,
    **dag_defaults(),
    params={
        "cluster": Param(
            None, type=["string", "null"], title="Cluster", description_md="Empty: every cluster that has an inventory."
        )
    },
) as dag:

    @task
    def find_inventories(params: dict, dag_run: object) -> list[dict]:
        """Find the newest inventory of each cluster that is not after the run."""
        from kafka_capacity_airflow import steps

        return steps.newest_inventories(params["cluster"], dag_run.run_after)

    @task(map_index_template="{{ task.op_kwargs['inventory']['cluster'] }}")
    def score(inventory: dict) -> list[str]:
        """Score one cluster; returns what a report says of it."""
        from kafka_capacity_airflow import steps

        return steps.score(inventory)

    score.expand(inventory=find_inventories())
