"""What came of consumer groups, as files: for scripts and spreadsheets.

    groups.json           for each group what is decided, its figures and every scenario with its events
    group_….parquet       the tables of :mod:`kafka_capacity.questions.consumers.tables`; or .csv, with lists as JSON

The same input gives the same bytes. Everything is worked out before the first byte is written.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

from kafka_capacity.cli.documents import csv_table, write_files
from kafka_capacity.cli.group_planning import PlannedGroups
from kafka_capacity.objects.dataset import canonical_json, parquet_bytes
from kafka_capacity.objects.store import open_store
from kafka_capacity.questions.consumers.choice import GroupChoice, excuses_of
from kafka_capacity.questions.consumers.decide import decided_groups
from kafka_capacity.questions.consumers.tables import GROUP_TABLES

GROUPS = "groups.json"

TableFormat = Literal["parquet", "csv"]


def groups_document(planned: PlannedGroups) -> dict[str, Any]:
    """Return ``groups.json``: null where there is no figure, or none that ends."""
    choices = {group.group_id: group.choice for group in planned.groups}
    decided = decided_groups(planned.answer)
    return {
        "request": dataclasses.asdict(planned.found.inputs.request),
        **decided,
        "groups": [{**group, **_rows(choices[group["group_id"]])} for group in decided["groups"]],
        "skipped": list(planned.found.skipped),
        "shared": list(planned.found.shared),
    }


def _rows(group: GroupChoice) -> dict[str, Any]:
    scenarios = [{**row, "excuses": excuses_of(row), "events": group.outcomes(row)} for row in group.scenarios]
    return {"facts": group.facts, "scenarios": scenarios}


def write_groups(out: str, planned: PlannedGroups, document: Mapping[str, Any], table_format: TableFormat) -> None:
    """Write the tables, then ``groups.json``, and take away tables that an earlier run left in the other format.

    ``out`` is a folder or an ``s3://`` address.
    """
    write = parquet_bytes if table_format == "parquet" else csv_table
    files = {f"{name}.{table_format}": write(planned.tables[name]) for name in GROUP_TABLES}
    store = open_store(out)
    for name in GROUP_TABLES:
        store.delete(f"{name}.{'csv' if table_format == 'parquet' else 'parquet'}")
    write_files(store, {**files, GROUPS: canonical_json(dict(document))})
