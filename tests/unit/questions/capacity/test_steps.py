"""How many brokers by when: the steps to what is recommended, and what is to be approved of them."""

from __future__ import annotations

import dataclasses
import json
from types import SimpleNamespace

import pyarrow as pa
import pytest

from kafka_capacity.plan.decision_box import _after_move, _cost_after, _is_for_nothing
from kafka_capacity.plan.move_and_sizing import _once_back, lasts_until
from kafka_capacity.questions.capacity.approval import approval
from kafka_capacity.questions.capacity.decide import key_figures
from kafka_capacity.questions.capacity.sizing_steps import view_sizing
from kafka_capacity.questions.capacity.sizing_words import badge, headline, steps_phrase, subject_words
from kafka_capacity.questions.capacity.tables import SIZING_EXHAUSTION, SIZING_OPTIONS
from tests.report.decided import build_report
from tests.report.plans import make_inputs
from tests.unit.questions.capacity.sizing_rows import DATES, GROWING, PASSED, option, passing, view_of


def test_each_step_is_due_when_the_one_before_runs_out():
    view = view_of(GROWING, PASSED, recommended="021")
    assert [(step.option["option_id"], step.from_day, step.until, step.resource) for step in view.steps] == [
        ("015", "2026-11-15", "2027-04-15", "disk"),
        ("018", "2027-04-16", "2027-08-28", "disk"),
        ("021", "2027-08-29", None, None),
    ]
    assert headline(view) == (
        "15 brokers now, 18 by April 2027, 21 by August 2027: disk space is the limiting resource; today’s 12 "
        "already exceed the limit of disk space."
    )
    assert subject_words(view) == "15 brokers now, 18 by April 2027, 21 by August 2027"
    assert badge(view) == ("bad", "! Too few brokers now")


def test_todays_brokers_are_the_first_step_where_they_last_for_a_while():
    rows = [option("do-nothing", "do-nothing", 12, until=DATES[1]), *GROWING[2:]]
    view = view_of(rows, [passing("do-nothing", "2027-05-02", "2027-09-30", "cpu"), *PASSED[1:]], recommended="021")
    assert headline(view) == "12 brokers now, 18 by May 2027, 21 by August 2027: disk space is the limiting resource."
    assert badge(view) == ("warn", "↑ More brokers by May 2027")
    runs_out = key_figures(view)[1]
    assert runs_out.value == "2027-05-02"
    assert runs_out.note == "CPU of broker 8; at the middle estimate 2027-09-30"


def test_the_middle_estimate_decides_where_it_was_asked_to():
    rows = [option("do-nothing", "do-nothing", 12, until=DATES[1]), *GROWING[4:]]
    view = view_of(rows, [passing("do-nothing", "2027-01-02", "2027-06-30")], recommended="021", estimate="middle")
    assert subject_words(view) == "12 brokers now, 21 by June 2027"
    assert key_figures(view)[1].value == "2027-06-30"


def test_a_planned_topic_may_ask_for_more_brokers_before_anything_runs_out():
    topic = {"reason": "topic fraud takes 15 brokers", "constraint": "replication_factor", "when": "2026-12-01"}
    disk = {"reason": "broker 8 would hold too much", "constraint": "disk", "when": "2027-06-01"}
    rows = [
        option("do-nothing", "do-nothing", 12, until=DATES[0], excuses=json.dumps([topic, disk])),
        option("015", "scale-out", 15, until=DATES[3]),
    ]
    view = view_of(rows, [passing("do-nothing", "2027-06-01")], recommended="015")
    assert [(step.option["option_id"], step.from_day, step.until, step.resource) for step in view.steps] == [
        ("do-nothing", "2026-11-15", "2026-11-30", None),
        ("015", "2026-12-01", None, None),
    ]


def test_other_machines_grow_by_their_own_counts():
    rows = [
        option("do-nothing", "do-nothing", 12, until=None),
        option("006.big", "other-hardware", 6, until=DATES[1], shape="big"),
        option("009.big", "other-hardware", 9, until=DATES[3], shape="big"),
    ]
    view = view_of(rows, [passing("006.big", "2027-05-20", resource="cpu")], recommended="009.big")
    assert headline(view).startswith(
        "6 brokers of big now, 9 by May 2027: CPU is the limiting resource; today’s 12 do not fit"
    )


