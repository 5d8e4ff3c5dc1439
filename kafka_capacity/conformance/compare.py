"""Runs recorded cases and counts how many come out as Kafka's did."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_capacity.conformance.registry import Answer
from kafka_capacity.errors import InventoryError, KafkaCapacityError, RequestError


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCase:
    """One call of a function of Kafka's and what came of it."""

    function: str  # the function's name in the recording
    where: str  # file and line, for messages
    given: dict[str, Any]  # the arguments
    expected: dict[str, Any]  # what it returned, or `{"error": {"type": ..., "message": ...}}`


def case_files(directory: Path) -> list[Path]:
    """List the files of recorded cases in a directory, sorted by name; RequestError where there are none."""
    if not directory.is_dir():
        raise RequestError(f"{directory}: there is no such directory")
    files = sorted([*directory.glob("*.jsonl"), *directory.glob("*.jsonl.gz")])
    if not files:
        raise RequestError(f"{directory}: holds no recorded cases (*.jsonl.gz or *.jsonl)")
    return files


def read_cases(file: Path) -> Iterator[RecordedCase]:
    """Read the cases of one file, in order; InventoryError where it cannot be read or a line is not a case."""
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


@dataclass(slots=True, kw_only=True)
class Tally:
    """How the cases of one function came out."""

    function: str  # its name
    is_implemented: bool  # whether we answer it at all
    matched: int = 0  # cases that came out as Kafka's
    total: int = 0  # all cases
    first_mismatch: tuple[RecordedCase, dict[str, Any]] | None = None  # the first that did not, and what it came to

    @property
    def is_complete(self) -> bool:
        """Whether every case matched."""
        return self.is_implemented and self.matched == self.total


def tally(cases: Iterable[RecordedCase], answers: dict[str, Answer], wanted: frozenset[str]) -> dict[str, Tally]:
    """Run the cases of the wanted functions, of all where none is wanted in particular."""
    tallies: dict[str, Tally] = {}
    for case in cases:
        if wanted and case.function not in wanted:
            continue
        answer = answers.get(case.function)
        entry = tallies.setdefault(case.function, Tally(function=case.function, is_implemented=answer is not None))
        entry.total += 1
        if answer is None:
            continue
        got = run_case(answer, case)
        if _agrees(case.expected, got):
            entry.matched += 1
        elif entry.first_mismatch is None:
            entry.first_mismatch = case, got
    return tallies


def run_case(answer: Answer, case: RecordedCase) -> dict[str, Any]:
    """Answer one case; an error that Kafka would throw becomes an ``error`` output, a crash of ours a ``crash``."""
    try:
        return answer(case.given)
    except KafkaCapacityError as error:
        return {"error": {"type": getattr(error, "kafka_type", None), "message": str(error)}}
    except Exception as error:  # a crash is a finding like any other: the rest still has to run
        return {"crash": f"{type(error).__name__}: {error}"}


def _agrees(expected: dict[str, Any], got: dict[str, Any]) -> bool:
    if "error" not in expected or "error" not in got:
        return expected == got
    modelled = got["error"]["type"]
    return modelled is None or modelled == expected["error"]["type"]
