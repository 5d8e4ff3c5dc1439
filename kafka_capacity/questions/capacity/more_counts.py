"""Which counts of brokers are tried as well, by what others came to: between them for the fewest, above for enough."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from kafka_capacity.hardware.limits import RESOURCES
from kafka_capacity.proposal.constraints.registry import BROKER_MAXIMA
from kafka_capacity.proposal.excuse import Excuse, distance
from kafka_capacity.questions.capacity.options import SizingInputs, capacity_options, rack_step, useful_counts
from kafka_capacity.questions.capacity.results import LOAD_MARGIN_RATIO, CapacityResult, PlacementKey

_MOST_TIMES = 20  # how many times today's count is tried at most: beyond it a figure is wrong
_CLEARLY_FEWER_RATIO = 0.75  # at most so many brokers tell what as many more take off the fullest
_LEAST_RELIEF = 0.5  # of what as many more brokers would take off the fullest, were all spread evenly
_STEPS_OF_LARGE = 20  # by so many steps a large cluster doubles
_PER_BROKER = frozenset({*RESOURCES, *(one.name for one in BROKER_MAXIMA.values())})
"""Constraints of which each broker has less the more there are."""


class _Goal(NamedTuple):
    """What the fewest brokers are looked for."""

    date: int  # until which of the dates they are to last
    near: int  # so many brokers too many are near enough; 0 for the fewest there are
    factor: float = 1.0  # with all loads times this


def with_more_counts(inputs: SizingInputs, results: Iterable[CapacityResult]) -> SizingInputs | None:
    """Return what is to be tried as well to come to the fewest brokers; ``None`` where nothing is.

    Where useful counts are left between the fewest that last until a date and what was tried next to them, that is the
    one in the middle; likewise of those that last until the horizon with less or more load than expected. For these,
    and on the way, a twentieth of a large cluster is near enough. Where no count of today's hardware lasts,
    it is a larger one, for as long as more brokers help. None of it where counts are asked for.
    """
    if inputs.request.broker_counts:
        return None
    families: dict[Any, list[CapacityResult]] = {}
    for result in results:
        families.setdefault(result.option.family, []).append(result)
    dates, now = inputs.workload.outlook.dates, len(inputs.snapshot.brokers)
    last, step, found = len(dates) - 1, rack_step(inputs.start), set[int | None]()
    roughly = step * (now // (_STEPS_OF_LARGE * step))
    for family, alike in families.items():
        tried = [option.placement.broker_count for option in inputs.options if option.family == family]
        proved = [one for one in alike if not one.is_unproved]
        wanted = [
            (_Goal(place, roughly if 0 < place < last else 0), [one for one in proved if one.lasts(date)])
            for place, date in enumerate(dates)
        ]
        for factor in (1.0 - LOAD_MARGIN_RATIO, 1.0 + LOAD_MARGIN_RATIO):
            wanted.append((_Goal(last, roughly, factor), [one for one in proved if one.carries(factor)]))
        for goal, enough in wanted:
            fewest = min((one.option.placement for one in enough), key=lambda key: key.broker_count, default=None)
            # Brokers are given up only where fewer last until the horizon.
            if fewest is not None and (fewest.broker_count > now or goal.date == last):
                found.add(_count_between(inputs, fewest, tried, goal))
        if alike[0].option.shape.name == inputs.request.today.name and not any(one.lasts(dates[-1]) for one in alike):
            found.add(_count_above(inputs, alike))
    counts = tuple(sorted(filter(None, found)))
    if not counts:
        return None
    known = {option.option_id for option in inputs.options}
    more = dataclasses.replace(inputs, more_counts=(*inputs.more_counts, *counts))
    options = tuple(
        option
        for option in capacity_options(more)
        if option.option_id in known or option.placement.broker_count in counts
    )
    return dataclasses.replace(more, options=options) if len(options) > len(known) else None


def _count_between(inputs: SizingInputs, fewest: PlacementKey, tried: Collection[int], goal: _Goal) -> int | None:
    """Return the count in the middle between the fewest brokers that are enough and the next that are not."""
    below = max((count for count in tried if count < fewest.broker_count), default=fewest.broker_count)
    left = [count for count in useful_counts(inputs.start, fewest.broker_count - 1) if count > below]
    while left and fewest.broker_count - below > goal.near:
        below = left[len(left) // 2]
        key = dataclasses.replace(fewest, broker_count=below, is_observed=False, used_brokers=None)
        if inputs.has_room(key, goal.factor)[goal.date]:
            return below
        left = left[len(left) // 2 + 1 :]
    return None


def _count_above(inputs: SizingInputs, alike: Sequence[CapacityResult]) -> int | None:
    """Return how many brokers would last until the horizon, as the largest count and one clearly below it tell.

    ``None`` where more do not help, or it would take too many. What a broker uses becomes less in proportion to their
    number, unless a partition is too much for any broker.
    """
    used = {
        one.option.placement.broker_count: max(1.0 - one.headroom_ratio, distance(map(Excuse.as_dict, one.excuses))[1])
        for one in alike
        if one.headroom_ratio is not None and _PER_BROKER.issuperset(excuse.constraint for excuse in one.excuses)
    }
    most = max(used, default=0)
    fewer = max((count for count in used if count <= _CLEARLY_FEWER_RATIO * most), default=0)
    if not fewer or used[fewer] - used[most] < _LEAST_RELIEF * used[fewer] * (1.0 - fewer / most):
        return None
    step = rack_step(inputs.start)
    count = most + step * math.ceil(most * (used[most] - 1.0) / step)
    return count if most < count <= _MOST_TIMES * len(inputs.start) else None
