"""Where limits cannot be kept whatever the plan: what some brokers must hold together, against what they may.

The brokers of each rack are looked at, those that a pinned topic may be on, and all. What a rack must hold follows from
the rack rule: a partition of three replicas that must be on three racks of three has one in each, so a broker more in
one of them is no help to the others.

Worked example: six partitions of RF 3 on racks a, b and c of two brokers each; a broker may hold two replicas. There
are 18 replicas and room for 12, so all brokers together lack three; each rack has six replicas and room for four, so
each lacks one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.placement.problem import PlacementProblem
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

    amount: NDArray[np.float64]  # float64[G], what one replica of each, all together, adds
    factor: NDArray[np.int64]  # int64[G]
    allowed: NDArray[np.bool_]  # bool[G, B]
    reach: NDArray[np.int64]  # int64[G, R], how many brokers of each rack are allowed
    spread: NDArray[np.int64]  # int64[G], over how many racks they must be


def shortages(
    problem: PlacementProblem, unit: NDArray[np.float64], limit: NDArray[np.float64], *, leaders_only: bool = False
) -> tuple[Shortage, ...]:
    """Hold what brokers must carry together against what they may: all of them, each rack, each set that is pinned to.

    Args:
        problem: whose replicas.
        unit: float64[P], what one replica (or leader) adds.
        limit: float64[B], infinite where there is none.
        leaders_only: whether only one replica of a partition counts, its leader.
    """
    target = problem.target
    rack, names = target.rack_indexes(), target.rack_names()
    count = int(rack.max()) + 1 if len(rack) else 0
    is_in = rack[:, None] == np.arange(count)
    kinds = _kinds(problem, unit, is_in)
    whole = np.ones(len(limit), dtype=np.bool_)
    places: list[tuple[NDArray[np.bool_], str | None, tuple[str, ...]]] = [(whole, None, ())]
    if count > 1 and len(names) == count:
        places += [(is_in[:, number], name, ()) for number, name in enumerate(names)]
    places += [(allowed, None, topics) for allowed, topics in _pinned_sets(problem)]
    found = []
    for inside, name, topics in places:
        must, grown = (_least(kinds, inside, is_in, leaders_only=leaders_only, may_grow=each) for each in (False, True))
        found.append(_shortage(must, grown, limit[inside], name, topics))
    return tuple(found)


def _kinds(problem: PlacementProblem, unit: NDArray[np.float64], is_in: NDArray[np.bool_]) -> _Kinds:
    factors = problem.replication_factor.astype(np.int64)
    if problem.allowed_brokers is None:
        sets, of_topic = np.ones((1, len(is_in)), dtype=np.bool_), np.zeros(len(problem.partitions.topics), np.int64)
    else:
        sets, of_topic = np.unique(problem.allowed_brokers, axis=0, return_inverse=True)
    keys = np.stack([of_topic.ravel()[problem.partitions.topic], factors], axis=1)
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


def _pinned_sets(problem: PlacementProblem) -> list[tuple[NDArray[np.bool_], tuple[str, ...]]]:
    """List the sets of brokers that topics are pinned to, with these topics."""
    if problem.allowed_brokers is None:
        return []
    sets, of_topic = np.unique(problem.allowed_brokers, axis=0, return_inverse=True)
    names = np.array(problem.partitions.topics, dtype=object)
    return [
        (inside, tuple(names[of_topic.ravel() == number].tolist()))
        for number, inside in enumerate(sets)
        if inside.any() and not inside.all()
    ]


def _least(
    kinds: _Kinds, inside: NDArray[np.bool_], is_in: NDArray[np.bool_], *, leaders_only: bool, may_grow: bool
) -> float:
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


def _shortage(
    must: float, grown: float, limit: NDArray[np.float64], rack: str | None, topics: tuple[str, ...]
) -> Shortage:
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
