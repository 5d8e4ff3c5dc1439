"""Measure how long real moves take under real throttles; long, for by hand.

    python -m tests.live.measure_moves OUT                 all cases, some twenty-five minutes
    python -m tests.live.measure_moves OUT add never       some of them

Writes ``OUT/moves.json``, plain data, and ``OUT/moves.md``, a table of what was predicted and what came. Fails where a
move of a minute or more took 15 % more or less than predicted, where one ended that never should, or where a disk held
more than its limit.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from kafka_capacity.kafka.reassignment.problem import WaveSettings
from tests.live.cluster import KafkaCluster
from tests.live.live_moves import SMALL_FETCHES, LiveMoves, SteadyWriter, WaveRun, make_topic

MB = 1_000_000
RACKS: dict[int, str | None] = {1: "rack-a", 2: "rack-b", 3: "rack-c", 4: "rack-a"}
ALLOWED_RATIO = 0.15
LONG_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveCase:
    """A move beside its prediction.

    Attributes:
        name: of the case.
        copied_mb: to be copied.
        throttle_mb_per_second: of every broker and direction.
        produced_mb_per_second: to the moving partitions.
        smallest_throttle_mb_per_second: predicted.
        predicted_seconds: of all waves without pauses, ``None`` for never.
        measured_seconds: ``None`` where it did not end.
        predicted_peak_mb, measured_peak_mb: of the disk that was the fullest against its limit.
        limit_mb: of that disk.
        waves: how many.
        remark: what else there is to say.
        held_mb: on the disks of all brokers, by the seconds after the start of each wave.
        holds: whether it is as predicted.
    """

    name: str
    copied_mb: float
    throttle_mb_per_second: float
    produced_mb_per_second: float
    smallest_throttle_mb_per_second: float
    predicted_seconds: float | None
    measured_seconds: float | None
    predicted_peak_mb: float | None = None
    measured_peak_mb: float | None = None
    limit_mb: float | None = None
    waves: int = 1
    remark: str = ""
    held_mb: tuple[tuple[tuple[float, float], ...], ...] = ()
    holds: bool = True


def _timed(name: str, runs: Sequence[WaveRun], throttle: float, produced: float, remark: str = "") -> MoveCase:
    predicted = [run.predicted_seconds() for run in runs]
    measured = [run.seconds for run in runs]
    total = None if None in predicted else sum(each or 0.0 for each in predicted)
    took = None if None in measured else sum(each or 0.0 for each in measured)
    is_close = total is not None and took is not None and abs(took / total - 1) <= ALLOWED_RATIO
    return MoveCase(
        name=name,
        copied_mb=sum(run.wave.copied_bytes for run in runs) / MB,
        throttle_mb_per_second=throttle / MB,
        produced_mb_per_second=produced / MB,
        smallest_throttle_mb_per_second=max(r.wave.smallest_throttle_bytes_per_second[1] for r in runs) / MB,
        predicted_seconds=total,
        measured_seconds=took,
        waves=len(runs),
        remark=remark,
        held_mb=_held(runs),
        holds=is_close or (total is not None and total < LONG_SECONDS and took is not None),
    )


def _held(runs: Sequence[WaveRun]) -> tuple[tuple[tuple[float, float], ...], ...]:
    return tuple(
        tuple((round(level.at, 2), round(sum(level.held_bytes().values()) / MB, 3)) for level in run.levels)
        for run in runs
    )


def add(moves: LiveMoves) -> list[MoveCase]:
    """A fourth broker takes a replica of four of six partitions."""
    before = {n: [n % 3 + 1, (n + 1) % 3 + 1] for n in range(6)}
    make_topic(moves.cluster, "added", before)
    moves.fill("added", dict.fromkeys(before, 60 * MB))
    target = {n: [brokers[0], 4] if n < 4 else brokers for n, brokers in before.items()}
    rates, throttle = dict.fromkeys(before, 0.1 * MB), 4.0 * MB
    with SteadyWriter(moves.cluster, "added", rates):
        problem = moves.problem({"added": target}, throttle_bytes_per_second=throttle, rates={"added": rates})
        runs = moves.run(moves.plan(problem))
    moves.forget("added")
    return [_timed("add a broker", runs, throttle, 0.4 * MB)]


def drain(moves: LiveMoves) -> list[MoveCase]:
    """Broker 4 leads all that it holds, and gives it up: plainly, and with its leaders moved off first."""
    before = {n: [4, n % 3 + 1] for n in range(6)}
    make_topic(moves.cluster, "drained", before)
    moves.fill("drained", dict.fromkeys(before, 65 * MB))
    target = {n: [(n + 1) % 3 + 1, brokers[1]] for n, brokers in before.items()}
    rates, throttle = dict.fromkeys(before, 0.02 * MB), 2.1 * MB
    cases = []
    for name, tries in (("remove a broker, plainly", False), ("remove a broker, leaders first", True)):
        settings = WaveSettings(pause_seconds=0.0, tries_leadership_first=tries)
        with SteadyWriter(moves.cluster, "drained", rates):
            problem = moves.problem(
                {"drained": target}, throttle_bytes_per_second=throttle, rates={"drained": rates}, settings=settings
            )
            schedule = moves.plan(problem)
            runs = moves.run(schedule)
        outcome = schedule.leadership
        remark = "" if outcome is None else f"{outcome.plain_seconds:.0f} s predicted without"
        cases.append(_timed(name, runs, throttle, 0.12 * MB, remark))
        if not tries:
            moves.roll_back(schedule, is_throttled=False)
    moves.forget("drained")
    return cases


def automatic(moves: LiveMoves) -> list[MoveCase]:
    """A fourth broker with the fastest network: each has a throttle of its own, raised as the runbook says.

    With the throttle of the slowest alone, which ``--throttle`` sets everywhere, the move would take twice as long.
    """
    before = {n: [n % 3 + 1, (n + 1) % 3 + 1] for n in range(6)}
    make_topic(moves.cluster, "quick", before)
    moves.fill("quick", dict.fromkeys(before, 80 * MB))
    target = {n: [brokers[0], 4] if n < 4 else brokers for n, brokers in before.items()}
    rates = dict.fromkeys(before, 0.1 * MB)
    with SteadyWriter(moves.cluster, "quick", rates):
        problem = moves.problem(
            {"quick": target},
            throttle_bytes_per_second=MB,
            rates={"quick": rates},
            network={1: 4.0 * MB, 2: 4.0 * MB, 3: 4.0 * MB, 4: 12.0 * MB},
        )
        schedule = moves.plan(problem)
        runs = moves.run(schedule)
    moves.forget("quick")
    (wave,) = schedule.waves
    slowest = wave.throttle_bytes_per_second
    fastest = float(schedule.throttles.in_bytes_per_second[problem.brokers.index_of(np.array([4]))[0]])
    remark = f"{slowest / MB:.1f} MB/s for the slowest, {fastest / MB:.1f} for broker 4"
    return [_timed("automatic throttles", runs, slowest, 0.4 * MB, remark)]


def limits(moves: LiveMoves) -> list[MoveCase]:
    """The fourth broker of ``add`` takes two copies at once, and then waves of at most 35 s."""
    before = {n: [n % 3 + 1, (n + 1) % 3 + 1] for n in range(6)}
    make_topic(moves.cluster, "limited", before)
    moves.fill("limited", dict.fromkeys(before, 60 * MB))
    target = {n: [brokers[0], 4] if n < 4 else brokers for n, brokers in before.items()}
    rates, throttle, longest, most = dict.fromkeys(before, 0.1 * MB), 4.0 * MB, 35.0, 2
    cases = []
    for name, settings in (
        ("at most 2 copies at once", WaveSettings(pause_seconds=0.0, max_concurrent_moves_per_broker=most)),
        ("waves of at most 35 s", WaveSettings(pause_seconds=0.0, max_wave_seconds=longest)),
    ):
        with SteadyWriter(moves.cluster, "limited", rates):
            problem = moves.problem(
                {"limited": target}, throttle_bytes_per_second=throttle, rates={"limited": rates}, settings=settings
            )
            schedule = moves.plan(problem)
            runs = moves.run(schedule)
        seconds, copies = max(run.seconds or 0.0 for run in runs), max(run.max_copies for run in runs)
        case = _timed(name, runs, throttle, 0.4 * MB, f"longest {seconds:.1f} s, at most {copies} copies at once")
        is_within = (
            copies <= most if settings.max_concurrent_moves_per_broker else seconds <= longest * (1 + ALLOWED_RATIO)
        )
        cases.append(replace(case, holds=case.holds and is_within and len(runs) > 1))
        moves.roll_back(schedule, is_throttled=False)
    moves.forget("limited")
    return cases


def never(moves: LiveMoves) -> list[MoveCase]:
    """A throttle below what is produced times the followers: the gap grows, until the move is cancelled."""
    make_topic(moves.cluster, "endless", {0: [1, 2, 3]})
    moves.fill("endless", {0: 40 * MB})
    rates, throttle = {0: 1.0 * MB}, 2.4 * MB
    with SteadyWriter(moves.cluster, "endless", rates):
        problem = moves.problem(
            {"endless": {0: [1, 2, 4]}}, throttle_bytes_per_second=throttle, rates={"endless": rates}
        )
        schedule = moves.plan(problem)
        (wave,) = schedule.waves
        run = moves.run_wave(schedule, wave, max_seconds=75.0)
        moves.cancel(schedule, wave)
    moves.forget("endless")
    gaps = [(level.at, level.sizes[("endless", 0, 1)] - level.sizes.get(("endless", 0, 4), 0)) for level in run.levels]
    settled = [gap for at, gap in gaps if at > 20]
    grows = settled[-1] > settled[0]
    return [
        MoveCase(
            name="throttle too small",
            copied_mb=wave.copied_bytes / MB,
            throttle_mb_per_second=throttle / MB,
            produced_mb_per_second=1.0,
            smallest_throttle_mb_per_second=wave.smallest_throttle_bytes_per_second[1] / MB,
            predicted_seconds=run.predicted_seconds(),
            measured_seconds=run.seconds,
            held_mb=_held([run]),
            remark=f"gap {settled[0] / MB:.0f} MB at 20 s, {settled[-1] / MB:.0f} MB at {gaps[-1][0]:.0f} s; cancelled",
            holds=run.seconds is None and schedule.never_ends and grows,
        )
    ]


def disk(moves: LiveMoves) -> list[MoveCase]:
    """Brokers 1 and 2 are full and exchange partitions; broker 3 has room for one of them on the way."""
    before = {0: [1], 1: [1], 2: [2], 3: [2]}
    make_topic(moves.cluster, "full", before)
    moves.fill("full", dict.fromkeys(before, 40 * MB))
    held = moves.snapshot()
    sizes = held.partition_size_bytes()
    others = {b: int(sizes[(held.replicas == b).any(axis=1)].sum()) for b in RACKS}
    limits = {1: others[1] + 5.0 * MB, 2: others[2] + 5.0 * MB, 3: others[3] + 60.0 * MB, 4: float(others[4])}
    throttle = 4.0 * MB
    target = {0: [2], 1: [1], 2: [1], 3: [2]}
    problem = moves.problem({"full": target}, throttle_bytes_per_second=throttle, limits=limits)
    schedule = moves.plan(problem)
    runs = moves.run(schedule)
    moves.forget("full")
    case = _timed("full disks exchange", runs, throttle, 0.0, f"{len(schedule.detours)} by way of a third broker")
    peaks: dict[int, float] = {}
    predicted: dict[int, float] = {}
    for run in runs:
        for broker, peak in run.peak_bytes().items():
            peaks[broker] = max(peaks.get(broker, 0.0), float(peak))
        for broker, peak in zip(run.wave.broker_ids.tolist(), run.wave.disk_peak_bytes.tolist(), strict=True):
            predicted[broker] = max(predicted.get(broker, 0.0), peak)
    worst = max(predicted, key=lambda broker: peaks[broker] / limits[broker])
    is_within = all(peaks[broker] <= limits[broker] for broker in predicted)
    return [
        MoveCase(
            **{
                **asdict(case),
                "predicted_peak_mb": predicted[worst] / MB,
                "measured_peak_mb": peaks[worst] / MB,
                "limit_mb": limits[worst] / MB,
                "holds": case.holds and is_within and not schedule.refusals,
            }
        )
    ]


CASES: Mapping[str, Callable[[LiveMoves], list[MoveCase]]] = {
    "add": add,
    "drain": drain,
    "automatic": automatic,
    "limits": limits,
    "never": never,
    "disk": disk,
}


def table(cases: Sequence[MoveCase]) -> str:
    """Draw the table."""
    head = (
        "| move | copied, MB | throttle, MB/s | produced, MB/s | ends above, MB/s | waves | predicted, s |"
        " measured, s | difference | fullest disk, MB: predicted, measured, limit | remark |\n" + "|---" * 11 + "|\n"
    )
    return head + "".join(_row(case) for case in cases)


def _row(case: MoveCase) -> str:
    def seconds(value: float | None) -> str:
        return "never" if value is None else f"{value:.1f}"

    difference = ""
    if case.predicted_seconds and case.measured_seconds:
        difference = f"{case.measured_seconds / case.predicted_seconds - 1:+.1%}"
    peaks = (case.predicted_peak_mb, case.measured_peak_mb, case.limit_mb)
    disks = "" if None in peaks else ", ".join(f"{each:.1f}" for each in peaks)
    cells = [
        case.name,
        f"{case.copied_mb:.1f}",
        f"{case.throttle_mb_per_second:g}",
        f"{case.produced_mb_per_second:.2g}",
        f"{case.smallest_throttle_mb_per_second:.2g}",
        str(case.waves),
        seconds(case.predicted_seconds),
        seconds(case.measured_seconds),
        difference,
        disks,
        case.remark,
    ]
    return f"| {' | '.join(cells)} |\n"


def main(words: Sequence[str] | None = None) -> int:
    """Measure, write, and say whether all is as predicted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*", metavar="case", help=", ".join(CASES))
    chosen = parser.parse_args(words)
    chosen.out.mkdir(parents=True, exist_ok=True)
    cases: list[MoveCase] = []
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "files"
        files.mkdir()
        with KafkaCluster(Path(folder) / "kafka", RACKS, settings=SMALL_FETCHES) as cluster:
            moves = LiveMoves(cluster, files, RACKS)
            for name in chosen.names or CASES:
                began = time.monotonic()
                found = CASES[name](moves)
                cases += found
                sys.stdout.write(table(found))
                sys.stdout.write(f"{name}: {time.monotonic() - began:.0f} s\n")
                sys.stdout.flush()
    (chosen.out / "moves.json").write_text(json.dumps([asdict(case) for case in cases], indent=1), encoding="utf-8")
    (chosen.out / "moves.md").write_text(table(cases), encoding="utf-8")
    sys.stdout.write(table(cases))
    return 0 if all(case.holds for case in cases) else 1


if __name__ == "__main__":
    sys.exit(main())
