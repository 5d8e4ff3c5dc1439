"""What a report says about sizing: the answer, the figures under it, and the sections."""

from __future__ import annotations

import dataclasses
import itertools
import json
from types import SimpleNamespace

import pyarrow as pa
import pytest

from kafka_capacity.plan.decision import _is_done_by, _relation, _until
from kafka_capacity.questions.capacity.approval import approval, otherwise
from kafka_capacity.questions.capacity.decide import decide_capacity, key_figures
from kafka_capacity.questions.capacity.section.calculators import chosen_waterfalls
from kafka_capacity.questions.capacity.section.options_costs import _row
from kafka_capacity.questions.capacity.sizing_view import read_sizing, sizing_of
from kafka_capacity.questions.capacity.sizing_words import badge, cost_sentence, headline, option_name, subject_words
from kafka_capacity.questions.capacity.tables import SIZING_EXHAUSTION, SIZING_OPTIONS, SIZING_USE
from kafka_capacity.report.render import read_report
from kafka_capacity.text.figures import steady
from tests.report.decided import build_report, view_plan
from tests.report.plans import make_inputs
from tests.report.sized import sized_inputs

DATES = ["2026-11-15", "2027-04-15", "2027-08-15", "2027-11-15"]
PARTS = ("brokers", "disks", "between_racks", "ingest")


def too_small(option_id):
    return {"reason": f"{option_id} is too small", "constraint": "disk", "needed": 2.0, "available": 1.0}


def option(option_id, kind, count, *, until, usd=None, shape="today", **more):
    """Return a row of ``sizing_options``; ``until`` is the last date it fits, ``None`` for none of them."""
    row = dict.fromkeys(SIZING_OPTIONS.names)
    row |= {
        "position": 0,
        "option_id": option_id,
        "kind": kind,
        "broker_count": count,
        "idle_brokers": 0,
        "extra_racks": 0,
        "shape": shape,
        "provider": "x",
        "fits": until == DATES[-1],
        "fits_until": until,
        "is_recommended": False,
        "is_on_front": False,
        "excuses": "[]" if until == DATES[-1] else json.dumps([too_small(option_id)]),
        "not_judged": [],
        "moved_bytes": 0.0,
        "moved_between_racks_bytes": 0.0,
        "least_throttle_bytes_per_second": 0.0,
        "is_in_place": True,
        **{f"{part}_usd_per_month": None if usd is None else 0.0 for part in PARTS},
        "total_usd_per_month": usd,
    }
    return row | more


def passing(option_id, high, middle=None, resource="disk"):
    return {
        "option_id": option_id,
        "resource": resource,
        "middle": middle,
        "high": high,
        "condition": "normal",
        "broker_id": 8,
    }


def view_of(rows, exhaustion=(), *, recommended=None, by_date=(), estimate="high"):
    """Read a plan of these options."""
    rows = [row | {"is_recommended": row["option_id"] == recommended} for row in rows]
    inputs = make_inputs(placers=("zk",))
    tables = {
        "sizing_options": pa.Table.from_pylist(rows, schema=SIZING_OPTIONS),
        "sizing_exhaustion": pa.Table.from_pylist(list(exhaustion), schema=SIZING_EXHAUSTION),
        "sizing_use": SIZING_USE.empty_table(),
    }
    document = {"dates": DATES, "advice": {"by_date": list(by_date)}, "classes": [], "peak_basis": "same-hours"}
    return read_sizing({**inputs.tables, **tables}, document, {**inputs.request, "sized_estimate": estimate})


GROWING = (
    option("do-nothing", "do-nothing", 12, until=None),
    option("009", "scale-in", 9, until=None),
    option("015", "scale-out", 15, until=DATES[1]),
    option("018", "scale-out", 18, until=DATES[2]),
    option("021", "scale-out", 21, until=DATES[3]),
    option("024", "scale-out", 24, until=DATES[3]),
)
PASSED = (
    passing("do-nothing", "2026-11-15", "2026-11-15"),
    passing("015", "2027-04-16", "2027-08-14"),
    passing("018", "2027-08-29"),
    passing("018", "2027-10-01", resource="cpu"),
)


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
    assert shown(DATES[1], lasting, recommended="012") == ("warn", "⇄ Rebalance now")
    assert shown(DATES[1], other, recommended="009.big") == ("warn", "⇄ Other brokers now")
    # Where today's do not fit, brokers lack only where more of them are needed now.
    assert shown(None, GROWING[4], recommended="021") == ("bad", "! Too few brokers now")
    assert shown(None, rebalanced(DATES[2]), GROWING[4], recommended="021") == ("bad", "! Rebalance now")
    assert shown(None, lasting, recommended="012") == ("bad", "! Rebalance now")
    assert shown(None, fewer, recommended="009") == ("bad", "! Fewer brokers now")


