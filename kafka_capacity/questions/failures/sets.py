"""Which brokers are lost together: each broker, pairs, each rack, racks with a broker more, and what is given."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.arrays import Int32s, Ints
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.questions.failures.scenario import FailureScenario, FailureSet, LeftOut, SetKind


def failure_sets(
    brokers: Brokers, replicas: Int32s, scenario: FailureScenario, voter_racks: Collection[str] = ()
) -> tuple[tuple[FailureSet, ...], tuple[LeftOut, ...]]:
    """Return the sets of a scenario, and the kinds of which some were left out.

    A broker that is fenced is dead already, and no loss. ``replicas`` is int32[P, W], broker ids, padded with -1.
    ``voter_racks`` are those of controllers: such a rack may be lost even where no broker is in it.

    Raises:
        RequestError: a given set names a broker that does not exist.
    """
    members = brokers.brokers_by_rack()
    in_racks = [
        FailureSet(kind=SetKind.RACK, name=f"rack {rack}", brokers=members.get(rack, ()), racks=(rack,))
        for rack in sorted({*brokers.rack_names(), *voter_racks})
    ]
    alive = brokers.ids[~brokers.is_fenced].tolist()
    unknown = [one for given in scenario.given for one in given.brokers if one not in brokers.ids]
    if unknown:
        raise RequestError(
            f"brokers: {unknown[0]} is not a broker of this cluster; its {len(brokers)} brokers have ids "
            f"{brokers.ids.min()} to {brokers.ids.max()}"
        )
    found = list(scenario.given)
    left_out: list[LeftOut] = []
    kinds = scenario.kinds
    if SetKind.BROKER in kinds:
        found += [FailureSet(kind=SetKind.BROKER, name=f"broker {one}", brokers=(one,)) for one in alive]
    if SetKind.RACK in kinds:
        found += in_racks
    for kind in (SetKind.RACK_AND_BROKER, SetKind.PAIR):
        if kind in kinds:
            is_pair = kind is SetKind.PAIR
            chosen, possible = (
                _pairs(brokers, replicas, scenario) if is_pair else _racks_and_brokers(brokers, in_racks, scenario)
            )
            found += chosen
            if possible > len(chosen):
                left_out.append(LeftOut(kind=kind, possible=possible, chosen=len(chosen)))
    return tuple(found), tuple(left_out)


def rack_members(brokers: Brokers, rack: str, voter_racks: Collection[str] = ()) -> tuple[int, ...]:
    """Return the brokers of a rack; none where only controllers are in it.

    Raises:
        RequestError: no broker is in it, and no controller.
    """
    members = brokers.brokers_by_rack().get(rack, ())
    if not members and rack not in voter_racks:
        names = ", ".join(sorted({*brokers.rack_names(), *voter_racks})) or "none"
        who = "neither a broker nor a controller" if voter_racks else "no broker"
        raise RequestError(f"racks: {who} is in rack {rack!r}; the racks of this cluster: {names}")
    return members


def _racks_and_brokers(
    brokers: Brokers, racks: Sequence[FailureSet], scenario: FailureScenario
) -> tuple[list[FailureSet], int]:
    alive = brokers.ids[~brokers.is_fenced].tolist()
    every = [(rack, one) for rack in racks for one in alive if one not in rack.brokers]
    chosen = _drawn(len(every), scenario.max_sets, scenario.seed)
    return [
        FailureSet(
            kind=SetKind.RACK_AND_BROKER,
            name=f"{rack.name} + broker {one}",
            brokers=tuple(sorted((*rack.brokers, one))),
            first=rack.brokers,
            racks=rack.racks,
        )
        for rack, one in (every[i] for i in chosen)
    ], len(every)


def _pairs(brokers: Brokers, replicas: Int32s, scenario: FailureScenario) -> tuple[list[FailureSet], int]:
    alive = np.flatnonzero(~brokers.is_fenced)
    first, second = (alive[index] for index in np.triu_indices(len(alive), 1))
    chosen = np.arange(len(first))
    if len(first) > scenario.max_sets:
        shared = shared_partitions(brokers.index_of(replicas), len(brokers))[first, second]
        half = scenario.max_sets // 2
        most = np.argsort(-shared, kind="stable")[:half]
        rest = np.setdiff1d(chosen, most)
        drawn = rest[_drawn(len(rest), scenario.max_sets - half, scenario.seed)]
        chosen = np.sort(np.concatenate([most, drawn]))
    pairs = zip(brokers.ids[first[chosen]].tolist(), brokers.ids[second[chosen]].tolist(), strict=True)
    found = [
        FailureSet(kind=SetKind.PAIR, name=f"brokers {one}, {other}", brokers=(one, other)) for one, other in pairs
    ]
    return found, len(first)


def _drawn(count: int, most: int, seed: int) -> Ints:
    """Draw so many of a number of things, ascending; all of them where they are no more."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, size=most, replace=False))


def shared_partitions(place: Int32s, count: int) -> Ints:
    """Count the partitions that each two brokers both hold: int64[B, B], both ways round.

    ``place`` is int32[P, W], positions of brokers, -1 in the padding.
    """
    shared = np.zeros(count * count, dtype=np.int64)
    for left in range(place.shape[1]):
        for right in range(left + 1, place.shape[1]):
            both = (place[:, left] >= 0) & (place[:, right] >= 0)
            code = place[both, left].astype(np.int64) * count + place[both, right]
            shared += np.bincount(code, minlength=count * count)
    table = shared.reshape(count, count)
    return table + table.T
