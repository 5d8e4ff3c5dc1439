"""The chart of waves over the clock: where hours and windows are drawn, and when it is not the clock."""

from __future__ import annotations

import re

import pytest

from kafka_capacity.questions.change.move_view import MoveView
from kafka_capacity.questions.change.section.wave_charts import BAR_PIXELS, MAX_CLOCK_SECONDS, gantt_chart, hours_of
from kafka_capacity.report.charts import _draw
from kafka_capacity.report.template_folder import template_folder

DAY = "2026-11-15"  # a Sunday
WEEK = [float(hour % 24) for hour in range(168)]  # as many bytes per second as the hour is late


def wave(number, start, end, **more):
    times = {
        f"{edge}_{band}_seconds": at
        for edge, at in (("start", start), ("end", end))
        for band in ("low", "expected", "high")
    }
    return {"wave": number, "kind": "copy", "copied_bytes": 1.0, **times, **more}


def move(*waves, window=None):
    ends = waves[-1]["end_expected_seconds"]
    facts = {**{f"total_{band}_seconds": ends for band in ("low", "expected", "high")}, "window": window}
    return MoveView(waves=waves, timeline=(), facts=facts)


def drawn(view):
    return gantt_chart(view, hours_of(view, DAY, WEEK))


def test_without_a_window_the_clock_begins_at_midnight_of_the_day():
    chart = drawn(move(wave(1, 0.0, 7_200.0), wave(2, 7_200.0, 36_000.0)))
    assert chart["values"][-1]["hover"] == "wave 2 copy: from 2026-11-15 02:00 UTC to 2026-11-15 10:00 UTC"
    assert "as if the first started at 2026-11-15 00:00 UTC" in chart["note"]
    # Ticks at even hours, and the rate of the last hour at the top.
    assert chart["params"]["ticks"] == [0, 2, 4, 6, 8, 10]
    hours = [value for value in chart["values"] if value["part"] == "hour"]
    assert [hour["top"] for hour in hours][:1] == [hours[0]["bottom"]] == [2 * BAR_PIXELS]
    assert min(hour["top"] for hour in hours) == 0.0


def test_a_window_is_drawn_each_day_from_its_first_opening():
    waves = (wave(1, 0.0, 7_200.0, starts_at="2026-11-15T22:30:00+00:00"), wave(2, 86_400.0, 90_000.0))
    chart = drawn(move(*waves, window="22:30-06:00"))
    assert [value["hover"] for value in chart["values"] if value["part"] == "window"] == [
        "window: 2026-11-15 22:30 UTC to 2026-11-16 06:00 UTC",
        "window: 2026-11-16 22:30 UTC to 2026-11-17 06:00 UTC",
    ]
    assert chart["params"]["begins_seconds"] % 86_400 == 22.5 * 3600
    first = chart["params"]["ticks"][0] * chart["params"]["time_scale"]
    assert (chart["params"]["begins_seconds"] + first) % 3600 == 0
    svg = _draw(chart, template_folder(), is_in_email=False).wide
    assert svg.count("<title>window: ") == 2
    assert "Mon 16" in svg
    # Nothing is drawn below the axis.
    height = float(re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', svg)[1])
    assert height < BAR_PIXELS * 2 + 30


@pytest.mark.parametrize("total", [None, 2 * MAX_CLOCK_SECONDS])
def test_a_move_without_end_or_of_weeks_is_drawn_over_the_time_since_it_began(total):
    view = move(wave(1, 0.0, 7_200.0), wave(2, 7_200.0, total))
    assert hours_of(view, DAY, WEEK) is None
    assert hours_of(move(wave(1, 0.0, 60.0)), DAY, None) is None
    chart = drawn(view)
    assert {value["part"] for value in chart["values"]} == {"wave"}
    assert "UTC" not in chart["note"]
