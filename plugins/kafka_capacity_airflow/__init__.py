"""What Airflow gains: settings, the store behind a connection, the Spark operator, mail, links and approvals."""

from __future__ import annotations


def provider_info() -> dict[str, str]:
    """Describe the installed package to ``airflow providers``."""
    return {
        "package-name": "kafka-capacity",
        "name": "Kafka Capacity",
        "description": "Capacity planning for Apache Kafka: DAGs, operators and a plugin.",
    }
