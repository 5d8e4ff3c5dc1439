"""The sizing options side by side: whether and until when each fits, what it costs, and what getting there takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafka_capacity.hardware.shapes import TODAY
from kafka_capacity.questions.capacity.section.view import sizing_of
from kafka_capacity.questions.capacity.sizing_view import Row, SizingView
from kafka_capacity.questions.capacity.sizing_words import cost_sentence, days_words, idle_brokers, tightest_phrase
from kafka_capacity.report.anchors import COSTS
from kafka_capacity.report.sections import section
from kafka_capacity.report.tables import NOTE, column, table
from kafka_capacity.report.view import ReportView
from kafka_capacity.text import format_throttle_above, format_usd, plural

MAX_FRONT = 8
"""Rows of the Pareto front that are not folded away."""
MAX_ROWS = 300

_COLUMNS = (
    column("label", "Option"),
    column("verdict", "Verdict", "verdict"),
    column("fits_until", "Lasts until", "day"),
    column("headroom_ratio", "Headroom", "percent"),
    column("total_usd_per_month", "A month", "usd"),
    column("brokers_usd_per_month", "Machines", "usd"),
    column("disks_usd_per_month", "Disks", "usd"),
    column("between_racks_usd_per_month", "Rack traffic", "usd"),
    column("ingest_usd_per_month", "Ingest", "usd"),
    column("moved_bytes", "To copy", "bytes"),
    column("change_seconds", "Copying", "duration"),
    column("change", "Change, paid back in"),
)
_KINDS = {"do-nothing": "do nothing", "rebalance": "rebalanced"}
_PRICES = tuple(one["key"] for one in _COLUMNS if one["key"].endswith("_usd_per_month"))


@section(COSTS, title="Options and what they cost", order=4)
def build(view: ReportView) -> dict[str, Any] | None:
    """Return the options that matter most, and all others to unfold."""
    sizing = view.of(sizing_of)
    if sizing is None:
        return None
    first = _first(sizing)
    others = [row for row in sorted(sizing.options, key=_rank) if row not in first]
    columns = [one for one in _COLUMNS if _is_told(one["key"], sizing.options)]
    priced = sorted({row["priced_on"] for row in sizing.options if row["priced_on"]})
    note = (
        "Headroom is what the limits leave at the tightest place up to the horizon. ◆: no other option that "
        "fits is as good in cost, bytes copied, time and headroom, and better in one. Copying is at mean rates, with "
        "everything started at once."
    )
    if priced:
        note += f" Prices are those of {', '.join(priced)}."
    rest = [_row(sizing, row) for row in others[:MAX_ROWS]]
    return {
        "cost": cost_sentence(sizing),
        "table": table("The options that matter most", columns, [_row(sizing, row) for row in first], note=note),
        "others": table("All other options", columns, rest) if rest else None,
        "others_count": len(others),
        "left_out": max(0, len(others) - MAX_ROWS),
    }


def _first(view: SizingView) -> list[Row]:
    """Choose: the recommended or nearest, the steps to it, doing nothing, scaling in, and the cheapest of the front."""
    scale_in = [row for row in view.options if row["kind"] == "scale-in"]
    front = sorted((row for row in view.options if row["is_on_front"]), key=_rank)
    wanted = [view.nearest, view.today, *(step.option for step in view.steps)]
    wanted += [max(scale_in, key=lambda row: int(row["broker_count"]))] if scale_in else []
    chosen: list[Row] = []
    for row in [*wanted, *front[:MAX_FRONT]]:
        if row not in chosen:
            chosen.append(row)
    return chosen


def _rank(row: Row) -> tuple[Any, ...]:
    """What fits first, then what costs less, then fewer brokers."""
    usd = row["total_usd_per_month"]
    return not row["fits"], usd is None, usd or 0.0, row["broker_count"], row["position"]


def _is_told(key: str, options: Sequence[Row]) -> bool:
    """Leave out prices that nobody knows, and parts that cost nothing anywhere."""
    if key == "change":
        return any(row["change_usd"] for row in options)
    return key not in _PRICES or any(row[key] for row in options)


def _row(view: SizingView, row: Row) -> dict[str, Any]:
    return {
        **row,
        "label": _label(row),
        "verdict": _verdict(view, row),
        "fits_until": _until(view, row),
        "change": _change(row),
        NOTE: _note(row),
    }


def _verdict(view: SizingView, row: Row) -> str:
    """Return the name of the badge of an option: what is needed now or later, else whether and how long it lasts."""
    places = [place for place, step in enumerate(view.steps) if step.option["option_id"] == row["option_id"]]
    if places:
        lasting = "recommended" if row["fits"] else "recommended_now"
        return lasting if not places[0] else "recommended_later"
    if row["is_recommended"]:
        return "recommended"
    return "fits" if row["fits"] else "does_not_fit" if row["fits_until"] is None else "lasts"


def _until(view: SizingView, row: Row) -> str:
    if row["fits"]:
        return f"beyond {view.horizon}"
    return "not today" if row["fits_until"] is None else view.until(row) or row["fits_until"]


def _change(row: Row) -> str:
    if not row["change_usd"]:
        return ""
    days = row["break_even_days"]
    return format_usd(row["change_usd"]) + ("" if days is None else f", {days_words(days)}")


def _label(row: Row) -> str:
    """Name an option in few words, which the page has little room for."""
    shape = "today’s" if row["shape"] == TODAY else row["shape"]
    said = [f"{row['broker_count']:,} × {shape}"]
    said += [f"{row['extra_racks']:,} more racks"] if row["extra_racks"] else []
    said += [f"{idle:,} idle"] if (idle := idle_brokers(row)) else []
    said += [] if row["replication_factor"] is None else [f"RF {row['replication_factor']}"]
    said += [word for kind, word in _KINDS.items() if row["kind"] == kind]
    return ", ".join(said) + (" ◆" if row["is_on_front"] else "")


def _note(row: Row) -> str | None:
    said = []
    if row["excuses"]:
        reason, more = str(row["excuses"][0]["reason"]), len(row["excuses"]) - 1
        said.append(reason[:1].upper() + reason[1:] + (f" (and {plural(more, 'more limit')})" if more else ""))
    elif (tightest := tightest_phrase(row)) is not None:
        said.append(f"Tightest: {tightest}")
    if row["change_seconds"] is None and row["least_throttle_bytes_per_second"]:
        said.append(
            f"Copying ends with a throttle above {format_throttle_above(row['least_throttle_bytes_per_second'])}"
        )
    if idle := idle_brokers(row):
        used = row["broker_count"] - idle
        said.append(f"Spread over all its brokers it has less headroom than on {used:,}, so {idle:,} hold nothing")
    if not row["is_in_place"]:
        said.append("New machines: everything is copied")
    return ". ".join(said) + "." if said else None
