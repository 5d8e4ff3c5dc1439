"""Waves and throttles: as measured on real brokers, what never ends, and what a throttle may be."""

import numpy as np
import pytest

from kafka_capacity.kafka.reassignment.problem import Order, Throttle
from kafka_capacity.kafka.reassignment.waves import plan_waves
from tests.properties.move_problems import move_problem_of

MB = 10**6


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
    # Without writes 5 B/s are left; what is read does not change.
    assert schedule.smallest_throttle_bytes_per_second == (0.0, np.inf, np.inf)
    assert schedule.waves[0].smallest_throttle_bytes_per_second == (0.0, np.inf, np.inf)
    assert (schedule.waves[0].bottleneck_broker, schedule.waves[0].bottleneck_direction) == (1, "out")


@pytest.mark.parametrize(
    ("first", "seconds"),
    [
        (([1, 3], [1, 2]), 80 / (8 - 2)),  # broker 2 fetches 2 B/s from broker 1 from the first wave on
        (([1, 2], [1, 3]), 80 / 8),  # and here no longer
        (([3, 1], [1, 2]), 80 / (8 - 2)),  # or because another broker leads
        (([1, 2], [3, 2]), 80 / 8),
    ],
)
def test_a_fetcher_carries_in_a_wave_what_earlier_waves_leave(first, seconds):
    schedule = plan_waves(
        move_problem_of(
            [first[0], [1, 4]],
            [first[1], [1, 2]],
            size=[10, 80],
            rate=[2, 0],
            throttle=100,
            fetcher_bytes_per_second=8.0,
            max_concurrent_moves_per_broker=1,
            orders=(Order.SMALLEST_FIRST,),
        )
    )
    wave = schedule.waves[1]

    assert (wave.rows.tolist(), wave.bottleneck_broker, wave.bottleneck_direction) == ([1], 2, "fetch")
    assert wave.end_seconds[1] - wave.start_seconds[1] == pytest.approx(seconds)


def test_a_fetcher_without_room_never_ends_whatever_the_throttle():
    before, after = [[1, 3], [1, 2]], [[1, 2], [1, 2]]
    schedule = plan_waves(
        move_problem_of(before, after, size=60, rate=[0, 8], throttle=100, fetcher_bytes_per_second=8.0)
    )

    assert schedule.never_ends
    assert schedule.smallest_throttle_bytes_per_second[1] == np.inf
    assert (schedule.waves[0].bottleneck_broker, schedule.waves[0].bottleneck_direction) == (2, "fetch")
