"""The tables of one option's change, for the recommended option and for each other one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.questions.change.choice import Option
from kafka_capacity.questions.change.section.change_figures import (
    TOP_ROWS,
    broker_rows,
    largest_moves,
    largest_topics,
    moves_of,
    rack_rows,
)
from kafka_capacity.report.tables import column, table
from kafka_capacity.text import format_bytes, plural

_BROKERS = (
    column("broker", "Broker", "id"),
    column("rack", "Rack", "name"),
    column("bytes_before", "Bytes before", "bytes"),
    column("bytes_after", "Bytes after", "bytes"),
    column("fill_before", "Disk before", "percent"),
    column("fill_after", "Disk after", "percent"),
    column("move_in_bytes", "Receives", "bytes"),
    column("move_out_bytes", "Sends", "bytes"),
    column("replicas_before", "Replicas before", "count"),
    column("replicas_after", "Replicas after", "count"),
    column("leaders_before", "Leaders before", "count"),
    column("leaders_after", "Leaders after", "count"),
    column("peak_in_after", "Peak in after", "rate"),
    column("peak_out_after", "Peak out after", "rate"),
)
_PEAKS = frozenset({"peak_in_after", "peak_out_after"})
_FILLS = frozenset({"fill_before", "fill_after"})
_RACKS = (
    column("rack", "Rack", "name"),
    column("brokers_before", "Brokers before", "count"),
    column("brokers_after", "Brokers after", "count"),
    column("bytes_before", "Bytes before", "bytes"),
    column("bytes_after", "Bytes after", "bytes"),
    column("fill_after", "Disk after", "percent"),
    column("replicas_before", "Replicas before", "count"),
    column("replicas_after", "Replicas after", "count"),
    column("leaders_after", "Leaders after", "count"),
    column("move_in_bytes", "Receives", "bytes"),
)
_TOPICS = (
    column("topic", "Topic", "name"),
    column("moved_bytes", "Copied", "bytes"),
    column("share", "Of all copied", "percent"),
    column("partitions", "Partitions", "count"),
    column("replicas", "Replicas copied", "count"),
    column("leaders", "New leaders", "count"),
)
_MOVES = (
    column("topic", "Topic", "name"),
    column("partition", "Partition", "id"),
    column("size_bytes", "Size", "bytes"),
    column("moved_bytes", "Copied", "bytes"),
    column("replicas_before", "Replicas before", "ids"),
    column("replicas_after", "Replicas after", "ids"),
    column("is_leader_changed", "New leader", "yes"),
)


def change_tables(
    tables: Mapping[str, pa.Table], option: Option, *, has_rates: bool, has_topics: bool = True
) -> dict[str, Any]:
    """Return the tables of one option by their names; ``None`` for those that would be empty.

    Args:
        tables: of the plan.
        option: one that Kafka would not refuse.
        has_rates: whether peaks are known.
        has_topics: whether to sum up by topic and rack as well.
    """
    brokers = broker_rows(tables, option)
    moves = moves_of(tables, option)
    return {
        "brokers": broker_table(brokers, has_rates=has_rates),
        "racks": _rack_table(brokers) if has_topics else None,
        "topics": _topic_table(moves) if has_topics and len(moves) else None,
        "moves": _move_table(moves) if len(moves) else None,
        "is_unlisted": not len(moves) and bool(option.figures["changed_partitions"]),
    }


def broker_table(brokers: list[dict[str, Any]], *, has_rates: bool) -> dict[str, Any]:
    """Return each broker before and after, without the columns that nothing is known of."""
    left_out = (frozenset() if has_rates else _PEAKS) | (
        frozenset() if any(row["fill_after"] is not None for row in brokers) else _FILLS
    )
    return table(
        "Each broker before and after",
        [one for one in _BROKERS if one.key not in left_out],
        brokers,
        note="Leaders are preferred leaders: the first replica of each list.",
    )


def _rack_table(brokers: list[dict[str, Any]]) -> dict[str, Any] | None:
    rows = rack_rows(brokers)
    return table("Each rack before and after", _RACKS, rows) if len(rows) > 1 else None


def _topic_table(moves: pa.Table) -> dict[str, Any]:
    count = len(pc.unique(moves["topic"]))
    rows = largest_topics(moves)
    note = f"The {len(rows)} of {count:,} topics that copy most." if count > TOP_ROWS else None
    return table("Bytes to copy, by topic", _TOPICS, rows, note=note)


def _move_table(moves: pa.Table) -> dict[str, Any]:
    total = pc.sum(moves["moved_bytes"]).as_py()
    rows = largest_moves(moves)
    shown = sum(row["moved_bytes"] for row in rows)
    note = None
    if len(moves) > TOP_ROWS:
        note = (
            f"The {len(rows)} largest, {format_bytes(shown)}, of {plural(len(moves), 'replica list')} that change, "
            f"{format_bytes(total)} in all."
        )
    return table("The largest moves", _MOVES, rows, note=note)
