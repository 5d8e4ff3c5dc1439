"""Recordings of the terminal, at 80 and 140 columns: docs/terminal.md, which ``python -m tests.recordings`` prints."""

from __future__ import annotations

import functools
import sys
import tempfile
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from kafka_capacity.cli.app import load_commands
from kafka_capacity.example import make_example
from kafka_capacity.inventory.files import write_snapshot_files

PAGE = Path(__file__).parents[1] / "docs" / "terminal.md"
EXAMPLE = "metrics-uneven"
COMMANDS = (
    ("doctor", EXAMPLE),
    ("plan", EXAMPLE, "--broker-counts", "9,11", "--placer", "fewest-bytes"),
    ("plan", EXAMPLE, "--broker-counts", "2", "--quiet"),
)
WIDTHS = (80, 140)
_HEAD = f"""# In the terminal

What commands print of the example `{EXAMPLE}` (`kafka-capacity example {EXAMPLE}`) in a terminal of 80 and of 140
columns. The answer is the first line, and what to type next the last, if anything; below 120 columns tables become
records where their columns would be too narrow, and no word is cut. `python -m tests.recordings > docs/terminal.md`
records it; a test holds the page against the program.
"""


def recordings() -> str:
    """Return the page."""
    parts = [_HEAD]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr("typer.testing._get_command", functools.cache(get_command))
        write_snapshot_files(make_example(EXAMPLE), Path(EXAMPLE))
        for arguments in COMMANDS:
            parts.append(f"\n## {arguments[0]}{' --quiet' if '--quiet' in arguments else ''}\n")
            for width in WIDTHS:
                done = CliRunner(env={"COLUMNS": str(width), "NO_COLOR": "1"}).invoke(load_commands(), arguments)
                said = "\n".join(line.rstrip() for line in done.output.splitlines())
                typed = f"$ kafka-capacity {' '.join(arguments)}"
                parts.append(f"\n{width} columns:\n\n```text\n{typed}\n{said}\n```\n")
    return "".join(parts)


if __name__ == "__main__":
    sys.stdout.write(recordings())
