"""What can come of each topic's settings: the explorer, asked once for each distinct combination."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.controller.failing import ElectionRules
from kafka_capacity.kafka.durability import Acks, Bounds, Configuration, Explored, FailureKind, explore
from kafka_capacity.kafka.durability.settings import MAX_REPLICAS
from kafka_capacity.questions.failures.durability.scenario import DurabilityScenario

_ALWAYS = (FailureKind.CRASH, FailureKind.DISCONNECT)
FAILURE_MODES: dict[str, tuple[FailureKind, ...]] = {
    "crashes": _ALWAYS,
    "power": (*_ALWAYS, FailureKind.POWER_LOSS, FailureKind.ALL_POWER_LOSS),
    "producer": (*_ALWAYS, FailureKind.PRODUCER_RESTART),
}
"""What may fail in each mode. Crashes of brokers and broken connections may in all of them."""


def explored_settings(
    scenario: DurabilityScenario,
    replication_factor: NDArray[np.int64],
    min_insync_replicas: NDArray[np.int64],
    is_unclean_allowed: NDArray[np.bool_],
    is_internal: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], tuple[dict[str, Explored], ...]]:
    """Explore the distinct settings of topics.

    Brokers write Kafka's own topics, with ``acks=all`` (``offsets.commit.required.acks``) and not idempotently.

    Returns:
        int64[T], which of them each topic has, -1 where its factor is beyond what can be explored; and the modes of
        each, by name.
    """
    rows = np.column_stack(
        [
            replication_factor,
            np.clip(min_insync_replicas, 1, np.maximum(replication_factor, 1)),
            is_unclean_allowed.astype(np.int64),
            is_internal.astype(np.int64),
        ]
    )
    can = (replication_factor >= 1) & (replication_factor <= MAX_REPLICAS)
    distinct, which = np.unique(rows[can], axis=0, return_inverse=True)
    setting = np.full(len(rows), -1, dtype=np.int64)
    setting[can] = which.reshape(-1)
    configurations = tuple(_configuration(scenario, *row) for row in distinct.tolist())
    found: list[dict[str, Explored]] = [{} for _ in configurations]
    for name, kinds in FAILURE_MODES.items():
        bounds = Bounds(failures=scenario.max_failures, kinds=kinds)
        for place, one in enumerate(_explored(configurations, bounds)):
            found[place][name] = one
    return setting, tuple(found)


def _configuration(
    scenario: DurabilityScenario, factor: int, minimum: int, is_unclean: int, is_internal: int
) -> Configuration:
    return Configuration(
        acks=Acks.ALL if is_internal else scenario.acks,
        replication_factor=factor,
        min_insync_replicas=minimum,
        is_unclean_allowed=bool(is_unclean),
        is_idempotent=scenario.is_idempotent and scenario.acks is Acks.ALL and not is_internal,
        has_eligible_leaders=scenario.rules is ElectionRules.KRAFT_ELR,
    )


@lru_cache(maxsize=8)
def _explored(configurations: tuple[Configuration, ...], bounds: Bounds) -> tuple[Explored, ...]:
    """Explore once for all placements whose topics are set alike."""
    return tuple(explore(configurations, bounds))
