"""Schedules: worked by hand, as measured on real brokers, and what they refuse."""

import dataclasses

import numpy as np
import pytest

from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.reassignment import detours
from kafka_capacity.kafka.reassignment.problem import Order, Throttle
from kafka_capacity.kafka.reassignment.schedule import WaveKind
from kafka_capacity.kafka.reassignment.waves import plan_waves
from tests.properties.move_problems import move_problem_of, replayed

MB = 10**6
GB = 10**9


def kinds(schedule):
    return [wave.kind for wave in schedule.waves]


def test_five_megabytes_a_second_never_end_at_factor_three_and_two_produced():
    schedule = plan_waves(move_problem_of([[1, 2, 3]], [[1, 2, 4]], size=139 * MB, rate=2 * MB, throttle=5 * MB))

    assert schedule.never_ends
    assert schedule.total_seconds[1] is None
    assert schedule.smallest_throttle_bytes_per_second == (0, 6 * MB, 12 * MB)
    assert (schedule.waves[0].bottleneck_broker, schedule.waves[0].bottleneck_direction) == (1, "out")


def test_eight_megabytes_a_second_take_what_was_measured():
    # Measured on four real brokers: 139 MB took 62 s, where throttle less rate would say 23 s.
    schedule = plan_waves(move_problem_of([[1, 2, 3]], [[1, 2, 4]], size=139 * MB, rate=2 * MB, throttle=8 * MB))

    assert schedule.total_seconds == (139 / 8, 139 / 2, None)
    assert schedule.total_seconds[1] == pytest.approx(62, rel=0.15)


