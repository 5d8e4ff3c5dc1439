"""What one option does to each broker, rack, topic and partition: rows for tables and charts."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.report.options import Option

TOP_ROWS = 20
"""Of partitions and of topics; the reassignment files have all."""


def broker_rows(tables: Mapping[str, pa.Table], option: Option) -> list[dict[str, Any]]:
    """Give each broker before and after, by rack and id; a fill is ``None`` where the disk is not known."""
    loads = tables["broker_load"]
    rows = loads.filter(pc.equal(loads["scenario_id"], option.scenario_id)).to_pylist()
    for row in rows:
        capacity = row["disk_capacity_bytes"]
        is_known = capacity is not None and math.isfinite(capacity) and capacity > 0
        row["broker"] = broker_name(row)
        row["fill_before"] = row["bytes_before"] / capacity if is_known else None
        row["fill_after"] = row["bytes_after"] / capacity if is_known else None
        row["bytes_change"] = row["bytes_after"] - row["bytes_before"]
    return sorted(rows, key=lambda row: (row["rack"] is None, row["rack"] or "", row["broker_id"]))


def broker_name(row: Mapping[str, Any]) -> str:
    """Name a broker, and say whether it comes or goes."""
    state = " (new)" if row["is_new"] else (" (removed)" if row["is_removed"] else "")
    return f"{row['broker_id']}{state}"


def rack_rows(brokers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sum brokers by rack; those without one are a row of their own at the end."""
    groups: dict[str | None, list[dict[str, Any]]] = defaultdict(list)
    for row in brokers:
        groups[row["rack"]].append(row)
    return [_rack_row(rack, groups[rack]) for rack in sorted(groups, key=lambda rack: (rack is None, rack or ""))]


def _rack_row(rack: str | None, rows: list[dict[str, Any]]) -> dict[str, Any]:
    summed = ("bytes_before", "bytes_after", "replicas_before", "replicas_after", "leaders_after", "move_in_bytes")
    disks = [row["disk_capacity_bytes"] for row in rows if not row["is_removed"]]
    capacity = sum(disks) if disks and all(disk is not None and math.isfinite(disk) for disk in disks) else 0
    after = sum(row["bytes_after"] for row in rows)
    return {
        "rack": "no rack" if rack is None else rack,
        "brokers_before": sum(1 for row in rows if not row["is_new"]),
        "brokers_after": sum(1 for row in rows if not row["is_removed"]),
        **{name: sum(row[name] for row in rows) for name in summed},
        "fill_after": after / capacity if capacity else None,
    }


def moves_of(tables: Mapping[str, pa.Table], option: Option) -> pa.Table:
    """Give the partitions whose replica list changes; empty where a plan does not list them for this option."""
    moves = tables["moves"]
    return moves.filter(pc.equal(moves["scenario_id"], option.scenario_id))


def largest_moves(moves: pa.Table) -> list[dict[str, Any]]:
    """Give the partitions that copy most, the largest first."""
    order = [("moved_bytes", "descending"), ("topic", "ascending"), ("partition", "ascending")]
    return list(moves.sort_by(order).slice(0, TOP_ROWS).to_pylist())


def largest_topics(moves: pa.Table) -> list[dict[str, Any]]:
    """Give the topics that copy most, the largest first, with what part of all copied bytes is theirs."""
    if not len(moves):
        return []
    counted = pa.table(
        {
            "topic": moves["topic"],
            "moved_bytes": moves["moved_bytes"],
            "replicas": pc.list_value_length(moves["added"]),
            "leaders": moves["is_leader_changed"].cast(pa.int64()),
        }
    )
    sums = counted.group_by("topic").aggregate(
        [("moved_bytes", "sum"), ("moved_bytes", "count"), ("replicas", "sum"), ("leaders", "sum")]
    )
    total = pc.sum(moves["moved_bytes"]).as_py()
    rows = sums.sort_by([("moved_bytes_sum", "descending"), ("topic", "ascending")]).slice(0, TOP_ROWS).to_pylist()
    return [
        {
            "topic": row["topic"],
            "moved_bytes": row["moved_bytes_sum"],
            "share": row["moved_bytes_sum"] / total if total else 0.0,
            "partitions": row["moved_bytes_count"],
            "replicas": row["replicas_sum"],
            "leaders": row["leaders_sum"],
        }
        for row in rows
    ]
