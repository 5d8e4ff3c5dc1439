"""Schedules: worked by hand, and what they refuse."""

import dataclasses

import pytest

from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.release import KAFKA_4_3, KAFKA_4_4, KafkaRelease
from kafka_capacity.kafka.reassignment.problem import Order
from kafka_capacity.kafka.reassignment.schedule import WaveKind
from kafka_capacity.kafka.reassignment.waves import plan_waves
from tests.properties.move_problems import move_problem_of

MB = 10**6
GB = 10**9


def kinds(schedule):
    return [wave.kind for wave in schedule.waves]


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


@pytest.mark.parametrize(
    ("given", "constraint", "reason"),
    [
        (
            {"brokers": Brokers.of([1, 2, 3], is_fenced=[False, False, True])},
            "fenced",
            "1 partition (orders-0): the destination broker is fenced, so nothing can get in sync there",
        ),
        (
            {"brokers": Brokers.of([1, 2, 3], is_cordoned=[False, False, True]), "release": KAFKA_4_4},
            "cordoned",
            "1 partition (orders-0): Kafka 4.4 rejects a replica list with a broker all of whose log directories "
            "are cordoned, even one that is already in the list; uncordon one, or leave the broker out",
        ),
        (
            {"leader": [-1], "in_sync": [[False, False]]},
            "leader",
            "1 partition (orders-0): there is no leader to copy from",
        ),
        (
            {"in_sync": [[True, False]], "after": [[2]]},
            "in_sync",
            "1 partition (orders-0): more replicas are removed than added while others are out of sync, and Kafka "
            "does not complete such a move",
        ),
        (
            {"after": [[1]], "min_isr": 2, "release": KafkaRelease(3, 6)},
            "min_isr",
            "1 partition (orders-0): fewer replicas would be in sync than min.insync.replicas requires; lower it "
            "first, or keep more replicas",
        ),
    ],
)
def test_what_kafka_would_not_complete_is_refused(given, constraint, reason):
    after, release = given.pop("after", [[1, 3]]), given.pop("release", KAFKA_4_3)
    problem = move_problem_of([[1, 2]], after, **{"brokers": [1, 2, 3], **given})
    schedule = plan_waves(dataclasses.replace(problem, release=release))

    assert schedule.waves == ()
    assert [(each.constraint, each.reason) for each in schedule.refusals] == [(constraint, reason)]


def test_since_3_7_as_many_in_sync_as_there_are_replicas_are_enough():
    assert plan_waves(move_problem_of([[1, 2]], [[1]], brokers=[1, 2, 3], min_isr=2)).refusals == ()
    # Of two that are wanted, one is in sync.
    behind = move_problem_of([[1, 2, 3]], [[1, 3]], brokers=[1, 2, 3], min_isr=2, in_sync=[[True, True, False]])
    assert [one.constraint for one in plan_waves(behind).refusals] in (["in_sync"], ["min_isr"])


@pytest.mark.parametrize(("release", "is_refused"), [(KAFKA_4_3, False), (KAFKA_4_4, True)])
@pytest.mark.parametrize("is_cordoned", [[True, False, False], [False, False, True]])
def test_from_4_4_on_no_list_may_name_a_cordoned_broker(release, is_refused, is_cordoned):
    problem = move_problem_of([[1, 2]], [[1, 3]], brokers=Brokers.of([1, 2, 3], is_cordoned=is_cordoned))
    schedule = plan_waves(dataclasses.replace(problem, release=release))

    assert [each.constraint for each in schedule.refusals] == ["cordoned"] * is_refused
    assert bool(schedule.waves) is not is_refused


def test_smaller_factors_first_and_new_orders_last():
    before, after = [[1, 2], [1, 2], [1, 2]], [[2, 1], [1], [1, 3]]
    schedule = plan_waves(move_problem_of(before, after))

    assert kinds(schedule) == [WaveKind.DROP, WaveKind.COPY, WaveKind.REORDER]
    assert [wave.rows.tolist() for wave in schedule.waves] == [[1], [2], [0]]
    assert [wave.elects.tolist() for wave in schedule.waves] == [[False], [False], [True]]


def test_nothing_to_do_is_a_schedule_without_waves():
    schedule = plan_waves(move_problem_of([[1, 2]], [[1, 2]]))

    assert (schedule.waves, schedule.total_seconds, schedule.never_ends) == ((), (0.0, 0.0, 0.0), False)


def test_leaders_do_not_move_to_a_broker_that_is_drained_too():
    # Brokers 1 and 2 leave; of each list only the last replica stays.
    before, after = [[1, 2, 3], [1, 2, 4]] * 4, [[5, 6, 3], [6, 5, 4]] * 4
    schedule = plan_waves(move_problem_of(before, after, size=100))

    assert schedule.waves[0].kind is WaveKind.LEADERSHIP
    assert set(schedule.waves[0].leaders_after.tolist()) == {3, 4}


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
