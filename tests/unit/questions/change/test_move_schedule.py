"""From a placement to its waves: every setting has its effect, and not everything is scheduled."""

import re
from dataclasses import replace

import pytest

from kafka_capacity.kafka.reassignment.clock import Window
from kafka_capacity.kafka.reassignment.problem import Order, WaveSettings
from kafka_capacity.proposal.evaluate import evaluate_placement
from kafka_capacity.questions.change import move_schedule
from kafka_capacity.questions.change.move_schedule import MoveSettings, is_scheduled, judged_in_waves, schedule_of
from tests.unit.proposal.snapshots import GIB, observed, scenario


def scheduled(brokers=9, *, settings=None, network=1.25e9, **changes):
    """Schedule the move of a loaded cluster to so many brokers."""
    snapshot, load = observed(partitions=24, bytes_in=1e5)
    result = evaluate_placement(snapshot, load, scenario(brokers, network=network, **changes))
    return result, schedule_of(snapshot, load, result, settings or MoveSettings())


def seconds(settings, **changes):
    return scheduled(settings=settings, **changes)[1].total_seconds[1]


def test_the_waves_go_where_the_placement_goes():
    result, schedule = scheduled()

    assert schedule.problem.after.tolist() == result.diff.after.tolist()
    assert schedule.copied_bytes == result.metrics.moved_bytes
    assert schedule.problem.throttle.bytes_per_second == 50e6
    assert sorted(schedule.problem.brokers.ids.tolist()) == list(range(1, 10))
    assert schedule.problem.disk_limit_bytes.tolist() == [4e12 * 0.85] * 9


def test_a_placement_that_kafka_would_refuse_has_no_waves():
    result, schedule = scheduled(2)

    assert result.diff is None
    assert schedule is None
    assert not is_scheduled(result)


def test_an_automatic_throttle_leaves_the_headroom_of_network_and_disk():
    slow, fast = (MoveSettings(is_throttle_automatic=True, headroom_ratio=ratio) for ratio in (0.6, 0.2))
    disks = replace(fast, disk_bytes_per_second=2e7)

    assert seconds(fast) < seconds(slow) < seconds(MoveSettings())
    assert seconds(disks) > seconds(MoveSettings())
    limits = scheduled(settings=disks)[1].throttles.in_bytes_per_second
    assert limits.max() <= 2e7 * 0.8


@pytest.mark.parametrize(
    ("waves", "is_longer"),
    [
        ({"max_concurrent_moves_per_broker": 1}, True),
        ({"max_wave_seconds": 60.0}, True),
        ({"max_traffic_ratio": None}, False),
    ],
)
def test_limits_of_waves_make_more_of_them(waves, is_longer):
    usual, limited = scheduled()[1], scheduled(settings=MoveSettings(waves=WaveSettings(**waves)))[1]

    assert (len(limited.waves) > len(usual.waves)) == is_longer


def test_pauses_and_fetchers_take_their_time():
    waves = WaveSettings(max_concurrent_moves_per_broker=2)
    usual = seconds(MoveSettings(waves=waves))
    count = len(scheduled(settings=MoveSettings(waves=waves))[1].waves)

    assert seconds(MoveSettings(waves=replace(waves, pause_seconds=0.0))) < usual
    one = seconds(MoveSettings(waves=replace(waves, fetcher_bytes_per_second=5e6)))
    four = seconds(MoveSettings(waves=replace(waves, fetcher_bytes_per_second=5e6, fetchers=4)))
    assert usual < one
    assert four <= one
    assert count > 2


def test_one_order_is_taken_as_it_is():
    _, schedule = scheduled(settings=MoveSettings(waves=WaveSettings(orders=(Order.HOTTEST_FIRST,))))

    assert schedule.order is Order.HOTTEST_FIRST
    assert [each.order for each in schedule.orders] == [Order.HOTTEST_FIRST]


def test_leadership_first_is_tried_where_brokers_are_drained_unless_that_is_not_wanted():
    never = MoveSettings(waves=WaveSettings(tries_leadership_first=False))

    assert scheduled(5)[1].leadership is not None
    assert scheduled(5, settings=never)[1].leadership is None


def test_other_placers_are_scheduled_up_to_a_limit(monkeypatch):
    own, other = scheduled()[0], scheduled(placer="zk")[0]
    assert is_scheduled(own)
    assert is_scheduled(other)

    monkeypatch.setattr(move_schedule, "SCHEDULED_UP_TO", other.metrics.moved_replicas - 1)
    assert is_scheduled(own)
    assert not is_scheduled(other)


def test_sizes_of_the_made_up_cluster_are_what_the_tests_rest_on():
    assert scheduled()[1].problem.size_bytes.tolist() == [GIB] * 24


def test_waves_keep_to_a_window_at_the_traffic_of_its_hours():
    in_window = MoveSettings(waves=WaveSettings(window=Window.of("22:00-06:00")))
    busy = replace(in_window, week_ratio=tuple([1.0] * 22 + [3.0, 3.0]) * 7)

    assert scheduled(settings=in_window)[1].problem.clock.day.isoformat() == "2026-11-20"
    assert seconds(in_window) < seconds(busy)


def test_a_wave_that_does_not_fit_into_the_window_is_an_excuse_with_what_would_do():
    short = MoveSettings(waves=WaveSettings(window=Window.of("22:00-22:01"), max_concurrent_moves_per_broker=1))
    result, schedule = scheduled(settings=short)
    judged = judged_in_waves(result, schedule)

    (excuse,) = judged.excuses
    assert (excuse.constraint, excuse.available, excuse.unit) == ("window", 60.0, "seconds")
    longest = max(schedule.overruns, key=lambda late: late.seconds)
    assert excuse.where == f"wave {longest.wave}"
    assert excuse.reason.startswith(f"wave {longest.wave} of {len(schedule.waves)} takes ")
    window, throttle = re.search(
        r"a window of (\d+) min would be long enough, or a throttle above (.*) MB/s$", excuse.reason
    ).groups()
    closes = f"{22 + int(window) // 60}:{int(window) % 60:02d}"
    longer = MoveSettings(waves=replace(short.waves, window=Window.of(f"22:00-{closes}")))
    assert not scheduled(settings=longer)[1].overruns
    faster = scheduled(settings=short, throttle_bytes_per_second=float(throttle.replace(",", "")) * 1e6)[1]
    assert not faster.overruns
