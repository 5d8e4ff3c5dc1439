"""Names of clusters that need escaping, or look like options, get through to links and jobs."""

from types import SimpleNamespace

import httpx
import pytest

from kafka_capacity.objects.keys import report_prefix
from kafka_capacity.objects.store import S3Store
from local.s3_server import BUCKET, LocalS3
from spark_jobs import load_profile

# Airflow is imported after its environment is set: else every later test of the session has another database.
pytestmark = [pytest.mark.airflow, pytest.mark.usefixtures("services")]

NAMES = ["shop-eu", "a/b c", "ü ☃", "100%", "?#&+", "-dash", "--store-uri"]


@pytest.fixture(scope="module")
def s3(tmp_path_factory):
    with LocalS3(tmp_path_factory.mktemp("s3")) as endpoint:
        yield endpoint


@pytest.mark.parametrize("name", NAMES)
def test_the_link_to_a_report_leads_to_it(name, s3, monkeypatch):
    from kafka_capacity_airflow import settings

    template = f"{s3.endpoint}/{BUCKET}/capacity/{{key}}"
    monkeypatch.setattr(settings, "Variable", SimpleNamespace(get=lambda *_, **__: template))
    key = report_prefix(name, "2026-11-20", "p") + "index.html"
    store = S3Store(BUCKET, "capacity", s3.client())
    store.write_bytes(key, name.encode())

    page = httpx.get(settings.browser_url(store, key))
    assert page.content.decode() == name


@pytest.mark.parametrize("name", NAMES)
def test_the_job_gets_the_name(name, monkeypatch):
    from kafka_capacity_airflow import steps

    monkeypatch.setattr(steps, "airflow_store", lambda: None)
    monkeypatch.setattr(steps, "list_days", lambda *_: ["2026-11-20"])
    monkeypatch.setattr(steps, "profile_inputs", lambda *_, **__: None)
    monkeypatch.setattr(steps, "profile_without_spark", lambda *_: None)
    arguments = steps.describe_traffic({"cluster": name, "ds": "2026-11-20"}, 90)
    monkeypatch.setattr(load_profile, "run_job", lambda _name, _run, args: args)
    parsed = load_profile.main(["--store-uri", "x", *arguments])

    assert (parsed.cluster, parsed.ds, parsed.days) == (name, "2026-11-20", 90)
