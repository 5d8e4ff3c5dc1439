"""Schedules carried out on real brokers: how long they take, where replicas go, the way back, and no end.

Short moves, so that the bounds are wide; ``tests.live.measure_moves`` has the long ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from kafka_capacity.kafka.cluster.assignment import replica_lists
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.snapshot import Snapshot
from kafka_capacity.kafka.reassignment.kafka_json import files_of, wave_rows
from kafka_capacity.kafka.reassignment.problem import WaveSettings
from kafka_capacity.kafka.reassignment.runbook import runbook_page
from kafka_capacity.kafka.reassignment.schedule import Schedule, WaveKind
from kafka_capacity.kafka.reassignment.waves import plan_waves
from tests.live.cluster import KafkaCluster
from tests.live.conftest import RACKS
from tests.live.experiments import Mistimed, again_where_mistimed
from tests.live.live_moves import SMALL_FETCHES, LiveMoves, SteadyWriter, WaveRun, make_topic
from tests.properties.move_problems import move_problem_of

pytestmark = pytest.mark.live

MB = 1_000_000
MAX_SECONDS = 300.0
SLACK_SECONDS = 5.0
"""How much later than predicted a move may be seen to end: brokers, tools and tests share a few cores."""


@dataclass(frozen=True)
class Moved:
    """A plan, how it went, and the cluster after it."""

    schedule: Schedule
    run: WaveRun
    after: Snapshot


@pytest.fixture(scope="module")
def moves(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveMoves]:
    folder = tmp_path_factory.mktemp("moves")
    with KafkaCluster(folder / "kafka", RACKS, log_dirs=2, settings=SMALL_FETCHES) as cluster:
        (folder / "files").mkdir()
        yield LiveMoves(cluster, folder / "files", RACKS)


@pytest.fixture(scope="module")
def moved(moves: LiveMoves) -> Moved:
    """Broker 1 sends four replicas of 6 MB to broker 3 in a wave that is to take 12 s."""
    before = {0: [1, 2], 1: [1, 2], 2: [1, 2], 3: [1, 2], 4: [2, 3]}
    make_topic(moves.cluster, "orders", before)
    moves.fill("orders", dict.fromkeys(before, 6 * MB))
    target = {number: [1, 3] if number < 4 else brokers for number, brokers in before.items()}
    settings = WaveSettings(pause_seconds=0.0, tries_leadership_first=False)

    def move() -> Moved:
        problem = moves.problem({"orders": target}, throttle_bytes_per_second=2.0 * MB, settings=settings)
        schedule = moves.plan(problem)
        (run,) = moves.run(schedule, max_seconds=MAX_SECONDS)
        if run.seconds is not None and not is_on_time(run.seconds):
            raise Mistimed(f"the move took {run.seconds:.1f} s, predicted are 12")
        return Moved(schedule, run, moves.settled_snapshot(lambda seen: lists(seen)["orders-0"] == [1, 3]))

    def undo() -> None:
        moves.carry_out({"orders": before})

    return again_where_mistimed(move, undo)


def is_on_time(seconds: float) -> bool:
    return 0.75 * 12 < seconds < 1.25 * 12 + SLACK_SECONDS


def lists(snapshot: Snapshot) -> dict[str, list[int]]:
    return {snapshot.partitions.name(row): brokers for row, brokers in enumerate(replica_lists(snapshot.replicas))}


def test_a_move_takes_about_as_long_as_predicted(moved: Moved) -> None:
    schedule, run = moved.schedule, moved.run
    assert schedule.waves[0].bottleneck_broker in {1, 3}
    assert run.seconds is not None
    assert is_on_time(run.seconds)
    assert "is completed" in run.verified
    assert "Clearing broker-level throttles" in run.verified


def test_new_replicas_are_in_the_directories_that_the_plan_names(
    moved: Moved,
) -> None:
    schedule, after = moved.schedule, moved.after
    (wave,) = schedule.waves
    dirs = schedule.problem.log_dirs
    planned = {
        after.partitions.name(int(row)): dirs.path[int(chosen[1])]
        for row, chosen in zip(wave.rows, wave.log_dirs_after, strict=True)
    }
    found = {
        after.partitions.name(int(row)): after.log_dirs.path[int(after.log_dir[row, 1])] for row in wave.rows.tolist()
    }
    assert found == planned
    assert len(set(planned.values())) == 2


def test_no_broker_holds_more_on_the_way_than_the_plan_says(
    moved: Moved,
) -> None:
    schedule, run = moved.schedule, moved.run
    (wave,) = schedule.waves
    peaks = run.peak_bytes()
    for broker, peak in zip(wave.broker_ids.tolist(), wave.disk_peak_bytes.tolist(), strict=True):
        assert peaks[broker] <= peak


def test_leaders_go_first_and_all_of_it_can_be_undone(moves: LiveMoves, moved: Moved) -> None:
    # Broker 1 leads eight partitions and leaves. Alone it would send 44 MB; brokers 2 and 3 send 10 and 34 for it.
    assert moved.run.seconds is not None
    before = {0: [1, 2], 1: [1, 2], 2: [1, 3], 3: [1, 3]}
    make_topic(moves.cluster, "clicks", before)
    moves.fill("clicks", dict.fromkeys(before, 5 * MB))
    start = moves.snapshot()
    targets = {"orders": {number: [2, 3] for number in range(5)}, "clicks": {number: [2, 3] for number in before}}
    schedule = moves.plan(moves.problem(targets, throttle_bytes_per_second=20.0 * MB))
    first = schedule.waves[0]
    runs = moves.run(schedule, max_seconds=MAX_SECONDS)
    there = moves.settled_snapshot(lambda seen: set(seen.leader.tolist()) == {2})
    moves.roll_back(schedule)
    back = moves.settled_snapshot(lambda seen: np.array_equal(seen.leader, start.leader))

    assert [wave.kind for wave in schedule.waves] == [WaveKind.LEADERSHIP, WaveKind.COPY]
    assert len(first.rows) == 8
    assert all(run.seconds is not None for run in runs)
    assert set(map(tuple, lists(there).values())) == {(2, 3)}
    assert set(there.leader.tolist()) == {2}
    assert lists(back) == lists(start)
    assert np.array_equal(back.leader, start.leader)


def test_a_throttle_below_the_smallest_does_not_end(moves: LiveMoves) -> None:
    make_topic(moves.cluster, "endless", {0: [1, 2]})
    moves.fill("endless", {0: 8 * MB})
    leader, follower = ("endless", 0, 1), ("endless", 0, 3)
    rates = {0: 0.6 * MB}

    def move() -> tuple[Schedule, WaveRun]:
        with SteadyWriter(moves.cluster, "endless", rates):
            problem = moves.problem(
                {"endless": {0: [1, 3]}}, throttle_bytes_per_second=0.8 * MB, rates={"endless": rates}
            )
            schedule = moves.plan(problem)
            (wave,) = schedule.waves
            run = moves.run_wave(schedule, wave, max_seconds=13.0)
            if run.seconds is None:
                moves.cancel(schedule, wave)
        late = [level for level in run.levels if level.at > 6]
        if len(late) < 2 or late[-1].at - late[0].at < 3:
            raise Mistimed("the brokers were too busy to be watched")
        written = (late[-1].sizes[leader] - late[0].sizes[leader]) / (late[-1].at - late[0].at)
        if written < 0.9 * rates[0]:
            raise Mistimed(f"{written:.0f} bytes a second could be written, wanted are {rates[0]:.0f}")
        return schedule, run

    schedule, run = again_where_mistimed(move, lambda: moves.carry_out({"endless": {0: [1, 2]}}))
    (wave,) = schedule.waves
    assert schedule.never_ends
    assert wave.smallest_throttle_bytes_per_second[1] == 1.2 * MB
    assert run.seconds is None
    gaps = [level.sizes[leader] - level.sizes.get(follower, 0) for level in run.levels if level.at > 6]
    assert gaps[-1] > gaps[0]
    assert lists(moves.settled_snapshot(lambda seen: lists(seen)["endless-0"] == [1, 2]))["endless-0"] == [1, 2]


def test_the_tool_lists_the_brokers_that_are_to_be_there(moves: LiveMoves) -> None:
    brokers = Brokers.of(list(RACKS), racks=list(RACKS.values()))
    schedule = plan_waves(move_problem_of([[1]], [[2, 3]], brokers=brokers))
    (wave,) = schedule.waves
    (start,) = [
        one for one in runbook_page(schedule, wave, files_of(wave_rows(schedule, wave))).steps if one.does == "start"
    ]
    assert [broker for broker, _ in start.brokers] == [2, 3]
    moves.look_for_brokers(start)