def test_a_day_of_the_month_that_has_begun_is_named():
    rows = [option("do-nothing", "do-nothing", 12, until=DATES[0]), *GROWING[4:]]
    view = view_of(rows, [passing("do-nothing", "2026-11-28")], recommended="021")
    assert subject_words(view) == "12 brokers now, 21 by 2026-11-28"


def test_the_middle_estimate_decides_where_it_was_asked_to():
    rows = [option("do-nothing", "do-nothing", 12, until=DATES[1]), *GROWING[4:]]
    view = view_of(rows, [passing("do-nothing", "2027-01-02", "2027-06-30")], recommended="021", estimate="middle")
    assert subject_words(view) == "12 brokers now, 21 by June 2027"
    assert key_figures(view)[1].value == "2027-06-30"


def test_enough_brokers_are_said_to_be_enough():
    same = option("012", "rebalance", 12, until=DATES[3])
    view = view_of([option("do-nothing", "do-nothing", 12, until=DATES[3]), same], recommended="012")
    assert headline(view) == "Today’s 12 brokers last until November 2027, and no other option needs fewer brokers."
    rows = [option("do-nothing", "do-nothing", 12, until=DATES[3], usd=25_389.0)]
    view = view_of(rows, recommended="do-nothing")
    assert headline(view) == "Today’s 12 brokers last until November 2027, and no other option costs less."
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


def test_nothing_binds_where_nothing_runs_out():
    racks = {"reason": "4 partitions have all replicas in one rack", "constraint": "racks"}
    rows = [
        option("do-nothing", "do-nothing", 12, until=None, excuses=json.dumps([racks])),
        option("012", "rebalance", 12, until=DATES[3]),
    ]
    view = view_of(rows, recommended="012")
    assert headline(view) == "12 brokers rebalanced now last until November 2027; today’s 12 do not fit."


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
    assert [step.option["option_id"] for step in view.steps] == ["012"]
    # What lasts longest is taken, whatever it is.
    view = view_of(longer[:2], ends[:2], by_date=by_date)
    assert [step.option["option_id"] for step in view.steps] == ["009"]


def test_one_broker_lasts():
    view = view_of([option("do-nothing", "do-nothing", 1, until=DATES[3], usd=9.5)], recommended="do-nothing")
    assert headline(view) == "Today’s 1 broker lasts until November 2027, and no other option costs less."
    assert cost_sentence(view) == "1 broker costs $9.50 per month."


def test_an_inventory_without_rates_gives_the_move_first_and_says_why():
    inputs = sized_inputs()
    report = build_report(dataclasses.replace(inputs, sizing={**inputs.sizing, "peak_basis": "unknown"}))
    assert report["verdict"]["sizing"] is None
    serious = [one["text"] for one in report["verdict"]["caveats"] if one["severity"] == "serious"]
    assert any(text.startswith("Broker needs cannot be determined: no rates") for text in serious)


def test_a_price_that_is_not_known_says_what_would_tell_it():
    view = view_of(GROWING, PASSED, recommended="021")
    assert cost_sentence(view) == "What 21 brokers cost is unknown: give broker_usd_per_hour, or current_shape."
    assert key_figures(view)[2].value == "not known"


def test_a_plan_without_sizing_has_nothing_of_it():
    report = build_report(make_inputs(placers=("zk",)))
    assert report["verdict"]["sizing"] is None
    names = {section["name"] for section in report["sections"]}
    assert not names & {"by_when", "options_costs", "broker_use", "growth", "calculators", "partition_advice"}


@pytest.fixture(scope="module")
def report():
    return build_report(sized_inputs())


def section(report, name):
    return next(one["data"] for one in report["sections"] if one["name"] == name)


