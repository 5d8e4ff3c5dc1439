"""What ``make up`` starts: the real Airflow with its scheduler and API, and an approval given and refused in it."""

from __future__ import annotations

import contextlib
import email
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psutil
import pytest

from local.one_holder import LOCK_FILE, marked
from local.up import PASSWORDS
from tests.ports import free_port
from tests.small_requests import SMALL_REQUEST

pytestmark = [pytest.mark.e2e, pytest.mark.airflow, pytest.mark.spark]

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 1200
RUN_SECONDS = 1200
"""Both take a minute or two; these are for machines that are busy."""
ANSWER_SECONDS = 120
BY_HAND = {"AIRFLOW__SCHEDULER__USE_JOB_SCHEDULE": "False"}
"""No run but those that a test asks for."""
LATE = {"KAFKA_CAPACITY_LATE_MINUTES": "1"}


class Ui:
    """A signed-in user of the API."""

    def __init__(self, address, password, log):
        self.log = log
        token = httpx.post(
            f"{address}/auth/token", json={"username": "admin", "password": password}, timeout=ANSWER_SECONDS
        )
        token.raise_for_status()
        headers = {"Authorization": f"Bearer {token.json()['access_token']}"}
        self.http = httpx.Client(base_url=f"{address}/api/v2", headers=headers, timeout=ANSWER_SECONDS)

    def trigger(self, conf):
        self.http.patch("/dags/kafka_capacity_plan", json={"is_paused": False}).raise_for_status()
        answer = self.http.post("/dags/kafka_capacity_plan/dagRuns", json={"logical_date": None, "conf": conf})
        return answer

    def states(self, run_id):
        answer = self.http.get(f"/dags/kafka_capacity_plan/dagRuns/{run_id}/taskInstances")
        answer.raise_for_status()
        return {ti["task_id"]: ti["state"] for ti in answer.json()["task_instances"]}

    def wait(self, what, is_so):
        end = time.monotonic() + RUN_SECONDS
        said = None
        while time.monotonic() < end:
            try:
                if is_so():
                    return
            except httpx.HTTPError as error:  # an API server that is busy may answer late, or with an error
                said = error
            time.sleep(0.5)
        pytest.fail(f"waited {RUN_SECONDS} s: {what} ({said!r})")

    def wait_until_loaded(self):
        """Airflow says that it is healthy before it has read the DAG files."""
        self.wait("DAG loaded", lambda: self.http.get("/dags/kafka_capacity_plan").status_code == 200)

    def answer_approval(self, run_id, option):
        self.wait("approval asked for", lambda: self.states(run_id).get("plan.approve") == "awaiting_input")
        # An answer that comes before the scheduler has heard of the end of the task's process costs a retry, and the
        # question is asked again (Airflow 3.3.2). People are slower.
        parked = re.compile(rf"TaskInstance Finished: .*task_id=plan\.approve, run_id={re.escape(run_id)},")
        self.wait("the question's process ended", lambda: parked.search(self.log.read_text(errors="replace")))
        answer = self.http.patch(
            f"/dags/kafka_capacity_plan/dagRuns/{run_id}/taskInstances/plan.approve/0/hitlDetails",
            json={"chosen_options": [option], "params_input": {}},
        )
        answer.raise_for_status()

    def wait_for_end(self, run_id):
        def state():
            answer = self.http.get(f"/dags/kafka_capacity_plan/dagRuns/{run_id}")
            answer.raise_for_status()
            return answer.json()["state"]

        self.wait("run ended", lambda: state() in {"success", "failed"})
        return state()


@pytest.fixture(scope="module")
def airflow(tmp_path_factory):
    """``make up`` on ports of its own: the state folder, and a signed-in user."""
    state, port = tmp_path_factory.mktemp("up"), free_port()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW", "SPARK", "PYSPARK"))}
    process = subprocess.Popen(
        [sys.executable, "-m", "local.up", "--state", str(state), "--port", str(port), "--s3-port", "0"],
        cwd=ROOT,
        env={**kept, "PYTHONWARNINGS": "ignore", "PYTHONUNBUFFERED": "1", **BY_HAND, **LATE},
        stdout=(state / "up.log").open("wb"),
        stderr=subprocess.STDOUT,
    )
    try:
        end = time.monotonic() + START_SECONDS
        while "Ctrl-C" not in (state / "up.log").read_text():
            assert process.poll() is None, (state / "up.log").read_text()[-3000:]
            assert time.monotonic() < end, (state / "up.log").read_text()[-3000:]
            time.sleep(0.5)
        password = re.search(r"password (\S+)", (state / "up.log").read_text())[1]
        ui = Ui(f"http://127.0.0.1:{port}", password, state / "airflow" / "airflow.log")
        ui.wait_until_loaded()
        yield state, ui
    finally:
        process.send_signal(signal.SIGINT)  # nothing to do where it was killed
        try:
            process.wait(timeout=300)
        except subprocess.TimeoutExpired:
            process.kill()


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
        for elsewhere in ("../inventory/", "..%2Finventory/", "%2e%2e/plans/", "cluster=nobody/index.html"):
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
