"""The tables of a page as CSV beside it: the columns, rows and words of ``report.json``, figures as numbers.

A file is named after where its table stands in the data, which is the same from report to report.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby, zip_longest
from typing import Any

from kafka_capacity.report.tables import NOTE, verdict_badge
from kafka_capacity.text import NOTHING, shown
from kafka_capacity.text.csv_lines import csv_bytes
from kafka_capacity.text.names import slug

FOLDER = "tables/"
FILE = "csv"  # a table carries its file's name under this key once it has one

_UNITS = {
    "bytes": "bytes",
    "byte_delta": "bytes",
    "rate": "bytes/s",
    "throttle": "bytes/s",
    "throttle_above": "bytes/s",
    "duration": "s",
    "copying": "s",
    "when": "s",
    "wait": "s",
    "percent": "ratio",
    "limit": "ratio",
    "gap": "ratio",
    "usd": "$",
}
"""Of the plain numbers behind what a page writes with units that suit each."""
_HOLDERS = frozenset({"data", "charts", "table", "tables", "options", "maps", "matrices"})
"""Where tables stand without saying more about them."""


def add_csv_files(report: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the files of a report by name, and note in each of its tables which is its own.

    What stands behind the rows of another table, as of each consumer group, has no file.
    """
    files: dict[str, bytes] = {}
    for section in report["sections"]:
        for words, table in _tables(section["data"], [section["name"]]):
            parts = re.split(r"[-_ ]", "-".join(words).lower())
            stem = slug("-".join(part for part, _ in groupby(parts)))
            data = csv_bytes(_rows(table))
            place = 1
            while files.get(name := f"{FOLDER}{stem}{f'-{place}' if place > 1 else ''}.csv", data) != data:
                place += 1
            files[name] = data
            table[FILE] = name
    return files


def _tables(data: Any, words: list[str]) -> Iterator[tuple[list[str], dict[str, Any]]]:
    if isinstance(data, list):
        for place, one in enumerate((one for one in data if isinstance(one, dict)), start=1):
            title = re.split("[:,]", one["caption"])[0] if "caption" in one else f"{place}"
            yield from _tables(one, [*words, title])
    elif isinstance(data, dict) and "anchor" not in data:
        if "caption" in data:
            yield words, data
        elif "spec" in data:  # a chart
            yield from _tables(data["table"], [words[0], data["id"]])
        else:
            for key, one in data.items():
                yield from _tables(one, words if key in _HOLDERS else [*words, key])


def _rows(table: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Go through the heading and the rows of a table; of heat maps the cells are as they are shown."""
    if "columns" in table:
        columns, has_notes = table["columns"], any(row.get(NOTE) for row in table["rows"])
        yield [*(_head(column) for column in columns), *["Note"] * has_notes]
        for row in table["rows"]:
            yield [*(_value(row[one["key"]], one["format"]) for one in columns), *[row.get(NOTE)] * has_notes]
    elif "heads" in table:
        groups = [f", {group['label']}" for group in table["groups"] for _ in range(group["span"])]
        yield [table["corner"], *map("".join, zip_longest(table["heads"], groups, fillvalue=""))]
        for row in table["cells"]:
            yield [row["name"], *map(_unmarked, row["cells"])]
    else:
        yield ["Lost", *(f"{figure}, {side}" for figure in table["figures"] for side in table["sides"])]
        for row in table["rows"]:
            yield [row["name"], *map(_unmarked, row["cells"])]


def _unmarked(cell: Mapping[str, str]) -> str:
    """Return what a cell says, without the marks that stand for colours."""
    return cell["text"].lstrip("▲● ")


def _head(column: Mapping[str, Any]) -> str:
    unit = _UNITS.get(column["format"])
    return f"{column['label']} ({unit})" if unit else str(column["label"])


def _value(value: Any, kind: str) -> Any:
    if kind == "verdict":
        return verdict_badge(value)[2]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    text = shown(value, kind)
    return None if text == NOTHING else text
