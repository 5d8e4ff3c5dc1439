"""What a report shows about sizing: sections, tables and charts."""

from __future__ import annotations

import dataclasses
import itertools
import json

import pyarrow as pa
import pytest

from kafka_capacity.questions.capacity.option_words import option_name
from kafka_capacity.questions.capacity.section.calculators import chosen_waterfalls
from kafka_capacity.questions.capacity.section.growth import _assumptions
from kafka_capacity.questions.capacity.section.options_costs import _row
from kafka_capacity.questions.capacity.sizing_steps import sizing_of
from kafka_capacity.report.render import read_report
from kafka_capacity.text import shown
from kafka_capacity.text.figures import steady
from tests.report.decided import build_report, view_plan
from tests.report.sized import sized_inputs
from tests.unit.questions.capacity.sizing_rows import DATES, option, view_of


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


def test_copying_of_a_placement_that_kafka_refuses_has_no_time():
    excuse = {"constraint": "placement", "reason": "too few brokers", "needed": 3.0, "available": 2.0}
    rows = [
        option("do-nothing", "do-nothing", 9, until=None),
        option("002-brokers.today", "scale-in", 2, until=None, excuses=json.dumps([excuse]), headroom_ratio=None),
        option("012-brokers.today", "scale-out", 12, until=DATES[-1]),
    ]
    view = view_of([{**row, "change_seconds": None} for row in rows])
    _, refused, endless = (shown(_row(view, row)["change_seconds"], "copying") for row in view.options)
    assert (refused, endless) == ("—", "never finishes")


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


def test_what_todays_brokers_have_is_told_where_they_differ():
    def assumed(**more):
        inputs = sized_inputs()
        built = build_report(dataclasses.replace(inputs, sizing={**inputs.sizing, **more}))
        return json.dumps(built, ensure_ascii=False)

    told = (
        "Brokers differ: CPU from 2.5 cores to 8.0 cores and disk space from 400.0 GiB to 1.0 TiB. Each is judged with"
    )
    assert told in assumed(uneven={"cpu": [2.5, 8.0], "disk": [400.0 * 2**30, 1024.0 * 2**30]})
    assert "Brokers differ" not in assumed(uneven={})


def test_the_limit_after_a_loss_is_told_with_the_higher_one_that_takes_its_place():
    view = view_plan(sized_inputs()).of(sizing_of)

    def told(**given):
        limits = {**view.document["limits"], **given}
        (row, *_) = _assumptions(dataclasses.replace(view, document={**view.document, "limits": limits}))
        return row["value"]

    assert told().endswith("; after a loss or while catching up 90 % of everything except disk space.")
    assert told(network_ratio=0.95).endswith(
        " of everything except disk space, or the limit above where that is higher."
    )
    assert told(disk_ratio=0.95) == told().replace("disk space 85 %", "disk space 95 %")
