"""A standalone Spark cluster on this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

from local.environment import QUICK_JVM
from local.java_home import java_home
from tests.ports import free_ports

START_SECONDS = 300


def spark_environment(folder: Path) -> dict[str, str]:
    """Return what Spark's programs find in their environment."""
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "SPARK_HOME"}}
    return {
        **kept,
        "JAVA_HOME": str(java_home(folder)),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "JDK_JAVA_OPTIONS": QUICK_JVM,  # for daemons, drivers and executors alike
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }


@contextlib.contextmanager
def standalone(
    environment: Mapping[str, str], folder: Path, *, workers: int, cores: int, memory: str = "1g"
) -> Iterator[str]:
    """Run a master and workers, each with so many cores and so much memory; yields the address of the master."""
    port, web, *worker_webs = free_ports(2 + workers)
    address, deploy = f"spark://127.0.0.1:{port}", "org.apache.spark.deploy"
    here = ("--host", "127.0.0.1", "--webui-port")
    with contextlib.ExitStack() as daemons:

        def start(*arguments: str) -> None:
            daemons.enter_context(_daemon(environment, folder, *arguments))

        start(f"{deploy}.master.Master", *here, str(web), "--port", str(port))
        for number, worker_web in enumerate(worker_webs):
            has = ("--cores", str(cores), "--memory", memory, "--work-dir", str(folder / f"work-{number}"))
            start(f"{deploy}.worker.Worker", *here, str(worker_web), *has, address)
        _wait(web, workers, folder / "daemon.log")
        yield address


@contextlib.contextmanager
def _daemon(environment: Mapping[str, str], folder: Path, *arguments: str) -> Iterator[None]:
    with (folder / "daemon.log").open("ab") as log:
        process = subprocess.Popen(
            ["spark-class", *arguments], env=environment, cwd=folder, stdout=log, stderr=log, start_new_session=True
        )
        try:
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait(web: int, workers: int, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        with (
            contextlib.suppress(OSError),
            urllib.request.urlopen(f"http://127.0.0.1:{web}/json/", timeout=30) as answer,
        ):
            if f'"aliveworkers" : {workers}'.encode() in answer.read():
                return
        time.sleep(0.3)
    raise TimeoutError(log.read_text()[-3000:])
