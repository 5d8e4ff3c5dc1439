"""What Kafka Capacity adds to Airflow: from the folder of plugins, or from the installed package."""

from __future__ import annotations

from typing import Any

from airflow.plugins_manager import AirflowPlugin

from kafka_capacity.objects.keys import FLEET_PAGE
from kafka_capacity_airflow import pool
from kafka_capacity_airflow.links import ReportLink
from kafka_capacity_airflow.settings import PAGES, PAGES_PATH


async def pages(scope: Any, receive: Any, send: Any) -> None:
    """Serve the pages; they are imported when the first one is asked for, by Airflow's API server alone."""
    from kafka_capacity_airflow.pages import app

    await app(scope, receive, send)


class KafkaCapacityPlugin(AirflowPlugin):
    """The reports beside their runs and in the menu, the links to them, and the pool of what runs on Spark."""

    name = "kafka_capacity"
    operator_extra_links = [ReportLink()]  # noqa: RUF012  # Airflow reads plain class attributes
    listeners = [pool]  # noqa: RUF012  # the same
    fastapi_apps = [{"name": "Kafka Capacity", "app": pages, "url_prefix": PAGES}]  # noqa: RUF012  # the same
    external_views = [  # noqa: RUF012  # the same
        {
            "name": "Capacity report",
            "href": f"{PAGES_PATH}/runs/{{RUN_ID}}",
            "url_route": "kafka-capacity-report",
            "destination": "dag_run",
        },
        {
            "name": "Kafka capacity",
            "href": f"{PAGES_PATH}/{FLEET_PAGE}",
            "url_route": "kafka-capacity",
            "destination": "nav",
            "category": "browse",
        },
    ]
