"""Registers what Kafka Capacity adds to Airflow, where this folder is Airflow's folder of plugins."""

from __future__ import annotations

from kafka_capacity_airflow.plugin import KafkaCapacityPlugin

__all__ = ["KafkaCapacityPlugin"]
