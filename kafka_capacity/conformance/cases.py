"""Reads recorded cases: JSON lines, plain or gzipped."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_capacity.errors import InventoryError, RequestError


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCase:
    """One call of a function of Kafka's and what came of it."""

    function: str  # the function's name in the recording
    where: str  # file and line, for messages
    given: dict[str, Any]  # the arguments
    expected: dict[str, Any]  # what it returned, or `{"error": {"type": ..., "message": ...}}`


def case_files(directory: Path) -> list[Path]:
    """List the files of recorded cases in a directory, sorted by name.

    Raises:
        RequestError: it is no directory, or holds none.
    """
    if not directory.is_dir():
        raise RequestError(f"{directory}: there is no such directory")
    files = sorted([*directory.glob("*.jsonl"), *directory.glob("*.jsonl.gz")])
    if not files:
        raise RequestError(f"{directory}: holds no recorded cases (*.jsonl.gz or *.jsonl)")
    return files


def read_cases(file: Path) -> Iterator[RecordedCase]:
    """Read the cases of one file, in order.

    Raises:
        InventoryError: the file cannot be read or a line is not a case.
    """
    number = 0
    try:
        with gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _case(line, f"{file}, line {number}")
    except (OSError, EOFError, zlib.error) as error:
        raise InventoryError(f"{file}, after line {number}: cannot be read: {error}") from error


def _case(line: bytes, where: str) -> RecordedCase:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise InventoryError(f"{where}: is not JSON: {error}") from error
    if not isinstance(record, dict):
        raise InventoryError(f"{where}: is not a JSON object")
    for name, kind in (("fn", str), ("input", dict), ("output", dict)):
        if not isinstance(record.get(name), kind):
            raise InventoryError(f"{where}: has no {name!r} or a wrong one")
    return RecordedCase(function=record["fn"], where=where, given=record["input"], expected=record["output"])
