"""The charts of a move in waves: when each wave runs, and how full disks are on the way."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kafka_capacity.kafka.reassignment.clock import Window
from kafka_capacity.questions.change.move_view import MoveView, Row, chunks
from kafka_capacity.report.tables import HOVER, chart, column, table
from kafka_capacity.text import (
    axis_time_unit,
    format_duration,
    format_moment,
    format_percent,
    format_rate,
    format_when,
    plural,
)

MAX_BARS = 60  # of the Gantt chart; of more waves, those that follow each other share a bar
MAX_BROKERS = 3  # of the chart of disks: those that come closest to their limits
MAX_CLOCK_SECONDS = 21 * 86_400.0  # longer moves are drawn over days, not over the clock
MAX_TICKS, MAX_HOURS = 7, 72  # of the clock, and steps of what is produced
BAR_PIXELS = 20  # how much of the height of the chart each bar has, as in its spec
_HOUR, _DAY = 3600, 86_400
_TICK_HOURS = (1, 2, 3, 6, 12, 24, 48, 96)


def wave_kind(wave: Row) -> str:
    """Return what a wave is for, in a word or two."""
    return "leaders first" if wave["kind"] == "leadership" else str(wave["kind"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Hours:
    """What is produced by the clock, behind the waves."""

    begins: datetime.datetime  # when the first wave begins, UTC
    week: Sequence[float]  # of 168 hours from Monday 0:00, bytes per second

    def at(self, hour: int) -> float:
        """Return the rate so many hours after the full hour in which the first wave begins."""
        return float(self.week[(24 * self.begins.weekday() + self.begins.hour + hour) % len(self.week)])


def hours_of(move: MoveView, ds: str, week: Sequence[float] | None) -> Hours | None:
    """Return the hours behind the waves of a plan of a day: from the first opening, without a window from midnight on.

    ``None`` where they are not known, the move never ends, or it takes so long that hours could not be told apart.
    """
    total = move.total[1]
    if week is None or total is None or total > MAX_CLOCK_SECONDS or not move.waves:
        return None
    first = move.waves[0].get("starts_at") or f"{ds}T00:00:00+00:00"
    return Hours(begins=datetime.datetime.fromisoformat(first), week=week)


def gantt_chart(move: MoveView, hours: Hours | None = None) -> dict[str, Any] | None:
    """Describe the chart of when each wave runs; ``None`` where one wave ends, or nothing takes time.

    Over the hours its axis is the clock, else it is the time since the first wave began.
    """
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
    ends, endless = f"The last one finishes after {format_duration(move.total[1])}", ""
    if move.never_ends:
        ends = "They never finish at this throttle"
        endless = " A bar that runs to the edge never finishes, and what comes after it never starts."
    return chart(
        "gantt",
        "gantt",
        title="When each wave runs",
        description=f"Gantt chart of {plural(len(move.waves), 'wave')}. {ends}.{grouped}",
        values=[
            *_behind(move, hours, last, len(bars)),
            *(
                {
                    "part": "wave",
                    "label": bar["label"],
                    "kind": bar["kind"],
                    "start_seconds": bar["start"],
                    "end_seconds": last if bar["end"] is None else bar["end"],
                    "low_seconds": bar["low"],
                    "high_seconds": bar["high"],
                    "is_endless": bar["end"] is None,
                    HOVER: f"wave {bar['label']}: from {_at(bar['start'], hours)} to {_at(bar['end'], hours)}",
                }
                for bar in bars
                if bar["start"] is not None
            ),
        ],
        params={"time_unit": unit, "time_scale": scale, "last_seconds": last, **_axis(hours, last, scale)},
        data_table=table(
            "When each wave runs",
            (
                column("label", "Wave"),
                column("start", "Starts", "when"),
                column("low", "Ends, without writes", "when"),
                column("end", "Ends, expected", "when"),
                column("high", "Ends, at peak rates", "when"),
            ),
            bars,
        ),
        is_half_wide=True,
        note="A bar is the expected time; the thin line is the range of its end, from no writes to peak rates "
        f"throughout.{_behind_note(move, hours)}{endless}{grouped}",
    )


def _axis(hours: Hours | None, last: float, scale: float) -> dict[str, Any]:
    """Return the ticks of the clock, at even hours of the day, and when it begins."""
    if hours is None:
        return {}
    step = next((each for each in _TICK_HOURS if last <= MAX_TICKS * each * _HOUR), _TICK_HOURS[-1])
    begins = int(hours.begins.timestamp())
    first = -begins % (step * _HOUR)
    return {"ticks": [at / scale for at in range(first, int(last) + 1, step * _HOUR)], "begins_seconds": begins}


def _behind(move: MoveView, hours: Hours | None, last: float, bars: int) -> list[dict[str, Any]]:
    """Return what is drawn behind the waves: the windows, and what is produced by the hour."""
    if hours is None:
        return []
    into = hours.begins.minute * 60 + hours.begins.second
    count = int(last + into) // _HOUR + 2
    step = -(-count // MAX_HOURS)
    rates = [sum(hours.at(at + one) for one in range(step)) / step for at in range(0, count, step)]
    most, height = max(rates) or 1.0, BAR_PIXELS * bars
    busy, quiet = (pick(range(len(rates)), key=rates.__getitem__) for pick in (max, min))
    text = "; ".join(
        f"{word} {format_rate(rates[at])} at {_at(max(0.0, at * step * _HOUR - into), hours)}"
        for word, at in (("most", busy), ("least", quiet))
    )
    drawn = [
        {
            "part": "hour",
            "start_seconds": min(last, max(0.0, at * step * _HOUR - into)),
            "top": round(height * (1 - rate / most), 1),
            "bottom": height,
            HOVER: f"produce rate: {text}",
        }
        for at, rate in enumerate(rates)
    ]
    return [*_windows(move, hours, last), *drawn]


def _windows(move: MoveView, hours: Hours, last: float) -> list[dict[str, Any]]:
    text = move.facts.get("window")
    window = None if text is None else Window.of(text)
    if window is None:
        return []
    return [
        {
            "part": "window",
            "start_seconds": start,
            "end_seconds": min(last, start + window.seconds),
            HOVER: f"window: {_at(start, hours)} to {_at(start + window.seconds, hours)}",
        }
        for start in range(0, int(last) + 1, _DAY)
    ]


def _behind_note(move: MoveView, hours: Hours | None) -> str:
    if hours is None:
        return ""
    begin = f", as if the first started at {format_moment(hours.begins.isoformat())}"
    end = ""
    if move.facts.get("window"):
        begin, end = "", "; the bands are the windows"
    return f" Times are UTC{begin}. In the background: the hourly produce rate of a typical week{end}."


def _at(seconds: float | None, hours: Hours | None) -> str:
    """Write when something is: by the clock where there is one, else after the first wave began."""
    if hours is None or seconds is None:
        return format_when(seconds)
    return format_moment((hours.begins + datetime.timedelta(seconds=seconds)).isoformat())


def _bar(waves: Sequence[Row]) -> dict[str, Any]:
    """Return the bar of waves that follow each other, mostly one."""
    first, last = waves[0], waves[-1]
    return {
        "label": f"{_numbers(waves)} {' + '.join(dict.fromkeys(map(wave_kind, waves)))}",
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
    parts = [move.waves[part.start : part.stop] for part in chunks(len(move.waves), MAX_BARS)]
    rows = {broker: _levels(move, broker, parts) for broker in shown}
    names = [_numbers(part) for part in parts]
    left_out = ""
    if len(highest) > len(shown):
        left_out = f" Shown are the {MAX_BROKERS} of {len(highest):,} brokers that come closest."
    title = "Disk use during the move, of the limit"
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
                column("peak", "Max", "bytes"),
                column("end", "After", "bytes"),
                column("limit", "Limit", "bytes"),
                column("share", "Max, of the limit", "percent"),
            ),
            [
                {"broker": broker, "waves": name, "limit": limits[broker], "share": row["peak"] / limits[broker], **row}
                for broker in shown
                for name, row in zip(names, rows[broker], strict=True)
                if row["is_taking_part"]
            ],
        ),
        is_half_wide=True,
        note="In each wave the line rises to the most that the disk may hold, whichever partition finishes first, "
        f"then falls to what remains. The dashed line is the broker’s limit.{left_out}",
    )


def _numbers(waves: Sequence[Row]) -> str:
    first, last = waves[0]["wave"], waves[-1]["wave"]
    return f"{first:,}" if first == last else f"{first:,}–{last:,}"


def _label(broker: int, limit: float, highest: float, levels: Sequence[Row]) -> str:
    starts, ends = (format_percent(level / limit) for level in (levels[0]["start"], levels[-1]["end"]))
    return f"Broker {broker}: {starts}, at most {format_percent(highest)}, then {ends}"


def _levels(move: MoveView, broker: int, parts: Sequence[Sequence[Row]]) -> list[dict[str, Any]]:
    """Return what a broker holds before, at most and after in each part of the waves."""
    by_wave = {row["wave"]: row for row in move.timeline if row["broker_id"] == broker}
    level = by_wave[min(by_wave)]["disk_start_bytes"]
    found = []
    for part in parts:
        rows = [by_wave[wave["wave"]] for wave in part if wave["wave"] in by_wave]
        end = rows[-1]["disk_end_bytes"] if rows else level
        peak = max([level, end, *(row["disk_peak_bytes"] for row in rows)])
        found.append({"start": level, "peak": peak, "end": end, "is_taking_part": bool(rows)})
        level = end
    return found
