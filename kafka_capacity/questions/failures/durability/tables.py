"""Durability as plain data and as tables of a plan: what topics could lose, in which steps, and what a year costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_capacity.hardware.plain import plain_number
from kafka_capacity.kafka.controller.annual_losses import SECONDS_PER_YEAR
from kafka_capacity.kafka.durability import Acks, Explored, Outcome
from kafka_capacity.kafka.durability.traces import trace
from kafka_capacity.objects.tables import Tables, schema_of, table_of_columns, table_of_rows
from kafka_capacity.questions.failures.durability.scenario import DurabilityResult, DurabilityScenario, PlacementLosses

_FEWEST = {
    "lost_after_crashes": ("crashes", Outcome.LOST_ACKNOWLEDGED),
    "lost_after_power_losses": ("power", Outcome.LOST_ACKNOWLEDGED),
    "lost_silently_after": ("crashes", Outcome.LOST_SILENTLY),
    "duplicated_after_crashes": ("crashes", Outcome.DUPLICATED),
    "duplicated_after_producer_restarts": ("producer", Outcome.DUPLICATED),
    "refused_after": ("crashes", Outcome.REFUSED),
    "unavailable_after": ("crashes", Outcome.UNAVAILABLE),
}


def _fewest(result: DurabilityResult, setting: int, mode: str, outcome: Outcome) -> int | None:
    return None if setting < 0 else result.settings[setting][mode].fewest_failures.get(outcome)


def outcome_rows(result: DurabilityResult) -> list[dict[str, Any]]:
    """Return each outcome that is possible, by setting and mode, with the fewest failures and a shortest way."""
    rows = []
    for setting, modes in enumerate(result.settings):
        for mode, explored in modes.items():
            one = explored.configuration
            rows += [
                {
                    "setting": setting,
                    "replication_factor": one.replication_factor,
                    "min_insync_replicas": one.min_insync_replicas,
                    "is_unclean_allowed": one.is_unclean_allowed,
                    "acks": str(one.acks),
                    "is_idempotent": one.is_idempotent,
                    "course": mode,
                    "outcome": outcome.words,
                    "fewest_failures": failures,
                    "steps": list(_trace(explored, outcome)),
                }
                for outcome, failures in sorted(explored.fewest_failures.items())
            ]
    return rows


@lru_cache(maxsize=512)
def _trace(explored: Explored, outcome: Outcome) -> tuple[str, ...]:
    """Find the way once for all placements, whose topics are set alike and so explored once."""
    return tuple(trace(explored, outcome))


def placement_row(found: PlacementLosses) -> dict[str, Any]:
    """Return what all topics of a placement lose together."""
    events = found.losses.all_events
    return {
        "copysets": found.losses.all_copysets,
        "events_per_year": plain_number(events),
        "loss_probability": plain_number(float(-np.expm1(-events))),
        "lost_bytes_per_year": plain_number(float(found.losses.lost_bytes.sum())),
        "max_repair_seconds": plain_number(float(found.repair_seconds.max(initial=0.0))),
        "highest_over_mean": found.highest_over_mean,
    }


def unknown_of(result: DurabilityResult) -> dict[str, Any]:
    """Return what is not known, so that brokers have their data again later than said, and more is lost."""
    return {"unknown_size_partitions": result.unknown_size_partitions, "unknown_traffic": result.unknown_traffic}


def assumed(asked: DurabilityScenario) -> dict[str, Any]:
    """Return what the figures rest on."""
    return {
        "acks": str(asked.acks),
        "is_idempotent": asked.is_idempotent and asked.acks is Acks.ALL,
        "rules": str(asked.rules),
        "mttf_years": asked.mttf_seconds / SECONDS_PER_YEAR,
        "crash_mttf_seconds": asked.crash_mttf_seconds,
        "replacement_seconds": asked.replacement_seconds,
        "throttle_bytes_per_second": asked.throttle_bytes_per_second,
        "rack_mttf_seconds": plain_number(asked.rack_mttf_seconds),
        "replica_lag_seconds": asked.replica_lag_seconds,
        "max_failures": asked.max_failures,
        "scatter_width": asked.scatter_width,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRow:
    """One row a placement and topic.

    ``…_after`` is the fewest failures after which an outcome is possible, null where as many as were tried do not do
    it, and where the topic was not explored. Figures of a year are null where a broker never has its data again under
    the throttle; ``few_…`` are those of the same partitions in few copysets. ``is_…_assumed`` is whether Kafka's
    default counts since the setting is unknown, null in plans of earlier versions.
    """

    placement_id: str
    topic: str
    partitions: int
    replication_factor: int
    min_insync_replicas: int
    is_min_isr_assumed: bool | None = None
    is_unclean_allowed: bool
    is_unclean_assumed: bool | None = None
    acks: str
    is_idempotent: bool
    is_explored: bool
    setting: int | None
    lost_after_crashes: int | None
    lost_after_power_losses: int | None
    lost_silently_after: int | None
    duplicated_after_crashes: int | None
    duplicated_after_producer_restarts: int | None
    refused_after: int | None
    unavailable_after: int | None
    copysets: int
    events_per_year: float | None
    loss_probability: float | None
    lost_bytes_per_year: float | None
    lost_tail_bytes_per_year: float | None
    few_copysets: int | None
    few_loss_probability: float | None
    few_lost_bytes_per_year: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementRow:
    """One row a placement as it is, and one for the same partitions in few copysets: all topics together.

    ``unknown_size_partitions`` lose 0 bytes here, since nobody knows their size; null in plans of earlier versions.
    ``unknown_traffic`` is that of which partitions counts as 0 though they may have much.
    """

    placement_id: str
    is_few_copysets: bool
    copysets: int
    events_per_year: float | None
    loss_probability: float | None
    lost_bytes_per_year: float | None
    unknown_size_partitions: int | None = None
    unknown_traffic: str | None = None
    max_repair_seconds: float | None
    highest_over_mean: float
    moved_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRow:
    """One row a placement, distinct setting of its topics, course and outcome that is possible: a shortest way."""

    placement_id: str
    setting: int
    replication_factor: int
    min_insync_replicas: int
    is_unclean_allowed: bool
    acks: str
    is_idempotent: bool
    course: str
    outcome: str
    fewest_failures: int
    steps: tuple[str, ...]


DURABILITY_TABLES: Tables = {
    "durability": (schema_of(TopicRow), ("placement_id", "topic")),
    "durability_placements": (schema_of(PlacementRow), ("placement_id", "is_few_copysets")),
    "durability_outcomes": (schema_of(OutcomeRow), ("placement_id", "setting", "course", "outcome")),
}


def durability_tables(result: DurabilityResult) -> dict[str, pa.Table]:
    """Return the tables of one placement."""
    where = {"placement_id": result.scenario.placement_id}
    unknown = unknown_of(result)
    rows = {
        "durability_placements": [
            {"is_few_copysets": False, "moved_bytes": 0, **unknown, **placement_row(result.today)}
        ],
        "durability_outcomes": outcome_rows(result),
    }
    if result.few_copysets is not None:
        few = {"is_few_copysets": True, "moved_bytes": result.moved_bytes, **unknown}
        rows["durability_placements"].append({**few, **placement_row(result.few_copysets)})
    return {"durability": _topics(result)} | {
        name: table_of_rows(DURABILITY_TABLES[name][0], ({**where, **row} for row in found))
        for name, found in rows.items()
    }


def _topics(result: DurabilityResult) -> pa.Table:
    """Return each topic: what is possible after how many failures, and what it loses in a year."""
    today = result.today.losses
    few = None if result.few_copysets is None else result.few_copysets.losses
    configs, settings = result.configs, result.setting.tolist()
    is_idempotent = result.scenario.is_idempotent and result.scenario.acks is Acks.ALL
    given = {
        "placement_id": result.scenario.placement_id,
        "topic": result.topics,
        "acks": [str(Acks.ALL if is_internal else result.scenario.acks) for is_internal in configs.is_internal],
        "is_idempotent": is_idempotent & ~configs.is_internal,
        "min_insync_replicas": configs.min_insync_replicas,
        "is_min_isr_assumed": configs.is_min_isr_assumed,
        "is_unclean_allowed": configs.allows_unclean_election,
        "is_unclean_assumed": configs.is_unclean_assumed,
        "is_explored": result.setting >= 0,
        "setting": [setting if setting >= 0 else None for setting in settings],
        **{name: [_fewest(result, setting, *which) for setting in settings] for name, which in _FEWEST.items()},
        "copysets": today.copysets,
        "events_per_year": today.events,
        "loss_probability": today.probability(),
        "lost_bytes_per_year": today.lost_bytes,
        "lost_tail_bytes_per_year": result.tail_bytes,
        "few_copysets": few and few.copysets,
        "few_loss_probability": few and few.probability(),
        "few_lost_bytes_per_year": few and few.lost_bytes,
    }
    return table_of_columns(DURABILITY_TABLES["durability"][0], len(settings), given, of=result)
