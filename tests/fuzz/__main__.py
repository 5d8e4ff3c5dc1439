"""Fuzz every border: ``python -m tests.fuzz --count 10000 --seed 1``. The status is 1 where something failed.

    python -m tests.fuzz --count 100000 --border snapshot --border metrics
    python -m tests.fuzz --keep         # what failed is written into the corpus, once for each place it failed at

Each input is accepted, or refused with a message that names its place; anything else is a failure.
"""

from __future__ import annotations

import argparse
import time

from tests.fuzz.borders import BORDERS
from tests.fuzz.runner import input_of, keep, run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=2000, help="inputs of each border")
    parser.add_argument("--first", type=int, default=0, help="number of the first of them")
    parser.add_argument("--seed", type=int, default=1, help="other inputs for another seed")
    parser.add_argument("--border", action="append", choices=list(BORDERS), help="this one alone; may be given again")
    parser.add_argument("--keep", action="store_true", help="write what failed into the corpus")
    asked = parser.parse_args()
    failed = 0
    print(f"{'border':<20} {'inputs':>9} {'accepted':>9} {'refused':>9} {'failed':>7} {'seconds':>8}")
    for border in asked.border or BORDERS:
        start = time.monotonic()
        found = run(border, first=asked.first, count=asked.count, seed=asked.seed)
        counts = found.counts
        numbers = f"{counts.total():>9,} {counts['accepted']:>9,} {counts['refused']:>9,} {counts['failed']:>7,}"
        print(f"{border:<20} {numbers} {time.monotonic() - start:>8.1f}", flush=True)
        for what, where in found.failures.items():
            name, data = input_of(border, where[0], asked.seed)
            place = f", kept as {keep(border, name, data)}" if asked.keep else ""
            print(f"    {what}: {len(where)} inputs, the first is {name} number {where[0]}{place}", flush=True)
        failed += counts["failed"]
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
