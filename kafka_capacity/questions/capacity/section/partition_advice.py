"""Which topics need more partitions, and which have a partition that gets far more than its share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_capacity.questions.capacity.sizing_steps import sizing_of
from kafka_capacity.report.sections import section
from kafka_capacity.report.tables import NOTE, cells, column, table
from kafka_capacity.report.view import ReportView
from kafka_capacity.text import capitalised, plural


def _finding(one: Mapping[str, Any]) -> str:
    found = ["more partitions"] if one["needed"] > one["partitions"] else []
    return " and ".join([*found, "hot key"] if one["is_hot"] else found)


_COLUMNS = (
    column("topic", "Topic", "name"),
    column("what", "Finding", "text", _finding),
    column("counts", "Partitions", "count_change", lambda one: (one["partitions"], one["needed"])),
    column("peak_bytes_per_second", "Produced at peak", "rate"),
    column("fullest_bytes_per_second", "Fullest partition", "rate"),
    column("allowed_bytes_per_second", "Allowed", "rate"),
    column("remapped_ratio", "Keys that move", "percent", lambda one: one["remapped_ratio"] or None),
    column("added_replicas", "Added replicas", "count", lambda one: one["added_replicas"] or None),
)


@section("partition_advice", title="Partitions", order=36, is_closed=True)
def build(view: ReportView) -> dict[str, Any] | None:
    """Return the topics with something to do."""
    sizing = view.of(sizing_of)
    if sizing is None:
        return None
    advised = sizing.document["partitions"]
    wanting = sum(one["needed"] > one["partitions"] for one in advised)
    hot = sum(one["is_hot"] for one in advised)
    more = sizing.document["partitions_advised"] - len(advised)
    rows = [{**cells(_COLUMNS, one), NOTE: f"{capitalised(str(one['reason']))}."} for one in advised]
    note = "Rates are at the horizon; when a key moves, the order of its records breaks once."
    if more > 0:
        note += f" {more:,} more topics are not listed."
    line = "No topic needs more partitions up to the horizon: no partition gets more than it may."
    if advised:
        need, have = ("needs" if wanting == 1 else "need"), ("has" if hot == 1 else "have")
        line = f"{plural(wanting, 'topic')} {need} more partitions up to the horizon; {hot:,} {have} a hot one."
    return {"line": line, "table": table("Topics to change", _COLUMNS, rows, note=note) if rows else None}
