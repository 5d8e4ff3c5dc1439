"""A real Airflow with its scheduler, as ``make up`` starts it, and a signed-in user of its API."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[1]
PLAN = "kafka_capacity_plan"
START_SECONDS = 1200
RUN_SECONDS = 1200
"""Both take a minute or two; these are for machines that are busy."""
ANSWER_SECONDS = 120
BY_HAND = {"AIRFLOW__SCHEDULER__USE_JOB_SCHEDULE": "False"}
"""No run but those that somebody asks for."""
_PAGE = 100


class Ui:
    """A signed-in user of the API."""

    def __init__(self, address: str, password: str, log: Path) -> None:
        self.address = address
        self.password = password
        self.log = log
        token = httpx.post(
            f"{address}/auth/token", json={"username": "admin", "password": password}, timeout=ANSWER_SECONDS
        )
        token.raise_for_status()
        headers = {"Authorization": f"Bearer {token.json()['access_token']}"}
        self.http = httpx.Client(base_url=f"{address}/api/v2", headers=headers, timeout=ANSWER_SECONDS)

    def trigger(self, conf: Mapping[str, Any], dag_id: str = PLAN) -> httpx.Response:
        """Start a run of a DAG, which is not paused from then on."""
        self.http.patch(f"/dags/{dag_id}", json={"is_paused": False}).raise_for_status()
        return self.http.post(f"/dags/{dag_id}/dagRuns", json={"logical_date": None, "conf": conf})

    def tasks(self, run_id: str, dag_id: str = PLAN) -> list[dict[str, Any]]:
        """Return all task instances of a run."""
        found: list[dict[str, Any]] = []
        while True:
            answer = self.http.get(
                f"/dags/{dag_id}/dagRuns/{run_id}/taskInstances", params={"limit": _PAGE, "offset": len(found)}
            )
            answer.raise_for_status()
            found += answer.json()["task_instances"]
            if len(found) >= answer.json()["total_entries"]:
                return found

    def states(self, run_id: str) -> dict[str, str]:
        """Return the state of each task of a plan of one cluster."""
        return {ti["task_id"]: ti["state"] for ti in self.tasks(run_id)}

    def wait(self, what: str, is_so: Callable[[], Any], seconds: float = RUN_SECONDS) -> None:
        """Wait until something is so."""
        end = time.monotonic() + seconds
        said = None
        while time.monotonic() < end:
            try:
                if is_so():
                    return
            except httpx.HTTPError as error:  # an API server that is busy may answer late, or with an error
                said = error
            time.sleep(0.5)
        raise AssertionError(f"waited {seconds} s: {what} ({said!r})")

    def wait_until_loaded(self) -> None:
        """Airflow says that it is healthy before it has read the DAG files."""
        self.wait("DAG loaded", lambda: self.http.get(f"/dags/{PLAN}").status_code == 200)

    def answer_approval(self, run_id: str, option: str) -> None:
        """Approve or reject, once the question is there."""
        self.wait("approval asked for", lambda: self.states(run_id).get("plan.approve") == "awaiting_input")
        # An answer that comes before the scheduler has heard of the end of the task's process costs a retry, and the
        # question is asked again (Airflow 3.3.2). People are slower.
        parked = re.compile(rf"TaskInstance Finished: .*task_id=plan\.approve, run_id={re.escape(run_id)},")
        self.wait("the question's process ended", lambda: parked.search(self.log.read_text(errors="replace")))
        answer = self.http.patch(
            f"/dags/{PLAN}/dagRuns/{run_id}/taskInstances/plan.approve/0/hitlDetails",
            json={"chosen_options": [option], "params_input": {}},
        )
        answer.raise_for_status()

    def wait_for_end(self, run_id: str, dag_id: str = PLAN, seconds: float = RUN_SECONDS) -> str:
        """Return the state in which a run has ended."""

        def state() -> str:
            answer = self.http.get(f"/dags/{dag_id}/dagRuns/{run_id}")
            answer.raise_for_status()
            return str(answer.json()["state"])

        self.wait("run ended", lambda: state() in {"success", "failed"}, seconds)
        return state()


@contextmanager
def running_airflow(state: Path, environment: Mapping[str, str]) -> Iterator[Ui]:
    """Run ``make up`` on ports of its own, with its state in a folder and the examples staged."""
    port = free_port()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW", "SPARK", "PYSPARK"))}
    process = subprocess.Popen(
        [sys.executable, "-m", "local.up", "--state", str(state), "--port", str(port), "--s3-port", "0"],
        cwd=ROOT,
        env={**kept, "PYTHONWARNINGS": "ignore", "PYTHONUNBUFFERED": "1", **BY_HAND, **environment},
        stdout=(state / "up.log").open("wb"),
        stderr=subprocess.STDOUT,
    )
    try:
        end = time.monotonic() + START_SECONDS
        while "Ctrl-C" not in (said := (state / "up.log").read_text()):
            assert process.poll() is None, said[-3000:]
            assert time.monotonic() < end, said[-3000:]
            time.sleep(0.5)
        (password,) = re.findall(r"password (\S+)", said)
        ui = Ui(f"http://127.0.0.1:{port}", password, state / "airflow" / "airflow.log")
        ui.wait_until_loaded()
        yield ui
    finally:
        process.send_signal(signal.SIGINT)  # nothing to do where it was killed
        try:
            process.wait(timeout=300)
        except subprocess.TimeoutExpired:
            process.kill()
