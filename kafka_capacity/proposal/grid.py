"""Which scenarios a request stands for: broker counts × placers, with brokers that do not exist yet.

A new broker gets the next free id and the median hardware of the observed ones. Its rack is the next of the racks that
were asked for, in turn, or else the rack with the fewest brokers. Where brokers must go, the one with the highest id of
the rack with the most brokers goes, again and again; those that take no new replicas go before others, and those that
vote for the controller last.

Brokers that are named to go or to be replaced, and racks that are renamed, come first: counts are of what is then
there. With such changes and without counts the plan is for just what is then there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kafka_capacity.errors import RequestError
from kafka_capacity.hardware.plain import filled, known_median, to_plain
from kafka_capacity.kafka.cluster.brokers import DISK_AND_NETWORK, FIGURES, Brokers
from kafka_capacity.kafka.placement.problem import Balance
from kafka_capacity.proposal.constraints.registry import maxima_by_parameter
from kafka_capacity.proposal.scenario import PlacementRules, PlacementScenario
from kafka_capacity.text.wording import few_names

_MAX_NAMES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerChanges:
    """Named brokers that go or are replaced, and racks that get other names, before brokers are counted.

    >>> three = Brokers.of([1, 2, 3], ["a", "b", "c"])
    >>> changed = BrokerChanges(removed=(2,), replaced=((3, 13),), rack_names=(("a", "zone-a"),)).apply(three)
    >>> changed.ids.tolist(), changed.racks
    ([1, 13], ('zone-a', 'c'))
    """

    removed: tuple[int, ...] = ()  # ids of brokers that go, sorted
    # pairs of ids, sorted: a broker that goes, and the new one in its rack and with its hardware
    replaced: tuple[tuple[int, int], ...] = ()
    # pairs, sorted: a rack and its new name. Two racks with one new name become one.
    rack_names: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.removed or self.replaced or self.rack_names)

    def apply(self, observed: Brokers) -> Brokers:
        """Return the brokers after the changes; what replaces a fenced or cordoned broker is neither."""
        new_id, new_rack = dict(self.replaced), dict(self.rack_names)
        kept = observed.take(~np.isin(observed.ids, self.removed))
        is_old = ~np.isin(kept.ids, list(new_id))
        changed = replace(
            kept,
            ids=np.array([new_id.get(broker, broker) for broker in kept.ids.tolist()], dtype=np.int32),
            racks=tuple(new_rack.get(rack or "", rack) or None for rack in kept.racks),
            is_fenced=kept.is_fenced & is_old,
            is_cordoned=kept.is_cordoned & is_old,
            is_voter=kept.is_voter & is_old,
        )
        return changed.take(np.argsort(changed.ids, kind="stable"))

    def check(self, observed: Brokers) -> None:
        """Refuse changes of brokers and racks that there are not, and new ids that are taken.

        Raises:
            RequestError: one line for each mistake.
        """
        ids, racks = observed.ids.tolist(), observed.rack_names()
        asked = [("removed_brokers", broker) for broker in self.removed]
        asked += [("replaced_brokers", old) for old, _ in self.replaced]
        complaints = [
            f"{field}: broker {broker} is invalid: the cluster has no such broker "
            f"(brokers: {few_names(ids, _MAX_NAMES) or 'none'})"
            for field, broker in asked
            if broker not in ids
        ]
        uses = Counter(new for _, new in self.replaced)
        for old, new in self.replaced:
            if old in self.removed:
                complaints.append(f"replaced_brokers: broker {old} is invalid: it is removed as well; choose one")
            if new in ids:
                complaints.append(f"replaced_brokers: {old} by {new} is invalid: broker {new} exists; choose a free id")
            elif uses[new] > 1:
                complaints.append(f"replaced_brokers: {old} by {new} is invalid: {new} replaces another one too")
        complaints += [
            f"rack_names: {old!r} is invalid: no broker is in it (racks: {few_names(racks, _MAX_NAMES) or 'none'})"
            for old, _ in self.rack_names
            if old not in racks
        ]
        if ids and set(ids) <= set(self.removed):
            complaints.append("removed_brokers: all brokers of the cluster are invalid: leave one")
        if complaints:
            raise RequestError("\n".join(complaints))


DEFAULT_TOLERANCE_RATIO = {Balance.BYTES: 0.02, Balance.REPLICAS: 0.0}
"""Bytes cannot be split finer than a partition; counts can be made even to within one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRequest(PlacementRules):
    """What spans the grid."""

    broker_counts: tuple[int, ...]  # target counts; empty leaves them open (:func:`placement_grid`)
    # the racks of new brokers, in turn; empty means the racks with the fewest brokers
    new_broker_racks: tuple[str, ...]
    placers: tuple[str, ...]  # names of placers
    tolerance_ratio: float | None  # how far from its share a broker may be; `None` for the usual
    # several to compare, in place of the one; empty for just that one
    throttles_bytes_per_second: tuple[float, ...] = ()
    # named brokers that go or are replaced, and racks with new names
    broker_changes: BrokerChanges = field(default_factory=BrokerChanges)

    @property
    def balanced_within_ratio(self) -> float:
        """How far from its share a broker may be."""
        usual = DEFAULT_TOLERANCE_RATIO[self.balance]
        return usual if self.tolerance_ratio is None else self.tolerance_ratio

    @property
    def is_count_open(self) -> bool:
        """Whether it says neither how many brokers there shall be nor which."""
        return not (self.broker_counts or self.broker_changes)


