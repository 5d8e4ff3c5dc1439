"""``make up``: the Airflow UI on this machine, with the embedded parts, until Ctrl-C."""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from rich.console import Console

from local.services import DEFAULT_STATE, Services, running

CONSOLE = Console(highlight=False)
START_SECONDS = 600


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Start the Airflow UI with the embedded S3 endpoint and mail sink.")
    parser.add_argument("--port", type=int, default=8080, help="of the UI, on 127.0.0.1")
    parser.add_argument(
        "--s3-port", type=int, default=9000, help="of the S3 endpoint, on 127.0.0.1; 0 takes a free one"
    )
    parser.add_argument("--state", type=Path, default=DEFAULT_STATE, help="folder for everything that is written")
    return parser


def start_airflow(services: Services, port: int) -> subprocess.Popen[bytes]:
    """Start ``airflow standalone`` in its own process group; its output goes to a file in the state folder."""
    environment = {
        **os.environ,
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "INFO",
        # Both DAGs can be started by hand at once; the schedules wait until somebody switches them on.
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
    }
    log = (services.state / "airflow-standalone.log").open("ab")
    return subprocess.Popen(
        [str(Path(sys.executable).parent / "airflow"), "standalone"],
        env=environment,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )


def wait_until_healthy(process: subprocess.Popen[bytes], port: int, *, seconds: float = START_SECONDS) -> None:
    """Wait for the scheduler's heartbeat.

    Raises:
        RuntimeError: Airflow ended, or took too long.
    """
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            msg = f"Airflow ended with status {process.returncode}; see airflow-standalone.log in the state folder"
            raise RuntimeError(msg)
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{port}/api/v2/monitor/health", timeout=5
            ) as answer:  # our own address
                health = json.load(answer)
            if all(health[part]["status"] == "healthy" for part in ("metadatabase", "scheduler", "dag_processor")):
                return
        except (OSError, urllib.error.URLError, ValueError, KeyError):
            pass
        time.sleep(0.5)
    msg = f"Airflow was not healthy after {seconds:.0f} s; see airflow-standalone.log in the state folder"
    raise RuntimeError(msg)


def stop_airflow(process: subprocess.Popen[bytes]) -> None:
    """Stop it and its children; only the leader gets the signal, which then ends the others in order."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


def password_of(state: Path) -> str:
    """Return the password of the user ``admin``, which Airflow makes up at its first start."""
    file = state / "airflow" / "simple_auth_manager_passwords.json.generated"
    try:
        return str(json.loads(file.read_text())["admin"])
    except (OSError, ValueError, KeyError):
        return f"see {file}"


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


def main() -> int:
    """Run it."""
    args = _parser().parse_args()
    for port in _busy(args.port, args.s3_port):
        CONSOLE.print(f"error: port {port} is in use; name others: make up PORT=8081 S3_PORT=9001")
        return 2
    with running(args.state, s3_port=args.s3_port) as services:
        from local.airflow_runs import initialise, run_dag

        initialise()
        from kafka_capacity.example import EXAMPLE_DS

        CONSOLE.print("staging the example clusters")
        run_dag("kafka_inventory", {"ds": EXAMPLE_DS})
        # Airflow leaves a handler behind that takes no notice: being told to end means the same as Ctrl-C.
        signal.signal(signal.SIGTERM, _interrupt)
        process = start_airflow(services, args.port)
        try:
            CONSOLE.print("starting Airflow")
            wait_until_healthy(process, args.port)
            CONSOLE.print(
                f"\nAirflow   http://127.0.0.1:{args.port}   user admin, password {password_of(services.state)}"
            )
            CONSOLE.print("plan      DAG kafka_capacity_plan, Trigger, cluster shop-eu or metrics-uneven")
            CONSOLE.print(
                f"e-mails   {services.mail.folder}\nobjects   {services.state / 's3'}\nCtrl-C stops all of it."
            )
            process.wait()
        except KeyboardInterrupt:
            CONSOLE.print("stopping")
        finally:
            stop_airflow(process)
    return 0


if __name__ == "__main__":
    sys.exit(main())