def test_a_drained_broker_is_left_four_times_as_soon_when_its_leaders_go_first():
    # Twelve brokers of 10 TB each, one leaves at 50 MB/s. It leads a third of what it holds: 3.33 TB from one source,
    # 18.5 h; from eleven it is what each of them receives that counts, 0.91 TB, 5.1 h.
    before, after = [], []
    for number in range(990):
        others = [(number + k) % 11 + 1 for k in (0, 1)]
        held = [others[0], others[1]]
        held.insert((0, 1, 2)[number % 3], 0)
        before.append(held)
        after.append([broker or (number + 5) % 11 + 1 for broker in held])
    schedule = plan_waves(move_problem_of(before, after, size=10_000 * GB // 990, throttle=50 * MB))

    assert schedule.leadership is not None
    assert schedule.leadership.is_chosen
    assert schedule.leadership.plain_seconds == pytest.approx(18.5 * 3600, rel=0.01)
    assert schedule.leadership.leadership_first_seconds == pytest.approx(5.05 * 3600, rel=0.01)
    assert schedule.leadership.moved_leaders == 330
    assert kinds(schedule) == [WaveKind.LEADERSHIP, WaveKind.COPY]
    first = schedule.waves[0]
    assert first.elects.all()
    assert first.copied_bytes == 0
    assert not (first.replicas_after[:, 0] == 0).any()


def test_leaders_stay_where_that_is_no_faster():
    # One partition, one receiver: who sends makes no difference.
    schedule = plan_waves(move_problem_of([[1, 2]], [[3, 2]], size=100, throttle=10))

    assert schedule.leadership is not None
    assert not schedule.leadership.is_chosen
    assert kinds(schedule) == [WaveKind.COPY]


def test_waves_are_as_long_as_allowed():
    before, after = [[1, 2]] * 6, [[1, 3]] * 6
    schedule = plan_waves(move_problem_of(before, after, size=100, throttle=10, max_wave_seconds=25.0))

    assert [wave.end_seconds[1] - wave.start_seconds[1] for wave in schedule.waves] == [20.0, 20.0, 20.0]


def test_of_lengths_the_longest_is_taken_that_is_about_as_good_and_all_are_told():
    # 4,800 bytes at 10 a second. What is produced to the partitions of a wave counts against the throttle until it
    # ends: 48 at once take nearly all of it, two at a time hardly any.
    before, after = [[1, 2]] * 48, [[1, 3]] * 48
    asked = {"size": 100, "rate": 0.1, "throttle": 10, "pause_seconds": 0.0, "max_traffic_ratio": None}
    one = plan_waves(move_problem_of(before, after, **asked))
    best = plan_waves(move_problem_of(before, after, **asked, tried_wave_seconds=(120.0, 24.0)))
    found = {length.max_wave_seconds: length for length in best.lengths}

    assert (one.lengths, len(one.waves)) == ((), 1)
    assert set(found) == {120.0, 24.0, None}
    assert found[None].total_high_seconds == one.total_seconds[2]
    chosen = found[best.problem.settings.max_wave_seconds]
    assert (chosen.wave_count, chosen.total_seconds) == (len(best.waves), best.total_seconds[1])
    least = min(found[seconds].total_high_seconds + found[seconds].relieved_seconds for seconds in (120.0, 24.0))
    assert chosen.total_high_seconds + chosen.relieved_seconds <= 1.05 * least
    assert best.total_seconds[1] < one.total_seconds[1]


def test_a_move_that_is_one_wave_of_the_first_length_is_not_cut_shorter():
    schedule = plan_waves(
        move_problem_of([[1, 2]] * 3, [[1, 3]] * 3, size=100, throttle=10, tried_wave_seconds=(60.0, 10.0))
    )
    assert (len(schedule.waves), schedule.lengths) == (1, ())


def test_a_length_that_is_given_is_not_chosen():
    asked = move_problem_of([[1, 2]] * 6, [[1, 3]] * 6, size=100, throttle=10, max_wave_seconds=25.0)
    settings = dataclasses.replace(asked.settings, tried_wave_seconds=(60.0, 10.0))
    schedule = plan_waves(dataclasses.replace(asked, settings=settings))
    assert (schedule.problem.settings.max_wave_seconds, schedule.lengths) == (25.0, ())


def test_a_pause_between_waves_and_none_after_the_last():
    before, after = [[1, 2]] * 2, [[1, 3]] * 2
    schedule = plan_waves(
        move_problem_of(before, after, size=100, throttle=10, max_concurrent_moves_per_broker=1, pause_seconds=60.0)
    )

    assert [wave.start_seconds[1] for wave in schedule.waves] == [0.0, 70.0]
    assert schedule.total_seconds[1] == 80.0


def test_traffic_that_would_eat_the_throttle_is_spread_over_waves():
    # Four partitions of 2 B/s each eat 16 B/s of the leader's throttle of 20 at once; two eat 8, which is faster.
    before, after = [[1, 2]] * 4, [[1, 3]] * 4
    at_once = plan_waves(move_problem_of(before, after, size=100, rate=2, throttle=20, max_traffic_ratio=None))
    spread = plan_waves(move_problem_of(before, after, size=100, rate=2, throttle=20))

    assert (len(at_once.waves), at_once.total_seconds[1]) == (1, 100.0)
    assert len(spread.waves) == 2
    assert spread.total_seconds[1] == pytest.approx(2 * 200 / 12)


def test_what_never_ends_goes_last_and_holds_nobody_up():
    before, after = [[1, 2], [1, 2]], [[1, 3], [1, 3]]
    schedule = plan_waves(move_problem_of(before, after, size=100, rate=[30, 0], throttle=20))

    assert [wave.rows.tolist() for wave in schedule.waves] == [[1], [0]]
    assert [wave.end_seconds[1] for wave in schedule.waves] == [5.0, None]
    assert schedule.never_ends


def test_relief_first_frees_the_fullest_disk_first():
    # Broker 1 is at 95 %, broker 2 at 60 %; one wave can take one partition.
    before, after = [[2], [2], [1], [1]], [[3], [3], [3], [3]]
    limits = [210.0, 333.0, 1000.0]
    schedule = plan_waves(
        move_problem_of(before, after, size=100, throttle=10, limits=limits, max_concurrent_moves_per_broker=1)
    )

    assert schedule.order is Order.RELIEF_FIRST
    assert (schedule.worst_broker, schedule.worst_resource) == (1, "disk")
    assert [wave.rows.tolist() for wave in schedule.waves] == [[2], [3], [0], [1]]
    assert {each.order: each.relieved_seconds for each in schedule.orders} == {
        Order.RELIEF_FIRST: 20.0,
        Order.SMALLEST_FIRST: 40.0,
        Order.HOTTEST_FIRST: 40.0,
    }


def test_hottest_first_and_smallest_first_do_as_they_say():
    before, after = [[1]] * 3, [[2]] * 3
    given = dict(size=[30, 10, 20], rate=[1, 0, 2], throttle=100, max_concurrent_moves_per_broker=1)
    hottest = plan_waves(move_problem_of(before, after, **given, orders=(Order.HOTTEST_FIRST,)))
    smallest = plan_waves(move_problem_of(before, after, **given, orders=(Order.SMALLEST_FIRST,)))

    assert [wave.rows.tolist() for wave in hottest.waves] == [[2], [0], [1]]
    assert [wave.rows.tolist() for wave in smallest.waves] == [[1], [2], [0]]


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
        "broker 1 may hold 1.0 GiB and holds 1.0 GiB until others make room, which they cannot: 1 partition of 1.0 GiB "
        "(orders-1) cannot go there; with 1.0 GiB more the first can, with 1.0 GiB more all can, and so may some by a "
        "detour where another broker has room"
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


@pytest.mark.parametrize(
    ("given", "constraint", "reason"),
    [
        (
            {"brokers": Brokers.of([1, 2, 3], is_fenced=[False, False, True])},
            "fenced",
            "1 partition (orders-0): the broker to go to is fenced, and nothing gets in sync there",
        ),
        (
            {"leader": [-1], "in_sync": [[False, False]]},
            "leader",
            "1 partition (orders-0): there is no leader to copy from",
        ),
        (
            {"in_sync": [[True, False]], "after": [[2]]},
            "in_sync",
            "1 partition (orders-0): more replicas go than come while others are out of sync, and Kafka does not "
            "complete that",
        ),
        (
            {"after": [[1]], "min_isr": 2},
            "min_isr",
            "1 partition (orders-0): fewer replicas would be in sync than min.insync.replicas asks for; lower it "
            "first, or keep more replicas",
        ),
    ],
)
def test_what_kafka_would_not_complete_is_refused(given, constraint, reason):
    after = given.pop("after", [[1, 3]])
    schedule = plan_waves(move_problem_of([[1, 2]], after, **{"brokers": [1, 2, 3], **given}))

    assert schedule.waves == ()
    assert [(each.constraint, each.reason) for each in schedule.refusals] == [(constraint, reason)]


def test_smaller_factors_first_and_new_orders_last():
    before, after = [[1, 2], [1, 2], [1, 2]], [[2, 1], [1], [1, 3]]
    schedule = plan_waves(move_problem_of(before, after))

    assert kinds(schedule) == [WaveKind.DROP, WaveKind.COPY, WaveKind.REORDER]
    assert [wave.rows.tolist() for wave in schedule.waves] == [[1], [2], [0]]
    assert [wave.elects.tolist() for wave in schedule.waves] == [[False], [False], [True]]


def test_nothing_to_do_is_a_schedule_without_waves():
    schedule = plan_waves(move_problem_of([[1, 2]], [[1, 2]]))

    assert (schedule.waves, schedule.total_seconds, schedule.never_ends) == ((), (0.0, 0.0, 0.0), False)


def test_an_automatic_throttle_leaves_headroom_at_the_peak_of_each_broker():
    # At peak 20 B/s are produced and 30 read. Broker 1 leads: writes 20, sends 30 + 20; broker 3 will write 20.
    schedule = plan_waves(
        move_problem_of(
            [[1, 2]],
            [[1, 3]],
            size=100,
            rate=10,
            read=30,
            network=[100.0, 100.0, 200.0],
            throttle=Throttle(bytes_per_second=5.0, is_automatic=True, headroom_ratio=0.2),
        )
    )

    assert schedule.throttles.in_bytes_per_second.tolist() == [60.0, 60.0, 140.0]
    assert schedule.throttles.out_bytes_per_second.tolist() == [30.0, 80.0, 160.0]
    assert schedule.waves[0].throttle_bytes_per_second == 30.0
    assert schedule.total_seconds[1] == 100 / (30 - 20)


def test_an_automatic_throttle_falls_back_on_the_fixed_one_where_the_network_is_not_known():
    schedule = plan_waves(
        move_problem_of([[1, 2]], [[1, 3]], throttle=Throttle(bytes_per_second=7.0, is_automatic=True))
    )

    assert schedule.throttles.out_bytes_per_second.tolist() == [7.0, 7.0, 7.0]


def test_one_fetcher_between_two_brokers_can_be_the_bottleneck():
    # Both copies come over one connection of 8 B/s, 2 B/s of which the partition that broker 2 follows takes already.
    before, after = [[1, 3], [1, 3], [1, 2]], [[1, 2], [1, 2], [1, 2]]
    given = dict(size=60, rate=[0, 0, 2], throttle=100)
    one = plan_waves(move_problem_of(before, after, **given, fetcher_bytes_per_second=8.0))
    four = plan_waves(move_problem_of(before, after, **given, fetcher_bytes_per_second=8.0, fetchers=4))

    assert one.total_seconds[1] == 20.0
    assert (one.waves[0].bottleneck_broker, one.waves[0].bottleneck_direction) == (2, "fetch")
    # With four fetchers each partition still has one to itself.
    assert four.total_seconds[1] == 7.5


def test_a_network_without_room_never_ends_whatever_the_throttle():
    schedule = plan_waves(
        move_problem_of([[1, 2]], [[1, 3]], rate=10, network=[20.0, 50.0, 50.0], throttle=100, read=15)
    )

    assert schedule.never_ends


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


def test_leaders_do_not_move_to_a_broker_that_is_drained_too():
    # Brokers 1 and 2 leave; of each list only the last replica stays.
    before, after = [[1, 2, 3], [1, 2, 4]] * 4, [[5, 6, 3], [6, 5, 4]] * 4
    schedule = plan_waves(move_problem_of(before, after, size=100))

    assert schedule.waves[0].kind is WaveKind.LEADERSHIP
    assert set(schedule.waves[0].leaders_after.tolist()) == {3, 4}


def test_newcomers_of_a_size_are_spread_over_the_directories():
    schedule = plan_waves(move_problem_of([[1]] * 4, [[2]] * 4, size=50, dirs=[2, 2], log_dir=[[-1]] * 4))

    assert sorted(schedule.waves[0].log_dirs_after.ravel().tolist()) == [0, 0, 1, 1]


def test_a_broker_that_is_gone_for_good_is_replaced():
    # Broker 9 is in no list of brokers any more; what it held is copied from the leaders.
    before, after = [[1, 9], [9, 1]], [[1, 2], [2, 1]]
    schedule = plan_waves(
        move_problem_of(
            before,
            after,
            size=100,
            throttle=10,
            brokers=[1, 2],
            leader=[1, 1],
            in_sync=[[True, False], [False, True]],
            limits=[200.0, 200.0],
        )
    )

    assert schedule.refusals == ()
    assert schedule.total_seconds[1] == 20.0
    assert [wave.leaders_after.tolist() for wave in schedule.waves] == [[1, 2]]
    assert schedule.brokers.broker_id.tolist() == [1, 2]
    assert schedule.brokers.leaders.tolist() == [1, 1]
    assert schedule.brokers.disk_end_bytes.tolist() == [200.0, 200.0]
