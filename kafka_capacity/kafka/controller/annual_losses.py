"""How often the data of topics are gone for good, and how many bytes that costs.

Brokers lose their data one by one, each with a repair time of its own; and racks lose those of all their brokers at
once. Brokers and racks fail apart from each other. A broker is without its data a share ``q = repair / (mttf +
repair)`` of the time by itself, a rack likewise; it fails ``1 / (mttf + repair)`` times a second. When one fails, a
copyset is lost

    by broker b:  if its rack is not gone, the others of the rack are, and so are those in every other rack
    by rack R:    if not all in it are gone already, and those in every other rack are

where all brokers X of a copyset in a rack are gone with ``q_rack + (1 - q_rack) * product of q over X``. This is exact
for each copyset, and so for bytes and partitions, whatever the distribution of the times. What counts as one event is
a failure: of one that may complete several copysets of a topic the chances are added up, to at most 1, which is an
upper bound.

>>> hazards = Hazards.of([0, 0, 1], mttf_seconds=99.0, repair_seconds=1.0)
>>> found = annual_losses(np.array([[0, 2]]), np.zeros(1, dtype=int), np.array([500.0]), hazards, topics=1)
>>> [round(float(values[0]) / SECONDS_PER_YEAR, 6) for values in (found.events, found.lost_bytes)]
[0.0002, 0.1]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.arrays import Flags, Floats, Ints

SECONDS_PER_YEAR = 365 * 24 * 3600


def copysets_of(replicas: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return the distinct copysets of an assignment.

    A *copyset* is a set of brokers that holds all replicas of at least one partition (Cidon et al., "Copysets: Reducing
    the Frequency of Data Loss in Cloud Storage", USENIX ATC 2013). Data is lost when a whole copyset fails, so the
    fewer distinct copysets an assignment has, the less often that happens, and the more partitions are hit when it
    does: what is lost in the long run does not depend on them.

    Args:
        replicas: int[P, W], broker ids, padded with -1.

    Returns:
        int[C, W]: each copyset once, its brokers ascending after the padding.
    """
    distinct: NDArray[np.integer] = np.unique(np.sort(replicas, axis=1), axis=0)
    return distinct


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hazards:
    """How brokers, by position, and their racks lose data."""

    rack: Ints  # int64[B], which rack each broker is in
    broker_rate: Floats  # float64[B], failures a second
    broker_gone: Floats  # float64[B], the share of the time that a broker is without its data by itself
    rack_rate: Floats  # float64[K], failures of racks a second
    rack_gone: Floats  # float64[K]

    @classmethod
    def of(
        cls,
        rack: Sequence[int] | NDArray[np.integer],
        *,
        mttf_seconds: float,
        repair_seconds: ArrayLike,
        rack_mttf_seconds: float = inf,
        rack_repair_seconds: ArrayLike = 1.0,
    ) -> Hazards:
        """Build from mean times.

        Args:
            rack: of each broker, numbered from 0.
            mttf_seconds: of a broker, from having its data to losing them.
            repair_seconds: until it has them again; one for all or one a broker.
            rack_mttf_seconds: of a rack; infinite for never.
            rack_repair_seconds: until its brokers have their data again; one for all or one a rack.

        Raises:
            RequestError: a time is not above 0, or a repair never ends.
        """
        racks = np.asarray(rack, dtype=np.int64)
        count = int(racks.max(initial=-1)) + 1
        rate, gone = _renewal("mttf_seconds", mttf_seconds, "repair_seconds", repair_seconds, len(racks))
        rack_rate, rack_gone = _renewal(
            "rack_mttf_seconds", rack_mttf_seconds, "rack_repair_seconds", rack_repair_seconds, count
        )
        return cls(rack=racks, broker_rate=rate, broker_gone=gone, rack_rate=rack_rate, rack_gone=rack_gone)


def _renewal(mttf_name: str, mttf: float, repair_name: str, repair: ArrayLike, count: int) -> tuple[Floats, Floats]:
    times = np.broadcast_to(np.asarray(repair, dtype=np.float64), (count,))
    if not mttf > 0:
        raise RequestError(f"{mttf_name} must be above 0, not {mttf:g}")
    if not ((times > 0) & np.isfinite(times)).all():
        wrong = times[~((times > 0) & np.isfinite(times))][0]
        raise RequestError(f"{repair_name} must be above 0 and finite, not {wrong:g}")
    return 1.0 / (mttf + times), times / (mttf + times)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnnualLosses:
    """What T topics lose in a year, in the mean."""

    copysets: Ints  # int64[T], distinct ones
    events: Floats  # float64[T], failures that cost the topic at least one partition; an upper bound
    lost_partitions: Floats  # float64[T]
    lost_bytes: Floats  # float64[T]
    all_copysets: int  # of all topics together
    all_events: float  # failures that cost any topic a partition; an upper bound

    def probability(self) -> Floats:
        """Return float64[T], the chance of at least one event in a year."""
        return np.asarray(-np.expm1(-self.events), dtype=np.float64)


