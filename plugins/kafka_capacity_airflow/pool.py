"""The pool of what runs on Spark, made where there is none when Airflow starts: without it no task of it would run."""

from __future__ import annotations

import os
from typing import Any

from airflow.listeners import hookimpl

SPARK_SLOTS = 4
"""Of the pool that is made; whoever wants more or fewer sets them in Airflow, where they stay as they are set."""


def spark_pool() -> str:
    """Return the pool of tasks that run on Spark: the brake on how many drivers there are at once."""
    return os.environ.get("KAFKA_CAPACITY_SPARK_POOL", "").strip() or "kafka_capacity_spark"


@hookimpl
def on_starting(component: Any) -> None:
    """Make the pool; Airflow calls this when its scheduler or another part of it starts, and when a task does."""
    from airflow.jobs.job import Job
    from airflow.models.pool import Pool

    if not isinstance(component, Job):  # a task, which may not reach Airflow's database
        return
    if Pool.get_pool(spark_pool()) is None:
        Pool.create_or_update_pool(spark_pool(), SPARK_SLOTS, "Plans and profiles of Kafka Capacity on Spark", False)
