"""The figures of sizing that stand on the first screen, each with its definition."""

from __future__ import annotations

from typing import Any

from kafka_capacity.hardware.limits import resource_name
from kafka_capacity.questions.answer import KeyFigure
from kafka_capacity.questions.capacity.sizing_view import Row, SizingView
from kafka_capacity.questions.capacity.sizing_words import (
    later_steps,
    option_name,
    price_wanted,
    run_verb,
    tightest_phrase,
)
from kafka_capacity.text import format_month, format_percent, format_usd, listed

_DEFINITIONS = {
    "brokers_now": "The fewest brokers that keep every limit today: at peak, failures included.",
    "runs_out": "The first day on which a broker of today passes a limit, at the estimate that decides.",
    "usd_per_month": "Machines, disks, rack traffic and ingest of what is needed now, on average up to the horizon.",
    "headroom_ratio": "What the limits leave at the tightest place up to the horizon, as a ratio of what they allow.",
}


def _figure(name: str, label: str, value: Any, unit: str, note: str) -> KeyFigure:
    return KeyFigure(name=name, label=label, value=value, unit=unit, note=note, definition=_DEFINITIONS[name])


def key_figures(view: SizingView) -> list[KeyFigure]:
    """Return the figures: brokers now and by when, when today's run out, what they cost, and what is left."""
    today, last = view.today, view.nearest
    now = view.steps[0].option if view.steps else last
    others = "" if now["shape"] == today["shape"] else f"of {now['shape']}; "
    label = "Brokers needed now" if view.steps else "Brokers that come nearest"
    then = f"; {listed(later_steps(view))}" if len(view.steps) > 1 else ""
    dollars = now["total_usd_per_month"]
    price = (
        _figure("usd_per_month", "Cost a month", "not known", "text", price_wanted(now))
        if dollars is None
        else _figure(
            "usd_per_month",
            f"US dollars a month{', estimated' if now.get('priced_as') else ''}",
            dollars,
            "usd",
            _price_note(view, now),
        )
    )
    return [
        _figure("brokers_now", label, now["broker_count"], "count", f"{others}{today['broker_count']:,} today{then}"),
        _run_out_figure(view),
        price,
        _figure(
            "headroom_ratio",
            f"Headroom of {option_name(last)} until {format_month(view.horizon)}",
            last["headroom_ratio"],
            "percent",
            tightest_phrase(last) or "nothing was judged",
        ),
    ]


def _price_note(view: SizingView, option: Row) -> str:
    now = view.today["total_usd_per_month"]
    parts = {
        "machines": option["brokers_usd_per_month"],
        "disks": option["disks_usd_per_month"],
        "traffic between racks": option["between_racks_usd_per_month"],
        "ingest": option["ingest_usd_per_month"],
    }
    parts_text = ", ".join(f"{name} {format_usd(value)}" for name, value in parts.items() if value)
    if (like := option.get("priced_as")) is not None:
        parts_text += f"; at the prices of {like}"
    mean = f"mean until {format_month(view.horizon)}"
    as_today = "" if option is view.today or now is None else f"; {format_usd(now)} as today"
    return f"{mean}{as_today}; {parts_text}"


def _run_out_figure(view: SizingView) -> KeyFigure:
    count = view.today["broker_count"]
    label = f"Today’s {count:,} {run_verb(count, 'run')} out"
    out = view.runs_out(view.today)
    if out is None:
        if not view.today["fits"]:
            excuse = view.today["excuses"][0]
            when = "already" if view.today["fits_until"] is None else str(excuse.get("when") or "later")
            return _figure("runs_out", label, when, "text", str(excuse["reason"]))
        return _figure("runs_out", label, "not yet", "text", f"not before {view.horizon}, {_left(view.today)}")
    day = str(out[view.estimate])
    where = "" if out["broker_id"] is None else f" of broker {out['broker_id']}"
    note = resource_name(out["resource"]) + where
    if view.estimate == "high" and day != view.dates[0]:
        note += f"; at the middle estimate {out['middle'] or 'not before ' + view.horizon}"
    return _figure("runs_out", label, "already" if day == view.dates[0] else day, "text", note)


def _left(option: Row) -> str:
    return f"headroom {format_percent(option['headroom_ratio'])}"
