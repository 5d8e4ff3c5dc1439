"""The tables of a plan about chargeback and bytes between racks, and what they come to in all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.objects.tables import Int32, Tables, schema_of, table_of_columns, table_of_rows
from kafka_capacity.questions.chargeback.split import CHARGES

CENTS = tuple(f"{charge}_cents" for charge in CHARGES)

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeRow:
    """What each pays a month, in cents: one row a topic, producing client id, and consumer group and client id.

    A row with a client id and no group is what that client produces to the topic. One with neither is what the topic
    itself carries, and what is produced to it and read of it by nobody known. ``owner`` is that of
    the group, else of the topic; null where nobody is known to own it. The totals, and headroom and idle capacity of
    ``chargeback_bill`` where these are not shared out, sum to the bill.
    """

    topic: str
    group_id: str | None
    client_id: str | None
    owner: str | None
    storage_cents: int
    produce_cents: int
    replicate_cents: int
    consume_cents: int
    cross_rack_cents: int
    partitions_cents: int
    headroom_cents: int
    idle_cents: int
    total_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BillRow:
    """One row a part of the bill and what it is paid for, in cents a month; all of them sum to the bill."""

    part: str
    charge: str
    cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginalRow:
    """One row a topic, group or owner: its share of the bill, and what that of the smallest size would be less without.

    ``kind`` is ``topic``, ``group`` or ``owner``. Null is what is not known: of a price, or where no size that was
    tried carries what is left. ``broker_count`` is of the smallest size without it.
    """

    kind: str
    name: str
    average_cents: int
    marginal_cents: int | None
    broker_count: Int32 | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargebackScope:
    """The one row about all of it.

    ``reason`` is why the bill is not shared out, null where it is. ``priced_as`` is the shape whose prices stand in
    for those that nobody gave. ``binding`` decides how many brokers are needed, which with all that there is are
    ``broker_count`` of the smallest size, for ``smallest_cents`` a month. ``unknown`` names the resources whose
    capacity is not known, and which may decide instead; null for none.
    """

    shape: str
    priced_on: str | None
    priced_as: str | None
    reason: str | None = None
    total_cents: int | None = None
    binding: str | None
    unknown: str | None = None
    broker_count_now: Int32
    broker_count: Int32 | None = None
    smallest_cents: int | None = None
    owners: Int32
    usd_per_gib_between_racks: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TieredRow:
    """One row a topic in tiered storage (KIP-405): what the object store holds of it.

    That is what brokers measured (``is_measured``), else what is there once its retention is reached. It is null, as
    are its dollars a month, where neither is known: the topic has no limit, or no rates are known. Dollars are beside
    the bill. ``remote_read_bytes_per_second`` is what groups read of it that are further behind than brokers keep.
    """

    topic: str
    owner: str | None
    remote_bytes: float | None
    usd_per_month: float | None
    is_measured: bool
    remote_read_bytes_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RackFlowRow:
    """One row a topic, group, flow (``produce``, ``replicate``, ``consume``) and pair of racks, on average.

    ``is_known`` where both racks are, and are not assumed. ``saved_bytes_per_second`` is what follower fetching would
    keep within a rack.
    """

    topic: str
    group_id: str | None
    flow: str
    from_rack: str | None
    to_rack: str | None
    is_known: bool
    bytes_per_second: float
    saved_bytes_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RackTopicRow:
    """One row a topic: what a rack-aware partitioner would keep in its rack at most, and how uneven partitions get.

    Ratios are of the fullest partition over the mean, now as measured and then; null without traffic.
    """

    topic: str
    produced_bytes_per_second: float
    saved_bytes_per_second: float
    fullest_ratio_now: float | None
    fullest_ratio_after: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RackBrokerRow:
    """One row a broker: bytes per second that clients read from it and produce to it, now and with each setting."""

    broker_id: Int32
    rack: str | None
    read_now: float
    read_with_follower_fetching: float
    produced_now: float
    produced_with_rack_aware: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RackLeaderRow:
    """One row a topic whose producers' racks are known: what leaders there would keep within racks, by flow.

    It is negative where more would cross racks; what providers do not bill for replication is not counted.
    """

    topic: str
    producer_racks: tuple[str, ...]
    partitions: Int32
    moved_partitions: Int32
    produce_bytes_per_second: float
    replicate_bytes_per_second: float
    consume_bytes_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RackLeaderBrokerRow:
    """One row a broker, where there is one a topic: how many partitions it leads, and what is produced to these."""

    broker_id: Int32
    rack: str | None
    leaders_now: Int32
    leaders_then: Int32
    produced_now: float
    produced_then: float


CHARGEBACK_TABLES: Tables = {
    "chargeback": (schema_of(ChargeRow), ("topic", "group_id", "client_id")),
    "chargeback_bill": (schema_of(BillRow), ("part", "charge")),
    "chargeback_marginal": (schema_of(MarginalRow), ("kind", "name")),
    "chargeback_scope": (schema_of(ChargebackScope), ("shape",)),
    "chargeback_tiered": (schema_of(TieredRow), ("topic",)),
    "rack_flows": (schema_of(RackFlowRow), ("topic", "group_id", "flow", "from_rack", "to_rack", "is_known")),
    "rack_topics": (schema_of(RackTopicRow), ("topic",)),
    "rack_brokers": (schema_of(RackBrokerRow), ("broker_id",)),
    "rack_leaders": (schema_of(RackLeaderRow), ("topic",)),
    "rack_leader_brokers": (schema_of(RackLeaderBrokerRow), ("broker_id",)),
}


def of_rows(name: str, rows: Iterable[object]) -> pa.Table:
    """Make the table of that name of its rows."""
    return table_of_rows(CHARGEBACK_TABLES[name][0], rows)


def of_columns(name: str, columns: Mapping[str, Any], *, of: object = None) -> pa.Table:
    """Make the table of that name of its columns; see :func:`~kafka_capacity.objects.tables.table_of_columns`."""
    return table_of_columns(CHARGEBACK_TABLES[name][0], len(next(iter(columns.values()))), columns, of=of)


def paid_by(table: pa.Table, column: str) -> list[Row]:
    """Sum the rows of ``chargeback`` by a column, those that pay most first; null is of nobody known, and last."""
    names = [*CENTS, "total_cents"]
    grouped = table.group_by(column).aggregate([(name, "sum") for name in names])
    rows = [{column: row[column], **{name: row[f"{name}_sum"] for name in names}} for row in grouped.to_pylist()]
    return sorted(rows, key=lambda row: (row[column] is None, -row["total_cents"], row[column] or ""))


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
