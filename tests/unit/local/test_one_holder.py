"""A state folder has one holder, and what a killed one has started ends with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from local import one_holder

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_SECONDS = 120
HOLD = """
import subprocess, sys, time
from pathlib import Path
from local.one_holder import held
with held(Path(sys.argv[1])):
    # A child in a session of its own, and a child of that.
    code = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(900)']).wait()"
    subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    print("held", flush=True)
    time.sleep(900)
"""

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="marks are read from /proc")


@pytest.fixture
def holder(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    wait_for(lambda: len(marked(tmp_path)) == 3, "two children and the process beside")
    yield process
    process.kill()
    process.wait()
    one_holder.end_marked(lambda mark: mark.endswith(f"@{tmp_path}"))


def marked(state):
    return one_holder.marked(lambda mark: mark.endswith(f"@{state}"))


def wait_for(is_so, what):
    end = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def test_nothing_outlives_a_holder_that_is_killed(holder, tmp_path):
    holder.kill()
    holder.wait()
    wait_for(lambda: not marked(tmp_path), "all are gone")


def test_what_is_left_where_all_was_killed_ends_with_the_next_start(holder, tmp_path):
    (beside,) = [pid for pid in marked(tmp_path) if b"local.one_holder" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    os.kill(beside, signal.SIGSTOP)
    holder.kill()
    holder.wait()
    assert len(marked(tmp_path)) == 3
    with one_holder.held(tmp_path):
        old = [pid for pid in marked(tmp_path) if Path(f"/proc/{pid}/stat").read_text().split()[3] != str(os.getpid())]
        assert old == []


@pytest.mark.parametrize("module", ["local.up", "local.plan"])
def test_a_second_one_is_refused_in_words_and_the_first_goes_on(holder, tmp_path, module):
    done = subprocess.run(
        [sys.executable, "-m", module, "--state", str(tmp_path)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2, done.stderr
    assert f"is in use by process {holder.pid}" in done.stdout
    assert holder.poll() is None
    assert len(marked(tmp_path)) == 3


def test_another_folder_is_nobodys_business(holder, tmp_path):
    with one_holder.held(tmp_path / "other"):
        one_holder.end_own()
    assert len(marked(tmp_path)) == 3


def test_in_the_end_the_folder_is_free(tmp_path):
    for _ in range(2):
        with one_holder.held(tmp_path):
            pass
        assert marked(tmp_path) == []
