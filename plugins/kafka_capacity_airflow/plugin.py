"""What Kafka Capacity adds to Airflow: from the folder of plugins, or from the installed package."""

from __future__ import annotations

from airflow.plugins_manager import AirflowPlugin

from kafka_capacity_airflow import pool
from kafka_capacity_airflow.links import ReportLink


class KafkaCapacityPlugin(AirflowPlugin):
    """The link to the report, and the pool of what runs on Spark."""

    name = "kafka_capacity"
    operator_extra_links = [ReportLink()]  # noqa: RUF012  # Airflow reads a plain class attribute
    listeners = [pool]  # noqa: RUF012  # the same
