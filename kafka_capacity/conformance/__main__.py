"""Command line: ``python -m kafka_capacity.conformance DIR [FUNCTION ...]``.

Prints one line a function, ``function  matched/total``, and the first case that differs. Exit status: 0 when every
case matches, 1 when some do not, 2 when the question itself is wrong.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kafka_capacity.conformance.compare import Tally, case_files, read_cases, tally
from kafka_capacity.conformance.registry import load_answers
from kafka_capacity.errors import InventoryError, RequestError

_SHOWN_CHARACTERS = 600


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparison and give the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m kafka_capacity.conformance",
        description="Compare this package with answers recorded from Kafka's own code.",
    )
    parser.add_argument("directory", type=Path, metavar="DIR", help="folder of *.jsonl.gz or *.jsonl files")
    parser.add_argument("functions", nargs="*", metavar="FUNCTION", help="compare these functions only")
    options = parser.parse_args(arguments)
    try:
        tallies = _run(options.directory, frozenset(options.functions))
    except (RequestError, InventoryError) as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 2
    width = max(len(name) for name in tallies)
    for name in sorted(tallies):
        print(_report(tallies[name], width))
    matched = sum(entry.matched for entry in tallies.values())
    total = sum(entry.total for entry in tallies.values())
    print(f"{'all':<{width}}  {matched}/{total}")
    return 0 if all(entry.is_complete for entry in tallies.values()) else 1


def _run(directory: Path, wanted: frozenset[str]) -> dict[str, Tally]:
    files = case_files(directory)
    cases = itertools.chain.from_iterable(read_cases(file) for file in files)
    tallies = tally(cases, load_answers(), wanted)
    missing = sorted(wanted - tallies.keys())
    if missing:
        raise RequestError(f"{directory}: holds no case of {', '.join(missing)}")
    if not tallies:
        raise RequestError(f"{directory}: its files hold no case at all")
    return tallies


def _report(entry: Tally, width: int) -> str:
    line = f"{entry.function:<{width}}  {entry.matched}/{entry.total}"
    if not entry.is_implemented:
        return f"{line}  not implemented"
    if entry.first_mismatch is None:
        return line
    case, got = entry.first_mismatch
    details = (
        f"  first mismatch: {case.where}",
        f"    input     {_shortened(case.given)}",
        f"    expected  {_shortened(case.expected)}",
        f"    got       {_shortened(got)}",
    )
    return "\n".join((line, *details))


def _shortened(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), default=repr)
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    return f"{text[:_SHOWN_CHARACTERS]}… ({len(text)} characters)"


if __name__ == "__main__":
    sys.exit(main())
