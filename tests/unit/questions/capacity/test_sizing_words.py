"""What sizing says of brokers that are enough, that are not, and of which something is not known."""

from __future__ import annotations

import dataclasses
import json

import pytest

from kafka_capacity.plan.move_and_sizing import lasts_until
from kafka_capacity.questions.capacity.approval import approval, otherwise
from kafka_capacity.questions.capacity.cost_words import cost_sentence
from kafka_capacity.questions.capacity.decide import decide_capacity, key_figures
from kafka_capacity.questions.capacity.section.options_costs import _verdict
from kafka_capacity.questions.capacity.sizing_words import badge, headline, subject_words, why_sentence
from tests.report.decided import build_report
from tests.report.sized import sized_inputs
from tests.unit.questions.capacity.sizing_rows import DATES, GROWING, PASSED, option, passing, too_small, view_of


def test_the_badge_says_what_the_steps_do_to_the_brokers_there_are():
    def shown(own_until, *rows, recommended):
        own = option("do-nothing", "do-nothing", 12, until=own_until)
        ends = [passing("do-nothing", "2027-05-02"), passing("012", "2027-09-02")]
        return badge(view_of([own, *rows], ends if own_until else ends[1:], recommended=recommended))

    def rebalanced(until):
        return option("012", "rebalance", 12, until=until)

    lasting, fewer = rebalanced(DATES[3]), option("009", "scale-in", 9, until=DATES[3])
    other = option("009.big", "other-hardware", 9, until=DATES[3], shape="big")
    # More brokers are due when their step is, and not on the day of a rebalancing before that.
    assert shown(DATES[1], rebalanced(DATES[2]), GROWING[4], recommended="021") == (
        "warn",
        "↑ More brokers by September 2027",
    )
    assert shown(DATES[1], fewer, recommended="009") == ("warn", "↓ Fewer brokers now")
    # As many as today are rebalanced once today's run out, whether or not more are needed before the horizon.
    assert shown(DATES[1], lasting, recommended="012") == ("warn", "⇄ Rebalance by May 2027")
    assert shown(DATES[1], other, recommended="009.big") == ("warn", "⇄ Other brokers now")
    # Where today's do not fit, brokers lack only where more of them are needed now.
    assert shown(None, GROWING[4], recommended="021") == ("bad", "! Too few brokers now")
    assert shown(None, rebalanced(DATES[2]), GROWING[4], recommended="021") == ("bad", "! Rebalance now")
    assert shown(None, lasting, recommended="012") == ("bad", "! Rebalance now")
    assert shown(None, fewer, recommended="009") == ("bad", "! Fewer brokers now")


@pytest.mark.parametrize(
    ("day", "said"), [("2026-11-28", "2026-11-28"), ("2026-12-20", "2026-12-20"), ("2026-12-21", "December 2026")]
)
def test_a_day_within_five_weeks_is_named_whatever_its_month(day, said):
    rows = [option("do-nothing", "do-nothing", 12, until=DATES[0]), *GROWING[4:]]
    view = view_of(rows, [passing("do-nothing", day)], recommended="021")
    assert subject_words(view) == f"12 brokers now, 21 by {said}"


def test_enough_brokers_are_said_to_be_enough():
    same = option("012", "rebalance", 12, until=DATES[3])
    view = view_of([option("do-nothing", "do-nothing", 12, until=DATES[3]), same], recommended="012")
    assert headline(view) == "Today’s 12 brokers last until November 2027, and no option with fewer brokers fits."
    rows = [option("do-nothing", "do-nothing", 12, until=DATES[3], usd=25_389.0)]
    view = view_of(rows, recommended="do-nothing")
    assert headline(view) == "Today’s 12 brokers last until November 2027, and no option that costs less fits."
    cheaper = option("009", "scale-in", 9, until=DATES[3], usd=24_674.0, change_usd=187.0, break_even_days=7.9)
    view = view_of([*rows, cheaper], recommended="009")
    assert headline(view) == (
        "Today’s 12 brokers last until November 2027; 9 brokers would be enough too, and cost $24,674 per month "
        "instead of $25,389."
    )
    assert cost_sentence(view) == (
        "9 brokers cost $24,674 per month, today’s 12 $25,389, on average until November 2027; the change costs $187 "
        "and pays for itself after 8 days."
    )
    assert badge(view)[0] == "good"


def test_nothing_binds_where_nothing_runs_out():
    racks = {"reason": "4 partitions have all replicas in one rack", "constraint": "racks"}
    rows = [
        option("do-nothing", "do-nothing", 12, until=None, excuses=json.dumps([racks])),
        option("012", "rebalance", 12, until=DATES[3]),
    ]
    view = view_of(rows, recommended="012")
    assert headline(view) == "12 brokers rebalanced now last until November 2027; today’s 12 do not fit."


