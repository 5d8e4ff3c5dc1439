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
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.placement_cases import Case
from kafka_capacity.inventory.files import write_snapshot_files
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.tables import TABLES
from kafka_capacity.kafka.placement import Balance

CASES = (
    Case(partitions=10_000, brokers=30, change=3, racks=3, balance=Balance.BYTES, tolerance_ratio=0.02),
    Case(partitions=100_000, brokers=100, change=10, racks=5, balance=Balance.BYTES, tolerance_ratio=0.02),
    Case(partitions=1_000_000, brokers=500, change=50, racks=5, balance=Balance.BYTES, tolerance_ratio=0.02),
)
_DS = datetime(2026, 11, 1, tzinfo=UTC)


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


def made_up_inventory(case: Case, hours: int) -> RawInventory:
    """Put a case as an inventory, each broker with one disk."""
    problem = case.problem()
    topics = pa.array(problem.partitions.topics, pa.string())
    partition_count, factor = problem.before.shape
    names = pa.DictionaryArray.from_arrays(pa.array(problem.partitions.topic), topics).cast(pa.string())
    of_replica = pa.array(np.repeat(np.arange(partition_count), factor))
    of_hour = pa.array(np.repeat(np.arange(partition_count), hours))
    rng = np.random.default_rng(11)
    mean = np.repeat(problem.bytes_in_bytes_per_second, hours)
    rate = (mean * rng.uniform(0.5, 1.5, len(mean))).astype(np.float32)
    first = _DS - timedelta(hours=hours)
    columns = {
        "brokers": {
            "broker_id": np.arange(case.brokers, dtype=np.int32),
            "rack": [f"rack{broker % case.racks}" for broker in range(case.brokers)],
            "disk_capacity_bytes": np.full(case.brokers, 2.0 * problem.size_bytes.sum() * factor / case.brokers),
            "network_in_bytes_per_second": np.full(case.brokers, 3.0 * mean.sum() / hours * factor / case.brokers),
            "network_out_bytes_per_second": np.full(case.brokers, 6.0 * mean.sum() / hours * factor / case.brokers),
        },
        "topics": {"topic": topics},
        "replicas": {
            "topic": names.take(of_replica),
            "partition": np.repeat(problem.partitions.partition, factor),
            "position": np.tile(np.arange(factor, dtype=np.int32), partition_count),
            "broker_id": problem.before.ravel(),
            "is_leader": np.tile(np.arange(factor) == 0, partition_count),
            "is_in_sync": np.ones(partition_count * factor, dtype=np.bool_),
            "size_bytes": np.repeat(problem.size_bytes, factor),
        },
        "metrics": {
            "topic": names.take(of_hour),
            "partition": np.repeat(problem.partitions.partition, hours),
            "hour": [first + timedelta(hours=hour) for hour in range(hours)] * partition_count,
            "bytes_in_bytes_per_second": rate,
            "bytes_out_bytes_per_second": 2 * rate,
        },
    }
    return RawInventory(
        cluster="made-up",
        ds=_DS.date().isoformat(),
        source="files",
        tables={n: _table(n, c) for n, c in columns.items()},
    )


def _table(name: str, columns: dict[str, object]) -> pa.Table:
    schema = TABLES[name].schema
    count = len(next(iter(columns.values())))  # type: ignore[arg-type]  # all are sequences
    arrays = [
        pa.array(columns[field.name], field.type) if field.name in columns else pa.nulls(count, field.type)
        for field in schema
    ]
    return pa.table(arrays, schema=schema)


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
