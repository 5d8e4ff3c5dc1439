"""What is asked of the examples, and how the answers are written down so that a change of them can be read.

Renew the answers with ``python -m tests.frozen`` and read the difference before it is committed: it is what a change
does to what users read.
"""

from __future__ import annotations

import functools
import hashlib
import re
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from kafka_capacity.cli.app import load_commands

ANSWERS = Path(__file__).parent / "answers"
SHOWN_WHOLE = ("decision.json", "runbook.md", "email.txt")
"""Files that are kept as they are; of the others the hash is."""
_LEFT_OUT = ("timing.json", "index.html", "email.html")
"""What depends on the clock, or on the fonts of the machine; what pages show is in ``report.json``."""

REQUESTS = {
    "shop-check": ("inventory", "check", "{shop-eu}"),
    "shop-doctor": ("doctor", "{shop-eu}"),
    "shop-size": ("size", "--snapshot", "{shop-eu}"),
    "shop-plan": ("plan", "--snapshot", "{shop-eu}", "--broker-counts", "12,15", "--placer", "fewest-bytes"),
    "uneven-check": ("inventory", "check", "{metrics-uneven}"),
    "uneven-doctor": ("doctor", "{metrics-uneven}", "--controllers", "1,2,3"),
    "uneven-groups": ("groups", "{metrics-uneven}"),
    "uneven-size": ("size", "--snapshot", "{metrics-uneven}"),
    "uneven-failures": ("failures", "{metrics-uneven}"),
    "uneven-durability": ("durability", "{metrics-uneven}"),
    "uneven-plan": ("plan", "--snapshot", "{metrics-uneven}", "--broker-counts", "9,11", "--out", "{out}"),
    "uneven-slow": ("plan", "--snapshot", "{metrics-uneven}", "--broker-counts", "12", "--throttle", "1000000"),
    "uneven-removed": ("plan", "--snapshot", "{metrics-uneven}", "--remove-brokers", "1001", "--out", "{out}"),
    "uneven-report": ("report", "--snapshot", "{metrics-uneven}", "--broker-counts", "9,11", "--out", "{out}"),
}


@functools.cache
def _commands() -> object:
    return load_commands()


def answer(name: str, snapshots: dict[str, Path], out: Path) -> str:
    """Ask one of :data:`REQUESTS` and return what was printed and what was written, as one text.

    Args:
        name: which.
        snapshots: the folder of each example.
        out: an empty folder to write to.
    """
    places = {"out": str(out), **{example: str(folder) for example, folder in snapshots.items()}}
    arguments = [re.sub(r"\{(.*)\}", lambda found: places[found[1]], argument) for argument in REQUESTS[name]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", functools.cache(get_command))
        done = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(_commands(), arguments)
    parts = [f"$ kafka-capacity {' '.join(REQUESTS[name])}", done.stdout.rstrip(), f"exit status {done.exit_code}"]
    if done.stderr:
        parts.append(f"--- standard error\n{done.stderr.rstrip()}")
    for path in sorted(out.rglob("*")) if out.exists() else ():
        if path.is_file() and path.name not in _LEFT_OUT and path.suffix != ".png":
            parts.append(_file(path, out))
    text = "\n".join(parts) + "\n"
    for place, folder in places.items():
        text = text.replace(folder, f"{{{place}}}")
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def _file(path: Path, out: Path) -> str:
    data = path.read_bytes().replace(str(out).encode(), b"{out}")
    name = path.relative_to(out)
    if path.name in SHOWN_WHOLE:
        return f"--- {name}\n{data.decode().rstrip()}"
    return f"--- {name} {hashlib.sha256(data).hexdigest()[:16]}"
