"""``python -m tests.frozen [NAME …]``: write down again what the examples are answered."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.frozen.examples import write_examples
from tests.frozen.requests import ANSWERS, REQUESTS, answer

with tempfile.TemporaryDirectory() as folder:
    snapshots = write_examples(Path(folder) / "examples")
    for name in sys.argv[1:] or REQUESTS:
        (ANSWERS / f"{name}.txt").write_text(answer(name, snapshots, Path(folder) / name), encoding="utf-8")
        sys.stdout.write(f"{name}\n")
