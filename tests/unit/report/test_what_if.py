"""What if: every row is a result that stands elsewhere in the plan."""

from __future__ import annotations

import pytest

from kafka_capacity.plan.section.what_if import _end, build
from kafka_capacity.questions.capacity.section.options_costs import _verdict, lasts_until
from kafka_capacity.questions.capacity.sizing_steps import sizing_of
from tests.report.decided import view_plan
from tests.report.plans import make_inputs
from tests.report.sized import sized_inputs


@pytest.fixture(scope="module")
def view():
    return view_plan(sized_inputs())


def test_each_row_says_what_the_plan_says_of_that_count_and_estimate(view):
    sizing, table = view.of(sizing_of), build(view)["table"]
    assert table["picks"] == 3
    counts = sorted({row["broker_count"] for row in sizing.options})
    pairs = [(str(count), f"{estimate} estimate") for count in counts for estimate in ("high", "middle")]
    assert [(row["count"], row["growth"]) for row in table["rows"]] == pairs
    for row in table["rows"]:
        option = sizing.of_count(int(row["count"]))
        assert (row["moved_bytes"], row["seconds"]) == (option["moved_bytes"], option["change_seconds"])
        if row["growth"].startswith(sizing.estimate):
            assert row["until"] == lasts_until(option, sizing)


def test_what_cannot_be_placed_today_does_not_last_whatever_its_resources_do(view):
    sizing = view.of(sizing_of)
    lasting = next(row for row in sizing.options if sizing.runs_out(row, "high") is None)
    refused = {**lasting, "fits": False, "fits_until": None, "excuses": [{"constraint": "leader", "reason": "none"}]}
    assert _end(sizing, lasting, "high")["until"] == f"beyond {sizing.horizon}"
    for estimate in ("high", "middle"):
        assert _end(sizing, refused, estimate)["until"] == lasts_until(refused, sizing) == "not today"


def test_a_plan_that_was_not_sized_has_none():
    assert build(view_plan(make_inputs(placers=("fewest-bytes",)))) is None


def test_a_row_is_not_known_where_its_badge_says_so(view):
    sizing = view.of(sizing_of)
    kinds = {"sizes": ("not known", "not_judged"), "network_in": ("not today", "does_not_fit")}
    row = {**sizing.options[0], "option_id": "another", "fits": False, "fits_until": None}
    for last, (until, badge) in kinds.items():
        row["excuses"] = [{"constraint": one, "reason": "none"} for one in ("capacities", last)]
        assert (lasts_until(row, sizing), _verdict(row, sizing)) == (until, badge)
