"""The charts of a move in waves: when each wave runs, and how full disks are on the way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from kafka_capacity.questions.change.move_view import MoveView, Row, chunks
from kafka_capacity.report.tables import HOVER, chart, column, table
from kafka_capacity.text import axis_time_unit, format_duration, format_percent, format_when, plural

MAX_BARS = 60  # of the Gantt chart; of more waves, those that follow each other share a bar
MAX_BROKERS = 3  # of the chart of disks: those that come closest to their limits

KINDS = {
    "leadership": "leaders first",
    "drop": "drop",
    "copy": "copy",
    "detour": "detour",
    "reorder": "reorder",
}
"""What a wave is for, in a word."""


def gantt_chart(move: MoveView) -> dict[str, Any] | None:
    """Describe the chart of when each wave runs; ``None`` where one wave ends, or nothing takes time."""
    if len(move.waves) < 2 and not move.never_ends:
        return None
    bars = [_bar(move.waves[part.start : part.stop]) for part in chunks(len(move.waves), MAX_BARS)]
    known = [bar[name] for bar in bars for name in ("end", "high") if bar[name] is not None]
    last = max(known, default=0.0) or max((bar["start"] or 0.0 for bar in bars), default=0.0)
    if not last and not move.never_ends:
        return None
    # An endless bar is drawn as far as the axis goes: some way beyond all that is known.
    last = (last or 1.0) * (1.3 if move.never_ends else 1.0)
    unit, scale = axis_time_unit(last)
    grouped = f" {plural(len(move.waves), 'wave')} share {len(bars)} bars." if len(bars) < len(move.waves) else ""
    endless = (
        " A bar that runs to the edge never ends, and what comes after it never begins." if move.never_ends else ""
    )
    ends = (
        "They never end at this throttle"
        if move.never_ends
        else f"The last ends after {format_duration(move.total[1])}"
    )
    return chart(
        "gantt",
        "gantt",
        title="When each wave runs",
        description=f"Gantt chart of {plural(len(move.waves), 'wave')}. {ends}.{grouped}",
        values=[
            {
                "label": bar["label"],
                "kind": bar["kind"],
                "start_seconds": bar["start"],
                "end_seconds": last if bar["end"] is None else bar["end"],
                "low_seconds": bar["low"],
                "high_seconds": bar["high"],
                "is_endless": bar["end"] is None,
                HOVER: f"wave {bar['label']}: from {format_when(bar['start'])} to {format_when(bar['end'])}",
            }
            for bar in bars
            if bar["start"] is not None
        ],
        params={"time_unit": unit, "time_scale": scale, "last_seconds": last},
        data_table=table(
            "When each wave runs",
            (
                column("label", "Wave"),
                column("start", "Starts", "when"),
                column("low", "Ends, if nobody writes", "when"),
                column("end", "Ends, expected", "when"),
                column("high", "Ends, at peak rates", "when"),
            ),
            bars,
        ),
        is_half_wide=True,
        note="A bar is the time that is expected; the thin line is its end, from nobody writing to all at peak rates."
        f"{endless}{grouped}",
    )


def _bar(waves: Sequence[Row]) -> dict[str, Any]:
    """Return the bar of waves that follow each other, mostly one."""
    first, last = waves[0], waves[-1]
    kinds = list(dict.fromkeys(KINDS.get(str(wave["kind"]), str(wave["kind"])) for wave in waves))
    number = f"{first['wave']:,}" if len(waves) == 1 else f"{first['wave']:,}–{last['wave']:,}"
    return {
        "label": f"{number} {' + '.join(kinds)}",
        "kind": max(waves, key=lambda wave: (wave["copied_bytes"], -wave["wave"]))["kind"],
        "start": first["start_expected_seconds"],
        "end": last["end_expected_seconds"],
        "low": last["end_low_seconds"],
        "high": last["end_high_seconds"],
    }


def disk_chart(move: MoveView) -> dict[str, Any] | None:
    """Describe the chart of the fullest disks over the waves; ``None`` where no limit is known."""
    limits = {row["broker_id"]: row["disk_limit_bytes"] for row in move.timeline if row["disk_limit_bytes"]}
    highest: dict[int, float] = defaultdict(float)
    for row in move.timeline:
        if row["broker_id"] in limits:
            ratio = max(row["disk_peak_bytes"], row["disk_start_bytes"]) / limits[row["broker_id"]]
            highest[row["broker_id"]] = max(highest[row["broker_id"]], ratio)
    if not highest:
        return None
    shown = sorted(highest, key=lambda broker: (-highest[broker], broker))[:MAX_BROKERS]
    parts = chunks(len(move.waves), MAX_BARS)
    rows = {broker: _levels(move, broker, parts) for broker in shown}
    names = [_numbers(move.waves, part) for part in parts]
    left_out = (
        f" The {MAX_BROKERS} of {len(highest):,} brokers that come closest are drawn."
        if len(highest) > len(shown)
        else ""
    )
    title = "Disk on the way, of the limit"
    return chart(
        "disk-on-the-way",
        "disk_on_the_way",
        title=title,
        description="Line chart of how full the brokers closest to their disk limits are in each wave. "
        + "; ".join(f"broker {broker} at most {format_percent(highest[broker])} of its limit" for broker in shown)
        + ".",
        values=[
            {
                "label": _label(broker, limits[broker], highest[broker], rows[broker]),
                "place": place,
                "share": level / limits[broker],
            }
            for broker in shown
            for at, row in enumerate(rows[broker])
            for place, level in ((at, row["start"]), (at + 0.5, row["peak"]), (at + 1.0, row["end"]))
        ],
        params={
            "names": names,
            "centres": [at + 0.5 for at in range(len(parts))],
            "count": len(parts),
            "top": max(1.0, *(highest[broker] for broker in shown)),
        },
        data_table=table(
            title,
            (
                column("broker", "Broker", "id"),
                column("waves", "Wave", "id"),
                column("start", "Before", "bytes"),
                column("peak", "At most", "bytes"),
                column("end", "After", "bytes"),
                column("limit", "Limit", "bytes"),
                column("share", "At most, of the limit", "percent"),
            ),
            [
                {"broker": broker, "waves": name, "limit": limits[broker], "share": row["peak"] / limits[broker], **row}
                for broker in shown
                for name, row in zip(names, rows[broker], strict=True)
                if row["is_taking_part"]
            ],
        ),
        is_half_wide=True,
        note="Each wave rises to the most that the disk may hold, whichever partition is done first, then falls to "
        f"what stays. The dashed line is the broker’s limit.{left_out}",
    )


def _numbers(waves: Sequence[Row], part: range) -> str:
    first, last = waves[part.start]["wave"], waves[part.stop - 1]["wave"]
    return f"{first:,}" if first == last else f"{first:,}–{last:,}"


def _label(broker: int, limit: float, highest: float, levels: Sequence[Row]) -> str:
    starts, ends = (format_percent(level / limit) for level in (levels[0]["start"], levels[-1]["end"]))
    return f"Broker {broker}: {starts}, at most {format_percent(highest)}, then {ends}"


def _levels(move: MoveView, broker: int, parts: Sequence[range]) -> list[dict[str, Any]]:
    """Return what a broker holds before, at most and after in each part of the waves."""
    by_wave = {row["wave"]: row for row in move.timeline if row["broker_id"] == broker}
    level = by_wave[min(by_wave)]["disk_start_bytes"]
    found = []
    for part in parts:
        rows = [by_wave[wave["wave"]] for wave in move.waves[part.start : part.stop] if wave["wave"] in by_wave]
        end = rows[-1]["disk_end_bytes"] if rows else level
        peak = max([level, end, *(row["disk_peak_bytes"] for row in rows)])
        found.append({"start": level, "peak": peak, "end": end, "is_taking_part": bool(rows)})
        level = end
    return found