def test_what_lasts_longest_between_two_dates_is_recommended():
    # For the next date judged, of a month later, 15 are the fewest that last today; 18 last four weeks longer.
    rows = [GROWING[0], *(option(f"0{count}", "scale-out", count, until=DATES[0]) for count in (15, 18, 21))]
    ends = [passing("015", "2026-11-17"), passing("018", "2026-12-15"), passing("021", "2026-12-18")]
    by_date = [(DATES[0], "015"), *((day, None) for day in DATES[1:])]
    view = view_of(rows, ends, by_date=by_date)
    assert [(step.option["broker_count"], step.until) for step in view.steps] == [(18, "2026-12-14")]
    kept = view_of(
        [option("do-nothing", "do-nothing", 12, until=DATES[0]), *rows[1:]],
        [passing("do-nothing", "2027-01-05"), *ends],
        by_date=by_date,
    )
    assert [(step.option["broker_count"], step.until) for step in kept.steps] == [(12, "2027-01-04")]


def test_where_nothing_helps_for_long_that_is_said():
    rows = [option("do-nothing", "do-nothing", 1, until=DATES[0]), option("002", "scale-out", 2, until=DATES[0])]
    by_date = [(DATES[0], "do-nothing"), *((day, None) for day in DATES[1:])]
    ends = [passing(name, high) for name, high in (("do-nothing", "2026-11-20"), ("002", "2026-11-22"))]
    view = view_of(rows, ends, by_date=by_date)
    assert approval(view) == (
        "Approve no new brokers yet: today’s 1 lasts until 2026-11-19, and no other count lasts much longer."
    )
    assert "1 broker now, and it lasts until 2026-11-19; " in headline(view)


def test_no_broker_is_given_up_that_would_be_missed_before_the_horizon():
    lasting = [
        option("do-nothing", "do-nothing", 12, until=DATES[1]),
        option("009", "scale-in", 9, until=DATES[1]),
        option("009.big", "other-hardware", 9, until=DATES[1], shape="big"),
        option("012", "rebalance", 12, until=DATES[2]),
    ]
    passed = [passing(row["option_id"], "2027-05-02") for row in lasting[:3]] + [passing("012", "2027-09-02")]
    by_date = [(day, "009") for day in DATES[:2]] + [(day, None) for day in DATES[2:]]
    # Fewer brokers, or others, that last no longer than doing nothing: nothing is to be changed for that.
    for cheapest in ("009", "009.big"):
        view = view_of(lasting[:3], passed[:3], by_date=[(day, one and cheapest) for day, one in by_date])
        assert [step.option["option_id"] for step in view.steps] == ["do-nothing"]
    # Where fewer last longer than doing nothing, and as many as today as long: those.
    rows = [*lasting[:2], lasting[3]]
    longer = [{**rows[0], "fits_until": DATES[0]}, rows[1], {**rows[2], "fits_until": DATES[1]}]
    ends = [passing("do-nothing", "2026-12-02"), passing("009", "2027-05-02"), passing("012", "2027-05-02")]
    view = view_of(longer, ends, by_date=by_date)
    assert [(step.option["option_id"], step.from_day) for step in view.steps] == [
        ("do-nothing", DATES[0]),
        ("012", "2026-12-02"),
    ]
    # A week that fewer last longer is no reason to give any up.
    hardly = [{**longer[0], "fits_until": "2027-04-26"}, longer[1]]
    view = view_of(hardly, [passing("do-nothing", "2027-04-27"), ends[1]], by_date=by_date)
    assert [step.option["option_id"] for step in view.steps] == ["do-nothing"]
    # What lasts longest is taken, whatever it is.
    view = view_of(longer[:2], ends[:2], by_date=by_date)
    assert [step.option["option_id"] for step in view.steps] == ["009"]


def test_a_plan_without_sizing_has_nothing_of_it():
    report = build_report(make_inputs(placers=("zk",)))
    assert report["verdict"]["sizing"] is None
    names = {section["name"] for section in report["sections"]}
    assert not names & {"by_when", "options_costs", "broker_use", "growth", "calculators", "partition_advice"}


def test_other_hardware_that_costs_more_waits_until_todays_brokers_run_out():
    today = option("do-nothing", "do-nothing", 3, until=DATES[1], usd=5_000.0)
    big = {"kind": "other-hardware", "until": DATES[3], "shape": "big"}
    for usd, steps in ((5_400.0, ["do-nothing", "003.big"]), (4_000.0, ["003.big"])):
        rows = [today, option("003.big", count=3, usd=usd, **big), option("006.big", count=6, usd=2 * usd, **big)]
        view = view_of(rows, [passing("do-nothing", DATES[2])], recommended="003.big")
        assert [step.option["option_id"] for step in view.steps] == steps
    rows = [today, option("003.big", count=3, usd=5_400.0, **big)]
    view = view_of(rows, [passing("do-nothing", DATES[2])], recommended="003.big")
    assert approval(view) == (
        "Approve no new brokers yet: today’s 3 last until 2027-08-14; 3 brokers of big by 2027-08-15."
    )
    assert steps_phrase(view) == "3 brokers now, 3 brokers of big by August 2027"


