"""Which option to take, and which others are worth a look.

Recommended is, of the options that fit up to the horizon, the one that costs least per month; of equals the one that
moves least, then the one that is done soonest, then doing nothing, then the one with the most headroom. So no other
option that fits is better in one of these and as good in the rest, but that doing nothing is enough where it fits:
another order of replicas, which costs nothing, is not worth a change for headroom alone.

Where it is not known what today's hardware costs, of which its price may be a part only, or where that is an estimate,
its options cannot be held against priced ones: then the fewest brokers of today's hardware that fit are recommended,
and only if none does, the cheapest priced option. What fits for less than such an estimate is named beside it.

A budget leaves out what costs more, or an unknown amount, and changes nothing else. Where nothing that fits is within
it, nothing is recommended, and the reason says what the cheapest that fits costs and what lasts longest within it.

Fewer of today's brokers are recommended only where their capacity is known: that today's carry what they do says
nothing of fewer. Of the throughput of disks, which hardly any inventory knows, the answer says that it is unknown.

Where none fits, the nearest is the one that breaks the fewest different constraints, then the one with the smallest
shortfall, as for a change (:func:`~kafka_capacity.proposal.excuse.distance`), then the cheapest; what Kafka would
refuse comes last (:func:`~kafka_capacity.questions.capacity.results.nearness`).

The Pareto front holds every option that fits and that no other one beats: no other is as good in cost, bytes moved,
time and headroom, and better in one. Options without a price compare by their number of brokers, among themselves and
with the same hardware.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kafka_capacity.hardware.limits import RESOURCE_NAMES, RESOURCES, Resource, amounts_apart
from kafka_capacity.hardware.plain import plain_number
from kafka_capacity.kafka.arrays import Floats
from kafka_capacity.questions.capacity.results import (
    CapacityResult,
    OptionKind,
    nearness,
    worst_reason,
)
from kafka_capacity.text import format_usd
from kafka_capacity.text.wording import told_apart


@dataclass(frozen=True, slots=True, kw_only=True)
class SizingAdvice:
    """What to do."""

    recommended: str | None  # the option's id; `None` when none fits
    reason: str  # why, in sentences with figures
    front: tuple[str, ...]  # the ids of the Pareto front, in the order of the options
    by_date: tuple[tuple[str, str | None], ...]  # for each date what would be recommended if it were the horizon
    budget_usd_per_month: float | None = None  # what an option may cost; `None` for as much as it does
    longest_within_budget: str | None = None  # what lasts longest where what fits costs more; `None` otherwise
    # other hardware that fits for less than what is recommended, where that is an estimate; `None` otherwise
    cheaper_elsewhere: str | None = None


def advise_size(
    results: Sequence[CapacityResult], dates: Sequence[str], budget_usd_per_month: float | None = None
) -> SizingAdvice:
    """Choose among the options."""
    affordable = [result for result in results if is_within(budget_usd_per_month, result.cost.total)]
    within = [result for result in affordable if not result.is_unproved]
    fitting = [result for result in within if result.fits]
    chosen = _best(fitting, results)
    longest = None if chosen is not None or budget_usd_per_month is None else _longest(within)

    def until(date: str) -> str | None:
        return _id(_best([one for one in within if one.lasts(date)], results))

    return SizingAdvice(
        recommended=_id(chosen),
        reason=_budget_reason(budget_usd_per_month, within, results)
        or _reason(chosen, results, budget_usd_per_month) + _unproved_reason(affordable),
        front=tuple(result.option_id for result in pareto_front(fitting)),
        by_date=tuple((date, until(date)) for date in dates),
        budget_usd_per_month=budget_usd_per_month,
        longest_within_budget=_id(longest),
        cheaper_elsewhere=_id(_cheaper_elsewhere(chosen, fitting)),
    )


def _today_of(results: Sequence[CapacityResult]) -> CapacityResult:
    return next(result for result in results if result.option.kind is OptionKind.DO_NOTHING)


def _unproved_reason(affordable: Sequence[CapacityResult]) -> str:
    why = max((one.why_as_far_as_known for one in affordable if one.fits and one.is_unproved), key=len, default="")
    return f"; fewer brokers are not recommended where {why}" if why else ""


def _id(result: CapacityResult | None) -> str | None:
    return None if result is None else result.option_id


def _longest(results: Sequence[CapacityResult]) -> CapacityResult | None:
    """Return what lasts longest, of equals the best; ``None`` where nothing lasts today."""
    last = max((result.fits_until or "" for result in results), default="")
    return min((result for result in results if last and result.fits_until == last), key=_rank, default=None)


def is_within(budget_usd_per_month: float | None, usd_per_month: float | None) -> bool:
    """Return whether a budget allows a cost; one that is not known it does not."""
    return budget_usd_per_month is None or (usd_per_month is not None and usd_per_month <= budget_usd_per_month)


def _best(fitting: Sequence[CapacityResult], results: Sequence[CapacityResult]) -> CapacityResult | None:
    if not fitting:
        return None
    today = _today_of(results)
    if not _is_comparable(today):
        own = [result for result in fitting if result.option.shape.name == today.option.shape.name]
        if own:
            return min(own, key=lambda result: (result.option.placement.broker_count, *_rank(result)[1:]))
    return min(_priced(fitting) or fitting, key=_rank)


def _cheaper_elsewhere(chosen: CapacityResult | None, fitting: Sequence[CapacityResult]) -> CapacityResult | None:
    """Return what would be chosen if the price of today's hardware were known, where that costs less."""
    if chosen is None or _is_comparable(chosen):
        return None
    cheaper = [one for one in fitting if _is_comparable(one) and one.cost.total < chosen.cost.total]
    return min(cheaper, key=_rank, default=None)


