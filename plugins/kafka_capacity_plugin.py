"""Registers what Kafka Capacity adds to Airflow."""

from __future__ import annotations

from airflow.plugins_manager import AirflowPlugin

from kafka_capacity_airflow import links


class KafkaCapacityPlugin(AirflowPlugin):
    """The link to the report, and ``macros.kafka_capacity``."""

    name = "kafka_capacity"
    operator_extra_links = [links.ReportLink()]  # noqa: RUF012  # Airflow reads a plain class attribute
    macros = [links.report_summary, links.report_url]  # noqa: RUF012  # the same