def test_brokers_that_stand_in_for_removed_ones_are_added_too():
    rows = [
        option("do-nothing", "do-nothing", 4, until=DATES[1]),
        option("005", "scale-out", 5, until=DATES[3], removed_brokers=[4]),
    ]
    view = view_of(rows, [passing("do-nothing", DATES[2])], recommended="005")
    assert approval(view) == "Approve no new brokers yet: today’s 4 last until 2027-08-14; +2 by 2027-08-15."


@pytest.mark.parametrize(("budget", "is_within"), [(1_400.0, True), (1_100.0, False)])
def test_over_budget_says_where_brokers_that_come_when_they_are_needed_are_within_it(budget, is_within):
    rows = [
        option("do-nothing", "do-nothing", 6, until=DATES[1], usd=1_000.0, by_date_usd_per_month=[1_000.0] * 4),
        option("009", "scale-out", 9, until=DATES[3], usd=1_500.0, by_date_usd_per_month=[1_500.0] * 4),
    ]
    view = view_of(rows, [passing("do-nothing", DATES[2])])
    advice = {"by_date": [], "budget_usd_per_month": budget, "longest_within_budget": "do-nothing"}
    view = view_sizing(
        {"sizing_options": pa.Table.from_pylist(
            [{**row, "excuses": json.dumps(row["excuses"])} for row in view.options], schema=SIZING_OPTIONS),
         "sizing_exhaustion": pa.Table.from_pylist([passing("do-nothing", DATES[2])], schema=SIZING_EXHAUSTION),
         "sizing_use": view.use},
        {**view.document, "advice": advice}, {},
    )  # fmt: skip
    # Nine of twelve months at 1,000 dollars and three at 1,500.
    step_by_step = ", but $1,126 on average if brokers are added when they are needed"
    assert headline(view).startswith(
        f"Nothing within ${budget:,.0f} per month lasts until November 2027: 6 brokers now"
    )
    assert ("costs $1,500 per month" + step_by_step * is_within) in headline(view)
    assert ("if brokers are added" in headline(view)) == is_within


def test_a_move_between_todays_brokers_ends_when_they_do_after_it_and_the_box_says_so():
    rows = [
        option("do-nothing", "do-nothing", 12, until=DATES[3], usd=1.0),
        option("012", "rebalance", 12, until=DATES[1], usd=1.0),
    ]
    view = view_of(rows, [passing("012", "2027-04-16")], recommended="do-nothing")
    assert lasts_until(view, 12, is_moved=False) == ("horizon", None)
    assert lasts_until(view, 12, is_moved=True) == ("until", "2027-04-15")
    moved, same = (SimpleNamespace(broker_count=12, is_moved=is_moved) for is_moved in (True, False))
    assert _after_move(view, moved) == " After the move they last only until 2027-04-15."
    assert _after_move(view, same) == ""
    longer = view_of([rows[0], rows[1] | {"fits": True, "fits_until": DATES[3]}], recommended="do-nothing")
    assert _after_move(longer, moved) == " The move does not change that."
    first = option("do-nothing", "do-nothing", 12, until=DATES[1], usd=1.0)
    lasting = option("012", "rebalance", 12, until=DATES[3], usd=1.0)
    sooner = view_of([first, lasting], [passing("do-nothing", "2027-04-16")], recommended="012")
    assert _after_move(sooner, moved) == f" After the move they last beyond {DATES[3]}."


@pytest.mark.parametrize(
    ("fenced", "said"),
    [
        ([], ""),
        ([3], " once broker 3 is back and another move has spread what it holds"),
        ([3, 4], " once brokers 3, 4 are back and another move has spread what they hold"),
        ([9], ""),
    ],
)
def test_how_long_a_count_lasts_is_said_for_when_brokers_that_are_down_and_stay_are_back(fenced, said):
    view = SimpleNamespace(fenced_broker_ids=fenced, nearest=SimpleNamespace(broker_ids=(1, 2, 3, 4)))
    assert _once_back(view) == said


