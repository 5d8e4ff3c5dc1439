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
from kafka_capacity.objects.tables import Tables, schema_of, table_of_rows
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


def topic_rows(result: DurabilityResult) -> list[dict[str, Any]]:
    """Return each topic: what is possible after how many failures, and what it loses in a year.

    Fewest failures are ``None`` where as many as were explored do not do it, and where the topic was not explored
    (``is_explored``); figures are ``None`` where a broker never has its data again under the throttle.
    """
    today, few = result.today.losses, result.few_copysets
    chance, few_chance = today.probability(), None if few is None else few.losses.probability()
    rows = []
    for place, topic in enumerate(result.topics):
        setting = int(result.setting[place])
        rows.append(
            {
                "topic": topic,
                "partitions": int(result.partitions[place]),
                "replication_factor": int(result.replication_factor[place]),
                "min_insync_replicas": int(result.min_insync_replicas[place]),
                "is_unclean_allowed": bool(result.is_unclean_allowed[place]),
                "acks": str(Acks.ALL if result.is_internal[place] else result.scenario.acks),
                "is_idempotent": result.scenario.is_idempotent
                and result.scenario.acks is Acks.ALL
                and not result.is_internal[place].item(),
                "is_explored": setting >= 0,
                "setting": setting if setting >= 0 else None,
                **{name: _fewest(result, setting, *which) for name, which in _FEWEST.items()},
                "copysets": int(today.copysets[place]),
                "events_per_year": plain_number(float(today.events[place])),
                "loss_probability": plain_number(float(chance[place])),
                "lost_bytes_per_year": plain_number(float(today.lost_bytes[place])),
                "lost_tail_bytes_per_year": plain_number(float(result.tail_bytes[place])),
                "few_copysets": None if few is None else int(few.losses.copysets[place]),
                "few_loss_probability": None if few_chance is None else plain_number(float(few_chance[place])),
                "few_lost_bytes_per_year": None if few is None else plain_number(float(few.losses.lost_bytes[place])),
            }
        )
    return rows


def _fewest(result: DurabilityResult, setting: int, mode: str, outcome: Outcome) -> int | None:
    return None if setting < 0 else result.settings[setting][mode].fewest_failures.get(outcome)


def worst_first(result: DurabilityResult) -> list[int]:
    """Order the topics: the greatest expected loss in bytes, then the greatest chance of one."""
    lost, chance = result.lost_bytes(), result.today.losses.probability()
    keys = [np.nan_to_num(values, nan=np.inf) for values in (chance, lost)]
    return [int(place) for place in np.lexsort([np.arange(len(lost)), *(-key for key in keys)])]


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
    the throttle; ``few_…`` are those of the same partitions in few copysets.
    """

    placement_id: str
    topic: str
    partitions: int
    replication_factor: int
    min_insync_replicas: int
    is_unclean_allowed: bool
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
    """One row a placement as it is, and one for the same partitions in few copysets: all topics together."""

    placement_id: str
    is_few_copysets: bool
    copysets: int
    events_per_year: float | None
    loss_probability: float | None
    lost_bytes_per_year: float | None
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
"""By name: the schema of each table and what it is sorted by."""


def durability_tables(result: DurabilityResult) -> dict[str, pa.Table]:
    """Return the tables of one placement."""
    where = {"placement_id": result.scenario.placement_id}
    rows: dict[str, list[dict[str, Any]]] = {
        "durability": topic_rows(result),
        "durability_placements": [{"is_few_copysets": False, "moved_bytes": 0, **placement_row(result.today)}],
        "durability_outcomes": outcome_rows(result),
    }
    if result.few_copysets is not None:
        few = {"is_few_copysets": True, "moved_bytes": result.moved_bytes, **placement_row(result.few_copysets)}
        rows["durability_placements"].append(few)
    return {
        name: table_of_rows(schema, ({**where, **row} for row in rows[name]))
        for name, (schema, _) in DURABILITY_TABLES.items()
    }
