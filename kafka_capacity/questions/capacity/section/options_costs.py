"""The sizing options side by side: whether and until when each fits, what it costs, and what getting there takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kafka_capacity.hardware.limits import resource_name
from kafka_capacity.hardware.shapes import TODAY
from kafka_capacity.proposal.constraints.moves import no_throttle_helps
from kafka_capacity.proposal.excuse import first_reason
from kafka_capacity.questions.answer import Status
from kafka_capacity.questions.capacity.choice import is_within
from kafka_capacity.questions.capacity.cost_words import cost_sentence, days_words, estimate_sentence
from kafka_capacity.questions.capacity.option_words import CONDITION_WORDS, idle_brokers, tightest_phrase
from kafka_capacity.questions.capacity.sizing_steps import sizing_of
from kafka_capacity.questions.capacity.sizing_view import Row, SizingView, is_unknown, is_unplaced, removed_brokers
from kafka_capacity.report.anchors import COSTS
from kafka_capacity.report.sections import section
from kafka_capacity.report.tables import NOTE, Column, cells, column, table
from kafka_capacity.report.view import ReportView
from kafka_capacity.text import capitalised, endless, format_throttle_above, format_usd
from kafka_capacity.text.wording import named_brokers

MAX_FRONT = 8  # rows of the Pareto front that are not folded away
MAX_ROWS = 300

_KINDS = {"do-nothing": "do nothing", "rebalance": "rebalanced", "shrink-volumes": "smaller volumes"}


def _verdict(row: Row, view: SizingView) -> str:
    """Return the name of the badge of an option: what is needed now or later, else whether and how long it lasts."""
    places = [place for place, step in enumerate(view.steps) if step.option["option_id"] == row["option_id"]]
    if places and row is not view.today:
        best = "not_judged" if view.is_as_far_as_known(row) else "best"
        return "needed_later" if places[0] else best if view.today["fits"] else "needed_now"
    is_affordable = is_within(view.budget_usd_per_month, row["total_usd_per_month"])
    if row["fits_until"] and not is_affordable:
        return "over_budget"
    status = view.status(row)
    return "lasts" if status is Status.DOES_NOT_FIT and row["fits_until"] is not None else str(status)


def lasts_until(row: Row, view: SizingView) -> str:
    """Return the last day before an option passes a limit, or why there is none."""
    if row["fits"]:
        return f"beyond {view.horizon}"
    if row["fits_until"] is None:
        return "not known" if is_unknown(row) else "not today"
    return view.until(row) or str(row["fits_until"])


def _tightest(row: Row, _: SizingView) -> str | None:
    if row["tightest_resource"] is None:
        return None
    where = f"broker {row['tightest_broker']}, {row['tightest_date']}"
    return f"{resource_name(row['tightest_resource'])}, {CONDITION_WORDS[row['tightest_condition']]}, {where}"


def _change(row: Row, _: SizingView) -> str:
    if not row["change_usd"]:
        return ""
    days = row["break_even_days"]
    return format_usd(row["change_usd"]) + ("" if days is None else f", {days_words(days)}")


def _label(row: Row, _: SizingView) -> str:
    """Name an option in few words, which the page has little room for."""
    shape = "today’s" if row["shape"] == TODAY else row["shape"]
    parts = [f"{row['broker_count']:,} × {shape}"]
    parts += [f"{row['extra_racks']:,} more racks"] if row["extra_racks"] else []
    parts += [f"without {named_brokers(removed)}"] if (removed := removed_brokers(row)) else []
    parts += [f"{idle:,} idle"] if (idle := idle_brokers(row)) else []
    parts += [] if row["replication_factor"] is None else [f"RF {row['replication_factor']}"]
    parts += [word for kind, word in _KINDS.items() if row["kind"] == kind]
    return ", ".join(parts) + (" ◆" if row["is_on_front"] else "")


def _of_placed(of: Callable[[Row], Any]) -> Callable[[Row, SizingView], Any]:
    """Return what reads a cell of an option, empty where Kafka refuses its placement."""
    return lambda row, _: None if is_unplaced(row) else of(row)


OPTIONS = (
    column("option_id", "Option", "name"),
    column("label", "Option", "text", _label),
    column("verdict", "Verdict", "verdict", _verdict),
    column("fits_until", "Lasts until", "day", lasts_until),
    column("headroom_ratio", "Headroom", "percent"),
    column("tightest", "Tightest", "text", _tightest),
    column("total_usd_per_month", "Per month", "usd"),
    column("brokers_usd_per_month", "Machines", "usd"),
    column("disks_usd_per_month", "Disks", "usd"),
    column("between_racks_usd_per_month", "Rack traffic", "usd"),
    column("ingest_usd_per_month", "Ingest", "usd"),
    column("moved_bytes", "To copy", "bytes", _of_placed(lambda row: row["moved_bytes"])),
    column("change_seconds", "Copying", "copying", _of_placed(lambda row: endless(row["change_seconds"]))),
    column("change", "Change, paid back in", "text", _change),
)
"""One row an option: made of a row of ``sizing_options``, and of what sizing found."""
_PRICES = tuple(one.key for one in OPTIONS if one.key.endswith("_usd_per_month"))


def terminal_columns(options: Sequence[Row]) -> list[Column]:
    """Return the columns that a terminal has room for: of what is paid the sum only."""
    left_out = {"label", *_PRICES} - {"total_usd_per_month"}
    return [one for one in OPTIONS if one.key not in left_out and _is_told(one.key, options)]


@section(COSTS, title="Options and what they cost", order=4, is_closed=True)
def build(view: ReportView) -> dict[str, Any] | None:
    """Return the options that matter most, and all others to unfold."""
    sizing = view.of(sizing_of)
    if sizing is None:
        return None
    first = first_options(sizing)
    others = [row for row in sorted(sizing.options, key=_rank) if row not in first]
    columns = [one for one in OPTIONS if one.key not in {"option_id", "tightest"} and _is_told(one.key, sizing.options)]
    priced = sorted({row["priced_on"] for row in sizing.options if row["priced_on"]})
    note = (
        "Headroom is what the limits leave at the tightest point up to the horizon. ◆: no other option that fits is "
        "at least as good in cost, bytes copied, time and headroom and better in one of them. Copying is at mean "
        "rates, with everything started at once."
    )
    if priced:
        note += f" Prices are as of {', '.join(priced)}; monthly costs are the average up to the horizon, "
        note += "with traffic at the middle estimate."
    note = " ".join(filter(None, [note, estimate_sentence(sizing)]))
    rest = [_row(sizing, row) for row in others[:MAX_ROWS]]
    return {
        "cost": cost_sentence(sizing),
        "table": table("The options that matter most", columns, [_row(sizing, row) for row in first], note=note),
        "others": table("All other options", columns, rest) if rest else None,
        "others_count": len(others),
        "left_out": max(0, len(others) - MAX_ROWS),
    }


def first_options(view: SizingView) -> list[Row]:
    """Choose: doing nothing, the steps to the recommended or nearest one, scaling in, and the cheapest of the front."""
    scale_in = [row for row in view.options if row["kind"] == "scale-in"]
    front = sorted((row for row in view.options if row["is_on_front"]), key=_rank)
    wanted = [view.today, *(step.option for step in view.steps), view.nearest]
    wanted += [max(scale_in, key=lambda row: int(row["broker_count"]))] if scale_in else []
    return list({row["option_id"]: row for row in [*wanted, *front[:MAX_FRONT]]}.values())


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
    return {**cells(OPTIONS, row, view), NOTE: _note(row)}


def _note(row: Row) -> str | None:
    parts = []
    if row["excuses"]:
        parts.append(capitalised(first_reason(row["excuses"])))
    elif (tightest := tightest_phrase(row)) is not None:
        parts.append(f"Tightest: {tightest}")
    least = row["least_throttle_bytes_per_second"]
    if row["change_seconds"] is None and least is None:
        parts.append(f"Copying never finishes, and {no_throttle_helps()}")
    elif row["change_seconds"] is None and least:
        parts.append(f"Copying finishes with a throttle above {format_throttle_above(least)}")
    if idle := idle_brokers(row):
        used = row["broker_count"] - idle
        parts.append(f"It has less headroom on all its brokers than on {used:,}, so {idle:,} hold nothing")
    if not row["is_in_place"]:
        what = "volumes" if row["kind"] == "shrink-volumes" else "machines"
        parts.append(f"New {what}: everything is copied")
    return ". ".join(parts) + "." if parts else None
