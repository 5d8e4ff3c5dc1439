"""The tables of a plan about failures: what each loss does, to whom, and what is wrong before.

Losses stand on a placement: ``today``, or the first of the scenarios that share one.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_capacity.demand.workload import PeakBasis
from kafka_capacity.health.problem import Problem
from kafka_capacity.objects.tables import Tables
from kafka_capacity.questions.failures.durability.tables import DURABILITY_TABLES
from kafka_capacity.questions.failures.quorum_tables import QUORUM_TABLES
from kafka_capacity.questions.failures.scenario import CoordinatorState, FailureResult, SetKind


def _text(name: str) -> pa.Field[pa.DataType]:
    return pa.field(name, pa.string(), nullable=False)


def _count(name: str) -> pa.Field[pa.DataType]:
    return pa.field(name, pa.int64(), nullable=False)


def _figure(name: str, *, nullable: bool = True) -> pa.Field[pa.DataType]:
    return pa.field(name, pa.float64(), nullable=nullable)


_COUNTS = ("offline", "offline_topics", "under_min_isr", "at_min_isr", "new_leaders", "unclean_leaders")
_RATES = ("stopped_bytes_per_second", "refused_bytes_per_second", "rebuild_bytes")

FAILURES = pa.schema(
    [
        _text("placement_id"),
        _text("kind"),
        pa.field("position", pa.int32(), nullable=False),
        _text("name"),
        pa.field("brokers", pa.list_(pa.int32()), nullable=False),
        *(_count(name) for name in _COUNTS),
        *(_figure(name, nullable=False) for name in _RATES),
        _figure("rebuild_seconds"),
        pa.field("loaded_broker", pa.int32()),
        pa.field("loaded_resource", pa.string()),
        _figure("loaded_ratio"),
        _figure("most_in_ratio"),
        _figure("most_out_ratio"),
        _count("overloaded_brokers"),
        _count("groups_hurt"),
    ]
)
"""One row a placement and set of brokers that are lost together; counts are of the whole cluster after the loss.
``loaded_…`` is the survivor closest to, or furthest beyond, what it can do, null where nobody knows what they can do;
``rebuild_seconds`` is null for never."""

FAILURE_KINDS = pa.schema(
    [
        _text("placement_id"),
        _text("kind"),
        _count("possible"),
        _count("looked_at"),
        _count("broker_count"),
        _count("partition_count"),
        _count("offline_before"),
        _count("under_min_isr_before"),
        _text("peak_basis"),
        pa.field("resources", pa.list_(pa.string()), nullable=False),
    ]
)
"""One row a placement and kind of losses: how many there are and were looked at, and how the placement is before;
``resources`` are those of which it is known what a broker can do."""

FAILURE_BROKERS = pa.schema(
    [
        _text("placement_id"),
        _text("kind"),
        pa.field("broker_id", pa.int32(), nullable=False),
        pa.field("rack", pa.string()),
        _text("resource"),
        _count("overloads"),
        _text("worst_loss"),
        _figure("peak", nullable=False),
        _figure("peak_before", nullable=False),
        _figure("capacity", nullable=False),
        _figure("used_ratio", nullable=False),
    ]
)
"""One row a placement, kind of losses, broker and resource that it has too little of after at least one of them: the
worst, and after how many of them."""

FAILURE_GROUPS = pa.schema(
    [
        _text("placement_id"),
        _text("kind"),
        _text("group_id"),
        _count("partitions"),
        _count("losses"),
        _text("worst_loss"),
        _count("offline_partitions"),
        _text("coordinator"),
    ]
)
"""One row a placement, kind of losses and consumer group that at least one of them affects: the worst, and after how
many of them it loses partitions, commits or its coordinator."""

DIAGNOSES = pa.schema(
    [
        _text("placement_id"),
        pa.field("position", pa.int32(), nullable=False),
        _text("severity"),
        _text("code"),
        _text("where"),
        _text("message"),
        _text("remedy"),
        pa.field("figure", pa.struct([("needed", pa.float64()), ("available", pa.float64()), ("unit", pa.string())])),
        _count("partitions"),
        _figure("bytes_per_second", nullable=False),
    ]
)
"""What is wrong with a placement before anything fails, the worst first: the fields of :class:`Problem`."""

FAILURE_TABLES: Tables = {
    "failures": (FAILURES, ("placement_id", "kind", "position")),
    "failure_kinds": (FAILURE_KINDS, ("placement_id", "kind")),
    "failure_brokers": (FAILURE_BROKERS, ("placement_id", "kind", "broker_id", "resource")),
    "failure_groups": (FAILURE_GROUPS, ("placement_id", "kind", "group_id")),
    "diagnoses": (DIAGNOSES, ("placement_id", "position")),
    **DURABILITY_TABLES,
    **QUORUM_TABLES,
}
"""By name: the schema of each table and what it is sorted by; an older plan may lack them."""


def failure_tables(result: FailureResult) -> dict[str, pa.Table]:
    """Return the tables of what some losses do to one placement."""
    used = result.used_ratios()
    kinds = np.array([str(one.kind) for one in result.sets], dtype=object)
    return {
        "failures": _sets(result, used),
        "failure_kinds": pa.Table.from_pylist(_kinds(result), schema=FAILURE_KINDS),
        "failure_brokers": pa.Table.from_pylist(_brokers(result, used, kinds), schema=FAILURE_BROKERS),
        "failure_groups": pa.Table.from_pylist(_groups(result, kinds), schema=FAILURE_GROUPS),
    }


def _sets(result: FailureResult, used: np.ndarray) -> pa.Table:
    """Return the rows of ``failures``; sets are counted within their kind."""
    count, names = len(result.sets), [str(resource) for resource in result.capacity]
    seen: Counter[SetKind] = Counter()
    positions = []
    for one in result.sets:
        positions.append(seen[one.kind])
        seen[one.kind] += 1
    brokers = len(result.brokers)
    flat = np.nan_to_num(used.transpose(1, 0, 2).reshape(count, len(names) * brokers), nan=-1.0)
    worst = flat.argmax(axis=1)
    ratio = flat[np.arange(count), worst]
    # Without rates every load is nothing, which says nothing.
    unknown = (ratio < 0.0) | (result.peak_basis is PeakBasis.UNKNOWN)
    most = {name: _most(used[names.index(name)]) for name in ("network_in", "network_out")}
    columns = {
        "placement_id": pa.array([result.scenario.placement_id] * count, pa.string()),
        "kind": pa.array([str(one.kind) for one in result.sets], pa.string()),
        "position": pa.array(positions, pa.int32()),
        "name": pa.array([one.name for one in result.sets], pa.string()),
        "brokers": pa.array([list(one.brokers) for one in result.sets], pa.list_(pa.int32())),
        **{name: pa.array(getattr(result, name), pa.int64()) for name in _COUNTS},
        **{name: pa.array(getattr(result, name), pa.float64()) for name in _RATES},
        "rebuild_seconds": _known(result.rebuild_seconds),
        "loaded_broker": pa.array(result.brokers.ids[worst % brokers], pa.int32(), mask=unknown),
        "loaded_resource": pa.array([names[place] for place in worst // brokers], pa.string(), mask=unknown),
        "loaded_ratio": pa.array(ratio, pa.float64(), mask=unknown),
        "most_in_ratio": most["network_in"],
        "most_out_ratio": most["network_out"],
        "overloaded_brokers": pa.array(result.overloaded(), pa.int64()),
        "groups_hurt": pa.array(result.groups_hurt(), pa.int64()),
    }
    return pa.table(columns, schema=FAILURES)


def _known(values: np.ndarray) -> pa.Array[Any]:
    return pa.array(values, pa.float64(), mask=~np.isfinite(values))


def _most(ratios: np.ndarray) -> pa.Array[Any]:
    found = np.nan_to_num(ratios, nan=-1.0).max(axis=1, initial=-1.0)
    return pa.array(found, pa.float64(), mask=found < 0.0)


def _kinds(result: FailureResult) -> list[dict[str, Any]]:
    possible = {left.kind: left.possible for left in result.left_out}
    asked = dict.fromkeys([*result.scenario.kinds, *(one.kind for one in result.sets)])
    counts = {kind: sum(one.kind is kind for one in result.sets) for kind in asked}
    return [
        {
            "placement_id": result.scenario.placement_id,
            "kind": str(kind),
            "possible": possible.get(kind, counts[kind]),
            "looked_at": counts[kind],
            "broker_count": len(result.brokers),
            "partition_count": result.partition_count,
            "offline_before": result.offline_today,
            "under_min_isr_before": result.under_min_isr_today,
            "peak_basis": str(result.peak_basis),
            "resources": [str(resource) for resource in result.capacity],
        }
        for kind in asked
    ]


def _brokers(result: FailureResult, used: np.ndarray, kinds: np.ndarray) -> list[dict[str, Any]]:
    rows = []
    peaks, peaks_today = result.peaks(), result.peaks_today()
    for kind in dict.fromkeys(kinds.tolist()):
        numbers = np.flatnonzero(kinds == kind)
        for (resource, there), ratios in zip(result.capacity.items(), used, strict=True):
            mine = np.nan_to_num(ratios[numbers], nan=0.0)
            worst = mine.argmax(axis=0)
            after, before = peaks[resource], peaks_today[resource]
            for place in np.flatnonzero(mine.max(axis=0) > 1.0).tolist():
                number = int(numbers[worst[place]])
                rows.append(
                    {
                        "placement_id": result.scenario.placement_id,
                        "kind": kind,
                        "broker_id": int(result.brokers.ids[place]),
                        "rack": result.brokers.racks[place],
                        "resource": str(resource),
                        "overloads": int((mine[:, place] > 1.0).sum()),
                        "worst_loss": result.sets[number].name,
                        "peak": float(after[number, place]),
                        "peak_before": float(before[place]),
                        "capacity": float(there[place]),
                        "used_ratio": float(ratios[number, place]),
                    }
                )
    return rows


def _groups(result: FailureResult, kinds: np.ndarray) -> list[dict[str, Any]]:
    rows = []
    states, lost = result.coordinator.astype(np.int64), result.group_offline
    affected = (lost > 0) | (states >= CoordinatorState.REFUSES)
    # A coordinator that is gone stops the whole group, one that refuses commits goes on reading.
    gone = np.where(states >= CoordinatorState.REFUSES, states, 0)
    badness = gone * (int(result.group_partitions.max(initial=0)) + 1) + lost
    for kind in dict.fromkeys(kinds.tolist()):
        numbers = np.flatnonzero(kinds == kind)
        worst = numbers[badness[numbers].argmax(axis=0)] if len(result.groups) else numbers[:0]
        for place in np.flatnonzero(affected[numbers].any(axis=0)).tolist():
            number = int(worst[place])
            rows.append(
                {
                    "placement_id": result.scenario.placement_id,
                    "kind": kind,
                    "group_id": result.groups[place],
                    "partitions": int(result.group_partitions[place]),
                    "losses": int(affected[numbers, place].sum()),
                    "worst_loss": result.sets[number].name,
                    "offline_partitions": int(lost[number, place]),
                    "coordinator": CoordinatorState(int(states[number, place])).name.lower(),
                }
            )
    return rows


def diagnoses_table(placement_id: str, found: Iterable[Problem]) -> pa.Table:
    """Return the rows of ``diagnoses`` of one placement."""
    rows = [
        {"placement_id": placement_id, "position": position, **dataclasses.asdict(one)}
        for position, one in enumerate(found)
    ]
    return pa.Table.from_pylist(rows, schema=DIAGNOSES)
