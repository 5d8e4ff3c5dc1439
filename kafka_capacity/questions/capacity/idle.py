"""More brokers never leave less headroom: an option may be placed as a smaller one is, with the other brokers idle.

A placement evens out bytes and leaders; who takes over after a loss, and which peaks meet on a broker, are what they
are. With few partitions that can be worse on twelve brokers than on nine. Nobody is forced to use the other three: they
carry nothing, whatever is lost, and topics that events add find more brokers. So an option whose own placement leaves
less headroom than that of a smaller one is judged on the smaller one's, and says how many brokers are idle.

Comparable are options of the same shape and replication factor where the brokers of the smaller one are all among those
of the larger one, and the rack rule asks no more of the larger one: new racks do not matter to a partition that is in
as many racks as it has replicas. Today's placement stands for more brokers, where it keeps the rack rule.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kafka_capacity.hardware.limits import RESOURCES
from kafka_capacity.kafka.cluster.assignment import replication_factors
from kafka_capacity.kafka.cluster.snapshot import Snapshot
from kafka_capacity.kafka.placement.shares import distinct_racks, wanted_racks
from kafka_capacity.questions.capacity.options import SizingInputs, SizingRequest, brokers_of
from kafka_capacity.questions.capacity.results import CapacityOption, CapacityResult, PlacementKey

_LEAST_GAIN_RATIO = 1e-9  # of headroom: less is the rounding of sums


def options_better_idle(results: Sequence[CapacityResult], inputs: SizingInputs) -> tuple[CapacityOption, ...]:
    """List the options that had better leave brokers idle, each with that placement, in the order given."""
    snapshot, request = inputs.snapshot, inputs.request
    largest = int(replication_factors(snapshot.replicas).max(initial=1))
    spreads: dict[PlacementKey, int] = {}
    # By shape, replication factor, over how many racks partitions must be spread, who is removed, and additional racks.
    families: dict[tuple[Any, ...], list[CapacityResult]] = {}
    # Where named brokers go, replicas do not stay as they are.
    is_kept = inputs.named is None and _keeps_racks(snapshot, request)
    for result in results:
        key = result.option.placement
        if key not in spreads:
            spreads[key] = _spread(inputs, key, key.replication_factor or largest)
        if key.is_observed and not is_kept:
            continue
        # Brokers that there are today are among those of any option with more, wherever its new ones stand.
        is_within_today = key.broker_count <= len(snapshot.brokers)
        for extra_racks in set(request.extra_racks) | {0} if is_within_today else {key.extra_racks}:
            shape = result.option.shape.name
            family = (shape, key.replication_factor, spreads[key], key.removed_brokers, extra_racks)
            families.setdefault(family, []).append(result)
    better = {
        option.option_id: option
        for (*_, extra_racks), alike in families.items()
        for option in _better_idle(alike, extra_racks)
    }
    return tuple(better[result.option_id] for result in results if result.option_id in better)


def _better_idle(family: Sequence[CapacityResult], extra_racks: int) -> Iterator[CapacityOption]:
    best: CapacityResult | None = None
    for _, alike in itertools.groupby(sorted(family, key=_count), key=_count):
        larger = list(alike)
        if best is not None:
            smaller = best.option.placement
            for result in larger:
                own = result.option.placement
                is_better = _headroom(best) - _headroom(result) > _LEAST_GAIN_RATIO
                is_left = own.is_observed or result.is_refused
                if own.extra_racks == extra_racks and not is_left and is_better:
                    placement = dataclasses.replace(
                        own, used_brokers=smaller.broker_count, is_observed=smaller.is_observed
                    )
                    yield dataclasses.replace(result.option, placement=placement)
        # The headroom is all that may be wrong: racks, or the unknown, are as wrong on more brokers.
        candidates = [
            one
            for one in larger
            if one.headroom_ratio is not None and all(excuse.constraint in RESOURCES for excuse in one.excuses)
        ]
        best = max([best, *candidates] if best else candidates, key=_headroom, default=None)


def _count(result: CapacityResult) -> int:
    return result.option.placement.broker_count


def _headroom(result: CapacityResult) -> float:
    return float("-inf") if result.headroom_ratio is None else result.headroom_ratio


def _spread(inputs: SizingInputs, key: PlacementKey, factor: int) -> int:
    """Return over how many racks the partitions with most replicas must be spread."""
    racks = len(brokers_of(inputs, key).rack_names())
    return int(wanted_racks(np.array([factor], dtype=np.int32), max(1, racks), inputs.request.rack_rule)[0])


def _keeps_racks(snapshot: Snapshot, request: SizingRequest) -> bool:
    """Return whether today's placement is spread over racks as is asked."""
    brokers, held = snapshot.brokers, snapshot.replicas
    racks = distinct_racks(brokers.rack_indexes(), brokers.index_of(held))
    wanted = wanted_racks(replication_factors(held), max(1, len(brokers.rack_names())), request.rack_rule)
    return bool((racks >= wanted).all())
