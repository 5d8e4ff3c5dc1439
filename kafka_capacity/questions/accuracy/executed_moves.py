"""Which planned moves somebody has carried out, by the inventories that came after."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.demand.calendar_days import days_between
from kafka_capacity.errors import MissingManifestError, StorageError
from kafka_capacity.inventory.column_values import PartitionIndex, ReplicaColumns, floats, ints
from kafka_capacity.inventory.staging import KIND as INVENTORY
from kafka_capacity.kafka.arrays import Int32s, Ints
from kafka_capacity.objects.dataset import read_manifest, read_table
from kafka_capacity.objects.keys import day_prefix, plan_prefix
from kafka_capacity.objects.manifest import Manifest, complete_days
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.questions.accuracy.scores import MoveScore, score_move

log = logging.getLogger(__name__)

LOOKED_BACK_DAYS = 90  # plans that are older are taken to be forgotten, or done long ago
LEAST_LEFT_RATIO = 0.9  # where less of the bytes that were to be copied is left, what was done tells nothing of a move
_MOVED = ["scenario_id", "topic", "partition", "replicas_after", "moved_bytes"]


def score_moves(store: ObjectStore, cluster: str, ds: str, plans: Mapping[str, Sequence[str]]) -> list[MoveScore]:
    """Find the moves of earlier plans that are done on a day, and hold their times against the days in between.

    ``plans`` are earlier ones by the day of their inventory. A move counts once, for the newest plan that planned it,
    of several of one day for the first: plans of later days find it done. Options of a plan that put the same replicas
    on the same brokers are one move at several speeds: it counts for the one that came true, else the nearest.
    """
    days = sorted(complete_days(store, cluster, "inventory", up_to=ds))
    held: dict[str, _Held | None] = {}
    found: dict[tuple[str, _Placement], MoveScore] = {}
    for made_on, plan_id in ((day, one) for day in sorted(plans) for one in reversed(plans[day])):
        later = [day for day in days if made_on < day]
        if not later or later[-1] != ds or days_between(made_on, ds) > LOOKED_BACK_DAYS:
            continue
        of_plan: dict[tuple[str, _Placement], MoveScore] = {}
        for scenario_id, times, moves in _planned(store, cluster, made_on, plan_id):
            wanted = _wanted(moves)
            for day in later:
                if day not in held:
                    held[day] = _held(store, cluster, day)
            score = score_move(
                plan_id,
                scenario_id,
                made_on,
                *times,
                [
                    (day, ratio)
                    for day in later
                    if (then := held[day]) is not None and (ratio := _share(moves, wanted, then)) is not None
                ],
            )
            if score is not None:
                key = score.done_by, _placement(moves, wanted)
                of_plan[key] = min(score, of_plan.get(key, score), key=_missed_by)
        again = {(one.done_by, one.scenario_id) for one in of_plan.values()}
        found = {key: one for key, one in found.items() if (one.done_by, one.scenario_id) not in again} | of_plan
    return sorted(found.values(), key=lambda one: (one.done_by, one.scenario_id))


_Placement = frozenset[tuple[str, int, tuple[int, ...]]]
"""Of each partition that is copied its topic, its number, and the brokers that it shall have, ascending."""


def _placement(moves: pa.Table, wanted: Int32s) -> _Placement:
    names, numbers = (moves.column(name).to_pylist() for name in ("topic", "partition"))
    return frozenset(zip(names, numbers, map(tuple, wanted.tolist()), strict=True))


def _missed_by(score: MoveScore) -> tuple[bool, float]:
    """Return whether the prediction of a move is wrong, and by how many seconds: of the best one it is the least."""
    took = score.seconds if score.took_seconds is None else score.took_seconds
    return not score.is_consistent, abs(score.seconds - took)


Times = tuple[float | None, float | None]
"""How many seconds a move shall take at mean rates, and at peak; ``None`` for never."""


def planned_times(store: ObjectStore, manifest: Manifest) -> dict[str, Times]:
    """Return how long the options of a plan take, by their ids: in its waves, else with everything started at once."""
    columns = {"scenarios": ("duration_seconds", "duration_peak_seconds")}
    if "schedules" in manifest.tables:
        columns["schedules"] = ("total_expected_seconds", "total_high_seconds")
    found: dict[str, Times] = {}
    for name, (expected, high) in columns.items():
        rows = read_table(store, manifest, name).select(["scenario_id", expected, high]).to_pylist()
        found |= {row["scenario_id"]: (row[expected], row[high]) for row in rows}
    return found


def _planned(store: ObjectStore, cluster: str, made_on: str, plan_id: str) -> list[tuple[str, Times, pa.Table]]:
    """List the options of a plan that copy something, with their times and what they copy.

    Leaders that change, and replicas that are dropped, take no time.
    """
    try:
        manifest = read_manifest(store, plan_prefix(cluster, made_on, plan_id), kind="plan")
        times = planned_times(store, manifest)
        moves = read_table(store, manifest, "moves").select(_MOVED)
        moves = moves.filter(pc.greater(moves.column("moved_bytes"), 0))
    except (MissingManifestError, StorageError):
        return []
    each = ((key, times[key], moves.filter(pc.equal(moves.column("scenario_id"), key))) for key in times)
    return [one for one in each if len(one[-1])]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Held:
    """Who held what on a day: int32[P, W] broker ids of each partition, ascending, padded with -1 before them."""

    index: PartitionIndex
    brokers: Int32s


def _held(store: ObjectStore, cluster: str, day: str) -> _Held | None:
    try:
        manifest = read_manifest(store, day_prefix("inventory", cluster, day), kind=INVENTORY)
        replicas = ReplicaColumns.of(read_table(store, manifest, "replicas"))
    except StorageError as error:
        log.warning("moves are not looked for in the inventory of %s: %s", day, error)
        return None
    rows = _ascending(replicas.partition_of_row, replicas.broker, len(replicas.partitions))
    return _Held(index=replicas.index(), brokers=rows)


def _wanted(moves: pa.Table) -> Int32s:
    """Return int32[N, W], the broker ids that each partition shall have, in the same form."""
    lists = moves.column("replicas_after").combine_chunks()
    row = np.repeat(np.arange(len(lists)), ints(pc.list_value_length(lists)))
    return _ascending(row, ints(pc.list_flatten(lists)), len(lists))


def _ascending(row: Ints, broker: Ints, count: int) -> Int32s:
    width = int(np.bincount(row, minlength=1).max(initial=0))
    found = np.full((count, width), -1, dtype=np.int32)
    place = np.arange(len(row)) - np.searchsorted(row, row)
    found[row, place] = broker
    found.sort(axis=1)
    return found


def _share(moves: pa.Table, wanted: Int32s, held: _Held) -> float | None:
    """Return which share of the bytes that were to be copied is where it should be; the order does not count.

    Those of topics that are gone are not missed; ``None`` where less than :data:`LEAST_LEFT_RATIO` is left.
    """
    place = held.index.find(moves.column("topic"), moves.column("partition"))
    exists = place >= 0
    weight = floats(moves.column("moved_bytes"))
    if weight[exists].sum() < LEAST_LEFT_RATIO * weight.sum():
        return None
    width = max(wanted.shape[1], held.brokers.shape[1])
    is_there = (_widened(held.brokers[place[exists]], width) == _widened(wanted[exists], width)).all(axis=1)
    return float(np.average(is_there, weights=weight[exists]))


def _widened(rows: Int32s, width: int) -> Int32s:
    return np.pad(rows, ((0, 0), (width - rows.shape[1], 0)), constant_values=-1)
