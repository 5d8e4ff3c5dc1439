"""Loads against limits: where an option is tightest, what it passes, and on which day."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from kafka_capacity.demand.calendar_days import DAY_SECONDS, days_between, days_later
from kafka_capacity.demand.disk import date_seconds
from kafka_capacity.demand.workload import HIGH, MIDDLE
from kafka_capacity.hardware.limits import (
    CONDITIONS,
    RESOURCES,
    UNITS,
    Condition,
    Limits,
    Resource,
    amounts_apart,
    shown_amount,
)
from kafka_capacity.hardware.shapes import DiskKind, Shape
from kafka_capacity.kafka.arrays import Flags, Floats
from kafka_capacity.proposal.constraints.kinds import where_of
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.questions.capacity.results import CapacityUse, Exhaustion, Judgement, Tightest
from kafka_capacity.text import format_limit

_STILL = {
    Resource.DISK: "",
    Resource.REPLICAS: "",
    Resource.RECOVERY: " to be re-replicated after its loss",
    Resource.VOLUME_RECOVERY: " to re-replicate the fullest of its disks after the loss of that",
}
"""The same under every condition, so judged once, and what is said of each instead of a condition."""

_WANTED = (Resource.NETWORK_IN, Resource.NETWORK_OUT, Resource.CPU, Resource.DISK, Resource.DISK_IO)
"""What every broker has; other resources have a limit only where a provider sets one."""

SLOWEST_DISK_BYTES_PER_SECOND = 100e6
"""What every disk takes that a broker may have: one hard disk that writes in order, at its inner tracks. Where nobody
says what a broker's disks take, a load within the limit on this much is not what binds."""


def used_ratios(use: CapacityUse, limits: Limits) -> Floats:
    """Return float64[K, Q, 2, D, B], loads over what the limits allow; NaN where that is not judged."""
    found = np.full(use.load.shape, np.nan)
    for (k, condition), (q, resource) in itertools.product(enumerate(CONDITIONS), enumerate(RESOURCES)):
        if condition in limits.conditions() and (condition is Condition.NORMAL or resource not in _STILL):
            allowed = use.capacity[q] * limits.ratio(resource, condition)
            # Nothing on a broker that can do nothing is not known to fit, something on it is infinitely too much.
            with np.errstate(divide="ignore", invalid="ignore"):
                found[k, q] = use.load[k, q] / allowed
    return found


def judge(
    use: CapacityUse, limits: Limits, shape: Shape, *, estimate: int = HIGH, unknown: Collection[Resource] = ()
) -> Judgement:
    """Judge one option by the estimate of growth that decides, :data:`MIDDLE` or :data:`HIGH`.

    Of a load that is ``unknown`` nothing but a limit that is passed on the first day is known: no headroom, and no day.
    """
    ratios = used_ratios(use, limits)
    decisive = ratios[:, :, estimate]
    is_open = np.isin(RESOURCES, list(unknown))[:, None, None]
    known = np.where(is_open & ~(decisive[..., :1, :] > 1.0), np.nan, decisive)
    tightest = None
    if not np.isnan(known).all():
        tightest = _at(use, limits, estimate, *map(int, np.unravel_index(np.nanargmax(known), known.shape)))
    first = passing_day(decisive.reshape(-1, *decisive.shape[2:]), use.dates)
    last = use.dates[-1] if first is None else days_later(first.date, -1)
    exhaustion = _exhaustion(use, ratios)
    not_judged = {*_not_judged(use, limits, shape, estimate, max(last, use.dates[0]))}
    not_judged.update(one.resource for one in exhaustion if one.resource in unknown)
    return Judgement(
        excuses=_excuses(use, limits, decisive, estimate, shape),
        not_judged=tuple(one for one in RESOURCES if one in not_judged),
        fits_until=last if last >= use.dates[0] else None,
        headroom_ratio=None if tightest is None else 1.0 - float(np.nanmax(known)),
        tightest=tightest,
        exhaustion=tuple(one for one in exhaustion if one.resource not in unknown),
    )


