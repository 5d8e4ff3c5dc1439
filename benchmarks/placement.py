"""Time the placers, ours in turn with Kafka's own and with OR-Tools, and say how good the plans are.

    python -m benchmarks.placement

needs Maven, which fetches Kafka's jars, and a JDK; ``--class-path`` takes jars that are there already. With
``--ortools-python`` (a Python that has ortools) a min-cost flow is timed too. Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.java_side import JavaSide, compile_driver, resolve_class_path
from benchmarks.placement_cases import PARTITIONS_A_TOPIC, Case
from kafka_capacity.kafka.cluster.diff import diff_assignments
from kafka_capacity.kafka.placement import Balance, PlacementProblem, placer
from kafka_capacity.kafka.placement.bounds import lower_bound
from kafka_capacity.kafka.placement.shares import balance_limits, broker_loads, narrow_partitions

JAVA = Path(__file__).parent / "placement_java"
FLOW = Path(__file__).parent / "placement_flow.py"
MAX_JAVA_SECONDS = 600.0  # for one placement
_BYTES, _COUNT = Balance.BYTES, Balance.REPLICAS
CASES = (
    Case(partitions=10_000, brokers=30, change=3, racks=3, balance=_BYTES, tolerance_ratio=0.02),
    Case(partitions=10_000, brokers=30, change=3, racks=3, balance=_COUNT, tolerance_ratio=0.0),
    Case(partitions=100_000, brokers=100, change=10, racks=5, balance=_BYTES, tolerance_ratio=0.02),
    Case(partitions=100_000, brokers=100, change=-10, racks=5, balance=_BYTES, tolerance_ratio=0.02),
    Case(partitions=100_000, brokers=100, change=10, racks=5, balance=_COUNT, tolerance_ratio=0.0),
    Case(partitions=100_000, brokers=100, change=-10, racks=5, balance=_COUNT, tolerance_ratio=0.0),
    Case(partitions=100_000, brokers=100, change=10, racks=5, balance=_BYTES, tolerance_ratio=0.02, sigma=2.0),
    Case(partitions=1_000_000, brokers=500, change=50, racks=5, balance=_BYTES, tolerance_ratio=0.02),
    Case(partitions=1_000_000, brokers=500, change=-50, racks=5, balance=_BYTES, tolerance_ratio=0.02),
    Case(partitions=1_000_000, brokers=500, change=50, racks=5, balance=_COUNT, tolerance_ratio=0.0),
)
FLOWS = (
    Case(partitions=10_000, brokers=30, change=3, racks=3, balance=_COUNT, tolerance_ratio=0.0),
    Case(partitions=100_000, brokers=100, change=10, racks=5, balance=_COUNT, tolerance_ratio=0.0),
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Time the placers.")
    parser.add_argument("--class-path", help="Kafka's jars; by default Maven fetches them")
    parser.add_argument("--ortools-python", help="a Python interpreter with ortools")
    parser.add_argument("--runs", type=int, default=7, help="counted runs of each side")
    parser.add_argument("--only", default="plans java flow", help="which tables: plans, java, flow")
    given = parser.parse_args()
    if "plans" in given.only:
        _plans(given.runs)
    if "java" in given.only:
        _against_java(given.class_path, given.runs)
    if "flow" in given.only and given.ortools_python:
        _against_flow(given.ortools_python, given.runs)


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _plans(runs: int) -> None:
    print(
        "| partitions × brokers | balance | s | best s | × bound | bound | outside | racks broken | counts | bytes in "
        "| leaders |"
    )
    print("|---|---|---:|---:|---:|---|---:|---:|---|---|---|")
    for case in CASES:
        problem = case.problem()
        times = [_seconds(lambda problem=problem: placer("fewest-bytes").place(problem)) for _ in range(runs)]  # type: ignore[misc]  # mypy cannot infer a lambda with a default
        print(
            f"| {case.label()} | {statistics.median(times):.2f} | {min(times):.2f} | {_quality(problem)} |", flush=True
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"\nPeak memory of the process, the problem included: {peak:.2f} GiB.\n")


def _quality(problem: PlacementProblem) -> str:
    after = placer("fewest-bytes").place(problem)
    limits = balance_limits(problem)
    load = broker_loads(problem, limits, after)
    bound = lower_bound(problem, limits)
    moved = diff_assignments(problem.before, after).moved_bytes(problem.size_bytes)
    outside = int(((load < limits.lower * (1 - 1e-9)) | (load > limits.upper * (1 + 1e-9))).sum())
    brokers, rate = problem.target.index_of(after), problem.bytes_in_bytes_per_second
    count = np.bincount(brokers.ravel(), minlength=len(problem.target))
    written = np.bincount(brokers.ravel(), weights=np.repeat(rate, after.shape[1]), minlength=len(problem.target))
    leads = np.bincount(brokers[:, 0], weights=rate, minlength=len(problem.target))
    spans = [
        f"{values.min() / values.mean():.3f}–{values.max() / values.mean():.3f}" for values in (count, written, leads)
    ]
    ratio = moved / max(bound.bytes, 1)
    broken = narrow_partitions(problem, after)
    return f"{ratio:.5f} | {bound.kind} | {outside} | {broken} | {' | '.join(spans)}"


def _against_java(class_path: str | None, runs: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        driver = compile_driver(class_path or resolve_class_path(folder, JAVA), folder, JAVA / "PlacementTimes.java")
        with JavaSide(driver, MAX_JAVA_SECONDS, "PlacementTimes") as java:
            print("| placer | partitions × brokers | ours, s | Java, s | ratio | ratio of best |")
            print("|---|---|---:|---:|---:|---:|")
            for which in ("striped", "zk"):
                for case in (CASES[2], CASES[7]):
                    _pairs(java, which, case, runs)


def _pairs(java: JavaSide, which: str, case: Case, runs: int) -> None:
    """Run ours and Java's in turn, after a few runs that do not count."""
    problem = case.problem()
    topics = case.partitions // PARTITIONS_A_TOPIC
    line = f"{which} {len(problem.target)} {case.racks} {topics} {PARTITIONS_A_TOPIC} {case.factor}"
    ours = placer(which)
    for _ in range(5):
        java.ask(line)
    ours.place(problem)
    pairs = [(_seconds(lambda: ours.place(problem)), java.ask(line) / 1e9) for _ in range(runs)]
    our, their = ([pair[side] for pair in pairs] for side in (0, 1))
    ratio = statistics.median(a / b for a, b in pairs)
    size = f"{case.partitions:,} × {len(problem.target)}"
    print(
        f"| {which} | {size} | {statistics.median(our):.3f} | {statistics.median(their):.3f} | {ratio:.2f} "
        f"| {min(our) / min(their):.2f} |",
        flush=True,
    )


