"""``make test``: run ``make check`` and what needs more than Python, and say which parts this machine cannot run.

What a machine lacks is deselected and named. With KAFKA_CAPACITY_TEST_EVERYTHING=1 (as in CI) nothing is: a missing
part fails the run.

Where there are two cores there are courses side by side, and what the others say is printed when all are done. The
tests with live brokers mostly wait, for heartbeats and throttles: they do so beside ``make check``, which has something
to do for every core. What is left is shared by three processes, whole folders each, since tests of a folder rest on
what those before them have stored.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import IO

PARTS = {
    "browser": ("tests that look at a page", "Chromium", ("chromium", "chromium-browser", "google-chrome")),
    "prometheus": ("tests against a real Prometheus", "Prometheus", ("promtool",)),
}
"""By the marker of the tests: what they are, what they need, and the programs any of which is enough."""
BESIDE = "tests/live"  # takes about as long as `make check`
APART = (("tests/dags", "tests/frozen", "tests/local", "tests/reliability"), ("tests/e2e",))
"""Each is about a third of what is left."""
CHECKED = ("unit", "properties", "golden", "docker", "fuzz")  # folders that `make check` has run


def main() -> int:
    """Run ``make check``, and the tests that it does not run."""
    left_out = deselected()
    wanted = ["tests", *(f"--ignore=tests/{folder}" for folder in CHECKED), *left_out]
    check = ("make", "--no-print-directory", "check")
    if (os.cpu_count() or 1) < 2:
        return subprocess.call(check) or subprocess.call(_pytest(wanted))
    others = [*wanted, *(f"--ignore={folder}" for folder in chain([BESIDE], *APART))]
    apart = [_pytest([*folders, *left_out]) for folders in APART]
    return side_by_side(check, _pytest(others), beside=_pytest([BESIDE, *left_out]), apart=apart)


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


def side_by_side(
    first: Sequence[str], shown: Sequence[str], *, beside: Sequence[str], apart: Sequence[Sequence[str]]
) -> int:
    """Run two commands in turn, one beside both and some beside the second, and show what these say when all are done.

    Where the first fails, nothing else is run to its end.

    Returns:
        0 where all ended with that, else the status of one that did not.
    """
    with contextlib.ExitStack() as kept:
        running = [kept.enter_context(_in_background(beside))]
        if status := subprocess.call(first):
            return status
        running += [kept.enter_context(_in_background(command)) for command in apart]
        statuses = [subprocess.call(shown), *(process.wait() for process, _ in running)]
        for command, (_, output) in zip((beside, *apart), running, strict=True):
            output.seek(0)
            sys.stdout.write(f"\n{' '.join(command[1:])}\n{output.read().decode(errors='replace')}")
        sys.stdout.flush()
    return next((status for status in statuses if status), 0)


@contextlib.contextmanager
def _in_background(command: Sequence[str]) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        try:
            yield process, output
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
