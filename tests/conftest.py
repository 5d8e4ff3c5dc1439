"""Fixtures that several folders share: hypothesis profiles, and the embedded Airflow, S3 and mail."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile(
    "ci", max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.fixture(scope="session")
def services(tmp_path_factory):
    """A local set-up with its own state, Airflow's database made; Airflow may be imported after this."""
    from local.services import running

    with running(tmp_path_factory.mktemp("state")) as found:
        from local.airflow_runs import initialise

        initialise()
        yield found


@pytest.fixture(scope="session")
def staged(services):
    """The example clusters, staged by the real DAG."""
    from kafka_capacity.example import EXAMPLE_DS
    from local.airflow_runs import run_dag

    run = run_dag("kafka_inventory", {"ds": EXAMPLE_DS})
    assert run.state == "success"
    return services
