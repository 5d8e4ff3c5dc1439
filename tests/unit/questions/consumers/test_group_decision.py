"""Which scenario of a group is recommended, and the sentence that says why."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa

from kafka_capacity.health.problem import Severity
from kafka_capacity.kafka.rebalance.model import Event
from kafka_capacity.objects.tables import merge_tables
from kafka_capacity.questions.consumers.advice import advice_of
from kafka_capacity.questions.consumers.choice import worst_outcome
from kafka_capacity.questions.consumers.decide import decide_tables, decided_groups
from kafka_capacity.questions.consumers.simulate import evaluate_group
from kafka_capacity.questions.consumers.tables import GROUP_TABLES, group_result_tables
from tests.made_up_groups import refused, result
from tests.plain_groups import plain_group, plain_scenario

LEFT_OUT = (
    "(not simulated: while its count changes one by one, in a crash, in a crash with a restart, with a slow member, "
    "when partitions are added)"
)
STICKY = {"assignor": "cooperative-sticky"}


def answered(*results):
    return decide_tables(merge_tables((group_result_tables(one, has_details=False) for one in results), GROUP_TABLES))


def decided(*results):
    return answered(*results).details


def test_the_fewest_members_that_fit_come_first():
    (one,) = decided(result(count=6, is_today=True), result(count=4, pauses=90), result(count=3, fits=False))
    assert one.recommended_members == 4
    assert one.choice.is_change
    assert not one.choice.is_at_risk
    assert one.advice == (
        "4 members instead of 6 are enough for orders-etl; the worst max lag is 12 s while its count changes at "
        f"once, within 2 min {LEFT_OUT}"
    )


def test_of_as_many_members_the_calmest_deploy_counts():
    (one,) = decided(result(count=6, is_today=True, pauses=412), result(count=6, is_static=True, **STICKY))
    assert one.recommended == "orders-etl.006.classic-cooperative-sticky.static"
    assert one.advice.startswith(
        "switching orders-etl from range to cooperative-sticky with static members changes 206 partition-pauses by "
        "rebalances per deploy (1,236 partition-seconds unread, max pause 3 s) to 0 (0 partition-seconds unread"
    )


def test_a_change_that_saves_little_is_not_worth_it():
    # 13 pauses of three seconds instead of 15 are less than a fifth fewer.
    (one,) = decided(result(count=6, is_today=True, pauses=15), result(count=6, pauses=13, **STICKY))
    assert one.recommended == one.today
    (one,) = decided(result(count=6, is_today=True, pauses=15), result(count=6, pauses=11, **STICKY))
    assert one.recommended != one.today


def test_of_equals_the_least_change_counts():
    (one,) = decided(result(count=6, is_today=True, pauses=5), result(count=6, pauses=5, **STICKY))
    assert one.recommended == one.today
    assert not one.choice.is_change
    assert one.advice == (
        "orders-etl can stay as it is: 6 members with range fit, with 2 partition-pauses by rebalances per deploy "
        "(15 partition-seconds unread, max pause 3 s); the worst max lag is 12 s while its count changes at once, "
        f"within 2 min {LEFT_OUT}"
    )


def test_a_group_that_does_not_fit_as_it_is_is_at_risk():
    (one,) = decided(result(count=2, is_today=True, fits=False, pauses=8), result(count=5, pauses=20))
    assert one.choice.is_at_risk
    assert one.advice.startswith(
        "orders-etl needs 5 members instead of 2: orders-etl falls 300 s behind, more than 120 s"
    )


def test_where_nothing_fits_the_nearest_that_kafka_accepts_is_in_focus():
    (one,) = decided(refused(count=1), result(count=2, is_today=True, fits=False, smallest=None))
    assert one.recommended is None
    assert one.choice.focus["member_count"] == 2
    assert one.advice == "no option fits orders-etl: no count will do: orders-0 alone needs 9 MB/s of 4 MB/s"


def test_who_has_too_much_to_do_before_anything_happens_is_not_nearest_to_fitting():
    facts = plain_group({"orders": 12}, members=2)
    # 12 members have all they can do, and too much once one has failed: lag has no bound then. Two always have.
    asked = {"member_capacity_bytes_per_second": 1000.0, "events": (Event.CRASH,)}
    tried = [
        evaluate_group(facts, plain_scenario(facts, scenario_id=f"group.{count}", member_count=count, **asked))
        for count in (2, 12)
    ]
    (one,) = decided(*tried)
    assert [[excuse.constraint for excuse in each.excuses] for each in tried] == [["member_capacity"], ["lag_slo"]]
    assert tried[1].smallest.for_all == 13
    assert (one.today, one.focus, one.status) == ("group.2", "group.12", "at_risk_no_fit")
    assert one.advice == (
        "no option fits group; the nearest is 12 members with range: in a crash at peak partition orders-0 falls "
        "behind without limit, but 2 min is allowed"
    )


def test_what_fits_only_as_it_is_assigned_now_says_how_many_it_takes():
    (one,) = decided(result("orders", 2, is_today=True, fits=False), result("orders", 6, smallest=7))
    assert (one.focus, one.status) == ("orders.006.classic-range.dynamic", "at_risk_no_fit")
    assert one.advice == (
        "no option fits orders; the nearest is 6 members with range: as partitions are assigned here it fits, but once "
        "they are assigned anew, as after a failure, it takes 7"
    )


def test_groups_are_judged_one_by_one_and_come_by_name():
    found = decided(result("b"), result("a"), result("a", 3))
    assert [(one.group_id, one.recommended_members) for one in found] == [("a", 2), ("b", 2)]
    assert found[0].today is None


def test_without_a_rolling_restart_the_least_change_decides():
    events = (Event.CRASH,)
    (one,) = decided(result(is_today=True, events=events), result(is_static=True, events=events))
    assert one.recommended == one.today
    assert one.choice.outcome(one.choice.today, Event.ROLLING_RESTART) is None


def test_a_lag_without_end_is_the_worst():
    rows = [
        {"event": "scale", "lag_max_seconds": 9.0, "partition_pauses": 4},
        {"event": "crash", "lag_max_seconds": None, "partition_pauses": 4},
        {"event": "scale-one-by-one", "lag_max_seconds": None, "partition_pauses": 0},
    ]
    assert worst_outcome(rows)["event"] == "crash"
    assert worst_outcome([]) is None


def test_at_worst_is_of_every_event_that_was_simulated():
    made = result(is_today=True, events=tuple(Event))
    outcomes = tuple(
        replace(one, lag_max_seconds=90.0) if one.event is Event.MORE_PARTITIONS else one for one in made.events
    )
    (one,) = decided(replace(made, events=outcomes))
    assert one.advice.endswith("; the worst max lag is 1 min 30 s when partitions are added, within 2 min")
    assert {one["name"]: one["value"] for one in one.figures}["lag"] == [90.0, None]


def test_who_is_just_fast_enough_never_catches_up_at_peak():
    made = result(is_today=True, events=tuple(Event))
    outcomes = tuple(replace(one, catch_up_seconds=None) for one in made.events)
    (one,) = decided(replace(made, events=outcomes))
    assert one.advice.endswith("within 2 min; what falls behind is caught up with only once traffic is below its peak")


def test_who_is_just_fast_enough_never_catches_up_where_traffic_is_always_at_its_peak():
    made = result(is_today=True, events=tuple(Event))
    (one,) = decided(replace(made, events=tuple(replace(one, catch_up_seconds=None) for one in made.events)))
    ends = {0.999: "not caught up with: traffic is hardly ever below its peak", 0.9: "once traffic is below its peak"}
    for ratio, end in ends.items():
        facts = {"mean_bytes_per_second": 1000.0 * ratio, "peak_bytes_per_second": 1000.0}
        assert advice_of(replace(one.choice, facts=facts)).endswith(end)


def test_a_group_of_which_too_little_is_known_is_not_judged():
    unknown = replace(result(is_today=True), not_judged="member capacity is unknown")
    (one,) = decided(unknown, replace(result(count=3), not_judged="member capacity is unknown"))
    assert (one.verdict, one.status, one.recommended) == ("not-judged", "not_judged", None)
    assert one.reasons == ("member capacity is unknown",)
    assert one.advice == "orders-etl cannot be judged: member capacity is unknown"
    assert one.risk is None


def test_what_is_not_known_is_no_reason_for_which_nothing_fits():
    unknown = "how fast a member restores moved state is unknown"
    today = result(count=2, is_today=True, fits=False, smallest=None)
    (one,) = decided(today, result(count=3, fits=False), replace(result(count=4), not_judged=unknown))
    assert (one.verdict, one.status, one.recommended) == ("does-not-fit", "at_risk_not_judged", None)
    assert one.advice == (
        "orders-etl is at risk as it is: orders-etl falls 300 s behind, more than 120 s; 4 members with range cannot "
        f"be judged: {unknown}"
    )
    # Where everything that was tried breaks something, that is the reason, and not what is not known beside it.
    (one,) = decided(replace(today, not_judged=unknown))
    assert one.status == "at_risk_no_fit"
    assert one.advice == "no option fits orders-etl: orders-etl falls 300 s behind, more than 120 s"


def test_a_decision_is_plain_data():
    (one,) = decided(result(count=6, is_today=True), result(count=4))
    plain = json.loads(json.dumps(one.as_dict()))
    assert "choice" not in plain
    assert (plain["verdict"], plain["status"], plain["recommended_members"]) == ("fits", "better", 4)
    assert [one["label"] for one in plain["figures"][:2]] == ["Members", "Max lag"]
    assert plain["advice"] == one.advice


def test_a_plan_of_the_version_before_is_decided_alike():
    made = [result(count=2, is_today=True, fits=False), result(count=5)]
    tables = merge_tables((group_result_tables(one, has_details=False) for one in made), GROUP_TABLES)
    old = dict(tables)
    fits = pa.array([verdict == "fits" for verdict in tables["group_scenarios"].column("verdict").to_pylist()])
    old["group_scenarios"] = tables["group_scenarios"].drop(["verdict", "not_judged"]).append_column("fits", fits)
    assert decided_groups(decide_tables(old)) == decided_groups(decide_tables(tables))
    # A figure that was not worked out then is open, not without bound.
    old["group_churn"] = tables["group_churn"].drop(["first_record_seconds"])
    assert [one["value"] for one in decide_tables(old).details[0].figures] == [[2, 5], [12.0, 12.0], [None, None]]


def test_what_is_wrong_today_is_said_where_fewer_members_of_another_kind_do():
    (one,) = decided(result(count=4, is_today=True, fits=False), result(count=3, is_static=True))
    assert one.advice.startswith(
        "orders-etl is at risk as it is: orders-etl falls 300 s behind, more than 120 s; "
        "3 members instead of 4 are enough for orders-etl only after the change; making the members of orders-etl "
        "static leaves it at 0 partition-pauses by rebalances per deploy"
    )
    # So many as are needed with the change may be too few without it.
    (more,) = decided(result(count=4, is_today=True, fits=False), result(count=6, is_static=True))
    assert more.advice.startswith("orders-etl needs 6 members instead of 4 after the change: orders-etl falls ")
    alike = (result(count=4, is_today=True, fits=False), result(count=6), result(count=6, is_static=True, pauses=-1))
    assert " after the change" not in decided(*alike)[0].advice


def test_who_is_behind_today_and_catches_up_in_time_is_counted():
    def late(group_id, seconds):
        one = result(group_id, is_today=True)
        return replace(one, metrics=replace(one.metrics, start_lag_seconds=seconds, catch_up_now_seconds=300.0))

    said = answered(late("a", 500.0), late("b", 130.0), late("c", 120.0)).headline
    assert said.endswith(
        "best left as they are. 2 are further behind now than the lag objective allows, and catch up in time."
    )
    assert answered(late("c", 120.0)).headline.endswith("1 best left as it is.")


def test_groups_at_risk_are_a_problem_of_the_answer_as_of_any_question():
    risky = (result(count=2, is_today=True, fits=False, pauses=8), result(count=5, pauses=20))
    answer = answered(*risky)
    (problem,) = answer.problems
    assert (problem.severity, problem.code) == (Severity.SERIOUS, "groups-at-risk")
    assert problem.message.startswith("1 of 1 consumer group at risk: orders-etl (")
    assert decided_groups(answer)["at_risk"] == f"{problem.message}."
    assert answered(result(count=6, is_today=True)).problems == ()


def test_what_nobody_was_seen_to_do_is_a_condition_with_its_figure():
    (one,) = decided(result(count=4, is_today=True, events=(Event.CRASH,)))
    today = one.choice.today
    (crash,) = one.choice.outcomes(today)
    facts = {"mean_bytes_per_second": 10e6, "peak_bytes_per_second": 20e6, "estimated_capacity_bytes_per_second": 5e6}

    def conditions(seen, **changed):
        churn = {today["scenario_id"]: {Event.CRASH: crash | changed}}
        known = {**facts, "estimated_capacity_bytes_per_second": seen}
        text = advice_of(replace(one.choice, facts=known, churn=churn))
        return text.partition(", within 2 min")[2].partition(" (not simulated")[0]

    assert conditions(5e6, keeps_up=True) == ""
    per_second = "19.1 MiB/s, 4.0 times the highest rate seen so far"
    unknown = {"keeps_up": None}
    assert conditions(5e6, members_after=1, **unknown) == f" if the one that is left can process {per_second}"
    each = "6.4 MiB/s on average, 1.3 times the highest rate seen so far"
    assert conditions(5e6, members_after=3, **unknown) == f" if members can process {each}"
    # The mean was seen: who has the most was not.
    assert conditions(7e6, members_after=3, **unknown) == " if members can process more than seen so far"
    assert conditions(None, members_after=3, **unknown) == " if members can process more than seen so far"
