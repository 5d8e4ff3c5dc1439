"""Waves and full disks: who waits for whom, detours, directories."""

import numpy as np

from kafka_capacity.kafka.reassignment import detours
from kafka_capacity.kafka.reassignment.schedule import WaveKind
from kafka_capacity.kafka.reassignment.waves import plan_waves
from tests.properties.move_problems import move_problem_of, replayed


def kinds(schedule):
    return [wave.kind for wave in schedule.waves]


def test_a_full_disk_waits_until_its_own_replicas_have_gone():
    # Broker 2 has room for nothing until partition 1 has left it.
    before, after = [[1], [2]], [[2], [3]]
    schedule = plan_waves(move_problem_of(before, after, size=100, limits=[np.nan, 150.0, np.nan]))

    assert [wave.rows.tolist() for wave in schedule.waves] == [[1], [0]]
    assert schedule.refusals == ()


def test_two_full_disks_exchange_by_way_of_a_third_broker():
    before, after = [[1], [2]], [[2], [1]]
    schedule = plan_waves(move_problem_of(before, after, size=100, brokers=[1, 2, 3], limits=[100.0, 100.0, 100.0]))

    assert schedule.detours == (0,)
    assert kinds(schedule) == [WaveKind.DETOUR] * 3
    assert [wave.replicas_after.tolist() for wave in schedule.waves] == [[[3]], [[1]], [[2]]]
    assert schedule.copied_bytes == 300
    assert schedule.refusals == ()
    last = [(cluster, wave) for cluster, wave in replayed(schedule)][-1][0]
    assert last.replicas == [[2], [1]]


def test_looking_for_a_detour_is_bounded_however_many_partitions_wait(monkeypatch):
    # Broker 3 has room, but in the rack of broker 4, which holds the other replica of each of a thousand.
    before, after = [[1, 4]] * 500 + [[2, 4]] * 500, [[2, 4]] * 500 + [[1, 4]] * 500
    limits = [50_000.0, 50_000.0, 1e9, 1e9]
    looked, look = [], detours._by_way_of
    monkeypatch.setattr(detours, "_by_way_of", lambda *given: looked.append(given) or look(*given))

    schedule = plan_waves(
        move_problem_of(before, after, size=100, brokers=[1, 2, 3, 4], racks=list("aabb"), limits=limits)
    )

    assert (schedule.waves, schedule.detours) == ((), ())
    assert sum(len(refusal.rows) for refusal in schedule.refusals) == 1000
    assert 0 < len(looked) <= 3 * 128


def test_a_detour_keeps_the_racks():
    # Broker 3 has room but is in the rack of the replica that stays; broker 4 is in one of its own.
    before, after = [[5, 1], [5, 2]], [[5, 2], [5, 1]]
    schedule = plan_waves(
        move_problem_of(
            before,
            after,
            size=100,
            brokers=[1, 2, 3, 4, 5],
            racks=["a", "a", "b", "c", "b"],
            limits=[100.0, 100.0, 900.0, 100.0, np.nan],
        )
    )

    assert schedule.waves[0].replicas_after.tolist() == [[5, 4]]


def test_two_full_disks_and_no_third_are_refused_with_figures():
    before, after = [[1], [2]], [[2], [1]]
    schedule = plan_waves(move_problem_of(before, after, size=2**30, limits=[2.0**30, 2.0**30]))

    assert schedule.waves == ()
    assert [(each.constraint, each.where, each.needed, each.available) for each in schedule.refusals] == [
        ("disk", "broker 1", 2.0**31, 2.0**30),
        ("disk", "broker 2", 2.0**31, 2.0**30),
    ]
    assert schedule.refusals[0].reason == (
        "broker 1 is as full as it may be with 1.0 GiB until others make room, which they cannot: 1 partition of 1.0 "
        "GiB (orders-1) cannot go there; with 1.0 GiB more the first can, with 1.0 GiB more all can, and some may "
        "by a detour if another broker has room"
    )
    assert schedule.refusals[0].rows == (1,)


def test_directories_are_chosen_and_their_limits_kept():
    # Broker 2 has two directories with 80 and 20 in them: the larger newcomer goes to the emptier one.
    before, after = [[1], [1], [2], [2]], [[2], [2], [2], [2]]
    schedule = plan_waves(
        move_problem_of(
            before,
            after,
            size=[50, 10, 80, 20],
            dirs=[2, 2],
            log_dir=[[-1], [-1], [0], [1]],
            dir_limits=[85.0, 85.0],
        )
    )

    assert schedule.waves[0].log_dirs_after.tolist() == [[1], [1]]
    assert schedule.log_dirs.peak_bytes.tolist() == [80.0]
    assert schedule.refusals == ()


def test_a_directory_that_is_too_small_is_named():
    schedule = plan_waves(move_problem_of([[1]], [[2]], size=50, dirs=[2], log_dir=[[-1]], dir_limits=[40.0]))

    assert [(each.constraint, each.where) for each in schedule.refusals] == [("log_dir", "log dir /disk0 of broker 2")]


def test_nobody_is_left_at_a_third_broker():
    # Partition 0 could wait on broker 3, but the 50 it leaves on broker 1 are too few for the 80 of partition 1.
    before, after = [[1], [2], [1]], [[2], [1], [1]]
    schedule = plan_waves(
        move_problem_of(before, after, size=[50, 80, 50], brokers=[1, 2, 3], limits=[100.0, 80.0, 900.0])
    )

    assert schedule.waves == ()
    assert schedule.detours == ()
    assert [(each.where, each.rows) for each in schedule.refusals] == [("broker 1", (1,)), ("broker 2", (0,))]


def test_a_detour_looks_at_directories_too():
    # Broker 3 has the most room, but not in one directory.
    before, after = [[1], [2]], [[2], [1]]
    given = dict(size=100, brokers=[1, 2, 3, 4], limits=[100.0, 100.0, 900.0, 100.0])
    free = plan_waves(move_problem_of(before, after, **given, dirs=[3], dir_limits=[100.0]))
    tight = plan_waves(move_problem_of(before, after, **given, dirs=[3], dir_limits=[99.0]))

    assert free.waves[0].replicas_after.tolist() == [[3]]
    assert tight.waves[0].replicas_after.tolist() == [[4]]


def test_a_smaller_factor_makes_room_for_the_copies_after_it():
    before, after = [[1, 2], [1]], [[1], [2]]
    schedule = plan_waves(move_problem_of(before, after, size=100, limits=[np.nan, 100.0]))

    assert kinds(schedule) == [WaveKind.DROP, WaveKind.COPY]
    assert schedule.refusals == ()


def test_newcomers_of_a_size_are_spread_over_the_directories():
    schedule = plan_waves(move_problem_of([[1]] * 4, [[2]] * 4, size=50, dirs=[2, 2], log_dir=[[-1]] * 4))

    assert sorted(schedule.waves[0].log_dirs_after.ravel().tolist()) == [0, 0, 1, 1]
