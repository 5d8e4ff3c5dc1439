"""What one option does to each broker, rack, topic and partition: rows for charts, and tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.questions.change.change_view import ShownChange
from kafka_capacity.questions.change.choice import Option
from kafka_capacity.report.tables import column, table
from kafka_capacity.text import format_bytes, plural

WHO = (column("broker", "Broker", "id"), column("rack", "Rack", "name"))
_BROKERS = (
    *WHO,
    column("bytes_before", "Bytes before", "bytes"),
    column("bytes_after", "Bytes after", "bytes"),
    column("other_bytes", "Other data", "bytes"),
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
_OTHER_DATA = "Other data is what disks have in use beside replicas: it fills them too, and no change takes it away."
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


_SUMMED_BY_RACK = ("bytes_before", "bytes_after", "replicas_before", "replicas_after", "leaders_after", "move_in_bytes")
TOP_ROWS = 20  # of partitions and of topics; the reassignment files have all


def change_tables(view: ShownChange, option: Option, *, has_topics: bool = True) -> dict[str, Any]:
    """Return the tables of one option that Kafka would not refuse; ``None`` for those that would be empty.

    ``has_topics`` says whether to sum up by topic and rack as well.
    """
    brokers, moves = broker_rows(view.inputs.tables, option), moves_of(view.inputs.tables, option)
    return {
        "brokers": broker_table(brokers, has_rates=view.rate_history_hours > 0),
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
    note = "Leaders are preferred leaders: the first replica of each list."
    if any(row["other_bytes"] for row in brokers):
        note += f" {_OTHER_DATA}"
    else:
        left_out |= {"other_bytes"}
    shown = [one for one in _BROKERS if one.key not in left_out]
    return table("Each broker before and after", shown, brokers, note=note)


def _move_table(moves: pa.Table) -> dict[str, Any]:
    """Return the partitions that copy most, the largest first."""
    total = pc.sum(moves["moved_bytes"]).as_py()
    order = [("moved_bytes", "descending"), ("topic", "ascending"), ("partition", "ascending")]
    rows = moves.sort_by(order).slice(0, TOP_ROWS).to_pylist()
    shown = sum(row["moved_bytes"] for row in rows)
    note = None
    if len(moves) > TOP_ROWS:
        note = (
            f"The {len(rows)} largest, {format_bytes(shown)}, of {plural(len(moves), 'replica list')} that change, "
            f"{format_bytes(total)} in all."
        )
    return table("The largest moves", _MOVES, rows, note=note)


def broker_rows(tables: Mapping[str, pa.Table], option: Option) -> list[dict[str, Any]]:
    """Return each broker before and after, by rack and id, under ``broker`` named by whether it comes or goes.

    A fill is ``None`` where the disk is not known.
    """
    loads = tables["broker_load"]
    rows = loads.filter(pc.equal(loads["scenario_id"], option.scenario_id)).to_pylist()
    for row in rows:
        capacity = row["disk_capacity_bytes"]
        is_known = capacity is not None and math.isfinite(capacity) and capacity > 0
        row["broker"] = f"{row['broker_id']}{' (new)' if row['is_new'] else ' (removed)' if row['is_removed'] else ''}"
        other = row["other_bytes"] = row.get("other_bytes") or 0.0  # which an older plan does not tell
        row["fill_before"] = (row["bytes_before"] + other) / capacity if is_known else None
        row["fill_after"] = (row["bytes_after"] + other) / capacity if is_known else None
        row["bytes_change"] = row["bytes_after"] - row["bytes_before"]
    return sorted(rows, key=lambda row: (row["rack"] is None, row["rack"] or "", row["broker_id"]))


def _rack_table(brokers: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Sum brokers by rack; those without one are a row of their own at the end. ``None`` for a single rack."""
    import pandas as pd  # half a second that only a report needs

    frame = pd.DataFrame(brokers)
    frame["brokers_before"] = ~frame["is_new"]
    frame["brokers_after"] = ~frame["is_removed"]
    # A broker that goes has no say in how full its rack is; one whose disk is not known leaves the rack unknown.
    frame["capacity"] = frame["disk_capacity_bytes"].astype("float64").mask(frame["is_removed"], 0.0)
    frame["other"] = frame["other_bytes"].mask(frame["is_removed"], 0.0)
    by_rack = frame.groupby("rack", dropna=False, sort=True)
    sums = by_rack[[*_SUMMED_BY_RACK, "brokers_before", "brokers_after"]].sum()
    capacity = by_rack["capacity"].sum(min_count=1).where(by_rack["capacity"].count() == by_rack.size())
    sums["fill_after"] = (
        ((sums["bytes_after"] + by_rack["other"].sum()) / capacity)
        .astype(object)
        .where((capacity > 0) & (capacity < math.inf), None)
    )
    rows: list[Any] = sums.reset_index().to_dict("records")
    for row in rows:
        row["rack"] = row["rack"] if isinstance(row["rack"], str) else "no rack"
    return table("Each rack before and after", _RACKS, rows) if len(rows) > 1 else None


def moves_of(tables: Mapping[str, pa.Table], option: Option) -> pa.Table:
    """Return the partitions whose replica list changes; empty where a plan does not list them for this option."""
    moves = tables["moves"]
    return moves.filter(pc.equal(moves["scenario_id"], option.scenario_id))


def _topic_table(moves: pa.Table) -> dict[str, Any]:
    """Return the topics that copy most, the largest first, with what part of all copied bytes is theirs."""
    import pandas as pd  # half a second that only a report needs

    frame = pd.DataFrame(
        {
            "topic": moves["topic"].to_numpy(),
            "moved_bytes": moves["moved_bytes"].to_numpy(),
            "partitions": 1,
            "replicas": pc.list_value_length(moves["added"]).to_numpy(),
            "leaders": moves["is_leader_changed"].to_numpy(),
        }
    )
    sums = frame.groupby("topic", as_index=False).sum()
    total = int(sums["moved_bytes"].sum())
    sums["share"] = sums["moved_bytes"] / total if total else 0.0
    largest = sums.sort_values(["moved_bytes", "topic"], ascending=[False, True])
    rows: list[Any] = largest.head(TOP_ROWS).to_dict("records")
    note = f"The {len(rows)} of {len(sums):,} topics that copy most." if len(sums) > TOP_ROWS else None
    return table("Bytes to copy, by topic", _TOPICS, rows, note=note)
