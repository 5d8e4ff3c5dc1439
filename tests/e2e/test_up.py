"""What ``make up`` starts: the real Airflow with its scheduler and API, and an approval given and refused in it."""

from __future__ import annotations

import contextlib
import email
import json
import os
import signal
from pathlib import Path

import httpx
import psutil
import pytest

from local.one_holder import LOCK_FILE, marked
from local.up import PASSWORDS
from tests.browser import PATIENCE_MS, started_browser
from tests.running_airflow import ANSWER_SECONDS, PLAN, running_airflow
from tests.small_requests import SMALL_REQUEST

pytestmark = [pytest.mark.e2e, pytest.mark.airflow, pytest.mark.spark]

LATE = {"KAFKA_CAPACITY_LATE_MINUTES": "1"}


@pytest.fixture(scope="module")
def airflow(tmp_path_factory):
    """The state folder of ``make up``, and a signed-in user."""
    state = tmp_path_factory.mktemp("up")
    with running_airflow(state, LATE) as ui:
        yield state, ui


def released(state):
    """The released assignments of all plans."""
    return list((state / "s3" / "kafka-capacity" / "capacity" / "reports").rglob("reassignment/reassignment.json"))


def subjects(state):
    """What the mails of all runs are about."""
    mails = [email.message_from_bytes(path.read_bytes()) for path in (state / "mail").glob("*.eml")]
    return {"".join(mail["Subject"].splitlines()) for mail in mails}


def test_bad_values_are_refused_by_the_api_with_the_field(airflow):
    _, ui = airflow
    answer = ui.trigger({"cluster": "metrics-uneven", "broker_counts": [0]})
    assert answer.status_code == 400
    assert "broker_counts" in answer.text


@pytest.mark.browser
def test_a_refused_trigger_says_why_in_the_form_and_starts_nothing(airflow):
    _, ui = airflow
    with started_browser() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{ui.address}/auth/login/?next={ui.address}/dags/{PLAN}")
        page.fill("input[name=username]", "admin")
        page.fill("input[name=password]", ui.password)
        page.keyboard.press("Enter")
        page.get_by_test_id("trigger-dag-button").first.click()
        page.locator("#element_horizon_months").fill("0")
        page.get_by_role("dialog").get_by_role("button", name="Trigger").click()
        said = page.get_by_test_id("error-alert").inner_text()
    assert "horizon_months: '0'" in said
    assert "write months, or 6m or 1y; 1 to 60" in said
    assert ui.http.get(f"/dags/{PLAN}/dagRuns").json()["dag_runs"] == []


def test_a_refused_plan_releases_nothing_and_an_approved_one_its_files(airflow):
    state, ui = airflow
    conf = {"cluster": "metrics-uneven", "broker_counts": [10], "is_approval_required": True, **SMALL_REQUEST}

    refused = ui.trigger(conf).json()["dag_run_id"]
    late = f"[kafka-capacity] late: kafka_capacity_plan ({refused})"
    ui.wait("told that nobody has answered", lambda: late in subjects(state))
    ui.answer_approval(refused, "Reject")
    assert ui.wait_for_end(refused) == "success"
    assert ui.states(refused)["plan.release_plan_files"] == "skipped"
    assert released(state) == []

    approved = ui.trigger(conf).json()["dag_run_id"]
    ui.answer_approval(approved, "Approve")
    assert ui.wait_for_end(approved) == "success"
    (file,) = released(state)
    assert json.loads(file.read_text())["version"] == 1


def test_the_report_is_a_page_of_airflow_for_who_may_see_the_run(airflow):
    _, ui = airflow
    run_id = ui.http.get("/dags/kafka_capacity_plan/dagRuns").json()["dag_runs"][0]["dag_run_id"]
    answer = ui.http.get(
        f"/dags/kafka_capacity_plan/dagRuns/{run_id}/taskInstances/plan.render_report/links?map_index=0"
    )
    answer.raise_for_status()
    url = answer.json()["extra_links"]["Capacity report"]
    server = url.partition("/kafka-capacity/")[0]
    with httpx.Client(headers=ui.http.headers, timeout=ANSWER_SECONDS) as signed_in:
        page = signed_in.get(url)
        assert page.status_code == 200
        assert "metrics-uneven" in page.text
        assert page.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'sha256-")
        of_run = signed_in.get(f"{server}/kafka-capacity/runs/{run_id}", follow_redirects=True)
        assert of_run.content == page.content
        every = signed_in.get(f"{server}/kafka-capacity/reports/index.html")
        assert "Capacity of all" in every.text
        file = signed_in.get(url.replace("index.html", "report.json"))
        assert file.headers["Content-Disposition"] == "attachment; filename*=UTF-8''report.json"
        nothing = ("cluster=nobody/index.html", "cluster=metrics-uneven", "%00", "n" * 400)
        for elsewhere in ("../inventory/", "..%2Finventory/", "%2e%2e/plans/", *nothing):
            assert signed_in.get(f"{server}/kafka-capacity/reports/{elsewhere}").status_code == 404
    for address in (url, f"{server}/kafka-capacity/runs/{run_id}"):
        assert httpx.get(address, timeout=ANSWER_SECONDS).status_code == 401


def processes_of(state):
    """What ``make up`` has started, and itself."""
    own = int((state / LOCK_FILE).read_text())
    return [psutil.Process(pid) for pid in {own, *marked(lambda mark: mark.endswith(f"@{state}"))}]


def test_everything_listens_on_loopback(airflow):
    state, _ = airflow
    found = set()
    for process in processes_of(state):
        with contextlib.suppress(psutil.NoSuchProcess):
            found |= {one.laddr.ip for one in process.net_connections(kind="inet") if one.status == psutil.CONN_LISTEN}
    assert found <= {"127.0.0.1", "::ffff:127.0.0.1", "::1"}
    assert "127.0.0.1" in found


def test_the_password_is_in_one_file_for_its_owner(airflow):
    state, _ = airflow
    password = json.loads((state / "airflow" / PASSWORDS).read_text())["admin"]
    having = [path for path in state.rglob("*") if path.is_file() and password.encode() in path.read_bytes()]
    # The other is what this test keeps of the terminal.
    assert {path.name for path in having} == {PASSWORDS, "up.log"}
    assert (state / "airflow" / PASSWORDS).stat().st_mode & 0o777 == 0o600
    assert (state / "airflow").stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="a promise of Linux")
def test_killed_it_leaves_nothing_behind(airflow):
    """The last test: it ends what the others ask."""
    state, _ = airflow
    left = processes_of(state)
    assert len(left) > 4
    # Programs that rename themselves are found too.
    titles = {" ".join(process.cmdline()) for process in left}
    for title in ("airflow api_server", "airflow worker"):
        assert any(one.startswith(title) for one in titles), titles
    os.kill(int((state / LOCK_FILE).read_text()), signal.SIGKILL)
    _, alive = psutil.wait_procs(left, timeout=ANSWER_SECONDS)
    assert [process for process in alive if process.status() != psutil.STATUS_ZOMBIE] == []
    assert marked(lambda mark: mark.endswith(f"@{state}")) == []