def test_sections_are_there_and_the_first_figures_agree_with_the_tables(report):
    names = [one["name"] for one in report["sections"]]
    first = ["by_when", "findings", "options_costs", "what_if", "broker_use", "failures", "durability"]
    assert names[:7] == first
    assert {"calculators", "partition_advice"} <= set(names)
    rows = sized_inputs().tables["sizing_options"].to_pylist()
    chosen = next(row for row in rows if row["is_recommended"])
    assert report["verdict"]["sizing"]["recommended_option_id"] == chosen["option_id"]
    (now, *_) = report["verdict"]["recommendation"]["steps"]
    assert report["verdict"]["sizing"]["figures"][0]["value"] == now["broker_count"]
    assert report["verdict"]["sizing"]["figures"][3]["value"] == steady(chosen["headroom_ratio"])


def test_every_option_is_listed_once(report):
    data = section(report, "options_costs")
    listed = data["table"]["rows"] + (data["others"]["rows"] if data["others"] else [])
    assert len(listed) == len(sized_inputs().tables["sizing_options"])
    assert len({row["label"] for row in listed}) == len(listed)
    steps = [row["verdict"] for row in listed if row["verdict"].startswith("needed")]
    bought = [one for one in report["verdict"]["recommendation"]["steps"] if one["option_id"] != "do-nothing"]
    assert len(steps) == len(bought)


def test_the_worst_of_brokers_and_conditions_is_drawn(report):
    inputs = sized_inputs()
    view = view_plan(inputs).of(sizing_of)
    used = view.worst_used(view.today)
    by_hand = {}
    for row in inputs.tables["sizing_use"].to_pylist():
        if row["option_id"] == "do-nothing" and row["used_ratio"] is not None:
            key = (row["resource"], row["date"], row["estimate"])
            by_hand[key] = max(by_hand.get(key, 0.0), row["used_ratio"])
    assert used == by_hand
    charts = {one["id"]: one for one in section(report, "by_when")["charts"]}
    drawn = [one for one in charts["used-disk"]["values"] if one["kind"] == "doing nothing"]
    assert [one["high"] for one in drawn] == [by_hand["disk", day, "high"] for day in view.dates]


def test_a_limit_is_passed_in_the_table_of_brokers_where_the_option_does_not_fit(report):
    nothing, recommended = section(report, "broker_use")["tables"]
    assert {"bad"} <= {cell["kind"] for row in nothing["cells"] for cell in row["cells"]}
    assert "bad" not in {cell["kind"] for row in recommended["cells"] for cell in row["cells"]}


def test_a_report_whose_brokers_stood_in_a_table_of_their_own_is_drawn_as_it_was(report):
    kept = json.loads(json.dumps(report))
    cells = [{"value": 1.2, "kind": "bad"}, {"value": None, "kind": "unknown"}]
    rows = [{"broker": "1–3", "rack": "a", "cells": cells}]
    section(kept, "broker_use")["tables"] = [
        {"caption": "x", "resources": ["CPU", "disk"], "rows": rows, "left_out": 0}
    ]
    (drawn,) = section(read_report(json.dumps(kept).encode()), "broker_use")["tables"]
    assert drawn["heads"] == ["CPU", "disk"]
    assert (drawn["cells"][0]["name"], [one["text"] for one in drawn["cells"][0]["cells"]]) == ("1–3 a", ["▲ 120", "—"])


def test_bars_of_a_waterfall_join(report):
    for one in section(report, "calculators")["charts"]:
        first, *steps, last = one["values"]
        assert first["end"] == (steps[0]["start"] if steps else last["end"])
        assert all(before["end"] == after["start"] for before, after in itertools.pairwise(steps))
        assert not steps or steps[-1]["end"] == last["end"]


def test_a_waterfall_to_one_broker_speaks_of_one():
    sizing = view_plan(sized_inputs()).of(sizing_of)
    (first, *_) = sizing.document["waterfalls"]
    one = {**first, "shape": sizing.today["shape"], "theirs": {**first["theirs"], "brokers": 1}, "ours": 1}
    few = dataclasses.replace(sizing, document={**sizing.document, "waterfalls": [one]})
    (drawn,) = chosen_waterfalls(few)
    assert drawn["title"] == "From 1 to 1 broker of today’s hardware"


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
    assert _until(view, 3) == ("not-judged", None)
    # What fails for another reason too is judged.
    failing = view_of([{**row, "excuses": json.dumps([lacking, too_small("x")])} for row in rows])
    assert badge(failing) == ("bad", "✕ No option lasts")
    assert _until(failing, 3) == ("not-today", None)


