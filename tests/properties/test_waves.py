"""Schedules of small moves: what holds after every wave, on every disk, and on the way back."""

import copy
import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.kafka.cluster.assignment import replica_lists
from kafka_capacity.kafka.cluster.diff import diff_assignments
from kafka_capacity.kafka.reassignment.flow import move_duration
from kafka_capacity.kafka.reassignment.problem import Order
from kafka_capacity.kafka.reassignment.schedule import WaveKind
from kafka_capacity.kafka.reassignment.waves import plan_waves
from tests.properties.move_problems import Replayed, move_problems, replayed
from tests.properties.strategies import repeatable


def refused_rows(schedule):
    return {row for refusal in schedule.refusals for row in refusal.rows}


@repeatable(150)
@given(move_problems())
def test_all_waves_together_are_the_target(problem):
    schedule = plan_waves(problem)
    cluster = Replayed(problem)
    for wave in schedule.waves:
        cluster.apply(wave)

    refused = refused_rows(schedule)
    for row, (before, after) in enumerate(
        zip(replica_lists(problem.before), replica_lists(problem.after), strict=True)
    ):
        assert cluster.replicas[row] == (before if row in refused else after)


@repeatable(150)
@given(move_problems())
def test_no_wave_passes_a_disk_or_directory_limit(problem):
    limits = dict(zip(problem.brokers.ids.tolist(), problem.disk_limit_bytes.tolist(), strict=True))
    for cluster, wave in replayed(plan_waves(problem)):
        held, in_dirs = cluster.held(), cluster.dir_held()
        arriving, arriving_dirs = dict.fromkeys(held, 0), [0] * len(in_dirs)
        for row, before, after, places in cluster.changes(wave):
            for broker in set(after) - set(before):
                arriving[broker] += int(problem.size_bytes[row])
                if places[broker] >= 0:
                    arriving_dirs[places[broker]] += int(problem.size_bytes[row])
        for broker, more in arriving.items():
            assert not more or not held[broker] + more > limits[broker]
        for log_dir, more in enumerate(arriving_dirs):
            assert not more or not in_dirs[log_dir] + more > problem.log_dir_limit_bytes[log_dir]


@repeatable(100)
@given(move_problems())
def test_every_prefix_keeps_factor_racks_and_in_sync_replicas(problem):
    racks = dict(zip(problem.brokers.ids.tolist(), problem.brokers.rack_indexes().tolist(), strict=True))
    befores, targets = replica_lists(problem.before), replica_lists(problem.after)
    started = Replayed(problem).in_sync
    schedule = plan_waves(problem)
    cluster = Replayed(problem)
    for wave in schedule.waves:
        cluster.apply(wave)
        for row, replicas in enumerate(cluster.replicas):
            before, target = befores[row], targets[row]
            assert len(set(replicas)) == len(replicas) in {len(before), len(target)}
            spreads = [len({racks[b] for b in each}) for each in (before, target)]
            assert len({racks[b] for b in replicas}) >= min(spreads)
            # No more must be in sync than there are replicas (`Partition.effectiveMinIsr`).
            wanted = min(len(started[row]), int(problem.min_insync_replicas[row]), len(replicas))
            assert len(cluster.in_sync[row]) >= wanted


@repeatable(100)
@given(move_problems())
def test_rolling_any_prefix_back_gives_the_exact_start(problem):
    waves = plan_waves(problem).waves
    cluster = Replayed(problem)
    for stop in range(len(waves)):
        cluster.apply(waves[stop])
        back = Replayed(problem)
        back.replicas = [list(each) for each in cluster.replicas]
        for wave in reversed(waves[: stop + 1]):
            back.roll_back(wave)
        assert back.replicas == replica_lists(problem.before)


@repeatable(100)
@given(move_problems())
def test_a_wave_takes_what_the_closed_form_says_and_never_ends_at_or_below_its_smallest_throttle(problem):
    for cluster, wave in replayed(plan_waves(problem)):
        rows = wave.rows
        expected = move_duration(
            diff_assignments(wave.replicas_before, wave.replicas_after),
            brokers=problem.brokers,
            leader=np.array([cluster.leader[row] for row in rows], dtype=np.int32),
            in_sync_followers=np.array([len(cluster.in_sync[row] - {cluster.leader[row]}) for row in rows]),
            size_bytes=problem.size_bytes[rows],
            bytes_in_bytes_per_second=problem.bytes_in_bytes_per_second[1, rows],
            throttle_bytes_per_second=problem.throttle.bytes_per_second,
        )
        if wave.start_seconds[1] is None:
            continue
        took = None if wave.end_seconds[1] is None else wave.end_seconds[1] - wave.start_seconds[1]
        assert took == (None if expected.seconds is None else pytest.approx(expected.seconds))
        assert wave.bottleneck_broker == expected.bottleneck_broker or took is not None
        assert wave.smallest_throttle_bytes_per_second[1] == expected.smallest_throttle_bytes_per_second
        if wave.copied_bytes:
            edge = wave.smallest_throttle_bytes_per_second[1]
            assert (took is None) == (problem.throttle.bytes_per_second <= edge)


