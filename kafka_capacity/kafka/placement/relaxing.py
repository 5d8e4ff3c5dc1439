"""Which hard limits bind or are passed, and the smallest relaxation that would do.

Two figures say how far a limit is from enough. One is proven (:func:`shortages`): what brokers
must hold whatever the plan, against what they may hold; from it follow the brokers that are missing at the least. The
other is reached: how far this plan passes the limit, so a limit that much higher certainly does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Floats, Indices, Int32s, Ints
from kafka_capacity.kafka.placement.problem import LimitedLoad, PlacementProblem
from kafka_capacity.kafka.placement.shares import wanted_racks


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """What some brokers need together of something that is limited."""

    rack: str | None = None  # whose brokers, `None` for others
    topics: tuple[str, ...] = ()  # those that may be on these brokers only, empty for others
    ratio: float  # what they must hold ÷ what they may; 0 where one of them has no limit
    missing_brokers: int  # how many brokers of the usual limit they lack at the least


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Kinds:
    """Partitions of one factor that may be on the same brokers, G kinds of them."""

    amount: Floats  # float64[G], what one replica of each, all together, adds
    factor: Ints  # int64[G]
    allowed: Flags  # bool[G, B]
    reach: Ints  # int64[G, R], how many brokers of each rack are allowed
    spread: Ints  # int64[G], over how many racks they must be


def shortages(
    problem: PlacementProblem, unit: Floats, limit: Floats, *, leaders_only: bool = False
) -> tuple[Shortage, ...]:
    """Hold what brokers must carry together against what they may: all of them, each rack, each set that is pinned to.

    The brokers of each rack are looked at, those that a pinned topic may be on, and all. What a rack must hold follows
    from the rack rule: a partition of three replicas that must be on three racks of three has one in each, so a broker
    more in one of them is no help to the others.

    Worked example: six partitions of RF 3 on racks a, b and c of two brokers each; a broker may hold two replicas.
    There are 18 replicas and room for 12, so all brokers together lack three; each rack has six replicas and room for
    four, so each lacks one.

    Args:
        problem: whose replicas.
        unit: float64[P], what one replica (or leader) adds.
        limit: float64[B], infinite where there is none.
        leaders_only: whether only one replica of a partition counts, its leader.
    """
    target = problem.target
    rack, names = target.rack_indexes(), target.rack_names()
    count = int(rack.max(initial=-1)) + 1
    is_in = rack[:, None] == np.arange(count)
    sets, of_topic = np.ones((1, len(rack)), dtype=np.bool_), np.zeros(len(problem.partitions.topics), dtype=np.int64)
    if problem.allowed_brokers is not None:
        sets, of_topic = np.unique(problem.allowed_brokers, axis=0, return_inverse=True)
        of_topic = of_topic.ravel()
    kinds = _kinds(problem, unit, is_in, sets, of_topic)
    whole = np.ones(len(limit), dtype=np.bool_)
    places: list[tuple[Flags, str | None, tuple[str, ...]]] = [(whole, None, ())]
    if count > 1 and len(names) == count:
        places += [(is_in[:, number], name, ()) for number, name in enumerate(names)]
    every_topic = np.array(problem.partitions.topics, dtype=object)
    places += [
        (inside, None, tuple(every_topic[of_topic == number].tolist()))
        for number, inside in enumerate(sets)
        if inside.any() and not inside.all()
    ]
    found = []
    for inside, name, topics in places:
        must, grown = (_least(kinds, inside, is_in, leaders_only=leaders_only, may_grow=each) for each in (False, True))
        found.append(_shortage(must, grown, limit[inside], name, topics))
    return tuple(found)


def _kinds(problem: PlacementProblem, unit: Floats, is_in: Flags, sets: Flags, of_topic: Indices) -> _Kinds:
    """Join partitions whose topics may be on the same of the sets, bool[S, B]; ``of_topic``, int[T], says on which."""
    factors = problem.replication_factor.astype(np.int64)
    keys = np.stack([of_topic[problem.partitions.topic], factors], axis=1)
    kinds, of_row = np.unique(keys, axis=0, return_inverse=True)
    allowed, factor = sets[kinds[:, 0]], kinds[:, 1]
    reach = (allowed.astype(np.int64) @ is_in.astype(np.int64)).reshape(len(kinds), is_in.shape[1])
    spread = wanted_racks(factor.astype(np.int32), is_in.shape[1], problem.rack_rule)
    return _Kinds(
        amount=np.bincount(of_row.ravel(), weights=unit, minlength=len(kinds)).astype(np.float64),
        factor=factor,
        allowed=allowed,
        reach=reach,
        spread=np.minimum(spread, (reach > 0).sum(axis=1)),
    )


def _least(kinds: _Kinds, inside: Flags, is_in: Flags, *, leaders_only: bool, may_grow: bool) -> float:
    """Sum what some brokers must hold; ``may_grow`` says that the racks of the others may get more brokers."""
    if leaders_only:
        return float(kinds.amount[~(kinds.allowed & ~inside).any(axis=1)].sum())
    others = (kinds.allowed & ~inside).astype(np.int64) @ is_in.astype(np.int64)
    most = (kinds.factor - kinds.spread + 1)[:, None]
    room = np.where(others > 0, most, 0) if may_grow else np.minimum(others, most)
    must = kinds.factor - room.sum(axis=1)
    # Who must be on all the racks there are is on the one whose brokers these are.
    is_whole_rack = ((kinds.reach > 0) & (others == 0)).any(axis=1)
    must = np.maximum(must, is_whole_rack & (kinds.spread == (kinds.reach > 0).sum(axis=1)))
    return float(kinds.amount @ np.maximum(must, 0))


def _shortage(must: float, grown: float, limit: Floats, rack: str | None, topics: tuple[str, ...]) -> Shortage:
    if not len(limit) or not np.isfinite(limit).all():
        return Shortage(rack=rack, topics=topics, ratio=0.0, missing_brokers=0)
    available, usual = float(limit.sum()), float(np.median(limit))
    is_short = grown > available and usual > 0
    return Shortage(
        rack=rack,
        topics=topics,
        ratio=must / max(available, 1e-9),
        missing_brokers=int(np.ceil((grown - available) / usual - 1e-9)) if is_short else 0,
    )


_SLACK_RATIO = 0.02  # replicas cannot be split: that much room is left when a limit is raised
_ROUNDING = 1e-9  # what the brokers hold today is just enough for all they hold today, but for the rounding of sums
_MAX_RACKS = 8  # that are named
BINDS_FROM_RATIO = 0.98  # a broker this close to a limit is held back by it


def rounded_up(ratio: float) -> float:
    """Return a ratio with two digits, rounded up: what is named must do."""
    return float(np.ceil(ratio * 100 - 1e-9) / 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitState:
    """How the brokers stand to one kind of limit."""

    constraint: str  # `disk`, `replica_count`, `network_in` or `network_out`
    binding_brokers: tuple[int, ...]  # ids of those at the limit or above it
    highest_ratio: float  # the largest load as a ratio of its limit; with limits so many times as high this plan fits
    proven_ratio: float  # no plan fits with limits fewer times as high than this; 0 where nothing is proven
    # of the racks, of what topics are pinned to, or of all brokers: which take the most brokers more
    shortages: tuple[Shortage, ...]

    @property
    def missing_brokers(self) -> int:
        """How many brokers of the usual limit it takes at the least."""
        return sum(shortage.missing_brokers for shortage in self.shortages)

    @property
    def is_passed(self) -> bool:
        """Whether a broker is above its limit."""
        return self.highest_ratio > 1.0 + 1e-9

    @property
    def is_proven(self) -> bool:
        """Whether no plan keeps the limit."""
        return bool(self.missing_brokers) or self.proven_ratio > 1.0

    def relaxation(self, higher: str | None = None, *, is_enough: bool = True) -> str:
        """Name the smallest relaxation that would do, empty where the limit holds.

        ``higher`` names the limit that would do; without it, how many times as high says so. It is left out where it
        would not be enough, since something else is in the way.
        """
        if not self.is_passed:
            return ""
        higher = f"{higher or f'a limit {rounded_up(self.highest_ratio):.2f} times as high'} would be enough"
        if not self.missing_brokers:
            return higher if is_enough else ""
        brokers = "1 more broker" if self.missing_brokers == 1 else f"{self.missing_brokers} more brokers"
        needed = f"it needs at least {brokers} of this size{_where(self.shortages)}"
        return f"{needed}, or {higher}" if is_enough else needed


def _where(found: Sequence[Shortage]) -> str:
    """Return where brokers are missing."""
    if len(found) > 1:
        racks = [f"{one.missing_brokers} in rack {one.rack}" for one in found]
        more = f" and in {len(racks) - _MAX_RACKS} more racks" if len(racks) > _MAX_RACKS else ""
        return f" in these racks ({', '.join(racks[:_MAX_RACKS])}{more})"
    (one,) = found
    if one.topics:
        others = f" and {len(one.topics) - 1:,} more" if len(one.topics) > 1 else ""
        return f" that topic{'s' if others else ''} {one.topics[0]}{others} may be on"
    return "" if one.rack is None else f" in rack {one.rack}"


def limit_states(problem: PlacementProblem, after: Int32s) -> tuple[LimitState, ...]:
    """Hold an assignment, int32[P, W], against the hard limits; those without any finite limit are left out."""
    if not after.size:
        return ()
    index = problem.target.index_of(after)
    return tuple(
        _state(problem, load, index[:, :1] if load.leaders_only else index) for load in problem.limited_loads()
    )


def with_attainable_limits(problem: PlacementProblem) -> PlacementProblem:
    """Raise the limits that no plan can keep: to what is tolerated, else all alike to just above what is needed.

    The plan then passes them by little, instead of giving up on them.
    """
    limits, tolerated = problem.broker_limits, problem.tolerated_limits
    if limits is None:
        return problem
    raised = {}
    for load in problem.limited_loads():
        limit, ratio = load.limit, _attainable_ratio(problem, load)
        if ratio > 1.0 and tolerated is not None:
            limit = raised[load.field] = np.maximum(limit, getattr(tolerated, load.field))
            ratio = _attainable_ratio(problem, replace(load, limit=limit))
        if ratio > 1.0 + _ROUNDING:
            raised[load.field] = limit * ratio * (1 + _SLACK_RATIO)
    return replace(problem, broker_limits=replace(limits, **raised)) if raised else problem


def _attainable_ratio(problem: PlacementProblem, load: LimitedLoad) -> float:
    """Return how many times as high a limit must be at the least.

    Who is pinned to too few brokers is no reason for the others to take more.
    """
    found = shortages(problem, load.unit, load.limit, leaders_only=load.leaders_only)
    return max(one.ratio for one in found if not one.topics)


def _state(problem: PlacementProblem, limited: LimitedLoad, held: Int32s) -> LimitState:
    limit, unit = limited.limit, limited.unit
    rows, columns = np.nonzero(held >= 0)
    load = np.bincount(held[rows, columns], weights=unit[rows], minlength=len(limit))
    ratio = np.where(np.isfinite(limit), load / np.maximum(limit, 1e-9), 0.0)
    found = shortages(problem, unit, limit, leaders_only=limited.leaders_only)
    binds = np.nonzero(ratio >= BINDS_FROM_RATIO)[0]
    return LimitState(
        constraint=limited.constraint,
        binding_brokers=tuple(problem.target.ids[binds].tolist()),
        highest_ratio=float(ratio.max(initial=0.0)),
        proven_ratio=max(one.ratio for one in found),
        shortages=_decisive(found),
    )


def _decisive(found: Sequence[Shortage]) -> tuple[Shortage, ...]:
    """Choose what takes the most brokers: all together, the racks that lack some each, or what some are pinned to.

    Of equals the racks go first, since they say where.
    """
    short = [one for one in found if one.missing_brokers]
    racks = tuple(one for one in short if one.rack is not None)
    choices = [racks, *((one,) for one in short if one.rack is None)]
    return max(choices, key=lambda some: sum(one.missing_brokers for one in some))