def test_a_move_that_nobody_asked_for_and_that_changes_nothing_is_not_to_be_approved():
    until = {"do-nothing": "2027-04-16", "012": "2027-04-16"}
    rows = [option("do-nothing", "do-nothing", 12, until=DATES[1]), option("012", "rebalance", 12, until=DATES[1])]
    moved = SimpleNamespace(broker_count=12, is_moved=True)

    def is_for_nothing(until, **request):
        view = view_of(rows, [passing(name, day) for name, day in until.items()], by_date=[(DATES[0], "do-nothing")])
        planned = SimpleNamespace(
            results=SimpleNamespace(request=request), view=SimpleNamespace(observed_broker_count=12)
        )
        return _is_for_nothing(planned, view, moved)

    assert is_for_nothing(until)
    assert not is_for_nothing({**until, "012": "2027-04-20"})
    assert not is_for_nothing(until, broker_counts=[12])
    assert not is_for_nothing(until, replaced_brokers={"3": 13})


def test_the_box_says_what_todays_brokers_cost_after_a_move_between_them_where_that_is_something_else():
    rows = [
        option("do-nothing", "do-nothing", 12, until=DATES[3], usd=4_034.0),
        option("012", "rebalance", 12, until=DATES[3], usd=4_195.0),
        option("013", "scale-out", 13, until=DATES[3], usd=5_000.0),
    ]
    view = view_of(rows, [], recommended="do-nothing")
    moved, same, more = (
        SimpleNamespace(broker_count=count, is_moved=is_moved)
        for count, is_moved in ((12, True), (12, False), (13, True))
    )
    assert _cost_after(view, moved) == " After the move today’s 12 cost $4,195 per month."
    assert [_cost_after(view, one) for one in (same, more, None)] == ["", "", ""]
    estimated = view_of([row | {"priced_as": "m7i.large"} for row in rows], [], recommended="do-nothing")
    assert _cost_after(estimated, moved) == " After the move today’s 12 cost $4,195 per month (estimated)."
    # What is spoken of already is not said twice, nor what comes to the same dollars.
    due = view_of([option("do-nothing", "do-nothing", 12, until=None, usd=4_034.0), *rows[1:]], [], recommended="012")
    assert due.now is due.recommended
    assert _cost_after(due, moved) == ""
    alike = view_of([rows[0], rows[1] | {"total_usd_per_month": 4_034.2}], [], recommended="do-nothing")
    assert _cost_after(alike, moved) == ""


def test_brokers_that_last_for_weeks_only_are_ordered_with_the_next():
    soon = [passing("do-nothing", "2026-11-15"), passing("015", "2026-12-01"), *PASSED[2:]]
    view = view_of([GROWING[0], option("015", "scale-out", 15, until=DATES[0]), *GROWING[2:]], soon, recommended="021")
    assert [(step.option["option_id"], step.from_day) for step in view.steps] == [
        ("018", "2026-11-15"),
        ("021", "2027-08-29"),
    ]


def test_what_lasts_for_days_only_is_not_approved():
    rows = [option("do-nothing", "do-nothing", 12, until=None), option("015", "scale-out", 15, until=DATES[0])]
    ends = [passing("do-nothing", "2026-11-15"), passing("015", "2026-11-18")]
    view = view_of(rows, ends, by_date=[(DATES[0], "015"), *((date, None) for date in DATES[1:])])
    assert view.steps == ()
    assert approval(view) == "Approve no broker count: no option lasts for a week."
    assert headline(view).startswith(
        "Nothing that was tried lasts until November 2027, nor for a week. The nearest is "
    )


def test_of_many_steps_the_first_and_the_last_are_named():
    days = ["2027-01-20", "2027-04-01", "2027-06-01", "2027-08-29"]
    rows = [option("do-nothing", "do-nothing", 12, until=None)]
    rows += [option(f"{15 + 3 * n:03d}", "scale-out", 15 + 3 * n, until=DATES[0]) for n in range(5)]
    view = view_of([*rows[:-1], option("027", "scale-out", 27, until=DATES[-1])], recommended="027")
    steps = [
        dataclasses.replace(view.steps[0], option=row, from_day=day)
        for row, day in zip(view.options[1:], [DATES[0], *days], strict=True)
    ]
    many = dataclasses.replace(view, steps=tuple(steps))
    assert approval(many) == (
        "Approve 3 more brokers now; +3 by 2027-01-20, then 27 brokers by 2027-08-29 in 3 more steps."
    )
    assert steps_phrase(many) == "15 brokers now, 18 by January 2027, and after 2 more steps 27 by August 2027"
    few = dataclasses.replace(view, steps=tuple(steps[:4]))
    assert approval(few) == "Approve 3 more brokers now; +3 by 2027-01-20, +3 by 2027-04-01, +3 by 2027-06-01."
