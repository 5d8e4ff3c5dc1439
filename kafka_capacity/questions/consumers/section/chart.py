"""The lag curve of a group: today against what is recommended, in the event with the highest max lag."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kafka_capacity.kafka.arrays import Floats, Indices
from kafka_capacity.questions.consumers.choice import GroupChoice, Row
from kafka_capacity.questions.consumers.names import event_phrase, short, variant_name
from kafka_capacity.questions.consumers.section.view import GroupsView
from kafka_capacity.report.tables import chart, column, table
from kafka_capacity.text import axis_time_unit, format_duration, plural

MAX_POINTS = 32  # of one curve: what is drawn, and what stands in the table under the chart
MAX_TIMES_ALLOWED = 5  # how many times the allowed lag curves are drawn to, if one of them stays below
FLAT = 10  # a curve whose peak is so many times lower than another one's lies flat below it on an even scale
LINEAR = 1e12  # a lag up to which a scale is even: any
Curve = tuple[Floats, Floats]  # times and lags
FINE_ENOUGH = 0.005  # a point closer than this part of the peak to the line that is drawn already adds nothing to see


def lag_chart(view: GroupsView, group: GroupChoice, chart_id: str) -> dict[str, Any] | None:
    """Describe the chart; ``None`` where no curve was kept or nothing ever waits."""
    event = _event(view, group)
    if event is None:
        return None
    allowed = group.now["lag_slo_seconds"]
    curves = [(row, _curve(view, row, event)) for row in group.shown]
    peaks = [float(lags.max(initial=0.0)) for _, (_, lags) in curves]
    ceiling = max(MAX_TIMES_ALLOWED * allowed, min(peaks))
    ticks = _ticks(peaks, allowed, ceiling)
    curves = [(row, _bent(_cut(curve, ceiling)) if ticks else _cut(curve, ceiling)) for row, curve in curves]
    values = [
        {"kind": group.name_of(row), "time_seconds": time, "lag_seconds": lag}
        for row, (times, lags) in reversed(curves)  # today's is drawn last: its dashes show on another line
        for time, lag in zip(times.tolist(), lags.tolist(), strict=True)
    ]
    if not any(value["lag_seconds"] for value in values):
        return None
    last, highest = (max(value[name] for value in values) for name in ("time_seconds", "lag_seconds"))
    (time_unit, time_scale), (lag_unit, lag_scale) = axis_time_unit(last), axis_time_unit(max(highest, allowed))
    is_cut = max(peaks) > ceiling
    title = f"Lag of {short(group.group_id)} {event_phrase(event)}"
    return chart(
        chart_id,
        "lag_curve",
        title=title,
        description=f"Line chart of the lag of the partition with the highest lag, over the time after the event. "
        f"{_peaks(group, event)} The allowed lag is {format_duration(allowed)}.",
        values=values,
        params={
            "time_unit": time_unit,
            "time_scale": time_scale,
            "lag_unit": lag_unit,
            "lag_scale": lag_scale,
            "bend": allowed / 20.0 / lag_scale if ticks else LINEAR,
            "ticks": ticks and [tick / lag_scale for tick in ticks],
            "tick_texts": ticks and [format_duration(tick) for tick in ticks],
            "allowed_seconds": allowed,
            "allowed_text": f"allowed: {format_duration(allowed)}",
            "kinds": [group.name_of(row) for row, _ in curves],
        },
        data_table=table(
            title,
            (
                column("kind", "With"),
                column("time_seconds", "After", "duration"),
                column("lag_seconds", "Behind", "duration"),
            ),
            values,
        ),
        is_half_wide=True,
        note=f"{_peaks(group, event)} The straight dashed line is the allowed lag."
        + (f" Curves are drawn up to {format_duration(ceiling)}." if is_cut else _endless_note(group, event))
        + (" The scale of the lag is logarithmic." if ticks else ""),
    )


def _event(view: GroupsView, group: GroupChoice) -> str | None:
    """Choose the event: a group at risk shows its worst one, others a rolling restart, if a curve was kept."""
    kept: dict[str, None] = {}
    for row in group.shown:
        found = view.rows_of("group_timeline", row)
        if found is not None:
            kept |= dict.fromkeys(found["event"].to_pylist())
    worst = group.worst(group.now) if group.is_at_risk else None
    lagging = [worst["event"]] if worst is not None and worst["lag_max_partition"] else []
    wanted = [*lagging, "rolling-restart", *sorted(kept)]
    return next((event for event in wanted if event in kept), None)


def _curve(view: GroupsView, row: Row, event: str) -> Curve:
    found = view.rows_of("group_timeline", row)
    points = [] if found is None else [one for one in found.to_pylist() if one["event"] == event]
    known = [(one["time_seconds"], one["lag_seconds"]) for one in points if one["lag_seconds"] is not None]
    if not known:
        return np.empty(0), np.empty(0)
    times, lags = (np.array(values, dtype=np.float64) for values in zip(*known, strict=True))
    keep = thinned(times, lags)
    return times[keep], lags[keep]


def _cut(curve: Curve, ceiling: float) -> Curve:
    """Return a curve up to where it first passes a ceiling."""
    times, lags = curve
    if not (lags > ceiling).any():
        return curve
    first = int(np.argmax(lags > ceiling))
    if not first:
        return times, np.minimum(lags, ceiling)
    share = (ceiling - lags[first - 1]) / (lags[first] - lags[first - 1])
    end = times[first - 1] + share * (times[first] - times[first - 1])
    return np.append(times[:first], end), np.append(lags[:first], ceiling)


def _ticks(peaks: Sequence[float], allowed: float, ceiling: float) -> list[float] | None:
    """Return what is marked on a logarithmic scale; ``None`` where no curve lies flat below another on an even one."""
    highest, lowest = min(max(peaks), ceiling), min(peaks)
    if not lowest or highest <= FLAT * lowest:
        return None
    return [*(allowed * share for share in (0.0, 0.1, 0.5, 1.0)), *([ceiling] if highest > allowed else [])]


def _bent(curve: Curve) -> Curve:
    """Return a curve with points between its own, close to each other at first: on a logarithmic scale it is bent."""
    times, lags = curve
    if not len(times):
        return curve
    every = np.union1d(times, times[-1] * np.linspace(0.0, 1.0, MAX_POINTS) ** 2)
    return every, np.interp(every, times, lags)


def thinned(times: Floats, values: Floats) -> Indices:
    """Choose the points that a curve is drawn through: both ends, the peak, then always the one that is furthest off.

    Times, float64[T], are ascending, and so are the positions that are returned, intp[N].
    """
    last = len(times) - 1
    kept = {0, last, int(np.argmax(values))}
    while len(kept) < min(MAX_POINTS, len(times)):
        chosen = sorted(kept)
        distance = np.abs(values - np.interp(times, times[chosen], values[chosen]))
        distance[chosen] = -1.0
        furthest = int(np.argmax(distance))
        if distance[furthest] <= FINE_ENOUGH * values.max():
            break
        kept.add(furthest)
    return np.array(sorted(kept), dtype=np.intp)


def _peaks(group: GroupChoice, event: str) -> str:
    parts = [
        f"{group.name_of(row).capitalize()} ({plural(row['member_count'], 'member')}, {variant_name(row)}): "
        + _how_far(outcome)
        for row in group.shown
        if (outcome := group.outcome(row, event)) is not None
    ]
    return ". ".join(parts) + "."


def _how_far(outcome: Row) -> str:
    if outcome["lag_max_seconds"] is None:
        return f"{outcome['lag_max_partition']} falls behind without limit"
    return f"max lag {format_duration(outcome['lag_max_seconds'])}, {outcome['lag_max_partition'] or 'nowhere'}"


def _endless_note(group: GroupChoice, event: str) -> str:
    outcomes = [group.outcome(row, event) for row in group.shown]
    is_endless = any(outcome is not None and outcome["lag_max_seconds"] is None for outcome in outcomes)
    return " An unbounded curve is drawn as far as it was simulated." if is_endless else ""