def test_fewer_brokers_that_last_longer_than_todays_are_not_asked_for_by_a_resource():
    rows = [option("do-nothing", "do-nothing", 12, until=DATES[0]), option("009", "scale-in", 9, until=DATES[3])]
    view = view_of(rows, [passing("do-nothing", "2026-11-28")], recommended="009")
    today = "oday’s 12 run out of disk space on 2026-11-28 because of how replicas are placed now."
    assert headline(view) == f"9 brokers now last until November 2027; t{today}"
    assert why_sentence(view) == f"T{today}"


def test_what_does_not_last_says_how_long_it_does():
    rows = GROWING[:4]
    by_date = [(DATES[0], "015"), (DATES[1], "015"), (DATES[2], "018"), (DATES[3], None)]
    view = view_of(rows, PASSED, by_date=by_date)
    assert headline(view) == (
        "Nothing that was tried lasts until November 2027: 15 brokers now, 18 by April 2027, and these last until "
        "August 2027; today’s 12 already exceed the limit of disk space."
    )
    assert badge(view)[0] == "bad"
    nowhere = view_of(GROWING[:2], PASSED[:1], by_date=[(day, None) for day in DATES])
    assert headline(nowhere).startswith("Nothing that was tried lasts until November 2027, nor fits today. The nearest")


def test_one_broker_lasts():
    view = view_of([option("do-nothing", "do-nothing", 1, until=DATES[3], usd=9.5)], recommended="do-nothing")
    assert headline(view) == "Today’s 1 broker lasts until November 2027, and no option that costs less fits."
    assert cost_sentence(view) == "1 broker costs $9.50 per month."


def test_an_inventory_without_rates_gives_the_move_first_and_says_why():
    inputs = sized_inputs()
    report = build_report(dataclasses.replace(inputs, sizing={**inputs.sizing, "peak_basis": "unknown"}))
    assert report["verdict"]["sizing"] is None
    serious = [one["text"] for one in report["verdict"]["caveats"] if one["severity"] == "serious"]
    assert any(text.startswith("Broker needs cannot be determined: no rates") for text in serious)


def test_a_price_that_is_not_known_says_what_would_tell_it():
    view = view_of(GROWING, PASSED, recommended="021")
    assert cost_sentence(view) == "What 21 brokers cost is unknown: give broker_usd_per_hour or current_shape."
    assert key_figures(view)[2].value == "not known"


def test_what_rests_on_unknown_sizes_is_not_judged():
    lacking = {
        "reason": "the sizes of 6 partitions are unknown",
        "constraint": "sizes",
        "needed": None,
        "available": None,
    }
    rows = [
        option(name, kind, count, until=None, excuses=json.dumps([lacking]))
        for name, kind, count in (("do-nothing", "do-nothing", 3), ("006", "scale-out", 6))
    ]
    view = view_of(rows, by_date=[(day, None) for day in DATES])
    assert headline(view) == "Not judged how many brokers are needed: the sizes of 6 partitions are unknown."
    assert badge(view) == ("warn", "? Not judged")
    assert subject_words(view) == "not judged how many brokers are needed"
    runs_out = key_figures(view)[1]
    assert (runs_out.value, runs_out.note) == ("not known", "the sizes of 6 partitions are unknown")
    assert otherwise(view) == "Not known: the sizes of 6 partitions are unknown."
    assert approval(view) == "Approve no broker count: none is judged."
    assert decide_capacity(view, view.document).status == "not_judged"
    assert lasts_until(view, 3, is_moved=False) == ("not-judged", None)
    # What fails for another reason too is judged.
    failing = view_of([{**row, "excuses": json.dumps([lacking, too_small("x")])} for row in rows])
    assert badge(failing) == ("bad", "✕ No option lasts")
    assert lasts_until(failing, 3, is_moved=False) == ("not-today", None)


def test_an_option_of_which_something_is_unknown_is_not_called_fitting():
    rows = [
        option("do-nothing", "do-nothing", 6, until=DATES[1]),
        option("009", "scale-out", 9, until=DATES[3]),
        option("010", "scale-out", 10, until=DATES[3]),
    ]
    view = view_of(rows, [passing("do-nothing", DATES[2])], recommended="009")
    assert _verdict(view.options[2], view) == "fits"
    unknown = view_of(
        [rows[0], rows[1], rows[2] | {"not_judged": ["disk"]}], [passing("do-nothing", DATES[2])], recommended="009"
    )
    assert _verdict(unknown.options[2], unknown) == "not_judged"
