"""``make test``: run what needs more than Python, and say which parts of it this machine cannot run.

What a machine lacks is deselected and named. With KAFKA_CAPACITY_TEST_EVERYTHING=1 (as in CI) nothing is: a missing
part fails the run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")


def main() -> int:
    """Run the tests that ``make check`` has not run."""
    expression = []
    if os.environ.get("KAFKA_CAPACITY_TEST_EVERYTHING") != "1" and not any(map(shutil.which, CHROMIUM_NAMES)):
        sys.stdout.write("left out: tests that look at a page (no Chromium; install your system's package of it)\n")
        expression.append("not browser")
    command = [sys.executable, "-m", "pytest", "-q", "--durations=10", "tests"]
    for folder in ("unit", "properties", "golden", "docker"):
        command.append(f"--ignore=tests/{folder}")
    if expression:
        command += ["-m", " and ".join(expression)]
    return subprocess.call(command)


if __name__ == "__main__":
    sys.exit(main())
