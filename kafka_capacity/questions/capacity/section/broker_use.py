"""Each broker at the horizon, doing nothing and as recommended: used shares of the limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow.compute as pc

from kafka_capacity.hardware.limits import resource_name
from kafka_capacity.questions.capacity.section.by_when import drawn_options
from kafka_capacity.questions.capacity.sizing_steps import sizing_of
from kafka_capacity.questions.capacity.sizing_view import Row, SizingView
from kafka_capacity.report.heat import WARN_RATIO, Cell, heat, share_cell
from kafka_capacity.report.sections import section
from kafka_capacity.report.view import ReportView
from kafka_capacity.text import format_limit, format_percent, plural
from kafka_capacity.text.partition_ranges import number_ranges

MAX_CELLS = 240  # of one option's table of brokers: larger ones show the fullest brokers only


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


def fullest_line(view: SizingView) -> str:
    """Return what the fullest broker uses at the horizon, and of which limit, with each option that is kept."""
    found = []
    for name, option in drawn_options(view):
        at = {key[0]: used for key, used in view.worst_used(option).items() if key[1:] == (view.horizon, view.estimate)}
        if at:
            resource = max(at, key=lambda one: at[one])
            brokers = plural(option["broker_count"], "broker")
            found.append(f"{name}, {brokers}: {format_percent(at[resource])} of the limit of {resource_name(resource)}")
    return f"The fullest on {view.horizon}, {'; '.join(found)}." if found else ""


def broker_table(view: SizingView, name: str, option: Row) -> dict[str, Any] | None:
    """Return the used shares of an option's brokers at the horizon, the fullest first; ``None`` without details."""
    use = view.use_of(option, date=view.horizon, estimate=view.estimate).filter(pc.field("used_ratio").is_valid())
    rows = use.group_by(["broker_id", "rack", "resource"]).aggregate([("used_ratio", "max")]).to_pylist()
    resources = sorted({row["resource"] for row in rows})
    if not resources:
        return None
    brokers: dict[int, dict[str, Any]] = {}
    for row in rows:
        one = brokers.setdefault(row["broker_id"], {"rack": row["rack"], "used": {}})
        one["used"][row["resource"]] = row["used_ratio_max"]
    ranked = sorted(brokers, key=lambda broker: (-max(brokers[broker]["used"].values()), broker))
    shown = ranked[: max(1, MAX_CELLS // len(resources))]
    left_out = len(ranked) - len(shown)
    return heat(
        f"{name.capitalize()}: {plural(len(brokers), 'broker')}",
        "Broker",
        [resource_name(resource) for resource in resources],
        _rows({broker: brokers[broker] for broker in sorted(shown)}, resources),
        note=f"{left_out:,} less used brokers are not listed." if left_out else "",
    )


def _rows(brokers: Mapping[int, Mapping[str, Any]], resources: Sequence[str]) -> list[tuple[str, list[Cell]]]:
    """Return a row a broker; those of a rack that look the same share one."""
    alike: dict[str, tuple[list[int], str, list[Cell]]] = {}
    for broker, one in brokers.items():
        rack, cells = one["rack"] or "", [share_cell(one["used"].get(resource), "") for resource in resources]
        alike.setdefault(repr((rack, cells)), ([], rack, cells))[0].append(broker)
    return [(f"{number_ranges(same)} {rack}".strip(), cells) for same, rack, cells in alike.values()]
