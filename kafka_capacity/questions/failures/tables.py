"""The tables of a plan about failures: what each loss does, to whom, and what is wrong before.

Losses stand on a placement: ``today``, or the first of the scenarios that share one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_capacity.demand.workload import PeakBasis
from kafka_capacity.hardware.limits import Condition, Limits
from kafka_capacity.hardware.plain import filled
from kafka_capacity.health.problem import Problem
from kafka_capacity.objects.tables import (
    Int32,
    Tables,
    cells_of,
    columns_of,
    schema_of,
    table_of_columns,
    table_of_rows,
)
from kafka_capacity.questions.failures.baseline import TRAFFIC_OF
from kafka_capacity.questions.failures.durability.tables import DURABILITY_TABLES
from kafka_capacity.questions.failures.quorum_tables import QUORUM_TABLES
from kafka_capacity.questions.failures.scenario import CoordinatorState, FailureResult, SetKind


@dataclass(frozen=True, slots=True, kw_only=True)
class LossRow:
    """One row a placement and set of brokers that are lost together; counts are of the whole cluster after the loss.

    ``newly_…`` is of partitions that are not under min ISR before. Without a majority of the controllers
    (``has_majority``, null where they are not known) no leader is elected and nobody leaves an ISR: under min ISR is
    then what is led with a lost replica in its ISR, where writes with acks=all are not committed. ``survivors`` are the
    live brokers that are left, null in plans of earlier versions. ``loaded_…`` is the survivor closest to, or furthest
    beyond, what it can do, null where nobody knows what they can do; ``rebuild_seconds`` is null for never. Without
    rates ``stopped_…`` and ``refused_…`` are null where there are such partitions.
    """

    placement_id: str
    kind: str
    position: Int32
    name: str
    brokers: tuple[Int32, ...]
    survivors: int | None = None
    offline: int
    offline_topics: int
    under_min_isr: int
    newly_under_min_isr: int | None = None
    at_min_isr: int
    new_leaders: int
    unclean_leaders: int
    stopped_bytes_per_second: float | None
    refused_bytes_per_second: float | None
    newly_refused_bytes_per_second: float | None = None
    rebuild_bytes: float
    rebuild_seconds: float | None
    loaded_broker: Int32 | None
    loaded_resource: str | None
    loaded_ratio: float | None
    max_in_ratio: float | None
    max_out_ratio: float | None
    overloaded_brokers: int
    groups_affected: int
    has_majority: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KindRow:
    """One row a placement and kind of losses: how many there are and were looked at, and how the placement is before.

    ``resources`` are those of which it is known what a broker can do. ``assumed_min_isr_topics`` are topics of which
    min.insync.replicas is unknown; of them, and of ``brokers_without_rack``, plans of earlier versions say nothing.
    ``unknown_traffic`` is that of which partitions counts as 0 though they may have much.
    """

    placement_id: str
    kind: str
    possible: int
    looked_at: int
    broker_count: int
    partition_count: int
    offline_before: int
    under_min_isr_before: int
    assumed_min_isr_topics: int | None = None
    brokers_without_rack: int | None = None
    peak_basis: str
    unknown_traffic: str | None = None
    resources: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OverloadRow:
    """One row a placement, kind of losses, broker and resource that it has too little of after at least one of them.

    It is the worst, and after how many of them.
    """

    placement_id: str
    kind: str
    broker_id: Int32
    rack: str | None
    resource: str
    overloads: int
    worst_loss: str
    peak: float
    peak_before: float
    capacity: float
    used_ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    """One row a placement, kind of losses and consumer group that at least one of them affects.

    It is the worst, and after how many of them the group loses partitions, commits or its coordinator.
    """

    placement_id: str
    kind: str
    group_id: str
    partitions: int
    losses: int
    worst_loss: str
    offline_partitions: int
    coordinator: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakRow:
    """One row a placement, broker and resource of which it is known what the broker can do: its peak before any loss.

    ``used_ratio`` is of what the limit of the resource leaves of the capacity.
    """

    placement_id: str
    broker_id: Int32
    resource: str
    peak: float
    capacity: float
    used_ratio: float


FAILURES, FAILURE_KINDS = schema_of(LossRow), schema_of(KindRow)
FAILURE_BROKERS, FAILURE_GROUPS = schema_of(OverloadRow), schema_of(GroupRow)
BROKER_PEAKS = schema_of(PeakRow)
DIAGNOSES = pa.schema(
    [
        pa.field("placement_id", pa.string(), nullable=False),
        pa.field("position", pa.int32(), nullable=False),
        *columns_of(Problem),
    ]
)
"""What is wrong with a placement before anything fails, the worst first: the fields of :class:`Problem`."""

FAILURE_TABLES: Tables = {
    "failures": (FAILURES, ("placement_id", "kind", "position")),
    "failure_kinds": (FAILURE_KINDS, ("placement_id", "kind")),
    "failure_brokers": (FAILURE_BROKERS, ("placement_id", "kind", "broker_id", "resource")),
    "failure_groups": (FAILURE_GROUPS, ("placement_id", "kind", "group_id")),
    "broker_peaks": (BROKER_PEAKS, ("placement_id", "broker_id", "resource")),
    "diagnoses": (DIAGNOSES, ("placement_id", "position")),
    **DURABILITY_TABLES,
    **QUORUM_TABLES,
}
"""An older plan may lack them."""


def failure_tables(result: FailureResult) -> dict[str, pa.Table]:
    """Return the tables of what some losses do to one placement."""
    used = result.used_ratios()
    kinds = np.array([str(one.kind) for one in result.sets], dtype=object)
    return {
        "failures": _sets(result, used),
        "failure_kinds": table_of_rows(FAILURE_KINDS, _kinds(result)),
        "failure_brokers": table_of_rows(FAILURE_BROKERS, _brokers(result, used, kinds)),
        "failure_groups": table_of_rows(FAILURE_GROUPS, _groups(result, kinds)),
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
    alive = {*result.brokers.ids[~result.brokers.is_fenced].tolist()}
    flat = np.nan_to_num(used.transpose(1, 0, 2).reshape(count, len(names) * brokers), nan=-1.0)
    worst = flat.argmax(axis=1)
    ratio = flat[np.arange(count), worst]
    # Without rates every load is nothing, which says nothing.
    unknown = (ratio < 0.0) | (result.peak_basis is PeakBasis.UNKNOWN)
    most = {name: _most(used[names.index(name)]) for name in ("network_in", "network_out")}
    columns = {
        "placement_id": result.scenario.placement_id,
        "kind": [one.kind for one in result.sets],
        "position": positions,
        "name": [one.name for one in result.sets],
        "brokers": [list(one.brokers) for one in result.sets],
        "survivors": [len(alive.difference(one.brokers)) for one in result.sets],
        "loaded_broker": pa.array(result.brokers.ids[worst % brokers], mask=unknown),
        "loaded_resource": pa.array([names[place] for place in worst // brokers], mask=unknown),
        "loaded_ratio": pa.array(ratio, mask=unknown),
        "max_in_ratio": most["network_in"],
        "max_out_ratio": most["network_out"],
        **{name: known_traffic(result, name) for name in TRAFFIC_OF},
        "overloaded_brokers": result.overloaded(),
        "groups_affected": result.groups_affected(),
    }
    return table_of_columns(FAILURES, count, columns, of=result)


def known_traffic(result: FailureResult, name: str) -> pa.Array[Any]:
    """Return what is produced to the partitions of one of :data:`TRAFFIC_OF`, null where that is not known."""
    is_unknown = (result.peak_basis is PeakBasis.UNKNOWN) & (getattr(result, TRAFFIC_OF[name]) > 0)
    return pa.array(getattr(result, name), pa.float64(), mask=is_unknown)


def _most(ratios: np.ndarray) -> pa.Array[Any]:
    found = np.nan_to_num(ratios, nan=-1.0).max(axis=1, initial=-1.0)
    return pa.array(found, pa.float64(), mask=found < 0.0)


def _kinds(result: FailureResult) -> list[KindRow]:
    possible = {left.kind: left.possible for left in result.left_out}
    asked = dict.fromkeys([*result.scenario.kinds, *(one.kind for one in result.sets)])
    counts = {kind: sum(one.kind is kind for one in result.sets) for kind in asked}
    return [
        filled(
            KindRow,
            result,
            placement_id=result.scenario.placement_id,
            kind=kind,
            possible=possible.get(kind, counts[kind]),
            looked_at=counts[kind],
            broker_count=len(result.brokers),
            offline_before=result.offline_today,
            under_min_isr_before=result.under_min_isr_today,
            brokers_without_rack=result.brokers.racks.count(None),
            resources=tuple(result.capacity),
        )
        for kind in asked
    ]


def _worst(kinds: np.ndarray, badness: np.ndarray, is_hurt: np.ndarray) -> Iterator[tuple[str, int, int, int]]:
    """Yield, for each kind of losses and column that one of them hurts, which is the worst and how many do."""
    for kind in dict.fromkeys(kinds.tolist()):
        numbers = np.flatnonzero(kinds == kind)
        worst = numbers[badness[numbers].argmax(axis=0)]
        for column in np.flatnonzero(is_hurt[numbers].any(axis=0)).tolist():
            yield kind, int(worst[column]), column, int(is_hurt[numbers, column].sum())


def _brokers(result: FailureResult, used: np.ndarray, kinds: np.ndarray) -> list[OverloadRow]:
    rows, resources, brokers = [], list(result.capacity), len(result.brokers)
    peaks, peaks_today = result.peaks(), result.peaks_today()
    ratios = np.nan_to_num(used, nan=0.0).transpose(1, 0, 2).reshape(len(kinds), len(resources) * brokers)
    for kind, number, column, count in _worst(kinds, ratios, ratios > 1.0):
        resource, place = resources[column // brokers], column % brokers
        rows.append(
            OverloadRow(
                placement_id=result.scenario.placement_id,
                kind=kind,
                broker_id=int(result.brokers.ids[place]),
                rack=result.brokers.racks[place],
                resource=resource,
                overloads=count,
                worst_loss=result.sets[number].name,
                peak=float(peaks[resource][number, place]),
                peak_before=float(peaks_today[resource][place]),
                capacity=float(result.capacity[resource][place]),
                used_ratio=float(ratios[number, column]),
            )
        )
    return rows


def _groups(result: FailureResult, kinds: np.ndarray) -> list[GroupRow]:
    states, lost = result.coordinator.astype(np.int64), result.group_offline
    # A coordinator that is gone stops the whole group, one that refuses commits goes on reading.
    gone = np.where(states >= CoordinatorState.REFUSES, states, 0)
    badness = gone * (int(result.group_partitions.max(initial=0)) + 1) + lost
    return [
        GroupRow(
            placement_id=result.scenario.placement_id,
            kind=kind,
            group_id=result.groups[place],
            partitions=int(result.group_partitions[place]),
            losses=count,
            worst_loss=result.sets[number].name,
            offline_partitions=int(lost[number, place]),
            coordinator=CoordinatorState(int(states[number, place])).name.lower(),
        )
        for kind, number, place, count in _worst(kinds, badness, badness > 0)
    ]


def peaks_table(result: FailureResult, limits: Limits) -> pa.Table:
    """Return the rows of ``broker_peaks`` of one placement; none without rates, where every load is nothing."""
    is_known = result.peak_basis is not PeakBasis.UNKNOWN
    return table_of_rows(
        BROKER_PEAKS,
        [
            PeakRow(
                placement_id=result.scenario.placement_id,
                broker_id=int(broker),
                resource=resource,
                peak=float(peak),
                capacity=float(there),
                used_ratio=float(peak / (there * limits.ratio(resource, Condition.NORMAL))),
            )
            for resource, peaks in result.peaks_today().items()
            for broker, peak, there in zip(result.brokers.ids, peaks, result.capacity[resource], strict=True)
            if is_known and there > 0.0
        ],
    )


def diagnoses_table(placement_id: str, found: Iterable[Problem]) -> pa.Table:
    """Return the rows of ``diagnoses`` of one placement."""
    rows = [{"placement_id": placement_id, "position": position, **cells_of(one)} for position, one in enumerate(found)]
    return table_of_rows(DIAGNOSES, rows)
