"""The same work without Airflow: ``kafka-capacity``, for a laptop and for scripts."""

from kafka_capacity.cli.app import main

__all__ = ["main"]
