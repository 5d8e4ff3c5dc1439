"""Which cluster and which day an inventory is of."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from kafka_capacity.health.problem import Problem
from kafka_capacity.inventory.findings import fatal
from kafka_capacity.inventory.raw import RawInventory, is_day, is_utc_moment

MAX_CLUSTER_NAME_LENGTH = 255  # it is one level of a path, and file systems give that 255


def check_identity(raw: RawInventory) -> Iterator[Problem]:
    """Check the name of the cluster, the day and the moment."""
    name = raw.cluster
    if not name:
        yield fatal("cluster_name", "cluster", "the name of the cluster is empty; give it one")
    elif len(name) > MAX_CLUSTER_NAME_LENGTH:
        yield fatal(
            "cluster_name",
            "cluster",
            f"the name of the cluster has {len(name)} characters; shorten it to {MAX_CLUSTER_NAME_LENGTH} or fewer",
        )
    # Cc are control characters, Cs halves of a surrogate pair: neither can stand in a key or be printed as typed.
    elif any(unicodedata.category(character) in {"Cc", "Cs"} for character in name):
        yield fatal(
            "cluster_name", "cluster", f"the name of the cluster, {name!r}, has control characters; remove them"
        )
    if not is_day(raw.ds):
        yield fatal("day", "ds", f"ds {raw.ds!r} is not a day; write it as YYYY-MM-DD")
    if raw.captured_at is not None and not is_utc_moment(raw.captured_at):
        yield fatal(
            "captured_at",
            "captured_at",
            f"captured_at {raw.captured_at!r} is not a moment in UTC; write it as 2026-11-20T03:00:00Z",
        )
