"""What Airflow's API server answers where there is no report to show: to browsers, and to programs."""

from __future__ import annotations

import html

import pytest

pytestmark = pytest.mark.airflow

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture(scope="module")
def api(services):
    """A function that asks the real API server, as a browser or not, signed in or not."""
    from airflow.api_fastapi.app import create_app, get_auth_manager, purge_cached_app
    from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
    from fastapi.testclient import TestClient

    with TestClient(create_app(apps="core"), follow_redirects=False) as client:
        token = get_auth_manager().generate_jwt(SimpleAuthManagerUser(username="ana", role="viewer"))

        def ask(path, *, token=token, **headers):
            known = {"Authorization": f"Bearer {token}"} if token else {}
            return client.get(f"/kafka-capacity/{path}", headers={**known, **headers})

        yield ask
    purge_cached_app()


@pytest.fixture(scope="module")
def failed(services):
    """The id of a run whose first task fails."""
    from local.airflow_runs import run_dag

    return run_dag("kafka_capacity_plan", {"cluster": "nobody"}).run_id


def test_who_is_not_signed_in_signs_in_and_comes_back(api):
    place = "reports/cluster=shop%20eu/ds=2026-11-15/plan=1/index.html"
    answer = api(place, token=None, **BROWSER)
    assert answer.status_code == 307
    encoded = "cluster%3Dshop%2520eu%2Fds%3D2026-11-15%2Fplan%3D1%2Findex.html"
    assert answer.headers["Location"] == f"/api/v2/auth/login?next=%2Fkafka-capacity%2Freports%2F{encoded}"
    assert api("runs/weekly", token="expired", **BROWSER).status_code == 307


def test_programs_get_codes_and_json(api, failed):
    assert api("reports/index.html", token=None, Accept="*/*").json() == {"detail": "Not authenticated"}
    answer = api(f"runs/{failed}", Accept="application/json")
    assert answer.status_code == 404
    assert answer.json()["detail"].startswith("This run has no report")


def test_a_run_without_a_report_says_why(api, failed):
    from airflow.models.dagrun import DagRun
    from airflow.models.taskinstance import TaskInstance
    from airflow.utils.session import create_session
    from sqlalchemy import update

    def said(run_id, **headers):
        answer = api(f"runs/{run_id}", **BROWSER, **headers)
        assert answer.status_code == 404
        assert answer.headers["Content-Type"].startswith("text/html")
        return html.unescape(answer.text)

    def set_states(of_run, of_tasks):
        with create_session() as session:
            session.execute(update(DagRun).filter_by(run_id=failed).values(_state=of_run))
            session.execute(update(TaskInstance).filter_by(run_id=failed).values(state=of_tasks))

    assert "This run has no report, since a task failed: pin." in said(failed)
    assert "/dags/kafka_capacity_plan/runs/" in said(failed)
    assert "Show the run" not in said(failed, **{"Sec-Fetch-Dest": "iframe"})
    set_states("running", "failed")
    assert "This run has no report yet: it is running." in said(failed)
    assert "Failed so far: " in said(failed)
    set_states("running", None)
    assert "This run has no report yet: it is running." in said(failed)
    set_states("success", "skipped")
    assert "ended in state success, plan.render_report in state skipped." in said(failed)
    assert "Only runs of kafka_capacity_plan have reports" in said("<b>none")
    assert "Show the run" not in said("none")


def test_what_is_not_stored_is_told_in_a_page(api):
    answer = api("reports/cluster=nobody/index.html", **BROWSER)
    assert (answer.status_code, "<p>no such report</p>" in answer.text) == (404, True)
