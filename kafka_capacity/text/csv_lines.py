"""Lines of CSV that spreadsheets take for text and figures, and for nothing that runs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What a spreadsheet takes for the beginning of a formula, or skips before one."""


def csv_bytes(rows: Iterable[Sequence[Any]]) -> bytes:
    """Write rows as CSV; nothing stands for ``None``, lists are JSON, and no text is a formula of a spreadsheet."""
    return "".join(map(_line, rows)).encode(errors="replace")


def _line(cells: Sequence[Any]) -> str:
    sink = io.StringIO(newline="")
    end = "\r\n"  # the writer puts quotes around what holds a character of it, a lone carriage return too
    csv.writer(sink, lineterminator=end).writerow([_cell(value) for value in cells])
    return sink.getvalue().removesuffix(end) + "\n"


def _cell(value: Any) -> Any:
    """Return what is written; an apostrophe before a text keeps spreadsheets from running it."""
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
