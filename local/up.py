"""``make up``: the Airflow UI on this machine, with the embedded parts, until Ctrl-C."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from local.environment import airflow_home
from local.one_holder import StateInUseError, end_own, held
from local.services import DEFAULT_STATE, Services, running

CONSOLE = Console(highlight=False)
START_SECONDS = 600
STOP_SECONDS = 30
LOOK_SECONDS = 0.5
PASSWORDS = "simple_auth_manager_passwords.json.generated"  # Airflow's name of the file that has them
CHANGED_IN_THE_UI = (
    "kafka_capacity_clusters",
    "kafka_capacity_recipients",
    "kafka_capacity_owner",
    "kafka_capacity_sender",
)
"""Variables that people change: a cluster of their own goes into the first. The others name ports and files."""
_NO_LOGS = "--skip-serve-logs"
AIRFLOW_COMMANDS = (("scheduler", _NO_LOGS), ("dag-processor",), ("api-server",), ("triggerer", _NO_LOGS))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Start the Airflow UI with the embedded S3 endpoint and mail sink.")
    parser.add_argument("--port", type=int, default=8080, help="port of the UI, on 127.0.0.1")
    parser.add_argument(
        "--s3-port", type=int, default=9000, help="port of the S3 endpoint, on 127.0.0.1; 0 picks a free one"
    )
    parser.add_argument("--state", type=Path, default=DEFAULT_STATE, help="folder for all output")
    return parser


def start_airflow(services: Services, port: int) -> dict[str, subprocess.Popen[bytes]]:
    """Start the parts of Airflow, each in a process group of its own; their output goes to a file beside its database.

    ``airflow standalone`` starts the same, and with them servers of logs that listen on every interface; here the API
    server finds the logs where they are written.
    """
    environment = {
        **os.environ,
        "AIRFLOW_VAR_KAFKA_CAPACITY_REPORT_URL": "",  # reports are pages of this server
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
        # The parts know each other by these; each would make up its own.
        "AIRFLOW__API__SECRET_KEY": secrets.token_urlsafe(32),
        "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_urlsafe(64),
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "INFO",
    }
    with airflow_log(services.state).open("ab") as log:
        return {
            command[0]: subprocess.Popen(
                [str(Path(sys.executable).parent / "airflow"), *command],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            for command in AIRFLOW_COMMANDS
        }


def airflow_log(state: Path) -> Path:
    """Return the file of what Airflow's parts print."""
    return airflow_home(state) / "airflow.log"


def _ended(processes: Mapping[str, subprocess.Popen[bytes]], state: Path) -> str:
    """Describe a part of Airflow that has ended; empty while all run."""
    for name, process in processes.items():
        if process.poll() is not None:
            return f"Airflow's {name} exited with status {process.returncode}; see {airflow_log(state)}"
    return ""


def wait_until_healthy(
    processes: Mapping[str, subprocess.Popen[bytes]], state: Path, port: int, *, seconds: float = START_SECONDS
) -> None:
    """Wait for the scheduler's heartbeat; raises RuntimeError where a part of Airflow ended, or it took too long."""
    address, end = f"http://127.0.0.1:{port}/api/v2/monitor/health", time.monotonic() + seconds
    while time.monotonic() < end:
        if why := _ended(processes, state):
            raise RuntimeError(why)
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                health = json.load(answer)
            if all(health[part]["status"] == "healthy" for part in ("metadatabase", "scheduler", "dag_processor")):
                return
        except (OSError, urllib.error.URLError, ValueError, KeyError):
            pass
        time.sleep(LOOK_SECONDS)
    raise RuntimeError(f"Airflow was not healthy after {seconds:.0f} s; see {airflow_log(state)}")


def stop_airflow(processes: Mapping[str, subprocess.Popen[bytes]]) -> None:
    """Stop its parts, in order where they do so in time, and whatever they have started."""
    for process in processes.values():
        process.terminate()
    end = time.monotonic() + STOP_SECONDS
    for process in processes.values():
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=max(0.0, end - time.monotonic()))
    for process in processes.values():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    end_own()


def make_password(state: Path) -> str:
    """Return the password of the user ``admin``; the first call makes it up.

    Left to itself, Airflow writes one into a file for everyone to read, and into its log.
    """
    file = airflow_home(state) / PASSWORDS
    try:
        password = str(json.loads(file.read_text())["admin"])
    except (OSError, ValueError, KeyError):
        password = secrets.token_urlsafe(12)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as stream:
        os.fchmod(stream.fileno(), 0o600)
        stream.write(json.dumps({"admin": password}) + "\n")
        stream.truncate()
    # Where an earlier version has kept it, too.
    (state / "airflow-standalone.log").unlink(missing_ok=True)
    return password


def _busy(*ports: int) -> list[int]:
    """List those ports of 127.0.0.1 that somebody listens on."""
    found = []
    for port in ports:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                found.append(port)
    return found


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _serve(services: Services, port: int) -> int:
    """Stage the examples, start Airflow, and wait until somebody or a part of it ends that."""
    from local.airflow_runs import hand_over_variables, initialise, run_dag

    initialise()
    from kafka_capacity.example import EXAMPLE_DS

    CONSOLE.print("staging the example clusters")
    run_dag("kafka_inventory", {"ds": EXAMPLE_DS})
    hand_over_variables(CHANGED_IN_THE_UI)
    password = make_password(services.state)
    # Airflow leaves a handler behind that takes no notice: being told to end means the same as Ctrl-C.
    signal.signal(signal.SIGTERM, _interrupt)
    processes = start_airflow(services, port)
    try:
        CONSOLE.print("starting Airflow")
        wait_until_healthy(processes, services.state, port)
        CONSOLE.print(f"\nAirflow   http://127.0.0.1:{port}   user admin, password {password}")
        CONSOLE.print("plan      DAG kafka_capacity_plan, Trigger, cluster shop-eu or metrics-uneven")
        CONSOLE.print("clusters  Admin, Variables, kafka_capacity_clusters: add your own there")
        CONSOLE.print(f"e-mails   {services.mail.folder}\nobjects   {services.state / 's3'}\nCtrl-C stops all of it.")
        while not (why := _ended(processes, services.state)):
            time.sleep(LOOK_SECONDS)
        CONSOLE.print(f"error: {why}", markup=False, soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        CONSOLE.print("stopping")
        return 0
    finally:
        stop_airflow(processes)


def main() -> int:
    """Run it."""
    args = _parser().parse_args()
    try:
        with held(args.state):
            for port in _busy(args.port, args.s3_port):
                CONSOLE.print(f"error: port {port} is in use; choose others: make up PORT=8081 S3_PORT=9001")
                return 2
            with running(args.state, s3_port=args.s3_port) as services:
                return _serve(services, args.port)
    except StateInUseError as error:
        CONSOLE.print(f"error: {error}", markup=False, soft_wrap=True)
        return 2


if __name__ == "__main__":
    sys.exit(main())
