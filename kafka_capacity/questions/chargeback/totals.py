"""What topics, groups, client ids and owners pay in all, and what crosses racks: read from the stored tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.questions.chargeback.split import CHARGES

CENTS = tuple(f"{charge}_cents" for charge in CHARGES)

Row = dict[str, Any]


def paid_by(table: pa.Table, column: str) -> list[Row]:
    """Sum the rows of ``chargeback`` by a column, those that pay most first; null is of nobody known, and last."""
    names = [*CENTS, "total_cents"]
    grouped = table.group_by(column).aggregate([(name, "sum") for name in names])
    rows = [{column: row[column], **{name: row[f"{name}_sum"] for name in names}} for row in grouped.to_pylist()]
    return sorted(rows, key=lambda row: (row[column] is None, -row["total_cents"], row[column] or ""))


def paid_by_group(table: pa.Table) -> list[Row]:
    """Sum what groups pay, by group and owner, as :func:`paid_by` does; what is read by nobody known is none of it."""
    return [row for row in paid_by(table, "group_id") if row["group_id"] is not None]


def paid_by_client(table: pa.Table) -> list[Row]:
    """Sum what producers and groups pay by client ids; null is of groups whose members are not known."""
    is_client = pc.or_(pc.is_valid(table.column("group_id")), pc.is_valid(table.column("client_id")))
    return paid_by(table.filter(is_client), "client_id")


def charged(bill: pa.Table) -> dict[str, int]:
    """Return what each charge of ``chargeback_bill`` comes to, in cents; 0 where it is not there."""
    found = dict.fromkeys(map(str, CHARGES), 0)
    for row in bill.to_pylist():
        found[row["charge"]] += row["cents"]
    return found


def crossing(flows: pa.Table) -> pa.Table:
    """Return the rows of ``rack_flows`` that leave their rack; two brokers without a rack stand apart."""
    is_within = pc.equal(flows.column("from_rack"), flows.column("to_rack"))
    return flows.filter(pc.invert(pc.fill_null(is_within, False)))


def rack_matrix(flows: pa.Table) -> list[Row]:
    """Sum the rows of ``rack_flows`` by flow and racks, in their order."""
    keys = ["flow", "from_rack", "to_rack"]
    grouped = flows.group_by(keys).aggregate([("bytes_per_second", "sum")])
    rows = grouped.rename_columns({"bytes_per_second_sum": "bytes_per_second"}).to_pylist()
    return sorted(rows, key=lambda row: tuple((row[key] is None, row[key] or "") for key in keys))


def summed(table: pa.Table, column: str) -> float:
    """Return the sum of a column, 0 of no rows."""
    return float(pc.sum(table.column(column)).as_py() or 0.0)


def scope_of(tables: Mapping[str, pa.Table]) -> Row:
    """Return the one row of ``chargeback_scope``."""
    (row,) = tables["chargeback_scope"].to_pylist()
    return dict(row)
