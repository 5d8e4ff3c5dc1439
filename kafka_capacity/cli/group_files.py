"""What came of consumer groups, as files: for scripts and spreadsheets.

    groups.json           for each group the advice, its figures and every scenario with its events
    group_….parquet       the tables of :mod:`kafka_capacity.questions.consumers.tables`; or .csv, with lists as JSON

The same input gives the same bytes. Everything is worked out before the first byte is written.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Literal

import pyarrow as pa

from kafka_capacity.cli.documents import document_head, write_files
from kafka_capacity.cli.group_planning import PlannedGroups
from kafka_capacity.objects.dataset import canonical_json, parquet_bytes
from kafka_capacity.objects.store import open_store
from kafka_capacity.questions.consumers.advice import GroupAdvice, Row
from kafka_capacity.questions.consumers.tables import GROUP_TABLES

SCHEMA_VERSION = 1
GROUPS = "groups.json"

TableFormat = Literal["parquet", "csv"]


def groups_document(planned: PlannedGroups) -> dict[str, Any]:
    """Give ``groups.json``: null where there is no figure, or none that ends."""
    by_group: dict[str, list[Row]] = defaultdict(list)
    for row in planned.scenarios:
        by_group[row["group_id"]].append(row)
    return {
        **document_head(SCHEMA_VERSION, cluster=planned.cluster, ds=planned.ds),
        "request": dataclasses.asdict(planned.request),
        "groups": [
            {
                **_advice(advice),
                "facts": planned.facts[advice.group_id],
                "scenarios": [_scenario(row, advice) for row in by_group[advice.group_id]],
            }
            for advice in planned.advice
        ],
        "skipped": list(planned.skipped),
    }


def _advice(advice: GroupAdvice) -> dict[str, Any]:
    return {
        "group_id": advice.group_id,
        "today": advice.today["scenario_id"] if advice.today is not None else None,
        "recommended": advice.recommended["scenario_id"] if advice.recommended is not None else None,
        "spoken_of": advice.spoken_of["scenario_id"],
        "is_at_risk": advice.is_at_risk,
        "is_change": advice.is_change,
        "reason": advice.reason,
    }


def _scenario(row: Row, advice: GroupAdvice) -> dict[str, Any]:
    # A row names its events in the order asked for; what each of them does follows in that order.
    churn = advice.churn[row["scenario_id"]]
    outcomes = [churn[event] for event in row["events"] if event in churn]
    return {**row, "excuses": json.loads(row["excuses"]), "events": outcomes}


def csv_bytes(table: pa.Table) -> bytes:
    """Write a table as CSV; nothing stands for null, and lists are JSON."""
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(table.column_names)
    for row in table.to_pylist():
        writer.writerow([json.dumps(v, ensure_ascii=False) if isinstance(v, list) else v for v in row.values()])
    return sink.getvalue().encode()


def write_groups(out: str, planned: PlannedGroups, document: Mapping[str, Any], table_format: TableFormat) -> None:
    """Write the tables, then ``groups.json``, and take away tables that an earlier run left in the other format.

    Args:
        out: a folder or an ``s3://`` address.
        planned: what came of the groups.
        document: of :func:`groups_document`.
        table_format: of the tables.
    """
    write = parquet_bytes if table_format == "parquet" else csv_bytes
    files = {f"{name}.{table_format}": write(planned.tables[name]) for name in GROUP_TABLES}
    store = open_store(out)
    for name in GROUP_TABLES:
        store.delete(f"{name}.{'csv' if table_format == 'parquet' else 'parquet'}")
    write_files(store, {**files, GROUPS: canonical_json(dict(document))})
