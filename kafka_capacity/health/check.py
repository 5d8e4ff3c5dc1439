"""All checks of a cluster, one after another."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_capacity.health.cluster_view import ClusterView
from kafka_capacity.health.controllers import check_controllers
from kafka_capacity.health.now import check_lags, check_now
from kafka_capacity.health.problem import CLUSTER_CODES, Problem, Problems
from kafka_capacity.health.racks import check_racks
from kafka_capacity.health.resources import check_resources
from kafka_capacity.health.settings import check_settings


def check_health(view: ClusterView, soundness: Iterable[Problem] = ()) -> Problems:
    """Return everything that is wrong with a cluster, as far as it is known.

    ``soundness`` is what is wrong with the inventory itself. Of an earlier check of the cluster nothing is taken from
    it: under other limits other problems are there.
    """
    return Problems.of(
        [
            *(one for one in soundness if one.code not in CLUSTER_CODES),
            *check_now(view),
            *check_resources(view),
            *check_lags(view),
            *check_settings(view),
            *check_racks(view),
            *check_controllers(view.voters),
        ]
    )
