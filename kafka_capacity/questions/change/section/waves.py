"""The move in time: its waves, the disks on the way, what nobody can move, and the runbook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_capacity.kafka.reassignment.problem import BAND
from kafka_capacity.questions.change.move_view import MoveView, Row
from kafka_capacity.questions.change.move_words import (
    detour_sentence,
    disk_sentence,
    leadership_sentence,
    length_sentence,
    order_sentence,
    refusal_texts,
    summary,
    throttle_sentence,
    window_sentence,
)
from kafka_capacity.questions.change.section.view import ChangePage, change_of
from kafka_capacity.questions.change.section.wave_charts import disk_chart, gantt_chart, hours_of, wave_kind
from kafka_capacity.questions.change.wave_runbook import PLAN_FILES_FOLDER, bottleneck, pages, took
from kafka_capacity.report.anchors import WAVES
from kafka_capacity.report.sections import section
from kafka_capacity.report.tables import cells, column, table
from kafka_capacity.report.view import ReportView
from kafka_capacity.text import format_percent, format_throttle, plural
from kafka_capacity.text.names import clipped

MAX_ROWS = 120  # waves in a table; further ones are in the files only
MAX_REFUSALS = 20


def _if_copying(key: str) -> Callable[[Row], Any]:
    return lambda wave: wave[key] if wave["copied_bytes"] else None


def _moment(key: str) -> Callable[[Row], str]:
    return lambda wave: wave.get(key) or "never"


def _takes(wave: Row) -> tuple[float | None, ...]:
    return tuple(took(wave, band) for band in BAND)


_BY_CLOCK, _ONE_BY_ONE = {"starts_at", "ends_at", "takes"}, {"start_expected_seconds", "end"}
"""Columns of waves that keep to a window, and of those that run one after another."""


def _fullest(wave: Row) -> str | None:
    ratio = wave["fullest_ratio"]
    if ratio is None:
        return None
    log_dir = wave.get("fullest_log_dir")
    return f"{format_percent(ratio)} ({wave['fullest_broker']}{'' if log_dir is None else f', {log_dir}'})"


_WAVES = (
    column("wave", "Wave", "id"),
    column("kind", "Kind", "text", wave_kind),
    column("partitions", "Partitions", "count"),
    column("copied_bytes", "To copy", "bytes"),
    column("start_expected_seconds", "Starts", "when"),
    column("end", "Ends", "time_band", lambda wave: tuple(wave[f"end_{band}_seconds"] for band in BAND)),
    column("throttle", "Throttle", "throttle", _if_copying("throttle_bytes_per_second")),
    column("starts_at", "Starts", "moment", _moment("starts_at")),
    column("ends_at", "Ends", "moment", _moment("ends_at")),
    column("takes", "Takes", "time_band", _takes),
    column("bottleneck", "Bottleneck", "text", bottleneck),
    column("smallest", "Finishes above", "throttle_above", _if_copying("smallest_throttle_expected_bytes_per_second")),
    column("fullest", "Fullest disk, of its limit (broker)", "text", _fullest),
)
_ORDERS = (
    column("order", "Order"),
    column("wave_count", "Waves", "count"),
    column("total_seconds", "Takes", "when"),
    column("relieved_seconds", "Worst broker relieved after", "when"),
)


@section(WAVES, title="The move, wave by wave", order=22)
def build(report: ReportView) -> dict[str, Any] | None:
    """Return the waves of the option that is spoken of; nothing where a plan has none for it."""
    view = report.of(change_of)
    move = view.move
    if move is None:
        return None
    week = view.inputs.snapshot_facts.get("bytes_in_by_hour_of_week")
    gantt, disks = gantt_chart(move, hours_of(move, view.inputs.ds, week)), disk_chart(move)
    refusals = refusal_texts(move)
    listed = pages(move)
    return {
        "label": view.nearest.label,
        "summary": summary(move),
        "sentences": move_sentences(move),
        "refusals": refusals[:MAX_REFUSALS],
        "more_refusals": len(refusals[MAX_REFUSALS:]),
        "orders": orders_table(move),
        "gantt": gantt,
        "disks": disks,
        "dirs": dir_table(move),
        "added": [row for row in _added(view) if row["scenario_id"] == view.nearest.scenario_id],
        "charts": [one for one in (gantt, disks) if one is not None],
        "waves": waves_table(move, has_rates=view.rate_history_hours > 0) if move.waves else None,
        "folder": PLAN_FILES_FOLDER,
        "is_recommended": view.nearest is view.recommended,
        "pages": listed,
        "pages_left_out": len(move.waves) - len(listed),
    }


def move_sentences(move: MoveView) -> list[str]:
    """Return what is said of the waves together."""
    sentences = (
        lambda move: window_sentence(move.facts, move.waves),
        throttle_sentence,
        length_sentence,
        order_sentence,
        leadership_sentence,
        detour_sentence,
        disk_sentence,
    )
    return [sentence for write in sentences if move.waves and (sentence := write(move))]


def _added(view: ChangePage) -> list[dict[str, Any]]:
    """Return the topics that get more partitions; an older plan tells of none."""
    rows = view.inputs.tables["new_partitions"].to_pylist() if "new_partitions" in view.inputs.tables else []
    return [
        {
            **{name: value for name, value in row.items() if name != "replicas"},
            "text": f"{row['topic']}: {row['count_before']:,} to {row['count_after']:,} partitions; "
            f"{format_percent(row['moved_keys_ratio'])} of all keys change partition, if producers set keys.",
        }
        for row in rows
    ]


def orders_table(move: MoveView) -> dict[str, Any] | None:
    """Compare the orders that were tried; ``None`` where there was no choice."""
    if len(move.facts["orders"]) < 2 or len(move.waves) < 2:
        return None
    rows = [
        {**one, "order": one["order"] + (" (chosen)" if one["order"] == move.facts["order"] else "")}
        for one in move.facts["orders"]
    ]
    without = ", and without moving leaders first" if move.facts["is_leadership_first"] else ""
    return table("Which partitions move first: orders tried", _ORDERS, rows, note=f"All at mean rates{without}.")


def waves_table(move: MoveView, *, has_rates: bool) -> dict[str, Any]:
    """Return a row a wave; which throttle is enough for it is known where rates are."""
    shown = move.waves[:MAX_ROWS]
    rows = [cells(_WAVES, wave) for wave in shown]
    has_window = move.facts.get("window") is not None
    what, after = ("Takes", "") if has_window else ("Ends", ", both after the start of the first wave")
    note = f"{what} is the expected time, in brackets the range from no writes to peak rates throughout{after}."
    if has_rates:
        note += " A wave finishes with any throttle larger than the one under Finishes above."
    endless = [wave for wave in shown if wave["copied_bytes"] and wave["end_expected_seconds"] is None]
    if any(wave["smallest_throttle_expected_bytes_per_second"] is None for wave in endless):
        note += " With a dash there no throttle helps: a network or fetcher has nothing left for the copies."
    left_out = _ONE_BY_ONE if has_window else _BY_CLOCK
    rates = {row["throttle"] for row in rows if row["throttle"] is not None}
    left_out = left_out | (set() if len(rates) > 1 else {"throttle"}) | (set() if has_rates else {"smallest"})
    columns = [one for one in _WAVES if one.key not in left_out]
    if len(rates) == 1:
        note += f" Throttle: {format_throttle(rates.pop())} for each wave that copies."
    if len(shown) < len(move.waves):
        note += f" {len(shown):,} of {plural(len(move.waves), 'wave')} are listed."
    return table("The waves", columns, rows, note=note)


_PATH_LENGTH = 60
_COLUMNS = (
    column("wave", "Wave", "id"),
    column(
        "log_dir", "Log dir", "text", lambda row: f"{clipped(row['path'], _PATH_LENGTH)} of broker {row['broker_id']}"
    ),
    column("start_bytes", "At the start", "bytes"),
    column("peak_bytes", "During the move", "bytes"),
    column("end_bytes", "At the end", "bytes"),
    column("limit_bytes", "Limit", "bytes"),
    column("fill", "Of its limit", "text", lambda row: format_percent(row["ratio"])),
)


def dir_table(move: MoveView) -> dict[str, Any] | None:
    """Return the fullest directory of each wave; nothing where no broker has several, or no limit is known."""
    dirs = {(row["broker_id"], row["path"]) for row in move.dirs}
    known = [row for row in move.dirs if row["limit_bytes"]]
    if len(dirs) == len({broker for broker, _ in dirs}) or not known:
        return None
    fullest: dict[int, Any] = {}
    for row in known:
        ratio = row["peak_bytes"] / row["limit_bytes"]
        if row["wave"] not in fullest or ratio > fullest[row["wave"]]["ratio"]:
            fullest[row["wave"]] = {**row, "ratio": ratio}
    rows = [cells(_COLUMNS, row) for _, row in sorted(fullest.items())]
    note = "For each wave, the log dir that comes closest to its limit."
    if len(rows) > MAX_ROWS:
        note += f" {MAX_ROWS:,} of {plural(len(rows), 'wave')} are listed."
    return table("Log dirs during the move", _COLUMNS, rows[:MAX_ROWS], note=note)