def default_broker_counts(observed: Brokers, *, needed: int | None = None) -> tuple[int, ...]:
    """Return today's count and the one that is needed, else one more broker in every rack (or one without racks)."""
    return len(observed), needed or len(observed) + max(1, len(observed.rack_names()))


def proposed_brokers(
    observed: Brokers, count: int, new_racks: Sequence[str] = (), *, ids_taken: Sequence[int] = ()
) -> Brokers:
    """Return the target list for a broker count of at least 1, by the rules of this module.

    New brokers take ``new_racks`` in turn, and none of ``ids_taken``.
    """
    keep = list(range(len(observed)))
    readiness = list(zip((~observed.is_voter).tolist(), (~observed.takes_replicas).tolist(), strict=True))
    while len(keep) > count:
        sizes = Counter(observed.racks[i] for i in keep)
        keep.remove(max(keep, key=lambda i: (sizes[observed.racks[i]], *readiness[i], int(observed.ids[i]))))
    kept = observed.take(np.array(keep, dtype=np.int64))
    first_free = max([0, *observed.ids.tolist(), *ids_taken]) + 1
    added = range(count - len(keep))
    racks = list(kept.racks)
    for number in added:
        racks.append(new_racks[number % len(new_racks)] if new_racks else _smallest_rack(racks))
    hardware: dict[str, Any] = {name: [known_median(getattr(observed, name))] * len(added) for name in FIGURES}
    return kept.joined(Brokers.of([first_free + number for number in added], racks[len(keep) :], **hardware))


def _smallest_rack(racks: Sequence[str | None]) -> str | None:
    sizes = Counter(rack for rack in racks if rack is not None)
    return min(sizes, key=lambda rack: (sizes[rack], rack)) if sizes else None


def placement_grid(
    observed: Brokers, request: GridRequest, *, needed: int | None = None
) -> tuple[PlacementScenario, ...]:
    """List the scenarios of a request, each count with each placer and throttle, in a fixed order.

    ``needed`` is how many brokers are needed, for where that is left open.
    """
    changes = request.broker_changes
    base = changes.apply(observed)
    usual = (len(base),) if changes else default_broker_counts(observed, needed=needed)
    targets = [
        proposed_brokers(base, count, request.new_broker_racks, ids_taken=observed.ids.tolist())
        for count in sorted(set(request.broker_counts or usual))
    ]
    return tuple(scenario for target in targets for scenario in target_scenarios(request, observed, target))


def target_scenarios(request: GridRequest, observed: Brokers, target: Brokers) -> tuple[PlacementScenario, ...]:
    """Put one target together with the rest of a request: each placer with each throttle."""
    throttles = sorted(set(request.throttles_bytes_per_second)) or [request.throttle_bytes_per_second]
    name = f"{len(target):03d}-brokers"
    against_today = is_judged_against_today(request, observed, target)
    return tuple(
        filled(
            PlacementScenario,
            request,
            scenario_id=f"{name}.{placer}{f'.{throttle / 1e6:.12g}MBps' if len(throttles) > 1 else ''}",
            target=target,
            placer=placer,
            throttle_bytes_per_second=throttle,
            tolerance_ratio=request.balanced_within_ratio,
            replaced=request.broker_changes.replaced,
            is_judged_against_today=against_today,
        )
        for placer in dict.fromkeys(request.placers)
        for throttle in throttles
    )


def is_judged_against_today(request: GridRequest, observed: Brokers, target: Brokers) -> bool:
    """Return whether what is over a limit today may stay so, as long as it gets no worse.

    It may where a request takes away, replaces or renames what there is, and where it changes something else
    (replication factor, pins, partition counts) on the same brokers, with the hardware they have. It may not where the
    question is whether so many brokers are enough: where counts are named, or nothing but the usual counts is asked.
    """
    if request.broker_counts or _has_other_hardware(observed, target):
        return False
    if request.broker_changes or (target.index_of(observed.ids) < 0).any():
        return True
    is_other_change = request.replication_factor is not None or request.pins or request.partition_counts
    return bool(is_other_change) and len(target) == len(observed)


def _has_other_hardware(observed: Brokers, target: Brokers) -> bool:
    """Return whether a broker that stays is to have other disks or networks."""
    at = target.index_of(observed.ids)
    stays = at >= 0
    return not all(
        np.array_equal(getattr(observed, name)[stays], getattr(target, name)[at[stays]], equal_nan=True)
        for name in DISK_AND_NETWORK
    )


def scenario_to_json(scenario: PlacementScenario) -> dict[str, Any]:
    """Return a scenario as plain data, as ``plan.json`` shows it; what is not known is null."""
    plain: dict[str, Any] = to_plain(scenario)
    del plain["broker_maxima"], plain["is_takeover_levelled"]  # a plan always does that
    del plain["target"]["other_bytes"]  # which is not asked for, but observed
    return plain | maxima_by_parameter(scenario)


def placement_key(scenario: PlacementScenario) -> str:
    """Name the placement of a scenario: those that differ in their throttles only share it."""
    asked = scenario_to_json(scenario)
    return json.dumps({name: asked[name] for name in asked if name not in {"scenario_id", "throttle_bytes_per_second"}})


def distinct_placements(scenarios: Iterable[PlacementScenario]) -> dict[str, list[PlacementScenario]]:
    """Return the scenarios that share a placement, by the id of the first of them."""
    shared: dict[str, list[PlacementScenario]] = {}
    for scenario in scenarios:
        shared.setdefault(placement_key(scenario), []).append(scenario)
    return {several[0].scenario_id: several for several in shared.values()}