def _is_comparable(result: CapacityResult) -> bool:
    """Return whether what it costs is known well enough to be held against other hardware."""
    return not math.isnan(result.cost.total) and result.option.shape.priced_as is None


def _priced(results: Sequence[CapacityResult]) -> list[CapacityResult]:
    return [result for result in results if not math.isnan(result.cost.total)]


def _cost(result: CapacityResult) -> float:
    """Return the cost, or where it is not known the brokers: more of the same machines never cost less."""
    total = result.cost.total
    return float(result.option.placement.broker_count) if math.isnan(total) else total


def _criteria(result: CapacityResult) -> tuple[float, float, float, bool, float]:
    """Return what is better when it is smaller: cost, bytes moved, time, anything to do at all, lack of headroom."""
    change = result.change
    seconds = math.inf if change.seconds is None else change.seconds
    is_change = result.option.kind is not OptionKind.DO_NOTHING
    return _cost(result), change.moved_bytes, seconds, is_change, -(result.headroom_ratio or 0.0)


def _rank(result: CapacityResult) -> tuple[float, float, float, bool, float, str]:
    """Return the criteria, the first ones first."""
    return *_criteria(result), result.option_id


def pareto_front(results: Sequence[CapacityResult]) -> tuple[CapacityResult, ...]:
    """Return the options that no other one beats, in the order given."""
    alike: dict[str | None, list[int]] = {}
    for place, result in enumerate(results):
        key = None if _is_comparable(result) else result.option.shape.name
        alike.setdefault(key, []).append(place)
    kept: set[int] = set()
    for places in alike.values():
        figures = np.array([_criteria(results[place]) for place in places])
        kept.update(places[i] for i in _undominated(figures))
    return tuple(result for place, result in enumerate(results) if place in kept)


def _undominated(figures: Floats) -> list[int]:
    """Return the rows of float64[N, K] that no other row is as small as everywhere and smaller than somewhere."""
    order = np.lexsort(figures.T[::-1])  # who beats a row comes before it
    front = np.empty_like(figures)
    found: list[int] = []
    for row in order.tolist():
        no_worse = (front[: len(found)] <= figures[row]).all(axis=1)
        if not (no_worse & (front[: len(found)] != figures[row]).any(axis=1)).any():
            front[len(found)] = figures[row]
            found.append(row)
    return found


