"""The figures that the last plan reckoned with, against what an inventory of a later day says of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kafka_capacity.demand.calendar_days import WEEK_DAYS, days_between, days_later
from kafka_capacity.hardware.coefficients import CoefficientScore, score_cpu, score_disk
from kafka_capacity.hardware.cpu import FIGURES, CpuCosts, cores
from kafka_capacity.hardware.overhead import TopicOverhead, topic_overheads
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.sizing_workload import broker_hours, hourly_traffic, log_limits, observed_costs
from kafka_capacity.inventory.snapshot import known_sizes
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.objects.keys import list_plans
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.plan.plan_dataset import finished_document
from kafka_capacity.questions.accuracy.scores import CPU, LEAST_AGE_DAYS
from kafka_capacity.questions.accuracy.watch import Held, baselines
from kafka_capacity.questions.capacity.document import OVERHEADS, SIZING_DOCUMENT

COSTS = (*FIGURES, "source")


def score_coefficients(
    store: ObjectStore, cluster: str, ds: str, raw: RawInventory, snapshot: Snapshot, load: PartitionLoad
) -> list[CoefficientScore]:
    """Hold the figures of the newest plan that is at least a week old against a day.

    Earlier plans had figures of their own, which that one made again.
    """
    made_on, plan_id, document = _first(store, cluster, sorted(_old_enough(store, cluster, ds), reverse=True))
    if not document:
        return []
    scores = []
    later = observed_costs(raw, after=made_on)
    if later is not None:
        used = CpuCosts(**{name: document["cpu"][name] for name in COSTS})
        scores.append(score_cpu(plan_id, made_on, ds, used, document["cpu"].get("covariance") or [], later))
    overheads = topic_overheads(
        snapshot.partitions,
        hourly_traffic(raw, snapshot, load),
        snapshot.partition_size_bytes(),
        log_limits(raw, snapshot),
    )
    sizeless = snapshot.partitions.topic[~known_sizes(raw)]  # logs of unknown sizes count 0 bytes, and are left out
    unknown = {snapshot.partitions.topics[place] for place in np.unique(sizeless)}
    overheads = tuple(one for one in overheads if one.topic not in unknown)
    before = [TopicOverhead(**row) for row in document.get(OVERHEADS, ())]
    scores.append(score_disk(plan_id, made_on, ds, before, overheads))
    return [one for one in scores if one is not None]


def hold_cpu(store: ObjectStore, cluster: str, ds: str, raw: RawInventory) -> list[Held]:
    """Hold what the last plan and the baselines reckon of processors for traffic against the week up to a day.

    What brokers take without traffic counts for neither side. Plans whose figures were not fitted to the cluster's own
    brokers predict nothing of them.
    """
    plans = _old_enough(store, cluster, ds)
    days = {day for day, _ in plans}
    found = []
    for made_on in sorted({*baselines(days), max(days, default="")} & days):
        plan_id, document = _first(store, cluster, [one for one in plans if one[0] == made_on])[1:]
        if not document or not document["cpu"].get("covariance"):
            continue
        used, leader_in, follower_in, out = broker_hours(raw, after=max(made_on, days_later(ds, -WEEK_DAYS)))
        costs = CpuCosts(**{name: document["cpu"][name] for name in COSTS})
        if len(used):
            expected = float(cores(costs, leader_in, follower_in, out).mean()) - costs.base_cores
            found.append(Held(CPU, plan_id, made_on, ds, expected, float(used.mean()) - costs.base_cores))
    return found


def _old_enough(store: ObjectStore, cluster: str, ds: str) -> list[tuple[str, str]]:
    return [one for one in list_plans(store, cluster) if days_between(one[0], ds) >= LEAST_AGE_DAYS]


def _first(store: ObjectStore, cluster: str, plans: Iterable[tuple[str, str]]) -> tuple[str, str, dict[str, Any]]:
    """Return the first of some plans that was finished and says something of sizing, and that; empty for none."""
    for made_on, plan_id in plans:
        if document := finished_document(store, cluster, made_on, plan_id, SIZING_DOCUMENT):
            return made_on, plan_id, document
    return "", "", {}