def annual_losses(
    replicas: NDArray[np.integer], topic: NDArray[np.integer], size_bytes: Floats, hazards: Hazards, *, topics: int
) -> AnnualLosses:
    """Add up what failures cost each topic.

    ``replicas`` is int[P, W], positions of brokers, padded with -1; ``topic`` int[P]; ``size_bytes`` float64[P], what
    is lost with a partition.

    Raises:
        RequestError: a partition has no replica.
    """
    if len(replicas) and (replicas < 0).all(axis=1).any():
        row = int(np.argmax((replicas < 0).all(axis=1)))
        raise RequestError(f"partition {row} of the assignment has no replica; leave it out")
    distinct, which = _numbered(replicas)
    by_broker, by_rack = completed(distinct, hazards)
    rate = (by_broker * _padded(hazards.broker_rate, distinct)).sum(axis=1)
    rate += (by_rack * _padded(hazards.rack_rate[hazards.rack], distinct)).sum(axis=1)
    of_partition = rate[which] * SECONDS_PER_YEAR
    pair_topic, pair_set = np.unique(np.column_stack([topic, which]), axis=0).T if len(which) else (which, which)
    return AnnualLosses(
        copysets=np.bincount(pair_topic, minlength=topics).astype(np.int64),
        events=_events(distinct[pair_set], by_broker[pair_set], by_rack[pair_set], hazards, pair_topic, topics),
        lost_partitions=_summed(topic, of_partition, topics),
        lost_bytes=_summed(topic, of_partition * size_bytes, topics),
        all_copysets=len(distinct),
        all_events=float(_events(distinct, by_broker, by_rack, hazards, np.zeros(len(distinct), dtype=np.int64), 1)[0]),
    )


def completed(copysets: NDArray[np.integer], hazards: Hazards) -> tuple[Floats, Floats]:
    """Return the chance that a failure completes a copyset: float64[C, W] by each broker, and by its rack.

    Copysets are int[C, W], positions of brokers, padded with -1. A rack stands at the first of its brokers in the
    copyset, with 0 at the others.
    """
    is_there = copysets >= 0
    gone = np.where(is_there, hazards.broker_gone[copysets], 1.0)
    rack = np.where(is_there, hazards.rack[copysets], -1)
    rack_gone = np.where(is_there, hazards.rack_gone[rack], 0.0)
    by_broker, by_rack = np.zeros(copysets.shape), np.zeros(copysets.shape)
    for place in range(copysets.shape[1]):
        others = np.ones(len(copysets))
        mates = np.ones(len(copysets))
        for other in range(copysets.shape[1]):
            is_mate = rack[:, other] == rack[:, place]
            is_first = ~(rack[:, :other] == rack[:, other : other + 1]).any(axis=1)
            in_rack = np.where(rack == rack[:, other : other + 1], gone, 1.0).prod(axis=1)
            all_gone = rack_gone[:, other] + (1 - rack_gone[:, other]) * in_rack
            others *= np.where(is_there[:, other] & is_first & ~is_mate, all_gone, 1.0)
            if other != place:
                mates *= np.where(is_mate, gone[:, other], 1.0)
        is_first = ~(rack[:, :place] == rack[:, place : place + 1]).any(axis=1)
        by_broker[:, place] = np.where(is_there[:, place], (1 - rack_gone[:, place]) * mates * others, 0.0)
        whole = 1 - mates * gone[:, place]
        by_rack[:, place] = np.where(is_there[:, place] & is_first, whole * others, 0.0)
    return by_broker, by_rack


def _padded(values: Floats, copysets: NDArray[np.integer]) -> Floats:
    return np.where(copysets >= 0, values[copysets], 0.0)


def _summed(topic: NDArray[np.integer], values: Floats, topics: int) -> Floats:
    return np.asarray(np.bincount(topic, weights=values, minlength=topics), dtype=np.float64)


def _numbered(replicas: NDArray[np.integer]) -> tuple[NDArray[np.integer], Ints]:
    """Return the distinct copysets, and which of them each partition has."""
    ordered = np.sort(replicas, axis=1).astype(np.int64)
    base = int(ordered.max(initial=-1)) + 2
    if base ** ordered.shape[1] >= 1 << 62:
        distinct, which = np.unique(ordered, axis=0, return_inverse=True)
        return distinct, np.asarray(which, dtype=np.int64).reshape(-1)
    # One number a row is told apart many times faster than rows are.
    weight = base ** np.arange(ordered.shape[1], dtype=np.int64)[::-1]
    _, first, which = np.unique((ordered + 1) @ weight, return_index=True, return_inverse=True)
    return ordered[first], np.asarray(which, dtype=np.int64)


