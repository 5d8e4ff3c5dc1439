"""Time the assignors against Kafka's own, on the same groups, in turn, and compare the answers.

    python -m benchmarks.assignors

needs a JDK (17 or later) and Maven, which fetches Kafka's jars; ``--class-path`` takes jars that are there already.
Prints a Markdown table: medians, the median of the ratios pair by pair, and the ratio of the best run of each, which
says more on a machine that does other things too. The Java side is warmed up first: a JVM is slow until it has
compiled what is hot.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.assignor_cases import Case, Shape, cases_of, write_case
from benchmarks.java_side import JavaSide, TooSlowError, compile_driver, resolve_class_path
from kafka_capacity.kafka.groups import Assignment, GroupProtocol, assignor

SHAPES = (
    Shape(name="10 topics × 10,000", members=1000, topics=10, partitions=10_000),
    Shape(name="1,000 topics × 100", members=1000, topics=1000, partitions=100),
    Shape(name="10 topics × 10,000, each names 5", members=1000, topics=10, partitions=10_000, wanted=5),
    Shape(name="100 members, 10 topics × 1,000, each names 5", members=100, topics=10, partitions=1000, wanted=5),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """What was measured of one case, in seconds, run by run; of an incomplete one Java took longer than that."""

    case: Case
    ours: list[float]
    java: list[float]
    are_equal: bool
    is_complete: bool = True


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Time the assignors against Kafka's own.")
    parser.add_argument("--class-path", help="Kafka's jars; by default Maven fetches them")
    parser.add_argument("--only", default="", help="cases whose row contains this")
    parser.add_argument("--runs", type=int, default=15, help="counted runs of each side, in turn")
    parser.add_argument("--warm-up-seconds", type=float, default=10.0, help="for each side and case, at most")
    parser.add_argument("--max-seconds", type=float, default=120.0, help="fewer counted runs where these are used up")
    parser.add_argument("--max-java-seconds", type=float, default=100.0, help="for one assignment; then it is stopped")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        class_path = compile_driver(given.class_path or resolve_class_path(folder), folder)
        print("| group | event | assignor | ours, ms | Java, ms | ratio | ratio of best | runs | same answer |")
        print("|---|---|---|---:|---:|---:|---:|---:|---|")
        for case in _cases(given.only):
            # A JVM a case: what one case makes hot would be compiled wrongly for another.
            with JavaSide(class_path, given.max_java_seconds) as java:
                try:
                    timing = _time(case, java, folder, given)
                except TooSlowError:
                    seconds = statistics.median(_run_ours(case)[1] for _ in range(given.runs))
                    java_seconds = [given.max_java_seconds]
                    timing = Timing(case=case, ours=[seconds], java=java_seconds, are_equal=False, is_complete=False)
            print(_row(timing), flush=True)


def _cases(only: str) -> Iterator[Case]:
    for shape in SHAPES:
        yield from (case for case in cases_of(shape) if only in _label(case))


def _time(case: Case, java: JavaSide, folder: Path, given: argparse.Namespace) -> Timing:
    path = folder / "case.txt"
    write_case(case, path)
    java.load(path)
    _warm_up(java, given.warm_up_seconds)
    answer, _ = _run_ours(case)
    ours: list[float] = []
    theirs: list[float] = []
    start = time.perf_counter()
    while len(ours) < given.runs and (not ours or time.perf_counter() - start < given.max_seconds):
        theirs.append(java.run_seconds())
        answer, seconds = _run_ours(case)
        ours.append(seconds)
    expected = java.answer(folder / "answer.txt")
    return Timing(case=case, ours=ours, java=theirs, are_equal=_lines(case, answer) == _comparable(case, expected))


def _warm_up(java: JavaSide, seconds: float) -> None:
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        java.run_seconds()


def _run_ours(case: Case) -> tuple[Assignment, float]:
    made = assignor(case.assignor, case.protocol)
    gc.collect()
    start = time.perf_counter()
    answer = made.assign(case.group)
    return answer, time.perf_counter() - start


def _lines(case: Case, answer: Assignment) -> list[str]:
    lines = [
        "\t".join([member_id, *(f"{topic} {partition}" for topic, partition in pairs)])
        for member_id, pairs in answer.lists().items()
    ]
    return _comparable(case, lines)


def _comparable(case: Case, lines: list[str]) -> list[str]:
    """Sort the partitions of each member of a group that the coordinator assigns: there they are sets."""
    if case.protocol is GroupProtocol.CLASSIC:
        return lines
    fields = (line.split("\t") for line in lines)
    return ["\t".join([member_id, *sorted(pairs)]) for member_id, *pairs in fields]


def _label(case: Case) -> str:
    where = "server " if case.protocol is GroupProtocol.CONSUMER else ""
    return f"| {case.shape} | {case.event} | {where}{case.assignor} |"


def _row(timing: Timing) -> str:
    ratio = statistics.median(a / b for a, b in zip(timing.ours, timing.java, strict=True))
    ours, java = (1000 * statistics.median(runs) for runs in (timing.ours, timing.java))
    if not timing.is_complete:
        return f"{_label(timing.case)} {ours:.1f} | > {java:.0f} | < {ratio:.3f} | | 0 | stopped |"
    same = "yes" if timing.are_equal else "**no**"
    best = min(timing.ours) / min(timing.java)
    return f"{_label(timing.case)} {ours:.1f} | {java:.1f} | {ratio:.2f} | {best:.2f} | {len(timing.ours)} | {same} |"


if __name__ == "__main__":
    main()
