"""Chargeback: who pays what of today's bill, and what crosses racks; all tables as CSV beside the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from kafka_capacity.questions.chargeback.decide import WORDS, usd_of
from kafka_capacity.questions.chargeback.evaluate import GROUP, OWNER, TOPIC
from kafka_capacity.questions.chargeback.share import CHARGEBACK
from kafka_capacity.questions.chargeback.split import CHARGES
from kafka_capacity.questions.chargeback.tables import (
    CENTS,
    Row,
    paid_by,
    paid_by_client,
    rack_matrix,
    scope_of,
)
from kafka_capacity.report.sections import section
from kafka_capacity.report.tables import Column, cells, chosen, column, table
from kafka_capacity.report.view import ReportView

SHOWN_ROWS = 5  # of the table on the page
_SHOWN = ("owner", "total", "marginal")  # columns of it
MAX_ROWS = 1_000  # of a table beside it; what is left is one row more, so that it sums to the same
REST = "all others"
NOBODY = "nobody known"


def _usd(name: str) -> Any:
    return lambda row: usd_of(row[name])


_TOTAL = column("total", "Per month", "usd", _usd("total_cents"))
_CHARGES = tuple(column(str(charge), WORDS[charge].capitalize(), "usd", _usd(f"{charge}_cents")) for charge in CHARGES)
_MARGINAL = column(
    "marginal",
    "Marginal cost",
    "usd",
    _usd("marginal_cents"),
    "Marginal cost: how much smaller the bill of the smallest sufficient size would be without it.",
)
_COUNT = column("broker_count", "Brokers without it", "count")
TOPICS = (column("topic", "Topic", "name"), _TOTAL, *_CHARGES, _MARGINAL, _COUNT)
OWNERS = (column("owner", "Owner", "name"), _TOTAL, *_CHARGES, _MARGINAL, _COUNT)
GROUPS = (column("group_id", "Consumer group", "name"), _TOTAL, *_CHARGES, _MARGINAL, _COUNT)
CLIENTS = (column("client_id", "Client id", "name"), _TOTAL, *_CHARGES)
BILL = (
    column("charge", "Paid for", "text"),
    column("brokers", "Brokers", "usd", _usd("brokers")),
    column("disks", "Disks", "usd", _usd("disks")),
    column("between_racks", "Between racks", "usd", _usd("between_racks")),
    column("ingest", "Produced", "usd", _usd("ingest")),
    column("total", "Per month", "usd", _usd("total")),
)
TIERED = (
    column("topic", "Topic", "name"),
    column("owner", "Owner", "name"),
    column("remote_bytes", "In the object store", "bytes"),
    column("is_measured", "Measured", "yes"),
    column("usd_per_month", "A month", "usd"),
    column("remote_read_bytes_per_second", "Read from there", "rate"),
)
RACKS = (
    column("flow", "Flow"),
    column("from_rack", "From rack", "name"),
    column("to_rack", "To rack", "name"),
    column("bytes_per_second", "Bytes", "rate"),
)
BROKERS = (
    column("broker_id", "Broker", "id"),
    column("rack", "Rack", "name"),
    column("read_now", "Read today", "rate"),
    column("read_with_follower_fetching", "With follower fetching", "rate"),
    column("produced_now", "Produced today", "rate"),
    column("produced_with_rack_aware", "With rack-aware producers", "rate"),
)
LEADERS = (
    column("broker_id", "Broker", "id"),
    column("rack", "Rack", "name"),
    column("leaders_now", "Leaders now", "count"),
    column("leaders_then", "Leaders then", "count"),
    column("produced_now", "Produced now", "rate"),
    column("produced_then", "Produced then", "rate"),
)


@section(CHARGEBACK.name, title="Who pays what", order=38, is_closed=True)
def build(view: ReportView) -> dict[str, Any] | None:
    """Return the answer and the tables; nothing where a plan says nothing of it."""
    answer = view.decision["answers"].get(CHARGEBACK.name)
    if answer is None:
        return None
    tables = view.inputs.tables
    return {
        "line": answer["headline"],
        "sentences": answer["reasons"],
        "shown": owners_table(tables),
        "tables": list(all_tables(tables, most=MAX_ROWS).values()),
    }


def owners_table(tables: Mapping[str, pa.Table]) -> dict[str, Any] | None:
    """Return which owners pay most; ``None`` where none are known, or nothing is shared out."""
    rows = _payers(tables, OWNER)
    return _table("Owners with the highest cost", chosen(OWNERS, *_SHOWN), rows, most=SHOWN_ROWS) if rows else None


def all_tables(tables: Mapping[str, pa.Table], *, most: int) -> dict[str, dict[str, Any]]:
    """Return every table by name, those without rows left out."""
    ledger, leaders = tables["chargeback"], tables["rack_leader_brokers"].to_pylist()
    groups = [row for row in paid_by(ledger, "group_id") if row["group_id"] is not None]
    found = {
        "bill": _table("Bill", BILL, bill_rows(tables["chargeback_bill"]), most=most),
        "owners": _table("Owners", OWNERS, _payers(tables, OWNER), most=most),
        "topics": _table("Topics", TOPICS, _payers(tables, TOPIC), most=most),
        "groups": _table("Consumer groups", GROUPS, _with_marginal(tables, groups, GROUP, "group_id"), most=most),
        "clients": _table("Client ids", CLIENTS, _named(paid_by_client(ledger), "client_id"), most=most),
        "tiered": _table("Tiered topics", TIERED, tables["chargeback_tiered"].to_pylist(), most=most),
        "racks": _table("Racks", RACKS, rack_matrix(tables["rack_flows"]), most=most),
        "brokers": _table("Brokers", BROKERS, tables["rack_brokers"].to_pylist(), most=most),
        "leaders": _table("Leaders in the racks of producers", LEADERS, leaders, most=most),
    }
    return {name: one for name, one in found.items() if one["rows"]}


def bill_rows(bill: pa.Table) -> list[Row]:
    """Return one row a charge: the cents of each part of the bill, and of all; charges of nothing are left out."""
    parts = [one.key for one in BILL[1:-1]]
    rows: dict[str, Row] = {str(charge): {"charge": WORDS[charge], **dict.fromkeys(parts, 0)} for charge in CHARGES}
    for row in bill.to_pylist():
        rows[row["charge"]][row["part"]] += row["cents"]
    found = [{**row, "total": sum(int(row[part]) for part in parts)} for row in rows.values()]
    return [row for row in found if row["total"]]


def _payers(tables: Mapping[str, pa.Table], kind: str) -> list[Row]:
    if kind == OWNER and not scope_of(tables)["owners"]:
        return []
    return _named(_with_marginal(tables, paid_by(tables["chargeback"], kind), kind, kind), kind)


def _with_marginal(tables: Mapping[str, pa.Table], paid: Sequence[Row], kind: str, key: str) -> list[Row]:
    """Add the marginal cost to rows of who pays, empty where it was not worked out."""
    rows, names = tables["chargeback_marginal"].to_pylist(), ("marginal_cents", "broker_count")
    marginal = {row["name"]: {name: row[name] for name in names} for row in rows if row["kind"] == kind}
    return [{**row, **marginal.get(row[key], dict.fromkeys(names))} for row in paid]


def _named(rows: Sequence[Row], key: str) -> list[Row]:
    return [row if row[key] is not None else {**row, key: NOBODY} for row in rows]


def _table(caption: str, columns: Sequence[Column], rows: Sequence[Row], *, most: int) -> dict[str, Any]:
    """Return the first rows, and the others as one where they are cents; columns that say nothing are left out."""
    kept, left, note = list(rows[:most]), rows[most:], None
    if left and "total_cents" in left[0]:
        sums = {name: sum(row[name] for row in left) for name in (*CENTS, "total_cents")}
        kept.append({**dict.fromkeys(left[0]), **sums, columns[0].key: REST})
    elif left:
        note = f"{len(left):,} more are not listed."
    empty = {one.key for one in _CHARGES if not any(row.get(f"{one.key}_cents") for row in kept)}
    if not any(row.get("marginal_cents") is not None for row in kept):
        empty |= {_MARGINAL.key, _COUNT.key}
    shown = [one for one in columns if one.key not in empty]
    return table(caption, shown, [cells(shown, row) for row in kept], note=note)
