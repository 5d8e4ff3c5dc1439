"""Time ``kafka-capacity plan`` as a process: snapshot files in, plan files out.

    python -m benchmarks.plan_process

Writes made-up snapshots (Parquet, one day of hourly rates) to a temporary folder and starts the command on each. Prints
a Markdown table: medians over the runs of the whole process as the shell sees it, and of its processor time, which says
more on a machine that does other things too; what its ``timing.json`` says of reading, and of planning with scheduling;
its peak memory. The first run, which also compiles modules to bytecode, is told apart.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.made_up import made_up_inventory
from benchmarks.placement_cases import Case
from kafka_capacity.inventory.files import write_snapshot_files
from kafka_capacity.kafka.placement import Balance

CASES = (
    Case(partitions=10_000, brokers=30, change=3, racks=3, balance=Balance.BYTES, tolerance_ratio=0.02),
    Case(partitions=100_000, brokers=100, change=10, racks=5, balance=Balance.BYTES, tolerance_ratio=0.02),
    Case(partitions=1_000_000, brokers=500, change=50, racks=5, balance=Balance.BYTES, tolerance_ratio=0.02),
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Time the command plan, files in and out.")
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each case")
    parser.add_argument("--hours", type=int, default=24, help="of history")
    parser.add_argument("--keep", type=Path, help="folder for the snapshots, by default a temporary one")
    parser.add_argument("--max-partitions", type=int, default=1_000_000, help="leave larger cases out")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = given.keep or Path(name)
        print("| partitions × brokers | files | first s | s | processor s | read | plan, schedule | peak GiB |")
        print("|---|---|---:|---:|---:|---:|---:|---:|")
        for case in (case for case in CASES if case.partitions <= given.max_partitions):
            snapshot = folder / f"snapshot-{case.partitions}-{given.hours}"
            if not snapshot.exists():
                write_snapshot_files(made_up_inventory(case, given.hours), snapshot)
            for has_files in (True, False):
                _measure(case, snapshot, folder / "plan" if has_files else None, Path(name), given.runs)


def _measure(case: Case, snapshot: Path, out: Path | None, bytecode: Path, runs: int) -> None:
    command = [
        sys.executable,
        "-m",
        "kafka_capacity.cli",
        "plan",
        "--snapshot",
        str(snapshot),
        "--quiet",
        "--placer",
        "fewest-bytes",
    ]
    command += ["--broker-counts", str(case.brokers + case.change)]
    command += [
        "--new-broker-racks",
        ",".join(f"rack{(case.brokers + new) % case.racks}" for new in range(case.change)),
    ]
    command += ["--out", str(out)] if out else []
    measured = [_run(command, bytecode) for _ in range(runs + 1)]
    seconds = statistics.median(one[0] for one in measured[1:])
    busy = statistics.median(one[1] for one in measured[1:])
    peak = max(one[2] for one in measured)
    parts = " | "
    if out:
        timing = json.loads((out / "timing.json").read_bytes())
        parts = f"{timing['read_seconds']:.2f} | {next(iter(timing['evaluate_seconds'].values())):.2f}"
    label = f"{case.partitions:,} × {case.brokers} {case.change:+d}"
    print(
        f"| {label} | {'yes' if out else 'no'} | {measured[0][0]:.2f} | {seconds:.2f} | {busy:.2f} | {parts} "
        f"| {peak:.2f} |",
        flush=True,
    )


def _run(command: list[str], bytecode: Path) -> tuple[float, float, float]:
    """Run a command; give its seconds, its processor's and its peak memory in GiB."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(bytecode)
    start = time.perf_counter()
    process = os.posix_spawn(
        command[0], command, environment, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    )
    _, status, usage = os.wait4(process, 0)
    seconds = time.perf_counter() - start
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20


if __name__ == "__main__":
    main()
