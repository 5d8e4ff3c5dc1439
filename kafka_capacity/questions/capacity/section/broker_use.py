"""Each broker at the horizon, doing nothing and as recommended: used shares of the limits."""

from __future__ import annotations

from typing import Any

from kafka_capacity.questions.capacity.section.sizing_use import broker_table, drawn_options, fullest_line
from kafka_capacity.questions.capacity.sizing_steps import sizing_of
from kafka_capacity.report.heat import WARN_RATIO
from kafka_capacity.report.sections import section
from kafka_capacity.report.view import ReportView
from kafka_capacity.text import format_limit


@section("broker_use", title="Each broker at the horizon", order=6, is_closed=True)
def build(view: ReportView) -> dict[str, Any] | None:
    """Return a table of brokers for each option that details were kept of."""
    sizing = view.of(sizing_of)
    if sizing is None:
        return None
    tables = [made for one in drawn_options(sizing) if (made := broker_table(sizing, *one)) is not None]
    if not tables:
        return None
    return {
        "line": fullest_line(sizing),
        "tables": tables,
        "horizon": sizing.horizon,
        "legend": f"Percentage of the limit on {sizing.horizon}, at the {sizing.estimate} estimate and under the "
        "worst failure that it must tolerate: 100 is the limit. Marked ▲ above the limit, ● above "
        f"{format_limit(WARN_RATIO)} of it; the stronger the colour, the closer to the limit.",
    }