def _against_flow(python: str, runs: int) -> None:
    print("| counts, partitions × brokers | ours, s | flow, s | of it solving | ratio | bytes moved, ours / flow |")
    print("|---|---:|---:|---:|---:|---:|")
    for case in FLOWS:
        problem = case.problem()
        limits = balance_limits(problem)
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "case.npz"
            np.savez(
                path,
                home=problem.target.index_of(problem.before),
                size=problem.size_bytes,
                rack=problem.target.rack_indexes(),
                lower=limits.lower,
                upper=limits.upper,
            )
            pairs, moved = [], 0.0
            for _ in range(max(1, min(3, runs))):
                our = _seconds(lambda problem=problem: placer("fewest-bytes").place(problem))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
                said = subprocess.run([python, FLOW, path], check=True, capture_output=True, text=True).stdout.split()
                pairs.append((our, float(said[0]), float(said[1])))
                moved = float(said[2])
        after = placer("fewest-bytes").place(problem)
        mine = diff_assignments(problem.before, after).moved_bytes(problem.size_bytes)
        our, total, solving = (statistics.median(pair[part] for pair in pairs) for part in range(3))
        print(
            f"| {case.partitions:,} × {case.brokers} {case.change:+d}, {case.racks} racks | {our:.2f} | {total:.1f} "
            f"| {solving:.1f} | {our / total:.3f} | {mine / moved:.5f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
