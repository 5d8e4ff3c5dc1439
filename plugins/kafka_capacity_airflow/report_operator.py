"""Render a plan's report; the task that carries the link to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator

from kafka_capacity_airflow.links import REPORT_URL_KEY, ReportLink

if TYPE_CHECKING:
    from airflow.sdk import Context


class RenderReportOperator(BaseOperator):
    """Decide, render and publish the report of a plan.

    Args:
        pinned: the pinned plan, as plain data.
    """

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
