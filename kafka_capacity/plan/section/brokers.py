"""Each broker today beside the placement that is spoken of: how much of every limit it uses."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import pyarrow.compute as pc

from kafka_capacity.hardware.limits import RESOURCES, Resource, resource_name
from kafka_capacity.questions.change.section.change_tables import broker_rows
from kafka_capacity.questions.change.section.view import change_of
from kafka_capacity.questions.failures.scenario import TODAY
from kafka_capacity.report.heat import Cell, heat, share_cell
from kafka_capacity.report.sections import section
from kafka_capacity.report.view import ReportView
from kafka_capacity.text import capitalised, format_percent

MAX_BROKERS = 20  # columns; of more brokers the most used are drawn, and the spread over all of them
_SPREAD: Mapping[str, Callable[[Iterable[float]], float]] = {"least": min, "median": statistics.median, "most": max}

Used = Mapping[str, Mapping[int, float]]  # by resource and broker: the used share of the limit


@section("brokers", title="Each broker, before and after", order=19)
def build(view: ReportView) -> dict[str, Any] | None:
    """Return the heat map; nothing where Kafka would refuse the placement, or no limit is known."""
    option = view.of(change_of).nearest
    if option.is_refused:
        return None
    rows = broker_rows(view.inputs.tables, option)
    limit = float(option.figures["disk_limit_ratio"])
    placed = view.inputs.failures.get("placements", {}).get(view.focus_id)
    sides = {
        "today": _peaks(view, TODAY) | _disks(rows, "fill_before", limit, absent="is_new"),
        "after": _peaks(view, placed) | _disks(rows, "fill_after", limit, absent="is_removed"),
    }
    most = {
        one: max((ratio for used in sides.values() for ratio in used.get(one, {}).values()), default=None)
        for one in RESOURCES
    }
    known = sorted((one for one in RESOURCES if most[one] is not None), key=lambda one: -(most[one] or 0.0))
    if not known:
        return None
    every = [used for side in sides.values() for used in side.values()]
    worst = {row["broker_id"]: max(used.get(row["broker_id"], 0.0) for used in every) for row in rows}
    drawn = sorted(worst, key=lambda broker: (-worst[broker], broker))[:MAX_BROKERS]
    return {"label": option.label, "heat": _heat([row for row in rows if row["broker_id"] in drawn], sides, known)}


def _disks(rows: Sequence[Mapping[str, Any]], fill: str, limit: float, *, absent: str) -> dict[str, dict[int, float]]:
    found = {row["broker_id"]: row[fill] / limit for row in rows if row[fill] is not None and not row[absent]}
    return {Resource.DISK: found} if found else {}


def _peaks(view: ReportView, placement_id: str | None) -> dict[str, dict[int, float]]:
    """Return the shares at peak of one placement; an older plan tells of none."""
    peaks = view.inputs.tables.get("broker_peaks")
    found: dict[str, dict[int, float]] = {}
    if peaks is not None and placement_id is not None:
        for row in peaks.filter(pc.field("placement_id") == placement_id).to_pylist():
            found.setdefault(row["resource"], {})[row["broker_id"]] = row["used_ratio"]
    return found


def _heat(drawn: Sequence[Mapping[str, Any]], sides: Mapping[str, Used], known: Sequence[Resource]) -> dict[str, Any]:
    brokers = {broker for side in sides.values() for used in side.values() for broker in used}
    is_cut = len(drawn) < len(brokers)
    racks = [(rack or "no rack", len(list(of))) for rack, of in groupby(drawn, key=lambda row: row["rack"])]
    rows = [
        (f"{capitalised(resource_name(resource))}, {side}", _cells(drawn, resource, side, used[resource], is_cut))
        for resource in known
        for side, used in sides.items()
        if used.get(resource)
    ]
    note = (
        "Percentage of the limit at peak: 100 is the limit. Marked ▲ above the limit, ● above 80 % of it; the "
        "stronger the colour, the closer to the limit."
    )
    if is_cut:
        note += f" Shown are the {len(drawn)} of {len(brokers):,} brokers that use most, and the spread over all."
    return heat(
        "Share of each limit in use, today and after the move",
        "Broker",
        [row["broker"] for row in drawn] + (list(_SPREAD) if is_cut else []),
        rows,
        groups=[*racks, *([(f"all {len(brokers):,}", len(_SPREAD))] if is_cut else [])],
        note=note,
    )


def _cells(
    drawn: Sequence[Mapping[str, Any]], resource: Resource, side: str, used: Mapping[int, float], is_cut: bool
) -> list[Cell]:
    name = resource_name(resource)
    cells = [_cell(used.get(row["broker_id"]), f"broker {row['broker_id']}, {name} {side}") for row in drawn]
    if is_cut:
        cells += [_cell(of(used.values()), f"{what} of all brokers, {name} {side}") for what, of in _SPREAD.items()]
    return cells


def _cell(ratio: float | None, what: str) -> Cell:
    return share_cell(ratio, f"{what}: {format_percent(ratio)} of the limit")
