"""The long form: ``python -m tests.reliability FOLDER [kills|random|writers|faults …]`` writes a table for each.

A run that breaks a promise ends with the traceback of the check that found it.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from kafka_capacity.objects.store import LocalStore, S3Store
from local.s3_server import BUCKET, LocalS3
from tests.reliability import kills
from tests.reliability.s3_runs import contents, run, run_with_faults
from tests.reliability.writers import KINDS, at_once

WRITERS, ROUNDS = 24, 20
RATIOS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
SEEDS = 4
RANDOM_KILLS = 100

Rows = Iterator[Sequence[object]]


def killed(work: Path) -> Rows:
    """Kill each phase of a run before and after each of its calls."""
    yield "phase", "kills", "seconds"
    folder, before = work / "store", work / "before"
    with kills.drawn_once():
        pinned = kills.inventory_phase(LocalStore(before))
        shutil.rmtree(before)
        for name, phase in kills.phases(pinned).items():
            began = time.monotonic()
            count = kills.kill_at_calls(phase, before, folder)
            yield name, count, round(time.monotonic() - began)
            shutil.rmtree(before, ignore_errors=True)
            shutil.copytree(folder, before)


def killed_at_random(work: Path) -> Rows:
    """Kill a staging at random moments."""
    yield "phase", "runs", "killed before their end"
    count = kills.kill_at_random(kills.inventory_phase, work / "store", RANDOM_KILLS, seed=1)
    yield "stage, history, pin", RANDOM_KILLS, count


def written_at_once(work: Path) -> Rows:
    """Let many writers begin at the same moment."""
    yield "dataset", "store", "writers", "rounds", "errors", "unreadable"
    with LocalS3(work / "s3") as s3:
        client = s3.client()
        for kind, (write, check) in KINDS.items():
            for store in ("folder", "S3"):
                errors = 0
                for number in range(ROUNDS):
                    place = f"{kind}/{number}"
                    stores = [
                        S3Store(BUCKET, place, client) if store == "S3" else LocalStore(work / "folders" / place)
                        for _ in range(WRITERS)
                    ]
                    errors += len(at_once(stores, write))
                    check(stores[0], WRITERS)
                yield kind, store, WRITERS, ROUNDS, errors, 0


def with_faults(work: Path) -> Rows:
    """Run whole plans over an S3 whose answers are broken."""
    kinds = ("error", "reset", "truncate", "flip", "delay")
    yield "broken answers", "runs", "answers", *kinds, "tasks tried again", "wrong bytes"
    with LocalS3(work / "s3") as s3, kills.drawn_once():
        run(S3Store(BUCKET, "plain", s3.client()), Counter(), is_whole_run=True)
        expected = _without_reports(contents(s3, "plain"))
        for ratio in RATIOS:
            made = Counter[str]()
            for seed in range(SEEDS):
                place = f"faulty-{ratio}-{seed}"
                made += run_with_faults(s3, place, ratio=ratio, seed=seed, is_whole_run=True)
                assert _without_reports(contents(s3, place)) == expected, place
            yield f"{ratio:.0%}", SEEDS, made["answers"], *(made[kind] for kind in kinds), made["tries again"], 0


def _without_reports(found: dict[str, bytes]) -> dict[str, bytes]:
    """Return objects but those of reports, which hold their own address; what they are checked by is in theirs."""
    return {key: data for key, data in found.items() if not key.startswith("reports/")}


PARTS: dict[str, Callable[[Path], Rows]] = {
    "kills": killed,
    "random": killed_at_random,
    "writers": written_at_once,
    "faults": with_faults,
}


def main(target: Path, names: Sequence[str]) -> None:
    """Run the parts, and write a table for each."""
    target.mkdir(parents=True, exist_ok=True)
    for name in names or PARTS:
        with tempfile.TemporaryDirectory() as work, (target / f"{name}.md").open("w", encoding="utf-8") as file:
            for number, row in enumerate(PARTS[name](Path(work))):
                lines = ["| " + " | ".join(map(str, row)) + " |"]
                lines += ["|" + "---|" * len(row)] if number == 0 else []
                for line in lines:
                    file.write(line + "\n")
                    file.flush()
                    sys.stdout.write(f"{name}: {line}\n")
                    sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
