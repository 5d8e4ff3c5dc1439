"""Brokers that a placement empties while the controller may still put new replicas there (KIP-1066)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kafka_capacity.health.cluster_view import some_names
from kafka_capacity.health.problem import Problem, Severity, counted
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.release import KAFKA_4_3, KafkaRelease
from kafka_capacity.proposal.scenario import PlacementScenario


def uncordoned_problems(
    observed: Brokers, release: KafkaRelease, scenarios: Sequence[PlacementScenario]
) -> tuple[Problem, ...]:
    """Name the brokers that a placement empties while Kafka may still put new replicas there (from 4.3 on)."""
    emptied = np.zeros(len(observed), dtype=np.bool_)
    for one in scenarios:
        emptied |= ~np.isin(observed.ids, one.target.ids)
    open_ids = observed.ids[observed.takes_replicas & emptied]
    if release < KAFKA_4_3 or not len(open_ids):
        return ()
    is_one = len(open_ids) == 1
    return (
        Problem(
            severity=Severity.INFO,
            code="not-cordoned",
            where=f"broker{'' if is_one else 's'} {some_names(open_ids.tolist())}",
            message=(
                f"{counted(len(open_ids), 'broker')} that {'is' if is_one else 'are'} to be emptied "
                f"{'is' if is_one else 'are'} not cordoned: topics and partitions that are made meanwhile land there"
            ),
            remedy="set cordoned.log.dirs=* on each before the move, and take it back before a rollback",
        ),
    )
