"""What a task starts does not outlive it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

PLUGINS = Path(__file__).resolve().parents[3] / "plugins"
PATIENCE_SECONDS = 120
START = """
import subprocess, sys, time
from kafka_capacity_airflow.spark import end_with_parent
# As spark-submit does: a script that becomes another program.
child = subprocess.Popen(["sh", "-c", "exec sleep 900"], preexec_fn=end_with_parent())
print(child.pid, flush=True)
time.sleep(900)
"""


def is_there(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="a promise of Linux")
def test_it_ends_where_its_parent_is_killed():
    parent = subprocess.Popen([sys.executable, "-c", START], cwd=PLUGINS, stdout=subprocess.PIPE, text=True)
    child = int(parent.stdout.readline())
    assert is_there(child)
    parent.kill()
    parent.wait()
    end = time.monotonic() + PATIENCE_SECONDS
    while is_there(child):
        assert time.monotonic() < end
        time.sleep(0.05)