def _not_judged(use: CapacityUse, limits: Limits, shape: Shape, estimate: int, last: str) -> tuple[Resource, ...]:
    """Return the resources of which some broker's capacity is not known, and which may be what binds until a day."""
    wanted = {Resource.CPU} if shape.disk_kind is DiskKind.MANAGED else {*_WANTED}
    if shape.has_quotas:
        # They stand for processors; without networks and disks of its own, a broker is read from within them too.
        read = {Resource.CLIENT_OUT} if shape.disk_kind is DiskKind.MANAGED else set()
        wanted = (wanted | read | {Resource.CLIENT_IN}) - {Resource.CPU}
    unknown = {one: np.isnan(use.capacity[RESOURCES.index(one)]) for one in RESOURCES if one in wanted}
    found = [resource for resource, is_unknown in unknown.items() if is_unknown.any()]
    is_open = Resource.DISK_IO in found
    if is_open and _is_within_the_slowest_disk(use, limits, estimate, unknown[Resource.DISK_IO], last):
        found.remove(Resource.DISK_IO)
    return tuple(found)


def _is_within_the_slowest_disk(use: CapacityUse, limits: Limits, estimate: int, unknown: Flags, last: str) -> bool:
    """Return whether any disk would do until a day, the last on which nothing else is short."""
    loads = use.load[:, RESOURCES.index(Resource.DISK_IO), estimate][..., unknown]
    until = sum(day <= last for day in use.dates)
    if until < len(use.dates):
        first, then = use.dates[until - 1 : until + 1]
        part = days_between(first, last) / days_between(first, then)
        loads = np.stack(
            [*np.moveaxis(loads[:, :until], 1, 0), loads[:, until - 1] * (1 - part) + loads[:, until] * part], axis=1
        )
    return all(
        loads[CONDITIONS.index(condition)].max(initial=0.0)
        <= limits.ratio(Resource.DISK_IO, condition) * SLOWEST_DISK_BYTES_PER_SECOND
        for condition in limits.conditions()
    )


def _at(use: CapacityUse, limits: Limits, estimate: int, k: int, q: int, date: int, broker: int) -> Tightest:
    condition, resource = CONDITIONS[k], RESOURCES[q]
    return Tightest(
        resource=resource,
        condition=condition,
        broker=int(use.brokers.ids[broker]),
        date=use.dates[date],
        needed=float(use.load[k, q, estimate, date, broker]),
        allowed=float(use.capacity[q, broker] * limits.ratio(resource, condition)),
    )


def _excuses(use: CapacityUse, limits: Limits, decisive: Floats, estimate: int, shape: Shape) -> tuple[Excuse, ...]:
    found = []
    for k, q in np.ndindex(*decisive.shape[:2]):
        ratios = decisive[k, q]
        if not (ratios > 1.0).any():
            continue
        date, broker = map(int, np.unravel_index(np.nanargmax(ratios), ratios.shape))
        at = _at(use, limits, estimate, k, q, date, broker)
        day = passing_day(ratios[None], use.dates)
        passed_on = day.date if day else None
        where = where_of(use.brokers, broker)
        lost = _lost(use, int(use.cause[k, q, estimate, date, broker]), at.condition)
        other = float(use.brokers.known_other_bytes[broker]) if at.resource is Resource.DISK else 0.0
        found.append(
            Excuse(
                reason=_limit_sentence(at, limits, shape, where=where, lost=lost, passed_on=passed_on, other=other),
                constraint=str(at.resource),
                where=where if at.condition is Condition.NORMAL else f"{where}, {at.condition}",
                needed=at.needed,
                available=at.allowed,
                unit=UNITS[at.resource],
                when=passed_on,
            )
        )
    return tuple(found)


def _lost(use: CapacityUse, unit: int, condition: Condition) -> str:
    if unit < 0:
        return ""
    if condition is Condition.BROKER_LOST:
        return f"broker {int(use.brokers.ids[unit])}"
    name = use.brokers.racks[use.brokers.rack_indexes().tolist().index(unit)]
    return f"rack {name}" if name else "a broker without a rack"


