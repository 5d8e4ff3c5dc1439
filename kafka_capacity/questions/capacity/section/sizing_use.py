"""How much of what the limits allow is used: over time, and broker by broker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow.compute as pc

from kafka_capacity.hardware.limits import resource_name
from kafka_capacity.questions.capacity.sizing_view import Row, SizingView
from kafka_capacity.report.heat import Cell, heat, share_cell
from kafka_capacity.report.tables import chart, column, table
from kafka_capacity.text import format_percent, plural
from kafka_capacity.text.partition_ranges import number_ranges

MAX_RESOURCES_DRAWN = 3  # those that are used most; the others are in a table
MAX_CELLS = 240  # of one option's table of brokers: larger ones show the fullest brokers only

_IS_USED = pc.field("used_ratio").is_valid()

Worst = Mapping[tuple[str, str, str], float]  # of :meth:`SizingView.worst_used`


def drawn_options(view: SizingView) -> tuple[tuple[str, Row], ...]:
    """Return the options that details were kept of, with what charts call them."""
    today, option = ("doing nothing", view.today), view.recommended
    return (today,) if option is None or option is view.today else (today, ("last step", option))


def used_charts(view: SizingView) -> list[dict[str, Any]]:
    """Draw the resources that are used most, each over time for every option that is kept."""
    used = {name: view.worst_used(option) for name, option in drawn_options(view)}
    resources = sorted(
        {key[0] for worst in used.values() for key in worst},
        key=lambda one: (-max(ratio for worst in used.values() for key, ratio in worst.items() if key[0] == one), one),
    )
    return [
        _used_chart(view, resource, used, is_in_email=not place)
        for place, resource in enumerate(resources[:MAX_RESOURCES_DRAWN])
    ]


def _used_chart(view: SizingView, resource: str, used: Mapping[str, Worst], *, is_in_email: bool) -> dict[str, Any]:
    values = [
        {"kind": kind, "day": day, "middle": worst[resource, day, "middle"], "high": worst[resource, day, "high"]}
        for kind, worst in used.items()
        for day in view.dates
        if (resource, day, "high") in worst
    ]
    title = f"Share of the {resource_name(resource)} limit in use"
    ends = [
        f"{kind} {format_percent(worst[resource, view.dates[0], 'high'])} at first and "
        f"{format_percent(worst[resource, view.horizon, 'high'])} on {view.horizon}"
        for kind, worst in used.items()
        if (resource, view.horizon, "high") in worst
    ]
    columns = (
        column("kind", "With"),
        column("day", "Date", "day"),
        column("middle", "Middle estimate", "percent"),
        column("high", "High estimate", "percent"),
    )
    return chart(
        f"used-{resource.replace('_', '-')}",
        "used_over_time",
        title=title,
        description=f"Line chart of how much of the {resource_name(resource)} limit the fullest broker uses, at the "
        f"high estimate: {'; '.join(ends)}.",
        values=values,
        params={"kinds": list(used)},
        data_table=table(title, columns, values),
        note="For the fullest broker, under the worst failure that it must tolerate. Thin line: the middle "
        "estimate; thick line: the high one; 100 % is the limit.",
        is_half_wide=True,
        is_in_email=is_in_email,
    )


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
    use = view.use_of(option, date=view.horizon, estimate=view.estimate).filter(_IS_USED)
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
