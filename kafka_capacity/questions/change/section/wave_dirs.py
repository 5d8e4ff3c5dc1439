"""Log directories on the way, where brokers have several: the one of each wave that comes closest to its limit."""

from __future__ import annotations

from typing import Any

from kafka_capacity.questions.change.move_view import MoveView
from kafka_capacity.report.tables import column, table
from kafka_capacity.text import format_percent, plural
from kafka_capacity.text.names import clipped

MAX_ROWS = 60
_PATH_LENGTH = 60
_COLUMNS = (
    column("wave", "Wave", "id"),
    column("log_dir", "Log dir"),
    column("start_bytes", "At the start", "bytes"),
    column("peak_bytes", "On the way", "bytes"),
    column("end_bytes", "At the end", "bytes"),
    column("limit_bytes", "Limit", "bytes"),
    column("fill", "Of its limit"),
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
    rows = [
        {
            **row,
            "log_dir": f"{clipped(row['path'], _PATH_LENGTH)} of broker {row['broker_id']}",
            "fill": format_percent(row["ratio"]),
        }
        for _, row in sorted(fullest.items())
    ]
    note = "Of the log dirs that take part in a wave, the one that comes closest to its limit."
    if len(rows) > MAX_ROWS:
        note += f" {MAX_ROWS:,} of {plural(len(rows), 'wave')} are listed."
    return table("Log dirs on the way", _COLUMNS, rows[:MAX_ROWS], note=note)
