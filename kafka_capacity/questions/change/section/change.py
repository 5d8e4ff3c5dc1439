"""The change in detail: what the option that is spoken of does to each broker, and the other options, folded away."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kafka_capacity.questions.change.choice import Option
from kafka_capacity.questions.change.section.change_tables import (
    WHO,
    broker_rows,
    broker_table,
    change_tables,
    moves_of,
)
from kafka_capacity.questions.change.section.comparison import badge_of
from kafka_capacity.questions.change.section.flows import who_sends
from kafka_capacity.questions.change.section.view import ChangePage, change_of
from kafka_capacity.report.sections import section
from kafka_capacity.report.tables import HOVER, chart, column, table
from kafka_capacity.report.view import ReportView
from kafka_capacity.text import format_bytes

MAX_BROKERS = 60  # a chart of more brokers than these cannot be read, so it shows `WORST_BROKERS` only
WORST_BROKERS = 40
MAX_DETAILED = 11  # other options; with the one that is spoken of a dozen, and more would only make the page heavy

Rows = list[dict[str, Any]]


@section("change", title="The change in detail", order=20, is_closed=True)
def build(report: ReportView) -> dict[str, Any] | None:
    """Return the tables and charts of the option that is spoken of."""
    view = report.of(change_of)
    option = view.nearest
    if option.is_refused:
        return None
    rows = broker_rows(view.inputs.tables, option)
    line, maps = who_sends(moves_of(view.inputs.tables, option), rows)
    return {
        "line": line,
        "label": option.label,
        "maps": maps,
        "is_recommended": option is view.recommended,
        "tables": change_tables(view, option),
        "charts": _charts(rows),
    }


def _charts(rows: Rows) -> list[dict[str, Any]]:
    found = []
    if any(row["move_in_bytes"] or row["move_out_bytes"] for row in rows):
        found.append(_moves_chart(rows))
    if all(row["fill_after"] is None for row in rows):  # else the heat map of every limit has the disks
        found.append(_bytes_chart(rows))
    found.append(_leaders_chart(rows))
    return found


def _worst(rows: Rows, weight: Callable[[Mapping[str, Any]], float]) -> tuple[Rows, str]:
    """Keep what can be drawn, in the order it came, and say what was left out."""
    if len(rows) <= MAX_BROKERS:
        return rows, ""
    kept = {row["broker_id"] for row in sorted(rows, key=lambda row: (-weight(row), row["broker_id"]))[:WORST_BROKERS]}
    shown = [row for row in rows if row["broker_id"] in kept]
    return shown, f" Shown are the {WORST_BROKERS} of {len(rows):,} brokers that change most."


def _by_rack(rows: Rows, fields: Sequence[str]) -> Rows:
    """Put a heading before the brokers of each rack, where there are racks; its figures are null."""
    values: Rows = []
    has_racks = any(row["rack"] is not None for row in rows)
    for index, row in enumerate(rows):
        if has_racks and (not index or rows[index - 1]["rack"] != row["rack"]):
            heading = "no rack" if row["rack"] is None else f"rack {row['rack']}"
            values.append({"label": heading, "is_rack": True, **dict.fromkeys(fields)})
        values.append({"label": row["broker"], "is_rack": False, **{field: row[field] for field in fields}})
    return values


def _moves_chart(rows: Rows) -> dict[str, Any]:
    shown, left_out = _worst(rows, lambda row: row["move_in_bytes"] + row["move_out_bytes"])
    max_in, max_out = _largest(rows, "move_in_bytes"), _largest(rows, "move_out_bytes")
    return chart(
        "moves-by-broker",
        "moves_by_broker",
        title="What each broker sends and receives",
        is_half_wide=True,
        description=f"Bar chart of the bytes each broker sends and receives. Broker {max_in['broker']} receives most, "
        f"{format_bytes(max_in['move_in_bytes'])}; broker {max_out['broker']} sends most, "
        f"{format_bytes(max_out['move_out_bytes'])}.",
        values=_by_rack(shown, ("move_in_bytes", "move_out_bytes")),
        data_table=table(
            "What each broker sends and receives",
            (*WHO, column("move_out_bytes", "Sends", "bytes"), column("move_in_bytes", "Receives", "bytes")),
            shown,
        ),
        note=f"Left: what it sends; right: what it receives.{left_out}",
    )


def _bytes_chart(rows: Rows) -> dict[str, Any]:
    bars = [{**row, "before_bytes": row["bytes_before"], "after_bytes": row["bytes_after"]} for row in rows]
    shown, left_out = _worst(bars, lambda row: abs(row["bytes_change"]))
    stays = [row["bytes_after"] for row in rows if not row["is_removed"]]
    mean = sum(stays) / len(stays) if stays else 0.0
    return chart(
        "bytes-by-broker",
        "bytes_by_broker",
        title="Bytes on each broker, before and after",
        is_half_wide=True,
        description=f"Bar chart of the bytes on each broker. After the change they are between "
        f"{format_bytes(min(stays, default=0))} and {format_bytes(max(stays, default=0))}, "
        f"{format_bytes(mean)} on average.",
        values=_by_rack(shown, ("before_bytes", "after_bytes")),
        params={"mean_bytes": mean},
        data_table=broker_table(shown, has_rates=False),
        note=f"Grey is before, blue is after; the dashed line is the mean after, {format_bytes(mean)}.{left_out}",
    )


def _leaders_chart(rows: Rows) -> dict[str, Any]:
    dots = [
        {
            **row,
            "before": row["leaders_before"],
            "after": row["leaders_after"],
            HOVER: f"broker {row['broker']}: {row['leaders_before']:,} before, {row['leaders_after']:,} after",
        }
        for row in rows
    ]
    shown, left_out = _worst(dots, lambda row: abs(row["after"] - row["before"]))
    stays = [row["leaders_after"] for row in rows if not row["is_removed"]]
    return chart(
        "leaders",
        "before_after",
        title="Preferred leaders on each broker",
        is_half_wide=True,
        description="Dot plot of preferred leaders before and after. After the change they are between "
        f"{min(stays, default=0):,} and {max(stays, default=0):,} on a broker.",
        values=_by_rack(shown, ("before", "after", HOVER)),
        params={"limit": None, "number_format": ",d"},
        data_table=table(
            "Preferred leaders on each broker",
            (*WHO, column("before", "Before", "count"), column("after", "After", "count")),
            shown,
        ),
        note=f"Hollow is before, filled is after.{left_out}",
    )


def _largest(rows: Rows, field: str) -> dict[str, Any]:
    return max(rows, key=lambda row: (row[field], -row["broker_id"]))


@section("alternatives", title="The other options in detail", order=30, is_closed=True)
def build_alternatives(report: ReportView) -> dict[str, Any] | None:
    """Return the tables of each other option."""
    view = report.of(change_of)
    others = [
        option
        for option in view.options
        if option is not view.nearest and not option.is_refused and option.figures["changed_partitions"]
    ]
    if not others:
        return None
    detailed = others[:MAX_DETAILED]
    return {
        "options": [
            {
                "label": option.label,
                "moved_bytes": option.figures["moved_bytes"],
                "verdict": badge_of(view, option),
                "excuses": [str(excuse["reason"]) for excuse in option.excuses],
                "tables": _tables(view, option),
            }
            for option in detailed
        ],
        "left_out": len(others) - len(detailed),
    }


def _tables(view: ChangePage, option: Option) -> dict[str, Any]:
    """Return the tables of an option, which say in their captions whose they are."""
    made = change_tables(view, option, has_topics=False)
    for one in (made["brokers"], made["moves"]):
        if one is not None:
            one["caption"] += f": {option.label}"
    return made
