"""``make test``: run ``make check`` and what needs more than Python, and say which parts this machine cannot run.

What a machine lacks is deselected and named. With KAFKA_CAPACITY_TEST_EVERYTHING=1 (as in CI) nothing is: a missing
part fails the run.

Where there are two cores there are courses side by side, and what each says is printed when it is done. The tests with
live brokers and with a running Airflow mostly wait, for heartbeats, throttles and deadlines: they run beside
``make check``, which has something to do for every core. What is left are parts of whole files, since tests of a file
rest on what those before them have stored; as soon as one is done the next begins, the longest first, and some more at
once than there are cores, since all of them wait now and then.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

PARTS = {
    "browser": ("tests that look at a page", "Chromium", ("chromium", "chromium-browser", "google-chrome")),
    "prometheus": ("tests against a real Prometheus", "Prometheus", ("promtool",)),
}
"""By the marker of the tests: what they are, what they need, and the programs any of which is enough."""
BESIDE = (
    ("tests/live",),
    tuple(f"tests/live/test_{what}.py" for what in ("compaction", "compression", "move_times", "retention", "voters")),
    ("tests/e2e/test_sources.py", "tests/e2e/test_up.py"),
)
"""Parts that mostly wait."""
PARTS_LEFT = (
    ("tests/e2e/test_decided_once.py", "tests/e2e/test_one_command.py"),
    ("tests/dags/test_fleet.py", "tests/dags/test_installed.py", "tests/dags/test_two_weeks.py"),
    ("tests/spark",),
    ("tests/dags",),
    ("tests/frozen", "tests/reliability"),
)
"""The longest first; what is in none of them is the last part."""
AT_ONCE = 4
CHECKED = ("unit", "properties", "golden", "docker", "fuzz")  # folders that `make check` has run


def main() -> int:
    """Run ``make check``, and the tests that it does not run."""
    left_out = deselected()
    wanted = ["tests", *(f"--ignore=tests/{folder}" for folder in CHECKED), *left_out]
    check = ("make", "--no-print-directory", "check")
    if (os.cpu_count() or 1) < 2:
        return subprocess.call(check) or subprocess.call(_pytest(wanted))
    named = [*PARTS_LEFT, *BESIDE]
    others = [*wanted, *(f"--ignore={path}" for path in chain(*named))]
    left = [*(_pytest([*part, *_elsewhere(part), *left_out]) for part in PARTS_LEFT), _pytest(others)]
    return side_by_side(check, left, beside=[_pytest([*part, *_elsewhere(part), *left_out]) for part in BESIDE])


def _elsewhere(part: Sequence[str]) -> list[str]:
    """Return the options that leave out what of a part's folders is in another part."""
    below = tuple(f"{path}/" for path in part)
    return [f"--ignore={path}" for path in chain(*PARTS_LEFT, *BESIDE) if path.startswith(below)]


def deselected() -> list[str]:
    """Return the options that leave out what this machine cannot run, each part of it named."""
    missing = [marker for marker, (_, _, programs) in PARTS.items() if not any(map(shutil.which, programs))]
    if not missing or os.environ.get("KAFKA_CAPACITY_TEST_EVERYTHING") == "1":
        return []
    for what, part, _ in (PARTS[marker] for marker in missing):
        sys.stdout.write(f"left out: {what} (no {part}; install your system's package of it)\n")
    sys.stdout.flush()
    return ["-m", " and ".join(f"not {marker}" for marker in missing)]


def _pytest(arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "pytest", "-q", "--durations=10", *arguments]


def side_by_side(first: Sequence[str], left: Sequence[Sequence[str]], *, beside: Sequence[Sequence[str]]) -> int:
    """Run a command with others beside it, then what is left, and show what each of these says when it is done.

    Where the first fails, nothing else is run to its end. Returns 0, or the status of one that ended otherwise.
    """
    with ThreadPoolExecutor(AT_ONCE) as several, _Background() as background:
        waiting = [background.start(command) for command in beside]
        if status := subprocess.call(first):
            return status
        ends = [several.submit(background.run, command) for command in left]
        statuses = [*(end() for end in waiting), *(end.result() for end in ends)]
    return next((status for status in statuses if status), 0)


class _Background:
    """Commands whose output is kept until they are done; none of them outlives this."""

    def __init__(self) -> None:
        self._running: list[subprocess.Popen[bytes]] = []
        self._is_closed = False
        self._lock = threading.Lock()

    def __enter__(self) -> _Background:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._is_closed = True
        for process in self._running:
            process.terminate()
            process.wait()

    def run(self, command: Sequence[str]) -> int:
        """Run a command to its end, and show what it said."""
        return self.start(command)()

    def start(self, command: Sequence[str]) -> Callable[[], int]:
        """Start a command; what is returned waits for its end, shows what it said and returns its status."""
        with self._lock:
            if self._is_closed:
                return lambda: 1
            output = tempfile.TemporaryFile()  # noqa: SIM115 - closed once it is shown
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
            self._running.append(process)

        def end() -> int:
            status = process.wait()
            with output, self._lock:
                output.seek(0)
                sys.stdout.write(f"\n{' '.join(command[1:])}\n{output.read().decode(errors='replace')}")
                sys.stdout.flush()
            return status

        return end


if __name__ == "__main__":
    sys.exit(main())
