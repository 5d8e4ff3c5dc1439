"""The DAGs of the installed package, for an Airflow whose DAG folder is its own.

A file there needs one line:

    from kafka_capacity_airflow.packaged_dags import *  # the DAGs of kafka-capacity for airflow
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from airflow.sdk import DAG

__all__ = ["kafka_capacity_plan", "kafka_capacity_scoreboard", "kafka_inventory"]


def _dag(name: str) -> DAG:
    # The wheel has dags/ of the repository beside this module.
    found: DAG = importlib.import_module(f"kafka_capacity_airflow.dags.{name}").dag
    return found


kafka_inventory = _dag("kafka_inventory")
kafka_capacity_plan = _dag("kafka_capacity_plan")
kafka_capacity_scoreboard = _dag("kafka_capacity_scoreboard")
