"""The metadata quorum of an inventory."""

from __future__ import annotations

from kafka_capacity.inventory.column_values import values
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.kafka.controller.quorum.voters import Quorum, QuorumReplica


def read_quorum(raw: RawInventory) -> Quorum:
    """Return who votes and who observes; a node without a rack of its own has that of the broker with its id."""
    brokers = raw.table("brokers")
    racks = dict(zip(values(brokers.column("broker_id")), values(brokers.column("rack")), strict=True))
    rows = raw.table("quorum_replicas").sort_by([("node_id", "ascending"), ("is_voter", "ascending")]).to_pylist()
    return Quorum(
        replicas=tuple(
            QuorumReplica(
                node_id=row["node_id"],
                is_voter=row["is_voter"],
                is_broker=row["node_id"] in racks,
                rack=row["rack"] if row["rack"] is not None else racks.get(row["node_id"]),
                directory_id=row["directory_id"],
                endpoint=None if row["host"] is None or row["port"] is None else f"{row['host']}:{row['port']}",
                is_active=bool(row["is_active"]),
                **{name: row[name] for name in ("lag_records", "behind_seconds", "is_named", "auto_joins")},
            )
            for row in rows
        ),
        kraft_version=next((row["kraft_version"] for row in rows if row["kraft_version"] is not None), None),
    )
