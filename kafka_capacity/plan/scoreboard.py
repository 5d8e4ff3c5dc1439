"""Earlier plans' predictions against what a later inventory says, kept for every day that is scored.

{store}/scores/cluster={c}/ds={day}/scores/part-….parquet    one row a prediction that says something of that day
{store}/scores/cluster={c}/ds={day}/scores-….json            all scores up to that day, summed up
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_capacity.demand.calendar_days import WEEK_DAYS, WEEK_HOURS, days_between
from kafka_capacity.demand.outlook import STORED, TRAFFIC
from kafka_capacity.errors import InventoryError, MissingManifestError, StorageError
from kafka_capacity.health.cluster_view import UNKNOWN_RATE_RATIO
from kafka_capacity.inventory.column_values import partition_of_rows
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.sizing_workload import hourly_traffic
from kafka_capacity.inventory.snapshot import build_snapshot, known_rates, known_sizes, partition_load
from kafka_capacity.inventory.staging import inventory_manifest, load
from kafka_capacity.kafka.arrays import Flags, Float32s, Floats, Ints
from kafka_capacity.kafka.cluster.assignment import replication_factors
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.objects.dataset import (
    Manifest,
    canonical_json,
    read_document,
    read_manifest,
    read_table,
    write_dataset,
)
from kafka_capacity.objects.keys import day_prefix, list_days, list_plans, plan_prefix
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.plan.coefficients import hold_cpu, score_coefficients
from kafka_capacity.plan.drift_effects import Effect, drifted_classes, move_effect, sizing_effect
from kafka_capacity.plan.fleet import own_parameters, usual_first
from kafka_capacity.plan.lifecycle import ALIKE_DAYS
from kafka_capacity.plan.plan_dataset import finished_document
from kafka_capacity.plan.publish import read_decision
from kafka_capacity.questions.accuracy.executed_moves import planned_times, score_moves
from kafka_capacity.questions.accuracy.scores import (
    MOVES,
    Prediction,
    Score,
    peak_of_all,
    score,
    stored_of_partitions,
    summarise,
)
from kafka_capacity.questions.accuracy.stored_scores import (
    DOCUMENT,
    KIND,
    SCHEMA_VERSION,
    SCORES,
    TABLE,
    read_scored_day,
)
from kafka_capacity.questions.accuracy.watch import Drift, Held, find_drift, watch, weekly
from kafka_capacity.questions.capacity.document import SIZING_DOCUMENT
from kafka_capacity.questions.capacity.sizing_steps import read_sizing
from kafka_capacity.questions.capacity.tables import SIZING_TABLES
from kafka_capacity.questions.change.share import FACTS_DOCUMENT, REQUEST_DOCUMENT

SHOWN_WEEKS = 12  # so many scored weeks count in the sums, the last ones


def observed_figures(raw: RawInventory, snapshot: Snapshot, traffic: PartitionLoad) -> dict[str, float]:
    """Return what a day brought, measured as the predictions were made: traffic of the last week that is known.

    A figure is left out where what is unknown of it, which counts 0, may be much of it.
    """
    found: dict[str, float] = {}
    size, mean = snapshot.partition_size_bytes(), traffic.bytes_in_mean_bytes_per_second
    if _share(size, ~known_rates(raw, snapshot)[0]) <= UNKNOWN_RATE_RATIO:
        found[TRAFFIC] = peak_of_all(_scored_hours(raw, snapshot, traffic))
    is_unsized = ~known_sizes(raw)
    if max(_share(mean, is_unsized), _share(np.ones(len(size)), is_unsized)) <= UNKNOWN_RATE_RATIO:
        found[STORED] = float(stored_of_partitions(snapshot).sum())
    return found


def _share(values: Floats | Ints, rows: Flags) -> float:
    """Return which share of all values some rows have; 0 where all are 0."""
    whole = float(values.sum())
    return float(values[rows].sum()) / whole if whole else 0.0


def _scored_hours(raw: RawInventory, snapshot: Snapshot, traffic: PartitionLoad) -> Float32s:
    return hourly_traffic(raw, snapshot, traffic).bytes_in[:, -WEEK_HOURS:]


def find_predictions(store: ObjectStore, cluster: str, *, before: str) -> list[Prediction]:
    """Read what plans of earlier days expected; of several of one week, those that stand for the cluster count.

    These are the ones with the fewest parameters of their own: a plan of another day that asks what would be if is no
    forecast.
    """
    standing: dict[str, list[Prediction]] = {}  # of the first plan of each day that was finished and says something
    for made_on, ids in plans_by_day(store, cluster, before=before).items():
        if said := next(filter(None, (_predictions(store, cluster, made_on, one) for one in ids)), None):
            standing[made_on] = said
    own = {day: own_parameters(store, cluster, day, said[0].plan_id) for day, said in standing.items()}
    found: list[Prediction] = []
    for made_on, said in standing.items():
        of_its_week = (day for day in own if abs(days_between(day, made_on)) < WEEK_DAYS)
        if own[made_on] <= min(own[day] for day in of_its_week):
            found += said
    return found


def plans_by_day(store: ObjectStore, cluster: str, *, before: str) -> dict[str, list[str]]:
    """List the plans of earlier days by the day of their inventory, the one that stands for the cluster first."""
    by_day: dict[str, list[str]] = {}
    for made_on, plan_id in list_plans(store, cluster):
        if made_on < before:
            by_day.setdefault(made_on, []).append(plan_id)
    return {made_on: usual_first(store, cluster, made_on, plans) for made_on, plans in by_day.items()}


def _predictions(store: ObjectStore, cluster: str, made_on: str, plan_id: str) -> list[Prediction]:
    document = finished_document(store, cluster, made_on, plan_id, SIZING_DOCUMENT)
    # A plan says nothing of a figure of which much was unknown to it, and counted 0.
    silent = document.get("unknown_rate_stored_ratio") or 0.0
    facts = finished_document(store, cluster, made_on, plan_id, FACTS_DOCUMENT).get("snapshot", {}) if document else {}
    partitions = facts.get("partition_count") or 1
    unsized = (facts.get("unknown_size_partitions") or 0) / partitions
    unknown = {TRAFFIC: silent, STORED: unsized}
    return [
        Prediction(
            plan_id=plan_id,
            made_on=made_on,
            figure=figure,
            dates=tuple(document["dates"]),
            middle=tuple(document[figure]["middle"]),
            high=tuple(document[figure]["high"]),
            high_quantile=document["high_quantile"],
            replicas_per_partition=(facts.get("replica_count") or 0) / partitions,
        )
        for figure in (TRAFFIC, STORED)
        if figure in document and unknown[figure] <= UNKNOWN_RATE_RATIO
    ]


def _is_replicated_otherwise(store: ObjectStore, prediction: Prediction, snapshot: Snapshot) -> bool:
    """Return whether what holds much of what is stored has more replicas than on the day of a plan, or fewer.

    What is expected to be stored is with the replication factors of that day, whatever the plan or a later one changes.
    """
    factors = replication_factors(snapshot.replicas)
    if prediction.replicas_per_partition == int(factors.sum()) / len(factors):
        return False  # without reading who held what then
    try:
        manifest = inventory_manifest(store, snapshot.cluster, prediction.made_on)
        place = partition_of_rows(snapshot.partitions, read_table(store, manifest, "replicas"))
    except (InventoryError, StorageError):
        return False
    then = np.bincount(place[place >= 0], minlength=len(factors))
    return _share(stored_of_partitions(snapshot), (then > 0) & (then != factors)) > UNKNOWN_RATE_RATIO


def score_cluster(store: ObjectStore, cluster: str, ds: str) -> Manifest:
    """Hold all earlier predictions against the inventory of a day, and sum up; the same store gives the same bytes.

    Raises InventoryError where there is no inventory of that day.
    """
    inventory = inventory_manifest(store, cluster, ds)
    raw = load(store, inventory)
    snapshot = build_snapshot(raw)
    traffic = partition_load(raw, snapshot)
    observed = observed_figures(raw, snapshot, traffic)
    scores = [
        found
        for prediction in find_predictions(store, cluster, before=ds)
        if prediction.figure in observed
        and (found := score(prediction, ds, observed[prediction.figure])) is not None
        and not (prediction.figure == STORED and _is_replicated_otherwise(store, prediction, snapshot))
    ]
    scores.sort(key=lambda one: (one.figure, one.made_on, one.plan_id))
    return write_dataset(
        store,
        day_prefix("scores", cluster, ds),
        kind=KIND,
        schema_version=SCHEMA_VERSION,
        tables={TABLE: pa.Table.from_pylist([dataclasses.asdict(one) for one in scores], schema=SCORES)},
        documents={DOCUMENT: canonical_json(_document(store, ds, raw, snapshot, traffic, scores))},
        facts={"cluster": cluster, "ds": ds, "inventory_sha256": inventory.sha256, "observed": observed},
    )


def _document(
    store: ObjectStore, ds: str, raw: RawInventory, snapshot: Snapshot, load: PartitionLoad, scores: list[Score]
) -> dict[str, Any]:
    cluster = raw.cluster
    earlier = weekly([*(day for day in list_days(store, cluster, "scores") if day < ds), ds])[:-1]
    stored = [read_scored_day(store, cluster, day) for day in earlier]
    by_week = [*(found for found, _ in stored), scores]
    watched = [one for week in by_week for one in week]
    shown = [one for week in by_week[-SHOWN_WEEKS:] for one in week]
    moves = score_moves(store, cluster, ds, plans_by_day(store, cluster, before=ds))
    held_cpu = hold_cpu(store, cluster, ds, raw)
    drifts = [watch(one.held for one in watched if one.figure == figure) for figure in (TRAFFIC, STORED)]
    earlier_cpu = (Held(**one) for _, document in stored for one in document.get(CPU_HELD, ()))
    drifts.append(watch([*earlier_cpu, *held_cpu]))
    drifts.append(find_drift([one.held for one in sorted(moves, key=lambda one: one.done_by) if one.held is not None]))
    return {
        "ds": ds,
        "summaries": [dataclasses.asdict(one) for one in summarise(shown, watched)],
        "scores": [dataclasses.asdict(one) for one in shown],
        "coefficients": [
            dataclasses.asdict(one) for one in score_coefficients(store, cluster, ds, raw, snapshot, load)
        ],
        "moves": [dataclasses.asdict(one) for one in moves],
        CPU_HELD: [dataclasses.asdict(one) for one in held_cpu],
        "drifts": [
            {**dataclasses.asdict(one), **_consequences(store, ds, raw, snapshot, load, one)}
            for one in drifts
            # What was not scored for weeks is not known to be off still.
            if one is not None and (one.figure == MOVES or days_between(one.last, ds) <= ALIKE_DAYS)
        ],
    }


CPU_HELD = "cpu"  # where `scores.json` has what the day's processors were held against


def _consequences(
    store: ObjectStore, ds: str, raw: RawInventory, snapshot: Snapshot, load: PartitionLoad, drift: Drift
) -> dict[str, Any]:
    """Return what a drift does to the plan that it has left, and in which classes of topics it is.

    Of moves it is what it does to the one that the last plan recommends: the one that was late is done.
    """
    cluster = raw.cluster
    try:
        if drift.figure == MOVES:
            return dataclasses.asdict(_effect_on_moves(store, cluster, ds, drift))
        manifest = read_manifest(store, plan_prefix(cluster, drift.made_on, drift.plan_id), kind="plan")
        tables = {name: read_table(store, manifest, name) for name in SIZING_TABLES}
        documents = {
            name: json.loads(read_document(store, manifest, name)) for name in (SIZING_DOCUMENT, REQUEST_DOCUMENT)
        }
    except (MissingManifestError, StorageError):
        return dataclasses.asdict(Effect())  # taken away since, or of a time before plans looked ahead
    document, request = documents[SIZING_DOCUMENT], documents[REQUEST_DOCUMENT]["request"]
    view = read_sizing(tables, document, request)
    effect = dataclasses.asdict(Effect() if view is None else sizing_effect(drift, view, len(snapshot.brokers)))
    if drift.last != ds:
        return effect  # this day, of which the figure is unknown, does not tell what the last that was scored was like
    hours = _scored_hours(raw, snapshot, load)
    return effect | {"classes": drifted_classes(drift, document, request.get("topic_classes", ()), snapshot, hours)}


def _effect_on_moves(store: ObjectStore, cluster: str, ds: str, drift: Drift) -> Effect:
    plans = plans_by_day(store, cluster, before=ds)
    made_on = max(plans)
    prefix = plan_prefix(cluster, made_on, plans[made_on][0])
    wanted = read_decision(store, prefix)["recommended_scenario_id"]
    times = planned_times(store, read_manifest(store, prefix, kind="plan"))
    return move_effect(drift, made_on, str(wanted), times.get(wanted, (None, None))[0])
