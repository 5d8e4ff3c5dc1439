"""The link from a run to its report, and the macros about it, under ``macros.kafka_capacity`` of templates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator, BaseOperatorLink
from airflow.sdk.execution_time.xcom import XCom

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator, Context
    from airflow.sdk.types import TaskInstanceKey

REPORT_URL_KEY = "report_url"
RENDER_TASK_ID = "plan.render_report"


class ReportLink(BaseOperatorLink):
    """Shows as a button on the task that rendered the report."""

    name = "Capacity report"

    def get_link(self, operator: BaseOperator, *, ti_key: TaskInstanceKey) -> str:
        """Return the report's address, or nothing before there is one."""
        return XCom.get_value(ti_key=ti_key, key=REPORT_URL_KEY) or ""


def report_summary(ti: Any) -> str:
    """Return the decision box of a run's plan and the address of its report, for whoever must approve it."""
    verdict = ti.xcom_pull(task_ids=RENDER_TASK_ID, map_indexes=ti.map_index)
    address = ti.xcom_pull(task_ids=RENDER_TASK_ID, key=REPORT_URL_KEY, map_indexes=ti.map_index)
    box = verdict.get("box")  # a run that an earlier version began has none
    lines = [verdict["headline"]]
    if box is not None:
        lines = [box["approve"], "", *(f"{line['label']}: {line['text']}" for line in box["lines"])]
    return "\n".join([*lines, "", f"Report: {address}"])


def report_url(ti: Any) -> str:
    """Return the address of the report of a run's plan."""
    return str(ti.xcom_pull(task_ids=RENDER_TASK_ID, key=REPORT_URL_KEY, map_indexes=ti.map_index) or "")


class RenderReportOperator(BaseOperator):
    """Decide, render and publish the report of a plan."""

    template_fields: Sequence[str] = ("pinned",)
    operator_extra_links = (ReportLink(),)

    def __init__(self, *, pinned: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.pinned = pinned

    def execute(self, context: Context) -> dict[str, Any]:
        """Render and publish; returns the verdict."""
        from kafka_capacity.plan.pinned import PinnedPlan
        from kafka_capacity.plan.publish import publish_report
        from kafka_capacity_airflow.settings import browser_url
        from kafka_capacity_airflow.store import airflow_store

        store, plan = airflow_store(), PinnedPlan(**self.pinned)
        key = plan.report_prefix + "index.html"
        verdict = publish_report(store, plan)
        url = browser_url(key, store.uri(key))
        context["ti"].xcom_push(key=REPORT_URL_KEY, value=url)
        if verdict["sizing"] is not None:
            self.log.info("%s", verdict["sizing"]["headline"])
        self.log.info("%s", verdict["headline"])
        self.log.info("report: %s", url)
        return verdict
