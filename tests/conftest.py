"""Fixtures that several folders share: hypothesis profiles, and the embedded Airflow, S3 and mail."""

from __future__ import annotations

import functools
import json
import os

import pytest
from botocore.loaders import JSONFileLoader
from hypothesis import HealthCheck, settings

from kafka_capacity.cli import pieces
from kafka_capacity.questions.failures import simulate as failures
from kafka_capacity.report import charts
from local.airflow_runs import collect_garbage_seldom

collect_garbage_seldom()  # a tenth of what tests with Airflow take

# How fast a machine draws examples says nothing about the code.
settings.register_profile("dev", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
# A run that decides about a change tries what the last one tried: new examples are looked for at the desk.
settings.register_profile("repeatable", parent=settings.get_profile("dev"), derandomize=True, database=None)
settings.load_profile("repeatable" if os.environ.get("KAFKA_CAPACITY_TEST_EVERYTHING") == "1" else "dev")


@pytest.fixture(scope="session", autouse=True)
def _once():
    """What a process makes again and again is made once.

    Of a thousand charts, three in four are the same, and of the failures of controllers nine in ten; each task of a DAG
    has a client of S3, which reads the whole description of AWS.
    """
    with pytest.MonkeyPatch.context() as patched:
        for name in ("_svg", "_png"):
            patched.setattr(charts, name, _remembered(getattr(charts, name)))
        patched.setattr(failures, "failovers", _remembered(failures.failovers))
        patched.setattr(pieces, "core_count", lambda: 1)  # tests have the cores already
        read = functools.cache(JSONFileLoader().load_file)
        patched.setattr(JSONFileLoader, "load_file", lambda _, path: read(path))
        yield


def _remembered(make):
    found = {}

    def made(*given, **named):
        key = json.dumps([given, named], sort_keys=True, default=str)
        if key not in found:
            found[key] = make(*given, **named)
        return found[key]

    made.anew = make
    return made


@pytest.fixture
def drawn_anew(monkeypatch):
    """Each chart is drawn whenever it is asked for."""
    for name in ("_svg", "_png"):
        monkeypatch.setattr(charts, name, getattr(charts, name).anew)


@pytest.fixture(scope="session")
def services(tmp_path_factory):
    """A local set-up with its own state, Airflow's database made; Airflow may be imported after this."""
    from local.services import running

    with running(tmp_path_factory.mktemp("state")) as found:
        from local.airflow_runs import initialise

        initialise()
        yield found


@pytest.fixture
def in_one_spark(services):
    """Jobs of DAGs share a Spark; only for tests that are not about submitting them."""
    from tests.one_spark import one_spark

    with one_spark():
        yield


@pytest.fixture(scope="session")
def staged(services):
    """The example clusters, staged by the real DAG."""
    from kafka_capacity.example import EXAMPLE_DS
    from local.airflow_runs import run_dag
    from tests.one_spark import one_spark

    with one_spark():
        run = run_dag("kafka_inventory", {"ds": EXAMPLE_DS})
    assert run.state == "success"
    return services
