"""What the growth rests on: the classes of topics, planned events, and the assumptions behind every figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_capacity.hardware.cpu import FIGURES
from kafka_capacity.hardware.limits import Resource, resource_name, shown_amount
from kafka_capacity.hardware.shapes import TODAY
from kafka_capacity.questions.capacity.judging import SLOWEST_DISK_BYTES_PER_SECOND
from kafka_capacity.questions.capacity.option_words import CONDITION_WORDS
from kafka_capacity.questions.capacity.sizing_steps import sizing_of
from kafka_capacity.questions.capacity.sizing_view import SizingView
from kafka_capacity.questions.capacity.sizing_words import growth_sentence
from kafka_capacity.report.anchors import GROWTH
from kafka_capacity.report.sections import section
from kafka_capacity.report.tables import NOTE, cells, column, table
from kafka_capacity.report.view import ReportView
from kafka_capacity.text import format_duration, format_limit, format_rate, plural
from kafka_capacity.text.wording import few_names, listed

MAX_CLASSES = 60

_BASES = {"forecast": "forecast", "growth-rate": "assumed rate"}


def _kept(seconds: float | None) -> str:
    return "without limit" if seconds is None else format_duration(seconds)


_CLASSES = (
    column("name", "Class", "name"),
    column("partitions", "Partitions", "count"),
    column("basis", "Basis", "text", lambda one: _BASES.get(one["basis"], one["basis"])),
    column("model", "Model"),
    column("history_days", "Days of history", "count"),
    column("error_ratio", "Error", "percent"),
    column("seasonal_naive_error_ratio", "Error of repeating last week", "percent"),
    column("coverage_ratio", "In the interval", "percent"),
    column("interval_ratio", "Target", "limit"),
    column("middle", "Growth", "percent", lambda one: one["rate_ratio"][-1] - 1.0),
    column("high", "High", "percent", lambda one: one["rate_ratio_high"][-1] - 1.0),
    column("retention", "Retention", "factor", lambda one: one["retention_ratio"][-1]),
)
_OF_FORECASTS = ("model", "error_ratio", "seasonal_naive_error_ratio", "coverage_ratio", "interval_ratio")
_ADDED = (
    column("name", "New topic", "name"),
    column("from_date", "From", "day"),
    column("partitions", "Partitions", "count"),
    column("replication_factor", "Replication factor", "count"),
    column("bytes_in_peak_bytes_per_second", "Produced at peak", "rate"),
    column("bytes_out_peak_bytes_per_second", "Read at peak", "rate"),
    column("keeps", "Keeps", "text", lambda one: _kept(one["retention_seconds"])),
)


@section(GROWTH, title="Basis of the growth estimate", order=8, is_closed=True)
def build(view: ReportView) -> dict[str, Any] | None:
    """Return the classes, the events and the assumptions."""
    sizing = view.of(sizing_of)
    if sizing is None:
        return None
    added = [cells(_ADDED, one) for one in sizing.document["added_topics"]]
    return {
        "line": growth_sentence(sizing, view.inputs.request),
        "classes": _classes(sizing),
        "added": table("Planned topics", _ADDED, added) if added else None,
        "notes": [str(note) for note in sizing.document["notes"]],
        "assumptions": _assumptions(sizing),
    }


def _classes(view: SizingView) -> dict[str, Any]:
    classes, quantile = view.document["classes"], view.document.get("high_quantile")
    reasons = {str(one["reason"]) for one in classes}
    common = reasons.pop() if len(reasons) == 1 and len(classes) > 1 else None
    ranked = sorted(classes, key=lambda one: (-one["partitions"], one["name"]))
    has_forecast = any(one["basis"] == "forecast" for one in classes)
    has_retention = any(one["retention_ratio"][-1] != 1.0 for one in classes)
    left_out = {*(() if has_forecast else _OF_FORECASTS), *(() if has_retention else ("retention",))}
    columns = [one for one in _CLASSES if one.key not in left_out]
    rows = [
        {**one, **cells(columns, one), NOTE: None if common else str(one["reason"])} for one in ranked[:MAX_CLASSES]
    ]
    notes = [common] if common else []
    chance = f", which is not exceeded with a probability of {format_limit(quantile)}" if quantile else ""
    notes.append(
        f"Growth is for the highest week up to {view.horizon}: the expected value and the high estimate{chance}."
    )
    if has_forecast:
        notes.append(
            "Error is the mean absolute error of past forecasts, next to that of repeating the last week. In the "
            "interval: the share of forecasts whose actual value was inside their interval, next to the target."
        )
    if len(ranked) > MAX_CLASSES:
        notes.append(f"{MAX_CLASSES} of {plural(len(ranked), 'class')} are listed.")
    return table("Topic classes", columns, rows, note=" ".join(notes))


def _assumptions(view: SizingView) -> list[dict[str, str]]:
    document = view.document
    limits, cpu = document["limits"], document["cpu"]
    shares = (
        ("network", "network_ratio"),
        ("CPU", "cpu_ratio"),
        ("disk space", "disk_ratio"),
        ("disk throughput", "disk_io_ratio"),
        ("the client throughput that a provider states", "client_ratio"),
    )
    is_above = any(limits[name] > limits["lost_ratio"] for _, name in shares if name != "disk_ratio")
    words = ("produced", "replicated to it", "sent")
    milliseconds = [f"{cpu[name] * 1000:,.1f} ms {what}" for name, what in zip(FIGURES[1:], words, strict=True)]
    found = {
        "Limits": "; ".join(f"{what} {format_limit(limits[name])}" for what, name in shares)
        + f"; after a loss or while catching up {format_limit(limits['lost_ratio'])} of everything except disk space"
        + (", or the limit above where that is higher." if is_above else "."),
        "Must hold at peak": "; ".join(CONDITION_WORDS.get(one, one) for one in document["conditions"]) + ".",
        "Decides": f"the {view.estimate} estimate of growth.",
        "Peaks": _PEAKS.get(document["peak_basis"], str(document["peak_basis"])),
        "CPU": f"core time per MiB: {', '.join(milliseconds)}; {cpu['base_cores']:g} cores without traffic "
        f"({cpu['source']}).",
        "Hardware today": _hardware(document["today"]) + _uneven(document.get("uneven", {})),
    }
    sources: dict[str, list[str]] = {}
    for shape in [document["today"], *document["shapes"]]:
        if shape["name"] != TODAY:
            priced = f"prices as of {shape['priced_on']}; " if shape["priced_on"] else ""
            sources.setdefault(f"{priced}{shape['source']}", []).append(shape["name"])
    rows = [{"name": name, "value": value} for name, value in found.items()]
    return rows + [
        {"name": "Figures for shapes", "value": f"{few_names(n, _NAMED)}: {source}."} for source, n in sources.items()
    ]


_PEAKS = {
    "same-hours": "the 99th percentile of each broker’s own hourly totals, so partitions are added up hour by hour.",
    "sum-of-peaks": "with too few hours of history, every partition at its own 99th percentile at once: an upper "
    "estimate.",
    "unknown": "no rates above 0 are known: nothing that depends on traffic can be judged.",
}
_NAMED = 6


def _uneven(ranges: Mapping[str, Sequence[float]]) -> str:
    """Return how far brokers differ, in whose place a shape can only have what is usual."""
    if not ranges:
        return ""
    found = [
        f"{resource_name(name)} from {shown_amount(Resource(name), least)} to {shown_amount(Resource(name), most)}"
        for name, (least, most) in ranges.items()
    ]
    return f" Brokers differ: {listed(found)}. Each is judged with its own; new ones and prices take the medians above."


def _hardware(shape: Mapping[str, Any]) -> str:
    def known(value: float | None, write: Any, unknown: str = "not known") -> str:
        return unknown if value is None else str(write(value))

    least = f"unknown: at least what one hard disk sustains, {format_rate(SLOWEST_DISK_BYTES_PER_SECOND)}"

    speed = shape["core_speed_ratio"]
    return (
        f"{shape['name']}: {known(shape['vcpu'], lambda value: f'{value:g}')} cores"
        f"{'' if speed is None else f' that do {speed:g} times what those of an m5 do'}, network "
        f"{known(shape['network_bytes_per_second'], format_rate)}, disks "
        f"{known(shape['disk_bytes_per_second'], format_rate, least)}."
    )
