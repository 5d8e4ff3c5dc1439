"""The curve of a group's lag: what it sets side by side, its scale, and which of its points are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from kafka_capacity.questions.consumers.section.chart import LINEAR, MAX_POINTS, _bent, _cut, _ticks, thinned
from tests.report.group_plans import named_groups
from tests.unit.questions.consumers.group_sections import part_of, section_of


def test_the_curve_sets_today_beside_what_is_recommended():
    section = section_of(named_groups())
    chart = part_of(section, "orders-etl")["chart"]
    assert chart["title"] == "Lag of orders-etl in a crash"
    assert chart["note"] == (
        "Today (6 members, range): max lag 4 min 12 s, orders-0. Recommended (6 members, cooperative-sticky, "
        "static): max lag 48 s, orders-0. The straight dashed line is the allowed lag."
    )
    assert chart["params"] == {
        "time_unit": "min",
        "time_scale": 60.0,
        "lag_unit": "min",
        "lag_scale": 60.0,
        "bend": LINEAR,
        "ticks": None,
        "tick_texts": None,
        "allowed_seconds": 120.0,
        "allowed_text": "allowed: 2 min",
        "kinds": ["today", "recommended"],
    }
    assert max(value["lag_seconds"] for value in chart["values"] if value["kind"] == "today") == pytest.approx(
        252, 0.01
    )
    assert len(chart["table"]["rows"]) == len(chart["values"]) <= 2 * MAX_POINTS


def test_a_curve_that_would_lie_flat_is_seen_on_a_logarithmic_scale():
    assert _ticks([600.0, 61.0], 120.0, 600.0) is None
    assert _ticks([1e9, 7.0], 120.0, 600.0) == [0.0, 12.0, 60.0, 120.0, 600.0]
    assert _ticks([90.0, 1.0], 120.0, 600.0) == [0.0, 12.0, 60.0, 120.0]
    assert _ticks([1e9, 0.0], 120.0, 600.0) is None


def test_curves_are_cut_at_the_ceiling_and_bent_between_their_points():
    curve = np.array([0.0, 10.0, 20.0]), np.array([0.0, 100.0, 900.0])
    times, lags = _cut(curve, 500.0)
    assert (times.tolist(), lags.tolist()) == ([0.0, 10.0, 15.0], [0.0, 100.0, 500.0])
    assert _cut(curve, 900.0) is curve
    assert _cut((curve[0], curve[1][::-1]), 500.0)[1].tolist() == [500.0, 100.0, 0.0]
    many, between = _bent((times, lags))
    assert len(many) > MAX_POINTS
    assert between == pytest.approx(np.interp(many, times, lags))
    assert len(_bent((np.empty(0), np.empty(0)))[0]) == 0


def test_thinning_keeps_the_ends_and_the_peak():
    times = np.linspace(0.0, 100.0, 1001)
    values = np.abs(np.sin(times)) * times
    kept = thinned(times, values)
    assert len(kept) == MAX_POINTS
    assert {0, 1000, int(np.argmax(values))} <= set(kept.tolist())
    assert thinned(times, np.minimum(times, 100.0 - times)).tolist() == [0, 500, 1000]
