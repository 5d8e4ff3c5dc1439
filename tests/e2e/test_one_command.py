"""What the README's first command runs, as a user sees it."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from pathlib import Path

import pytest

from local.one_holder import marked
from tests.e2e.conftest import ROOT, clean_environment, paths, run

pytestmark = [pytest.mark.e2e, pytest.mark.airflow, pytest.mark.spark]

PATIENCE_SECONDS = 600


def test_it_ends_with_the_verdict_and_files_that_are_still_there(planned):
    _, done = planned
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "15 brokers now, 18 by " in done.stdout
    assert "15 brokers fit" in done.stdout
    (report,) = paths(done.stdout, "report")
    (mail,) = paths(done.stdout, "e-mail")
    names = {path.name for path in paths(done.stdout, "files")}
    assert report.read_text().lower().startswith("<!doctype html>")
    assert b"Subject: [kafka-capacity] shop-eu: 15 brokers now, 18 by" in mail.read_bytes()
    assert names == {"moves.json", "rollback.json", "target.json", "reassignment.json", "runbook.md", "waves"}


def test_it_shows_progress_and_no_traceback_or_warning(planned):
    _, done = planned
    shown = done.stdout + done.stderr
    assert "staging shop-eu" in shown
    assert "Traceback" not in shown
    assert "Warning" not in shown


def test_another_process_reads_the_report_through_s3(planned):
    state, done = planned
    (report,) = paths(done.stdout, "report")
    key = report.relative_to(state / "s3" / "kafka-capacity").as_posix()
    reader = (
        "import sys; from pathlib import Path; from local.s3_server import BUCKET, LocalS3\n"
        "with LocalS3(Path(sys.argv[1])) as s3:\n"
        "    body = s3.client().get_object(Bucket=BUCKET, Key=sys.argv[2])['Body'].read()\n"
        "    sys.stdout.buffer.write(body)\n"
    )
    read = run("-c", reader, str(state / "s3"), key)
    assert read.returncode == 0, read.stderr
    assert read.stdout == report.read_text()


def test_a_bad_parameter_ends_with_a_clear_message_and_a_failure(planned):
    state, _ = planned
    done = run("-m", "local.plan", "--state", str(state), "--params", '{"broker_counts": [0]}')
    assert done.returncode != 0
    assert "broker_counts" in done.stdout + done.stderr


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="a promise of Linux")
def test_killed_while_spark_plans_it_leaves_no_driver_behind(tmp_path):
    command = [sys.executable, "-m", "local.plan", "--state", str(tmp_path), "--cluster", "metrics-uneven"]
    with subprocess.Popen(command, cwd=ROOT, env=clean_environment(), stdout=subprocess.DEVNULL) as process:
        wait_for(lambda: any("simulate.py" in one for one in commands_of(tmp_path)))
        process.kill()
    wait_for(lambda: commands_of(tmp_path) == [])


def commands_of(state):
    """The command lines of what was started for a state folder and still runs."""
    found = []
    for pid in marked(lambda mark: mark.endswith(f"@{state}")):
        with contextlib.suppress(OSError):
            found.append(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found


def wait_for(is_so):
    end = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)
