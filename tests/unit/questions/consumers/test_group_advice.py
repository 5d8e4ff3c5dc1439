"""Which scenario of a group is recommended, and the sentence that says why."""

from __future__ import annotations

from dataclasses import replace

from kafka_capacity.kafka.rebalance.model import Event
from kafka_capacity.objects.tables import merge_tables
from kafka_capacity.questions.consumers.advice import advise, worst_lag
from kafka_capacity.questions.consumers.tables import GROUP_TABLES, group_result_tables
from tests.made_up_groups import refused, result

STICKY = {"assignor": "cooperative-sticky"}


def advice(*results):
    tables = merge_tables((group_result_tables(one, has_details=False) for one in results), GROUP_TABLES)
    return advise(tables["group_scenarios"].to_pylist(), tables["group_churn"].to_pylist())


def test_the_fewest_members_that_fit_come_first():
    (one,) = advice(result(count=6, is_today=True), result(count=4, pauses=90), result(count=3, fits=False))
    assert one.recommended["member_count"] == 4
    assert one.is_change
    assert not one.is_at_risk
    assert one.reason == (
        "4 members instead of 6 are enough for orders-etl; at worst it falls 12 s behind (scale), within 120 s"
    )


def test_of_as_many_members_the_calmest_deploy_counts():
    (one,) = advice(result(count=6, is_today=True, pauses=412), result(count=6, is_static=True, **STICKY))
    assert one.recommended["scenario_id"] == "orders-etl.006.classic-cooperative-sticky.static"
    assert one.reason.startswith(
        "switching orders-etl from range to cooperative-sticky with static members turns 206 partition-pauses by "
        "rebalances per deploy (1,236 partition-seconds unread, 3 s at the longest) into 0 (0 partition-seconds unread"
    )
    assert one.pauses_per_deploy(one.today) == 206


def test_a_change_that_saves_little_is_not_worth_it():
    # 13 pauses of three seconds instead of 15 are less than a fifth fewer.
    (one,) = advice(result(count=6, is_today=True, pauses=15), result(count=6, pauses=13, **STICKY))
    assert one.recommended is one.today
    (one,) = advice(result(count=6, is_today=True, pauses=15), result(count=6, pauses=11, **STICKY))
    assert one.recommended is not one.today


def test_of_equals_the_least_change_counts():
    (one,) = advice(result(count=6, is_today=True, pauses=5), result(count=6, pauses=5, **STICKY))
    assert one.recommended is one.today
    assert not one.is_change
    assert one.reason == (
        "orders-etl can stay as it is: 6 members with range fit, with 2 partition-pauses by rebalances per deploy "
        "(15 partition-seconds unread, 3 s at the longest); at worst it falls 12 s behind (scale), within 120 s"
    )


def test_a_group_that_does_not_fit_as_it_is_is_at_risk():
    (one,) = advice(result(count=2, is_today=True, fits=False, pauses=8), result(count=5, pauses=20))
    assert one.is_at_risk
    assert one.reason.startswith(
        "orders-etl needs 5 members instead of 2: orders-etl falls 300 s behind, more than 120 s"
    )


def test_where_nothing_fits_the_nearest_that_kafka_accepts_is_spoken_of():
    (one,) = advice(refused(count=1), result(count=2, is_today=True, fits=False, smallest=None))
    assert one.recommended is None
    assert one.spoken_of["member_count"] == 2
    assert (
        one.reason == "nothing that was tried fits orders-etl: no count will do: orders-0 alone needs 9 MB/s of 4 MB/s"
    )


def test_groups_are_judged_one_by_one_and_come_by_name():
    found = advice(result("b"), result("a"), result("a", 3))
    assert [(one.group_id, one.recommended["member_count"]) for one in found] == [("a", 2), ("b", 2)]
    assert found[0].today is None


def test_without_a_rolling_restart_the_least_change_decides():
    events = (Event.CRASH,)
    (one,) = advice(result(is_today=True, events=events), result(is_static=True, events=events))
    assert one.recommended is one.today
    assert one.pauses_per_deploy(one.today) is None


def test_a_lag_without_end_is_the_worst():
    rows = [
        {"event": "scale", "lag_max_seconds": 9.0, "lag_max_partition": "a-0"},
        {"event": "crash", "lag_max_seconds": None, "lag_max_partition": "b-1"},
    ]
    found = worst_lag(rows)
    assert (found.event, found.seconds, found.partition) == ("crash", None, "b-1")
    assert worst_lag([]) is None


def test_only_judged_events_are_held_against_the_objective():
    events = (Event.SLOW_MEMBER, Event.ROLLING_RESTART)
    made = result(is_today=True, events=events)
    outcomes = (replace(made.events[0], lag_max_seconds=900.0), made.events[1])
    (one,) = advice(replace(made, events=outcomes))
    assert one.worst_lag(one.today).event == "slow-member"
    assert one.judged_lag(one.today).event == "rolling-restart"
    assert one.reason.endswith("at worst it falls 12 s behind (rolling-restart), within 120 s")


def test_what_is_wrong_today_is_said_where_fewer_members_of_another_kind_do():
    (one,) = advice(result(count=4, is_today=True, fits=False), result(count=3, is_static=True))
    assert one.reason.startswith(
        "orders-etl is at risk as it is: orders-etl falls 300 s behind, more than 120 s; "
        "3 members instead of 4 are enough for orders-etl; making the members of orders-etl static "
        "leaves it at 0 partition-pauses by rebalances per deploy"
    )
