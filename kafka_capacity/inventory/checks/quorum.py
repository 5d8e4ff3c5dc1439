"""Voters and observers of the metadata quorum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pyarrow as pa

from kafka_capacity.health.problem import Problem, fatal, problem_of, some


def check_quorum_replicas(replicas: pa.Table) -> Iterator[Problem]:
    """Check the table of voters and observers by itself: an id votes once, and one of the voters is active."""
    rows = replicas.to_pylist()
    votes = Counter(row["node_id"] for row in rows if row["is_voter"])
    twice = sorted(node for node, count in votes.items() if count > 1)
    message = (
        "controllers that vote more than once: {names}; keep one each, and as an observer one that came back with "
        "another directory"
    )
    yield from problem_of(twice, "controller", fatal, "duplicate_voter", "quorum_replicas.node_id", message)
    active = sorted({row["node_id"] for row in rows if row["is_active"]})
    if len(active) > 1:
        message = f"controllers {some(active)} are all active; only one is, keep the one with the latest epoch"
        yield fatal("several_active_controllers", "quorum_replicas.is_active", message)
