"""Render a plan's report, and the link from a run to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator, BaseOperatorLink
from airflow.sdk.execution_time.xcom import XCom

if TYPE_CHECKING:
    from airflow.sdk import Context
    from airflow.sdk.types import TaskInstanceKey

RENDER_TASK_ID = "plan.render_report"
REPORT_URL_KEY = "report_url"
REPORT_KEY = "report_key"  # in the store


class ReportLink(BaseOperatorLink):
    """Shows as a button on the task that rendered the report."""

    name = "Capacity report"

    def get_link(self, operator: BaseOperator, *, ti_key: TaskInstanceKey) -> str:
        """Return the report's address, or nothing before there is one."""
        return XCom.get_value(ti_key=ti_key, key=REPORT_URL_KEY) or ""


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
        from kafka_capacity_airflow.lineage import record_lineage
        from kafka_capacity_airflow.settings import browser_url, owners
        from kafka_capacity_airflow.store import airflow_store

        store, plan = airflow_store(), PinnedPlan(**self.pinned)
        verdict = publish_report(store, plan, owners())
        record_lineage(plan.cluster, read=("plans",), written=("reports",))
        url = browser_url(store, plan.report_key)
        context["ti"].xcom_push(key=REPORT_URL_KEY, value=url)
        context["ti"].xcom_push(key=REPORT_KEY, value=plan.report_key)
        if verdict["sizing"] is not None:
            self.log.info("%s", verdict["sizing"]["headline"])
        self.log.info("%s", verdict["headline"])
        self.log.info("report: %s", url)
        return verdict
