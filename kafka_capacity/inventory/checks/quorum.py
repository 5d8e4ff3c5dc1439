"""Voters and observers of the metadata quorum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pyarrow as pa

from kafka_capacity.health.problem import Problem, fatal, some
from kafka_capacity.inventory.column_values import values


def check_quorum_replicas(replicas: pa.Table) -> Iterator[Problem]:
    """Check the table of voters and observers by itself: an id votes once, and one of the voters is active."""
    rows = list(zip(*(values(replicas.column(name)) for name in ("node_id", "is_voter", "is_active")), strict=True))
    twice = sorted(node for node, count in Counter(node for node, votes, _ in rows if votes).items() if count > 1)
    if twice:
        yield fatal(
            "duplicate_voter",
            "quorum_replicas.node_id",
            f"controllers that vote more than once: {some(twice, len(twice))}; keep one each, and as an observer "
            "one that came back with another directory",
        )
    active = sorted({node for node, _, is_active in rows if is_active})
    if len(active) > 1:
        yield fatal(
            "several_active_controllers",
            "quorum_replicas.is_active",
            f"controllers {some(active, len(active))} are all active; only one is, keep the one with the latest epoch",
        )
