"""The large example, planned once as the README's first command does and once by the command line, for all tests."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BROKER_USD_PER_HOUR = 1.5
"""So that the page has dollars of today's brokers too."""


def clean_environment():
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW", "SPARK", "PYSPARK"))}
    return {**kept, "PYTHONWARNINGS": "ignore"}


def run(*arguments):
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=clean_environment(), capture_output=True, text=True, timeout=1800
    )


def paths(output, label):
    """What the first command says of where its files are."""
    return [Path(path) for path in re.findall(rf"^{label}\s+(\S+)$", output, flags=re.MULTILINE)]


@pytest.fixture(scope="session")
def planned(tmp_path_factory):
    """The state folder of ``make plan``, and the process that ended."""
    state = tmp_path_factory.mktemp("one-command")
    priced = json.dumps({"broker_usd_per_hour": BROKER_USD_PER_HOUR, "usd_per_gib_between_racks": 0.0})
    return state, run("-m", "local.plan", "--state", str(state), "--params", priced)


@pytest.fixture(scope="session")
def typed(tmp_path_factory):
    """The folder that ``kafka-capacity report`` writes of the same example and request."""
    place = tmp_path_factory.mktemp("typed")
    for arguments in (
        ("example", "shop-eu", "--out", str(place / "snapshot")),
        (
            "report",
            str(place / "snapshot"),
            "--broker-price",
            str(BROKER_USD_PER_HOUR),
            "--rack-traffic-price",
            "0",
            "--out",
            str(place / "out"),
        ),
    ):
        done = run("-m", "kafka_capacity.cli", *arguments, "--quiet")
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return place / "out"