def test_a_step_of_the_same_count_is_a_rebalance_and_the_move_may_already_be_it():
    own, later = option("do-nothing", "do-nothing", 12, until=DATES[1]), option("012", "rebalance", 12, until=DATES[2])
    ends = [passing("do-nothing", "2027-05-02"), passing("012", "2027-09-02")]
    view = view_of([own, later, GROWING[4]], ends, recommended="021")
    assert key_figures(view)[0].note == "12 today; 12 rebalanced by 2027-05-02 and 21 by 2027-09-02"
    rebalanced, more = decide_capacity(view, view.document).actions
    assert rebalanced.text == "Rebalance the 12 brokers: 12 run out of disk space on 2027-05-02."
    assert (rebalanced.as_dict()["id"], more.as_dict()["id"]) == ("rebalance-12-brokers", "have-21-brokers")

    def moving(partitions):
        chosen = SimpleNamespace(broker_count=12, figures={"changed_partitions": partitions})
        return SimpleNamespace(recommended=chosen, nearest=chosen, options=())

    assert [_is_done_by(moving(1), one) for one in (rebalanced, more)] == [True, False]
    assert not _is_done_by(moving(0), rebalanced)
    sentence, problem = _relation(moving(1), view, {})
    assert sentence.endswith("It goes to the 12 that are needed now, which last until 2027-09-01.")
    assert problem is None
    assert _relation(moving(0), view, {})[0].endswith("which last until 2027-05-01.")


def test_the_move_is_set_against_the_months_to_come(report):
    assert report["verdict"]["sizing"]["relation"].endswith("It goes to 7 brokers; today’s 6 last until 2027-01-21.")


def test_what_may_bind_and_is_not_known_never_fits(report):
    inputs = sized_inputs()
    options = inputs.tables["sizing_options"]
    place = options.schema.get_field_index("not_judged")
    unknown = options.set_column(
        place, options.schema.field(place), pa.array([["cpu"]] * len(options), options.schema[place].type)
    )
    assert (report["verdict"]["status"], report["verdict"]["badge"]["text"]) == ("fits", "✓ Fits")
    verdict = build_report(dataclasses.replace(inputs, tables={**inputs.tables, "sizing_options": unknown}))["verdict"]
    assert (verdict["status"], verdict["fits"], verdict["badge"]["text"]) == ("not_judged", False, "? Not judged")
    assert verdict["because"] == ["CPU is unknown"]
    assert verdict["sizing"]["headline"].startswith("As far as known, ")
    assert "CPU" in verdict["unknown"]
    serious = [one["text"] for one in verdict["caveats"] if one["severity"] == "serious"]
    assert "Not judged, because this is unknown: CPU (give broker_vcpu, or cpu_cores in the inventory)." in serious


def test_topics_with_one_replica_are_a_serious_caveat_where_the_answer_keeps_their_factor():
    document = sized_inputs()
    assert document.sizing["single_replicas"] is None
    reason = "4 partitions have a single replica"
    told = {**document.sizing, "single_replicas": {"partitions": 4, "topics": ["trace"], "reason": reason}}
    with_them = dataclasses.replace(document, sizing=told)

    def serious(inputs):
        found = build_report(inputs)["verdict"]["caveats"]
        return [one["text"] for one in found if one["severity"] == "serious"]

    assert f"{reason}." in serious(with_them)
    options = document.tables["sizing_options"]
    place = options.schema.get_field_index("replication_factor")
    raised = options.set_column(place, "replication_factor", pa.array([3] * len(options), options.schema[place].type))
    raised_inputs = dataclasses.replace(with_them, tables={**document.tables, "sizing_options": raised})
    assert f"{reason}." not in serious(raised_inputs)


def test_idle_brokers_are_told():
    rows = [
        option("do-nothing", "do-nothing", 9, until=None),
        option("012-brokers.today", "scale-out", 12, until=DATES[-1], idle_brokers=3),
    ]
    idle = view_of(rows).options[1]
    assert option_name(idle) == "12 brokers (3 of them idle)"
    shown = _row(view_of(rows), idle)
    assert shown["label"] == "12 × today’s, 3 idle"
    assert shown["note"] == "It has less headroom on all its brokers than on 9, so 3 hold nothing."
    # A plan of a version that left none idle has no such column.
    assert option_name({name: value for name, value in idle.items() if name != "idle_brokers"}) == "12 brokers"
