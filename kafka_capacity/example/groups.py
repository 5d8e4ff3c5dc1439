"""Consumer groups for the example clusters."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_capacity.cluster.assignment import Partitions
from kafka_capacity.inventory.tables import TABLES

_PURPOSES = ("etl", "fraud", "search-index", "billing", "dashboards", "archive", "alerts", "features")
_ASSIGNORS = ("range", "cooperative-sticky", "range", "sticky", "roundrobin")
RECORD_BYTES = 900  # a usual size of a JSON event after compression; only the lag in records rests on it


def group_tables(
    names: tuple[str, ...],
    partitions: Partitions,
    mean_in: NDArray[np.float64],
    group_count: int,
    rng: np.random.Generator,
) -> dict[str, pa.Table]:
    """Make ``groups``, ``members`` and ``lags``; every partition of a topic has one owner in its group."""
    groups: list[dict[str, object]] = []
    members: list[dict[str, object]] = []
    lags: list[dict[str, object]] = []
    slices = partitions.topic_slices()
    readable = [index for index, name in enumerate(names) if not name.startswith("__")]
    for number in range(group_count):
        first = readable[(number * 7) % len(readable)]
        group_id = f"{names[first].replace('.', '-')}-{_PURPOSES[number % len(_PURPOSES)]}"
        topics = sorted({first, *(int(t) for t in rng.choice(readable, size=int(rng.integers(0, 3))))})
        assignor = _ASSIGNORS[number % len(_ASSIGNORS)]
        groups.append(
            {
                "group_id": group_id,
                "state": "Stable",
                "group_type": "classic",
                "protocol_type": "consumer",
                "assignor": assignor,
            }
        )
        owned = [(names[t], int(p)) for t in topics for p in partitions.partition[slices[t]]]
        count = min(len(owned), int(rng.integers(2, 13)))
        members += _members(group_id, [names[t] for t in topics], owned, count)
        rates = np.concatenate([mean_in[slices[t]] for t in topics])
        # Most groups are a second or two behind, one in eight a quarter of an hour.
        seconds = rng.exponential(900.0 if number % 8 == 7 else 1.5, len(owned))
        lags += _lags(group_id, owned, rates, seconds)
    rows = {"groups": groups, "members": members, "lags": lags}
    return {name: pa.Table.from_pylist(list_of_rows, schema=TABLES[name].schema) for name, list_of_rows in rows.items()}


def _members(group_id: str, topics: list[str], owned: list[tuple[str, int]], count: int) -> list[dict[str, object]]:
    return [
        {
            "group_id": group_id,
            "member_id": f"{group_id}-{index:02d}",
            "client_id": group_id,
            "host": f"/10.0.{index // 250}.{index % 250 + 1}",
            "subscribed": topics,
            "assigned": [{"topic": topic, "partition": partition} for topic, partition in owned[index::count]],
        }
        for index in range(count)
    ]


def _lags(
    group_id: str, owned: list[tuple[str, int]], rates: NDArray[np.float64], seconds: NDArray[np.float64]
) -> list[dict[str, object]]:
    behind = (rates * seconds / RECORD_BYTES).astype(np.int64).tolist()
    ends = (rates * 86_400 * 90 / RECORD_BYTES).astype(np.int64).tolist()
    return [
        {
            "group_id": group_id,
            "topic": topic,
            "partition": partition,
            "log_end_offset": end,
            "committed_offset": max(0, end - lag),
            "lag_records": min(end, lag),
        }
        for (topic, partition), lag, end in zip(owned, behind, ends, strict=True)
    ]