def _reason(chosen: CapacityResult | None, results: Sequence[CapacityResult], budget: float | None) -> str:
    still = _still(_today_of(results))
    if chosen is None:
        nearest = min(results, key=_nearness)
        if nearest.is_not_judged:
            return f"no option can be judged: {_worst(nearest)}"
        return f"no option fits; the nearest is {nearest.option_id}: {_worst(nearest)}; {still}"
    tight = ""
    if chosen.tightest is not None and chosen.headroom_ratio is not None:
        name, where = RESOURCE_NAMES[chosen.tightest.resource], chosen.tightest
        written = amounts_apart(where.resource, where.needed, where.allowed)
        tight = (
            f"; its tightest resource is {name} of broker {where.broker} on {where.date} ({where.condition}): "
            f"{written(where.needed)} of {written(where.allowed)} allowed"
        )
    fits = _fits(chosen)
    what = f"is the cheapest option that {fits}"
    if math.isnan(chosen.cost.total):
        what = f"is the smallest number of today's brokers tried that {fits}; its cost is unknown"
    elif not _is_comparable(chosen):
        what = f"is the smallest number of today's brokers tried that {fits}, {_month(chosen)}"
    if budget is not None:
        what += f", and leaves {format_usd(budget - chosen.cost.total)} of the budget of {format_usd(budget)} per month"
    return f"{chosen.option_id} {what}{tight}; {still}"


def _fits(result: CapacityResult) -> str:
    # What is not known is exceeded by nobody.
    return "exceeds no known limit" if result.not_judged or result.why_as_far_as_known else "fits"


def _nearness(result: CapacityResult) -> tuple[bool, int, float, float, int]:
    excuses, usd = [excuse.as_dict() for excuse in result.excuses], plain_number(result.cost.total)
    return nearness(excuses, result.headroom_ratio, usd, result.option.placement.broker_count)


def _month(result: CapacityResult, usd: Callable[[float], str] = format_usd) -> str:
    return f"{usd(result.cost.total)} per month{'' if _is_comparable(result) else ' (estimated)'}"


def _budget_reason(
    budget: float | None, within: Sequence[CapacityResult], results: Sequence[CapacityResult]
) -> str | None:
    """Return by how much the budget is too small; ``None`` where it is not what is in the way."""
    every = [result for result in results if result.fits]
    if budget is None or not every or any(result.fits for result in within):
        return None
    fitting = _priced(every)
    if not fitting:
        return f"no option that fits has a known price, so none is within the budget of {format_usd(budget)} per month"
    cheapest = min(fitting, key=_rank)
    least = min(_priced(results), key=_cost)
    usd = told_apart(format_usd, budget, least.cost.total if not within else cheapest.cost.total)
    parts = [
        f"no option that fits is within the budget of {usd(budget)} per month",
        f"the cheapest option that fits, {cheapest.option_id}, costs {_month(cheapest, usd)}, "
        f"{usd(cheapest.cost.total - budget)} over budget",
    ]
    longest = _longest(within)
    if longest is not None:
        parts.append(
            f"within it {longest.option_id} lasts longest, until {longest.fits_until} for {_month(longest)}: "
            f"{longest.excuses[0].reason}"
        )
    elif not within:
        parts.append(f"no option is within it, not even {least.option_id} for {_month(least, usd)}")
    return "; ".join(parts)


def _worst(result: CapacityResult) -> str:
    tightest = (None, None) if result.tightest is None else (result.tightest.resource, result.tightest.needed)
    return worst_reason([excuse.as_dict() for excuse in result.excuses], tightest)


def _still(today: CapacityResult) -> str:
    if today.fits:
        return f"doing nothing {_fits(today)} up to the horizon"
    first = today.excuses[0]
    if today.is_not_judged:
        return f"whether doing nothing fits is not judged: {first.reason}"
    if first.constraint not in RESOURCES:
        return f"doing nothing does not fit: {first.reason}"
    return f"doing nothing exceeds the limit of {RESOURCE_NAMES[Resource(first.constraint)]} on {first.when}"
