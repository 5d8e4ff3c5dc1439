"""Brokers and dollars over time: a step where more are needed, and the band between the two estimates."""

from __future__ import annotations

from typing import Any

from kafka_capacity.questions.capacity.sizing_steps import on_the_way
from kafka_capacity.questions.capacity.sizing_view import SizingView
from kafka_capacity.report.tables import chart, column, table
from kafka_capacity.text import format_usd, plural

_OTHER = {"high": "middle", "middle": "high"}


def outlook_chart(view: SizingView) -> dict[str, Any] | None:
    """Describe the chart; ``None`` where nothing that was tried lasts."""
    if not view.steps:
        return None
    steps = {step.from_day if place else view.dates[0]: step for place, step in enumerate(view.steps)}
    ends = _ends(view, _OTHER[view.estimate])
    days = sorted({*view.dates, *steps, *(end for end in ends.values() if end is not None and end <= view.horizon)})
    values: list[dict[str, Any]] = []
    for day in days:
        step = steps[max(start for start in steps if start <= day)]
        lasting = [count for count, end in ends.items() if end is None or end > day]
        values.append(
            {
                "day": day,
                "count": step.option["broker_count"] if step.until is None or day <= step.until else None,
                "other": min(lasting, default=None),
                "usd": view.usd_on(step.option, day),
                "label": f"{step.option['broker_count']:,}" if day in steps else None,
                "price": None if day not in steps or step.usd_per_month is None else format_usd(step.usd_per_month),
            }
        )
    today = view.today["broker_count"]
    counts = [today, *(row[name] for row in values for name in ("count", "other") if row[name] is not None)]
    margin = -(-(max(counts) - min(counts)) // 6) or 1  # the label of the highest step has room above it
    title = "Brokers needed, and cost per month"
    words = "; ".join(
        plural(step.option["broker_count"], "broker")
        + (f" from {day} on" if day > view.dates[0] else " now")
        + ("" if step.usd_per_month is None else f", {format_usd(step.usd_per_month)} per month")
        for day, step in steps.items()
    )
    columns = (
        column("day", "Date", "day"),
        column("count", f"At the {view.estimate} estimate", "count"),
        column("other", f"At the {_OTHER[view.estimate]} estimate", "count"),
        column("usd", "Per month then", "usd"),
    )
    return chart(
        "outlook",
        "count_over_time",
        title=title,
        description=f"Step chart of the number of brokers needed: {words}.",
        values=values,
        params={"today": today, "bounds": [max(0, min(counts) - margin), max(counts) + margin]},
        data_table=table(title, columns if any(row["usd"] for row in values) else columns[:-1], values),
        note=f"Thick: at the {view.estimate} estimate, which decides; thin: at the {_OTHER[view.estimate]} one. "
        f"Dashed: today’s {today:,}.",
        is_half_wide=True,
    )


def _ends(view: SizingView, estimate: str) -> dict[int, str | None]:
    """Return when each count of the steps' hardware first passes a limit at an estimate; ``None`` for not at all."""
    found: dict[int, str | None] = {}
    for row in on_the_way(view, view.steps[-1].option):
        out = view.runs_out(row, estimate)
        end = None if out is None else str(out[estimate])
        before = found.setdefault(row["broker_count"], end)
        found[row["broker_count"]] = None if end is None or before is None else max(before, end)
    return found