@repeatable(80)
@given(move_problems())
def test_the_timeline_is_what_a_replay_finds(problem):
    schedule = plan_waves(problem)
    line = schedule.brokers
    for cluster, wave in replayed(schedule):
        start = cluster.held()
        after = copy.deepcopy(cluster)
        after.apply(wave)
        end = after.held()
        for at in np.flatnonzero(line.wave == wave.number).tolist():
            broker = int(line.broker_id[at])
            assert line.disk_start_bytes[at] == start[broker]
            assert line.disk_end_bytes[at] == end[broker]
            assert line.disk_peak_bytes[at] == start[broker] + line.in_bytes[at]
            assert start[broker] - 1e-6 <= line.disk_expected_bytes[at] <= line.disk_peak_bytes[at] + 1e-6
            assert line.disk_expected_bytes[at] >= end[broker] - 1e-6
            assert line.leaders[at] == sum(leader == broker for leader in after.leader)
        dirs = schedule.log_dirs
        for at in np.flatnonzero(dirs.wave == wave.number).tolist():
            assert dirs.start_bytes[at] == cluster.dir_held()[dirs.log_dir[at]]
            assert dirs.end_bytes[at] == after.dir_held()[dirs.log_dir[at]]


@repeatable(80)
@given(move_problems())
def test_no_broker_receives_or_sends_more_at_once_than_allowed(problem):
    most = problem.settings.max_concurrent_moves_per_broker
    for cluster, wave in replayed(plan_waves(problem)):
        if most is None or wave.kind is WaveKind.DETOUR:
            continue
        received, sent = {}, {}
        for row, before, after, _ in cluster.changes(wave):
            joining = set(after) - set(before)
            for broker in joining:
                received[broker] = received.get(broker, 0) + 1
            if joining:
                sent.setdefault(cluster.leader[row], []).append(len(joining))
        assert all(count <= most for count in received.values())
        assert all(sum(counts) <= most or len(counts) == 1 for counts in sent.values())


@repeatable(80)
@given(move_problems(can_limit=False, orders=(Order.SMALLEST_FIRST,), max_traffic_ratio=None, max_wave_seconds=None))
def test_a_larger_throttle_is_never_slower(problem):
    faster = dataclasses.replace(
        problem,
        throttle=dataclasses.replace(problem.throttle, bytes_per_second=problem.throttle.bytes_per_second + 3),
        settings=dataclasses.replace(problem.settings, tries_leadership_first=False),
    )
    slow = plan_waves(dataclasses.replace(problem, settings=faster.settings))
    fast = plan_waves(faster)
    if slow.never_ends:  # what never ends has a wave of its own, at the end
        return
    assert slow.smallest_throttle_bytes_per_second == fast.smallest_throttle_bytes_per_second
    for slow_seconds, fast_seconds in zip(slow.total_seconds, fast.total_seconds, strict=True):
        assert slow_seconds is None or (fast_seconds is not None and fast_seconds <= slow_seconds * (1 + 1e-9))


@repeatable(60)
@given(move_problems())
def test_low_is_no_later_than_expected_and_expected_no_later_than_high(problem):
    totals = [np.inf if each is None else each for each in plan_waves(problem).total_seconds]
    assert totals == sorted(totals)


@repeatable(30)
@given(move_problems())
def test_the_same_problem_gives_the_same_schedule(problem):
    one, two = plan_waves(problem), plan_waves(problem)
    assert one.total_seconds == two.total_seconds
    assert one.order == two.order
    assert [wave.rows.tolist() for wave in one.waves] == [wave.rows.tolist() for wave in two.waves]


@repeatable(100)
@given(move_problems(), st.integers(1, 500))
def test_other_data_on_disks_that_are_larger_by_as_much_changes_nothing_but_what_is_in_use(problem, other):
    brokers, dirs = problem.brokers, problem.log_dirs
    beside = dataclasses.replace(
        problem,
        brokers=dataclasses.replace(brokers, other_bytes=np.full(len(brokers), float(other))),
        log_dirs=dataclasses.replace(dirs, other_bytes=np.full(len(dirs.path), float(other))),
        disk_limit_bytes=problem.disk_limit_bytes + other,
        log_dir_limit_bytes=problem.log_dir_limit_bytes + other,
    )
    alone, found = plan_waves(problem), plan_waves(beside)
    assert [wave.rows.tolist() for wave in found.waves] == [wave.rows.tolist() for wave in alone.waves]
    assert found.total_seconds == alone.total_seconds
    for one, wave in zip(alone.waves, found.waves, strict=True):
        np.testing.assert_allclose(wave.disk_peak_bytes, one.disk_peak_bytes + other, rtol=1e-12)
