"""Macros for templates, under ``macros.kafka_capacity``."""

from __future__ import annotations

from typing import Any

from kafka_capacity_airflow.links import REPORT_URL_KEY

RENDER_TASK_ID = "plan.render_report"


def report_summary(ti: Any) -> str:
    """Return the verdict of a run's plan and the address of its report, for whoever must approve it.

    Args:
        ti: the task instance that asks, of the same mapped plan.
    """
    verdict = ti.xcom_pull(task_ids=RENDER_TASK_ID, map_indexes=ti.map_index)
    address = ti.xcom_pull(task_ids=RENDER_TASK_ID, key=REPORT_URL_KEY, map_indexes=ti.map_index)
    return f"{verdict['headline']}\n\nReport: {address}"


def report_url(ti: Any) -> str:
    """Return the address of the report of a run's plan."""
    return str(ti.xcom_pull(task_ids=RENDER_TASK_ID, key=REPORT_URL_KEY, map_indexes=ti.map_index) or "")
