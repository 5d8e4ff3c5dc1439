"""Dates agree wherever they stand: what passes a limit on a day lasts until the day before, in JSON, page and steps."""

from __future__ import annotations

import functools

import pytest

from kafka_capacity.cli.sizing import size_cluster, view_sized
from kafka_capacity.demand.calendar_days import days_later
from kafka_capacity.hardware.limits import RESOURCES
from kafka_capacity.questions.capacity.section.by_when import exhaustion_table, outlook_chart, steps_table
from kafka_capacity.questions.capacity.section.options_costs import OPTIONS
from kafka_capacity.report.tables import cells
from tests.frozen.examples import write_examples

REQUESTS = {
    "shop-eu": ({}, {"shapes": ("m7g.2xlarge", "express.m7g.large"), "growth_per_year_ratio": 0.8}),
    "metrics-uneven": ({}, {"sized_estimate": "middle", "growth_per_year_ratio": 4.0}),
}


@pytest.fixture(scope="module")
def size(tmp_path_factory):
    folders = write_examples(tmp_path_factory.mktemp("examples"))

    @functools.cache
    def made(name, place):
        found, sized = size_cluster(str(folders[name]), REQUESTS[name][place], None, None, lambda *_, **__: None)
        view = view_sized(found, sized)
        return view.document, view

    return made


@pytest.mark.parametrize(("name", "place"), [(name, place) for name in REQUESTS for place in (0, 1)])
def test_what_runs_out_on_a_day_lasts_until_the_day_before(size, name, place):
    document, view = size(name, place)
    first = view.dates[0]
    for option, row in zip(document["options"], view.options, strict=True):
        assert option["fits_until"] == row["fits_until"]
        days = [one[view.estimate] for one in option["exhaustion"] if one[view.estimate]]
        days += [one["when"] for one in option["excuses"] if one["when"] and one["constraint"] not in RESOURCES]
        is_bare = all(one["when"] for one in option["excuses"])
        if is_bare and days:
            assert option["fits_until"] == (days_later(min(days), -1) if min(days) > first else None)
        shown = cells(OPTIONS, row, view)["fits_until"]
        if option["fits"]:
            assert (option["fits_until"], shown) == (view.horizon, f"beyond {view.horizon}")
        elif option["fits_until"] is not None:
            assert shown == option["fits_until"] == view.until(row)


@pytest.mark.parametrize(("name", "place"), [(name, place) for name in REQUESTS for place in (0, 1)])
def test_each_step_begins_on_the_day_after_the_one_before(size, name, place):
    document, view = size(name, place)
    for step, later in zip(view.steps, view.steps[1:], strict=False):
        assert step.until == days_later(later.from_day, -1) == step.option["fits_until"]
    table = steps_table(view)
    for step, row in zip(view.steps, (table or {"rows": []})["rows"], strict=True):
        assert row["until"] == (step.until or f"beyond {view.horizon}")
    for day, option_id in document["advice"]["by_date"]:
        assert option_id is None or view.by_id(option_id)["fits_until"] >= day


@pytest.mark.parametrize(("name", "place"), [(name, place) for name in REQUESTS for place in (0, 1)])
def test_the_table_of_resources_shows_the_day_after_the_last_one(size, name, place):
    _, view = size(name, place)
    out = view.runs_out(view.today)
    rows = exhaustion_table(view, "doing nothing", view.today)["rows"]
    if out is not None:
        day = str(out[view.estimate])
        assert {"already" if day == view.dates[0] else day} <= {row["high"] for row in rows} | {
            row["middle"] for row in rows
        }
        assert view.today["fits_until"] == (days_later(day, -1) if day > view.dates[0] else None)


@pytest.mark.parametrize(("name", "place"), [(name, place) for name in REQUESTS for place in (0, 1)])
def test_the_chart_of_counts_steps_on_the_days_of_the_steps(size, name, place):
    _, view = size(name, place)
    chart = outlook_chart(view)
    if not view.steps:
        assert chart is None
        return
    labels = {one["day"]: (one["count"], one["label"]) for one in chart["values"] if one["label"]}
    days = [view.dates[0], *(step.from_day for step in view.steps[1:])]
    counts = [step.option["broker_count"] for step in view.steps]
    assert labels == {day: (count, f"{count:,}") for day, count in zip(days, counts, strict=True)}
    is_high = view.estimate == "high"
    for one in (one for one in chart["values"] if one["count"] is not None):
        assert one["other"] is None or (one["other"] <= one["count"] if is_high else one["other"] >= one["count"])
        step = max(zip(days, counts, strict=True), key=lambda pair: (pair[0] <= one["day"], pair[0]))
        assert one["count"] == step[1]
