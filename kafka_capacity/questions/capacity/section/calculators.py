"""Why a calculator says another number: from its count to ours, an assumption at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_capacity.hardware.shapes import TODAY
from kafka_capacity.questions.capacity.sizing_steps import sizing_of
from kafka_capacity.questions.capacity.sizing_view import SizingView
from kafka_capacity.report.sections import section
from kafka_capacity.report.tables import chart, column, table
from kafka_capacity.report.view import ReportView
from kafka_capacity.text import format_count_delta, format_usd, plural
from kafka_capacity.text.names import slug

_CALCULATORS = {"aws-msk": "Amazon’s sizing script for MSK", "plain": "a plain calculator (network and 40 % headroom)"}
MAX_DRAWN = 4

_COLUMNS = (
    column("name", "Assumption"),
    column("theirs", "The calculator"),
    column("ours", "Here"),
    column("before", "Before", "count"),
    column("change", "Change", "count_delta"),
    column("after", "After", "count"),
)


@section("calculators", title="Why calculators give a different number", order=34, is_closed=True)
def build(view: ReportView) -> dict[str, Any] | None:
    """Return a waterfall for the recommended hardware and for today's."""
    sizing = view.of(sizing_of)
    if sizing is None:
        return None
    charts = chosen_waterfalls(sizing)
    return {"charts": charts} if charts else None


def chosen_waterfalls(view: SizingView) -> list[dict[str, Any]]:
    """Return the waterfalls of the hardware that is spoken of, each with its figures as a table."""
    shapes = list(dict.fromkeys([view.nearest["shape"], view.today["shape"]]))
    waterfalls = view.document["waterfalls"]
    found = [one for shape in shapes for one in waterfalls if one["shape"] == shape]
    # Where calculators know none of these, another shape shows how they count.
    known = {one["calculator"] for one in found}
    for one in waterfalls:
        if one["calculator"] not in known:
            known.add(one["calculator"])
            found.append(one)
    return [_waterfall(one) for one in found[:MAX_DRAWN]]


def _waterfall(one: Mapping[str, Any]) -> dict[str, Any]:
    name = _CALCULATORS.get(one["calculator"], one["calculator"])
    hardware = "today’s hardware" if one["shape"] == TODAY else str(one["shape"])
    theirs, ours = int(one["theirs"]["brokers"]), int(one["ours"])
    usd = one["theirs"]["usd_per_month"]
    steps = [step for step in one["steps"] if step["change"]]
    title = f"From {theirs:,} to {plural(ours, 'broker')} of {hardware}"
    words = "; ".join(f"{step['name']} {format_count_delta(step['change'])}" for step in steps)
    price = "" if usd is None else f", {format_usd(usd)} per month"
    end = "the smallest count tried that fits"
    if not one["is_placed"]:
        end = "for an evenly loaded cluster, because no count tried is known to fit"
    return chart(
        f"calculator-{slug(one['calculator'])}-{slug(one['shape'])}",
        "count_waterfall",
        title=title,
        description=f"Waterfall from the {plural(theirs, 'broker')} of {name} to our {ours:,}: {words or 'no change'}.",
        values=_bars(theirs, ours, steps),
        data_table=table(title, _COLUMNS, one["steps"]),
        note=f"Calculator: {name}{price}. Here: {end}.",
        is_half_wide=True,
    )


def _bars(theirs: int, ours: int, steps: list[Any]) -> list[dict[str, Any]]:
    rows = [_bar("calculator", 0, theirs, "total", f"{theirs:,}")]
    for step in steps:
        kind = "more" if step["change"] > 0 else "fewer"
        rows.append(_bar(step["name"], step["before"], step["after"], kind, format_count_delta(step["change"])))
    return [*rows, _bar("here", 0, ours, "total", f"{ours:,}")]


def _bar(label: str, start: int, end: int, kind: str, text: str) -> dict[str, Any]:
    return {"label": label, "start": start, "end": end, "right": max(start, end), "kind": kind, "text": text}
