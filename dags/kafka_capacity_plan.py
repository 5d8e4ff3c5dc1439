"""Plan a Kafka cluster: what would change with other broker counts, how long it takes, whether it fits.

The same for its consumer groups: what happens to them with other member counts, assignors and protocols. And for the
months to come: how many brokers of which kind the expected traffic needs, by when, and what they cost. And what breaks
when brokers, racks or controllers die, today and after the change.

Pins an inventory, simulates all of it side by side in one Spark application, renders the report, mails it, tells chats
and pagers what is new, and releases the reassignment files, after an approval where one is asked for; no file waits for
a mail. In the end one page has all clusters. The same request on the same inventory is the same plan.

Runs weekly with the defaults for every cluster of the deployment; start it by hand to plan one with parameters.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

from airflow.sdk import DAG, Asset, CronTriggerTimetable, get_current_context, task, task_group

if importlib.util.find_spec("kafka_capacity_airflow") is None:  # the repository is a bundle of DAGs, as it is
    sys.path += [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "plugins")]

from kafka_capacity_airflow.approval import OptionalApprovalOperator
from kafka_capacity_airflow.links import RenderReportOperator
from kafka_capacity_airflow.params import plan_params
from kafka_capacity_airflow.pool import spark_pool
from kafka_capacity_airflow.spark import KafkaCapacitySparkOperator
from kafka_capacity_airflow.task_defaults import dag_defaults, mail_retries, max_runs

# What the mapped plans are called, in place of their numbers.
_CLUSTER = "{{ task.op_kwargs['pinned']['cluster'] }}"
_CLUSTER_OF_OPERATOR = "{{ task.pinned['cluster'] }}"

_SCHEDULE = os.environ.get("KAFKA_CAPACITY_PLAN_SCHEDULE", "0 6 * * 1")

with DAG(
    dag_id="kafka_capacity_plan",
    # "inventory" plans each cluster after its inventory, instead of all of them by the clock.
    schedule=[Asset(name="kafka_inventory", uri="x-kafka-capacity://inventory")]
    if _SCHEDULE == "inventory"
    else CronTriggerTimetable(_SCHEDULE, timezone="UTC", run_immediately=False),
    max_active_runs=max_runs(),
    doc_md=__doc__,
    **dag_defaults(),
) as dag:

    @task
    def pin(params: dict, dag_run: object, ti: object, triggering_asset_events: object = None) -> list[dict]:
        """Check the parameters and pin (cluster, day, inventory version): nothing after this reads a date."""
        from kafka_capacity_airflow import steps

        pinned, unplanned = steps.pin(params, dag_run.run_after, landed=steps.landed(triggering_asset_events))
        ti.xcom_push(key="unplanned", value=unplanned)
        return pinned

    @task(retries=0)
    def check_that_all_are_planned(ti: object) -> None:
        """Fail where a cluster of the deployment has no inventory to plan on; the others are planned."""
        from kafka_capacity_airflow import steps

        steps.fail_if_unplanned(ti.xcom_pull(task_ids="pin", key="unplanned"))

    @task(map_index_template=_CLUSTER)
    def seal_plan(pinned: dict) -> dict:
        """Write the plan's manifest: from here on there is a plan to read."""
        from kafka_capacity_airflow import steps

        return steps.seal(pinned)

    @task(map_index_template=_CLUSTER + "{{ untold | default('') }}", **mail_retries())
    def email_report(pinned: dict, params: dict, dag_run: object, ti: object) -> dict[str, str]:
        """Mail the report; nothing waits for that. Who could not be told stands in the task's name and its result."""
        from kafka_capacity_airflow import steps

        run = {"run_id": dag_run.run_id, "run_after": dag_run.run_after}
        untold = steps.email_report(pinned, params, **run, is_last_try=ti.try_number > ti.max_tries)
        get_current_context()["untold"] = f", not reached: {', '.join(untold)}" if untold else ""
        return untold

    @task(map_index_template=_CLUSTER, **mail_retries())
    def tell(pinned: dict, dag_run: object) -> list[str]:
        """Tell chats and pagers what is new and owners what to do, if anything is; nothing waits for that."""
        from kafka_capacity_airflow import steps

        return steps.tell(pinned, run_id=dag_run.run_id, run_after=dag_run.run_after)

    @task(trigger_rule="all_done")
    def write_fleet_page() -> str:
        """Write the page over all clusters, whichever reports were rendered; no approval is waited for."""
        from kafka_capacity_airflow import steps

        return steps.write_fleet()

    @task(map_index_template=_CLUSTER)
    def release_plan_files(pinned: dict, params: dict, ti: object) -> list[str]:
        """Put the reassignment files beside the report, unless an approval was asked for and refused."""
        from kafka_capacity_airflow import steps

        return steps.release_if_approved(pinned, params, ti)

    @task_group
    def plan(pinned: dict) -> object:
        """One cluster's plan; returns what has its report."""
        named = {"pinned": pinned, "map_index_template": _CLUSTER_OF_OPERATOR}
        simulate = KafkaCapacitySparkOperator(task_id="simulate", job="simulate", pool=spark_pool(), **named)
        render = RenderReportOperator(task_id="render_report", **named)
        approve = OptionalApprovalOperator(task_id="approve", **named)
        simulate >> seal_plan(pinned=pinned) >> render >> approve >> release_plan_files(pinned=pinned)
        render >> [email_report(pinned=pinned), tell(pinned=pinned)]
        return render

    pinned_plans = pin()
    plan.expand(pinned=pinned_plans) >> write_fleet_page()
    pinned_plans >> check_that_all_are_planned()
    # After the tasks: each would else keep a copy of them all, and the stored DAG would be ten times as large.
    dag.params.update(plan_params())
