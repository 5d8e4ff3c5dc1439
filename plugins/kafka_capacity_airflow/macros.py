"""Macros for templates, under ``macros.kafka_capacity``."""

from __future__ import annotations

from typing import Any

from kafka_capacity_airflow.links import REPORT_URL_KEY

RENDER_TASK_ID = "plan.render_report"


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
