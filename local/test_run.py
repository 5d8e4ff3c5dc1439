"""``make test``: run ``make check`` and what needs more than Python, and say which parts this machine cannot run.

What a machine lacks is deselected and named. With KAFKA_CAPACITY_TEST_EVERYTHING=1 (as in CI) nothing is: a missing
part fails the run.

Where there are two cores there are two courses of about the same length, and what the second says is printed when both
are done: the tests with live brokers mostly wait, for heartbeats and throttles, and those of the whole product for its
parts to start. So they do beside ``make check``, which has something to do for every core.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence

PARTS = {
    "browser": ("tests that look at a page", "Chromium", ("chromium", "chromium-browser", "google-chrome")),
    "prometheus": ("tests against a real Prometheus", "Prometheus", ("promtool",)),
}
"""By the marker of the tests: what they are, what they need, and the programs any of which is enough."""
BESIDE = ("tests/live", "tests/e2e")  # these take about as long as all that is left
CHECKED = ("unit", "properties", "golden", "docker", "fuzz")  # folders that `make check` has run


def main() -> int:
    """Run ``make check``, and the tests that it does not run."""
    left_out = deselected()
    wanted = ["tests", *(f"--ignore=tests/{folder}" for folder in CHECKED), *left_out]
    check = ("make", "--no-print-directory", "check")
    if (os.cpu_count() or 1) < 2:
        return subprocess.call(check) or subprocess.call(_pytest(wanted))
    others = [*wanted, *(f"--ignore={folder}" for folder in BESIDE)]
    return side_by_side(check, _pytest(others), _pytest([*BESIDE, *left_out]))


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


def side_by_side(first: Sequence[str], shown: Sequence[str], kept: Sequence[str]) -> int:
    """Run two commands in turn and a third one beside them, and show the output of that when all are done.

    Where the first fails, nothing else is run to its end.

    Returns:
        0 where all ended with that, else the status of one that did not.
    """
    with tempfile.TemporaryFile() as output:
        beside = subprocess.Popen(kept, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        try:
            if status := subprocess.call(first):
                return status
            statuses = subprocess.call(shown), beside.wait()
        finally:
            beside.terminate()
            beside.wait()
        output.seek(0)
        sys.stdout.write(f"\n{' '.join(kept[1:])}\n{output.read().decode(errors='replace')}")
        sys.stdout.flush()
    return statuses[0] or statuses[1]


if __name__ == "__main__":
    sys.exit(main())
