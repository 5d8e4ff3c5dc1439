"""What if: the counts, the estimates of growth and the throttles that were computed, every combination a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafka_capacity.demand.calendar_days import days_later
from kafka_capacity.hardware.limits import RESOURCES, resource_name
from kafka_capacity.questions.capacity.results import UNKNOWN
from kafka_capacity.questions.capacity.sizing_steps import sizing_of
from kafka_capacity.questions.capacity.sizing_view import Row, SizingView
from kafka_capacity.questions.change.choice import Option
from kafka_capacity.questions.change.section.view import change_of
from kafka_capacity.report.sections import section
from kafka_capacity.report.tables import column, table
from kafka_capacity.report.view import ReportView

MAX_ROWS = 60
_COLUMNS = (
    column("count", "Brokers", "id"),
    column("growth", "Growth"),
    column("throttle", "Throttle", "throttle"),
    column("until", "Lasts until", "day"),
    column("resource", "Limited by"),
    column("usd", "Per month", "usd"),
    column("moved_bytes", "To copy", "bytes"),
    column("seconds", "Copying alone", "duration"),
)
_PICKED = 3  # columns, from the first, that a reader chooses by


@section("what_if", title="What if", order=5, is_closed=True)
def build(view: ReportView) -> dict[str, Any] | None:
    """Return one table of today's hardware; nothing where a plan was not sized."""
    sizing = view.of(sizing_of)
    if sizing is None:
        return None
    # Of each count the option that lasts longest.
    counts = sorted({row["broker_count"] for row in sizing.options if sizing.is_own(row)})
    todays = [option for count in counts if (option := sizing.of_count(count)) is not None]
    rows = [
        {
            "count": str(option["broker_count"]),
            "growth": f"{estimate} estimate",
            "throttle": throttle,
            **_end(sizing, option, estimate),
            "usd": option["total_usd_per_month"],
            "moved_bytes": option["moved_bytes"],
            "seconds": seconds,
        }
        for option in todays
        for throttle, seconds in _copying(option, view.of(change_of).options).items()
        for estimate in ("high", "middle")
    ]
    note = (
        "Every computed combination of a broker count on today’s hardware, a growth estimate and a throttle. "
        "Copying alone is at mean rates, with everything started at once."
    )
    if len(rows) > MAX_ROWS:
        note += f" {MAX_ROWS} of {len(rows):,} combinations are listed."
    columns = [one for one in _COLUMNS if one.key != "usd" or any(row["usd"] is not None for row in rows)]
    return {
        "line": "Results for another count, growth or throttle, among all computed combinations.",
        "table": {**table("What if: other broker counts", columns, rows[:MAX_ROWS], note=note), "picks": _PICKED},
    }


def _end(view: SizingView, option: Row, estimate: str) -> dict[str, str | None]:
    """Return how long an option lasts at an estimate, and what it is out of then.

    What stands in the way of its placement, such as too few racks, does so at every estimate.
    """
    out = view.runs_out(option, estimate)
    in_the_way = [one for one in option["excuses"] if one["constraint"] not in {*RESOURCES, *UNKNOWN}]
    if option["fits_until"] is None and in_the_way:
        return {"until": "not today", "resource": None}
    if out is None:
        return {"until": f"beyond {view.horizon}", "resource": None}
    until = "not today" if out[estimate] == view.dates[0] else days_later(out[estimate], -1)
    return {"until": until, "resource": resource_name(out["resource"])}


def _copying(option: Row, placed: Sequence[Option]) -> dict[float, float | None]:
    """Return by throttle how long the copying takes: at the only one as sizing says, else as the same move does."""
    throttles = sorted({float(one.figures["throttle_bytes_per_second"]) for one in placed})
    if len(throttles) == 1:
        return {throttles[0]: option["change_seconds"]}
    return {
        throttle: one.figures["duration_seconds"]
        for throttle in throttles
        for one in placed
        if one.broker_count == option["broker_count"]
        and one.figures["throttle_bytes_per_second"] == throttle
        and one.figures["moved_bytes"] == option["moved_bytes"]
    }