def _events(
    copysets: NDArray[np.integer], by_broker: Floats, by_rack: Floats, hazards: Hazards, topic: Ints, topics: int
) -> Floats:
    """Return float64[T], failures a year that complete at least one copyset; the chances of one are added up to 1."""
    brokers, racks = len(hazards.broker_rate), len(hazards.rack_rate)
    chance = np.zeros((topics, brokers + racks))
    row, place = np.nonzero(copysets >= 0)
    member = copysets[row, place]
    np.add.at(chance, (topic[row], member), by_broker[row, place])
    np.add.at(chance, (topic[row], brokers + hazards.rack[member]), by_rack[row, place])
    rates = np.concatenate([hazards.broker_rate, hazards.rack_rate]) * SECONDS_PER_YEAR
    return np.asarray(np.minimum(chance, 1.0) @ rates, dtype=np.float64)


_SPANS = 40
_CELLS = 1_000_000  # times and brokers that are looked at together


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedLosses:
    """What was counted, a second."""

    events: float  # failures that completed at least one copyset
    events_error: float  # the standard error of that
    copysets: float  # copysets completed
    copysets_error: float  # the standard error of that


def simulate_losses(copysets: NDArray[np.integer], hazards: Hazards, *, seconds: float, seed: int) -> SimulatedLosses:
    """Let brokers and racks fail for so many seconds, and count the copysets, distinct int[C, W], that are lost.

    Times to failure and repair times are exponential. What is counted has a standard error, which is estimated from
    equal spans of the time, since failures of the same brokers make losses come in clusters.

    Copysets are positions of brokers, padded with -1.
    """
    random = np.random.default_rng(seed)
    rates = np.concatenate([hazards.broker_rate, hazards.rack_rate])
    gone = np.concatenate([hazards.broker_gone, hazards.rack_gone])
    time, unit, fails = _courses(rates, gone, seconds, random)
    brokers = len(hazards.broker_rate)
    members = [np.flatnonzero(hazards.rack == rack) for rack in range(len(hazards.rack_rate))]
    of_unit = [np.array([broker]) for broker in range(brokers)] + members
    holding = [copysets[(np.isin(copysets, which) & (copysets >= 0)).any(axis=1)] for which in of_unit]
    hits = np.zeros((len(of_unit), brokers), dtype=np.int64)
    for number, which in enumerate(of_unit):
        hits[number, which] = 1
    counted = np.zeros((_SPANS, 2))
    causes = np.zeros(brokers, dtype=np.int64)
    at_once = max(1, _CELLS // max(1, brokers))
    for start in range(0, len(time), at_once):
        units, is_failure = unit[start : start + at_once], fails[start : start + at_once]
        change = hits[units] * np.where(is_failure, 1, -1)[:, None]
        after = causes + change.cumsum(axis=0)
        span = np.minimum((time[start : start + at_once] / seconds * _SPANS).astype(np.int64), _SPANS - 1)
        for number, rows in enumerate(holding):
            at = np.flatnonzero(is_failure & (units == number))
            is_gone = _all_gone(after[at], rows) & ~_all_gone(after[at] - change[at], rows)
            lost = is_gone.sum(axis=1)
            np.add.at(counted, span[at], np.stack([lost > 0, lost], axis=1))
        causes = after[-1]
    mean = counted.mean(axis=0) * _SPANS / seconds
    error = counted.std(axis=0, ddof=1) * _SPANS / seconds / _SPANS**0.5
    return SimulatedLosses(
        events=float(mean[0]), events_error=float(error[0]), copysets=float(mean[1]), copysets_error=float(error[1])
    )


def _all_gone(causes: Ints, copysets: NDArray[np.integer]) -> Flags:
    """Return which copysets, columns, have no broker left at which time, row; padding is never there."""
    nobody = np.ones((len(causes), 1), dtype=np.bool_)
    return np.asarray(np.hstack([causes > 0, nobody])[:, copysets].all(axis=2), dtype=np.bool_)


def _courses(rates: Floats, gone: Floats, seconds: float, random: np.random.Generator) -> tuple[Floats, Ints, Flags]:
    """Draw when each unit fails and is back, in the order of time."""
    times, units, fails = [], [], []
    for unit, (rate, share) in enumerate(zip(rates.tolist(), gone.tolist(), strict=True)):
        if rate == 0:
            continue
        up, down = (1 - share) / rate, share / rate
        cycles = int(seconds * rate + 8 * (seconds * rate) ** 0.5) + 20
        spans = np.stack([random.exponential(up, cycles), random.exponential(down, cycles)], axis=1)
        at = spans.ravel().cumsum()
        kept = at < (seconds if at[-1] > seconds else inf)
        times.append(at[kept])
        units.append(np.full(int(kept.sum()), unit))
        fails.append((np.arange(len(at)) % 2 == 0)[kept])
    if not times:
        return np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_)
    order = np.argsort(np.concatenate(times), kind="stable")
    return np.concatenate(times)[order], np.concatenate(units)[order], np.concatenate(fails)[order]