_WHAT = {
    Resource.NETWORK_IN: "would receive",
    Resource.NETWORK_OUT: "would send",
    Resource.CLIENT_IN: "would receive from producers",
    Resource.CLIENT_OUT: "would serve to consumers",
    Resource.CPU: "would use",
    Resource.DISK: "would hold",
    Resource.DISK_IO: "would write and read",
    Resource.REPLICAS: "would hold",
    Resource.RECOVERY: "would take",
    Resource.VOLUME_RECOVERY: "would take",
}

_WHEN = {
    Condition.NORMAL: "at peak",
    Condition.BROKER_LOST: "at peak after the loss of {lost}",
    Condition.RACK_LOST: "at peak after the loss of {lost}",
    Condition.MOVING: "at peak while a reassignment runs",
    Condition.BROKER_RETURNS: "at peak while a broker catches up",
    Condition.REREADING: "at peak while everything is re-read",
}


def _limit_sentence(
    at: Tightest, limits: Limits, shape: Shape, *, where: str, lost: str, passed_on: str | None, other: float
) -> str:
    """Return which limit is passed, by whom, when and by how much; and what the hardware bursts to, if it does.

    ``other`` is how much of it is data on disk beside replicas.
    """
    resource, share = at.resource, limits.ratio(at.resource, at.condition)
    when = _STILL[resource] if resource in _STILL else " " + _WHEN[at.condition].format(lost=lost)
    written = amounts_apart(resource, at.needed, at.allowed)
    needed, allowed, there = map(written, (at.needed, at.allowed, at.allowed / share))
    needed += f" ({written(other)} of it other data)" if other > 0 else ""
    of = "" if share == 1.0 else f" ({format_limit(share)} of {there})"
    first = "" if passed_on in (None, at.date) else f"; the limit is exceeded on {passed_on}"
    if at.needed <= (burst := shape.bursts.get(resource, 0.0)):
        first += f"; bursts can reach {shown_amount(resource, burst)} for minutes"
    return f"{where} {_WHAT[resource]} {needed}{when} on {at.date}, but {allowed} are allowed{of}{first}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passing:
    """The first day on which a ratio passes 1, and the positions of the layer and the broker that do."""

    date: str
    layer: int
    broker: int


def passing_day(ratios: Floats, dates: tuple[str, ...]) -> Passing | None:
    """Return the first day on which any ratio, float64[L, D, B], passes 1, on straight lines between the dates."""
    is_over = ratios > 1.0
    if not is_over.any():
        return None
    date = int(is_over.any(axis=(0, 2)).argmax())
    layers, brokers = np.nonzero(is_over[:, date])
    now = ratios[layers, date, brokers]
    if date == 0:
        worst = int(now.argmax())
        return Passing(date=dates[0], layer=int(layers[worst]), broker=int(brokers[worst]))
    before = ratios[layers, date - 1, brokers]
    share = (1.0 - before) / (now - before)
    soonest = int(np.lexsort((-now, share))[0])
    times = date_seconds(dates) / DAY_SECONDS
    step = times[date] - times[date - 1]
    days = times[date - 1] + float(share[soonest]) * step
    # Dates a day apart are the last day before a change and its first: what it passes is passed on the first. Else what
    # is passed in the course of a day is passed on that day.
    whole = times[date] if step <= 1 else math.floor(days)
    return Passing(date=days_later(dates[0], int(whole)), layer=int(layers[soonest]), broker=int(brokers[soonest]))


def _exhaustion(use: CapacityUse, ratios: Floats) -> tuple[Exhaustion, ...]:
    found = []
    for q, resource in enumerate(RESOURCES):
        if np.isnan(ratios[:, q]).all():
            continue
        middle, high = (passing_day(ratios[:, q, e], use.dates) for e in (MIDDLE, HIGH))
        found.append(
            Exhaustion(
                resource=resource,
                middle=middle.date if middle else None,
                high=high.date if high else None,
                condition=CONDITIONS[high.layer] if high else None,
                broker=int(use.brokers.ids[high.broker]) if high else None,
            )
        )
    return tuple(found)
