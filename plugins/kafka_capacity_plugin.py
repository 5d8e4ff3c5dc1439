"""Registers what Kafka Capacity adds to Airflow."""

from __future__ import annotations

from airflow.plugins_manager import AirflowPlugin

from kafka_capacity_airflow import macros as _macros
from kafka_capacity_airflow import pool as _pool
from kafka_capacity_airflow.links import ReportLink


class KafkaCapacityPlugin(AirflowPlugin):
    """The link to the report, ``macros.kafka_capacity``, and the pool of what runs on Spark."""

    name = "kafka_capacity"
    operator_extra_links = [ReportLink()]  # noqa: RUF012  # Airflow reads a plain class attribute
    listeners = [_pool]  # noqa: RUF012  # the same
    macros = [_macros.approval_subject, _macros.report_summary, _macros.report_url]  # noqa: RUF012  # the same
