"""Which planned moves somebody has carried out, by the inventories that came after."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.errors import MissingManifestError, StorageError
from kafka_capacity.inventory.staging import KIND as INVENTORY
from kafka_capacity.objects.dataset import Manifest, has_manifest, read_manifest, read_table
from kafka_capacity.objects.keys import inventory_prefix, list_inventory_days, list_plans, plan_prefix
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.sizing.scores import MoveScore, score_move

LOOKED_BACK_DAYS = 90
"""Plans that are older are taken to be forgotten, or done long ago."""


def score_moves(store: ObjectStore, cluster: str, ds: str) -> list[MoveScore]:
    """Find the moves of earlier plans that are done on a day, and hold their times against the days in between.

    A move counts once, for the newest plan that planned it: plans of later days find it done.

    Args:
        store: with plans and inventories.
        cluster: whose.
        ds: the day of the inventory.
    """
    days = [day for day in list_inventory_days(store, cluster) if day <= ds and _has_inventory(store, cluster, day)]
    lists: dict[str, dict[tuple[str, int], tuple[int, ...]]] = {}
    found: dict[tuple[str, str], MoveScore] = {}
    for made_on, plan_id in list_plans(store, cluster):
        later = [day for day in days if made_on < day][-LOOKED_BACK_DAYS:]
        if not later or later[-1] != ds:
            continue
        for scenario, wanted in _planned(store, cluster, made_on, plan_id):
            done = []
            for day in later:
                if day not in lists:
                    lists[day] = _replica_lists(store, cluster, day)
                done.append((day, _share(wanted, lists[day])))
            score = score_move(
                plan_id,
                scenario["scenario_id"],
                made_on,
                scenario["duration_seconds"],
                scenario["duration_peak_seconds"],
                done,
            )
            if score is not None:
                found[score.done_by, score.scenario_id] = score
    return [found[key] for key in sorted(found)]


def _has_inventory(store: ObjectStore, cluster: str, day: str) -> bool:
    return has_manifest(store, inventory_prefix(cluster, day))


def _planned(
    store: ObjectStore, cluster: str, made_on: str, plan_id: str
) -> list[tuple[dict[str, Any], dict[tuple[str, int], tuple[int, ...]]]]:
    """List the options of a plan that change something, with the replica lists that they want."""
    try:
        manifest = read_manifest(store, plan_prefix(cluster, made_on, plan_id), kind="plan")
        scenarios = read_table(store, manifest, "scenarios")
        moves = read_table(store, manifest, "moves")
    except (MissingManifestError, StorageError):
        return []
    found = []
    for row in scenarios.select(["scenario_id", "duration_seconds", "duration_peak_seconds"]).to_pylist():
        mine = moves.filter(pc.equal(moves.column("scenario_id"), row["scenario_id"]))
        if len(mine):
            found.append((row, _keyed(mine, "replicas_after")))
    return found


def _keyed(table: pa.Table, column: str) -> dict[tuple[str, int], tuple[int, ...]]:
    names, partitions = table.column("topic").to_pylist(), table.column("partition").to_pylist()
    lists = [tuple(replicas) for replicas in table.column(column).to_pylist()]
    return dict(zip(zip(names, partitions, strict=True), lists, strict=True))


def _replica_lists(store: ObjectStore, cluster: str, day: str) -> dict[tuple[str, int], tuple[int, ...]]:
    manifest: Manifest = read_manifest(store, inventory_prefix(cluster, day), kind=INVENTORY)
    table = read_table(store, manifest, "replicas")
    broker = np.asarray(table.column("broker_id").to_numpy())
    found: dict[tuple[str, int], list[int]] = {}
    # The staged table is sorted by topic, partition and position.
    for topic, partition, replica in zip(
        table.column("topic").to_pylist(), table.column("partition").to_pylist(), broker.tolist(), strict=True
    ):
        found.setdefault((topic, partition), []).append(replica)
    return {key: tuple(replicas) for key, replicas in found.items()}


def _share(wanted: dict[tuple[str, int], tuple[int, ...]], there: dict[tuple[str, int], tuple[int, ...]]) -> float:
    """Give which share of the partitions that were to change are where they should be; the order does not count."""
    done = sum(sorted(there.get(key, ())) == sorted(replicas) for key, replicas in wanted.items())
    return done / len(wanted)
