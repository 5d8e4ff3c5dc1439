"""Racks: whether they are known, even and used, and what the loss of one would do to this very placement.

Lists of brokers, observed or proposed, have traps as well; each is told with the figure that makes it matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from kafka_capacity.health.cluster_view import ClusterView, called
from kafka_capacity.health.controllers import controllers_remedy
from kafka_capacity.health.problem import Code, Problem, info, serious, some, warning
from kafka_capacity.kafka.arrays import Int32s
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.placement.problem import RackRule
from kafka_capacity.kafka.placement.shares import distinct_racks
from kafka_capacity.proposal.scenario import PlacementScenario
from kafka_capacity.text import format_rate, plural, whole_percent

_EVEN_ENOUGH_RATIO = 1.05  # of an even share: 40 brokers in three racks cannot be more even than 14, 13 and 13


def check_racks(view: ClusterView) -> Iterator[Problem]:
    """Look at the racks of the brokers, and at the racks that each partition is in."""
    brokers = view.snapshot.brokers
    names = brokers.rack_names()
    lacking = sum(rack is None for rack in brokers.racks)
    if len(brokers) > 1 and len(names) < 2 and lacking in (0, len(brokers)):
        what = "have no rack" if not names else f"are all in rack {names[0]}"
        yield warning(
            Code.ONE_RACK,
            "all brokers",
            f"the {len(brokers):,} brokers {what}: Kafka may put all replicas of a partition in the same place",
            "set broker.rack to the unit that fails together: a zone, a room, a power supply",
            partitions=len(view.factor),
            bytes_per_second=view.rate(np.ones(len(view.factor), dtype=np.bool_)),
        )
        return
    yield from rack_problems(brokers, view.factor, what="the brokers", rack_rule=RackRule.OFF)
    if len(names) > 1:
        yield from _spread(view)
        yield from _losses(view)


def _spread(view: ClusterView) -> Iterator[Problem]:
    racks = view.snapshot.brokers.rack_indexes()
    used, available = distinct_racks(racks, view.states.replicas), int(racks.max()) + 1
    possible = np.minimum(view.factor, available)
    together = (used == 1) & (view.factor > 1)
    what = f"have all their replicas in one rack although there are {available}: losing that rack stops them"
    remedy = "move one replica of each to another rack, with a placer and rack rule that spread them"
    yield from view.problems(serious, Code.ONE_RACK_PARTITIONS, together, what, remedy)
    what = "are in fewer racks than possible: losing one rack takes more than one of their replicas"
    remedy = "move replicas to other racks, with the strict rack rule"
    yield from view.problems(warning, Code.NARROW_PARTITIONS, (used < possible) & ~together, what, remedy)


def _losses(view: ClusterView) -> Iterator[Problem]:
    """Describe what the loss of a rack would stop, where it is more than its share of replicas."""
    affected = [one for one in view.rack_losses if one.leaderless or one.offline or one.under_min_isr]
    if not affected:
        return
    worst = max(
        affected, key=lambda one: (one.leaderless, one.offline, one.bytes_per_second, one.under_min_isr, one.rack)
    )
    lead, stops, remedies = "", [], []
    if worst.leaderless:
        none = f"{plural(worst.leaderless, 'partition')} {'has' if worst.leaderless == 1 else 'have'} no leader"
        lead = f"leaves no majority of the controllers, so that {none}"
        down = sorted(view.quorum.down.intersection(voter.node_id for voter in view.voters))
        remedies.append(f"bring back {called('controller', down)}" if down else controllers_remedy(view.voters))
    if worst.offline:
        single = ", and raise the replication factor of those with a single one" if (view.factor == 1).any() else ""
        stops.append(f"takes {plural(worst.offline, 'partition')} offline")
        remedies.append(f"spread the replicas of each partition over several racks{single}")
    if worst.under_min_isr and worst.leaderless:
        stalled = plural(worst.under_min_isr, "more partition")
        stops.append(f"stops writes with acks=all on {stalled}, whose lost replicas nobody takes out of the ISR")
    elif worst.under_min_isr:
        under = plural(worst.under_min_isr, "partition")
        stops.append(f"leaves {under} under min ISR, where writes with acks=all are rejected")
        remedies.append("keep min.insync.replicas below what is left after losing a rack")
    traffic = f", {format_rate(worst.bytes_per_second)} in total" if worst.bytes_per_second else ""
    yield warning(
        Code.RACK_LOSS,
        called("rack", (one.rack for one in affected)),
        f"losing rack {worst.rack} {'; it '.join(filter(None, (lead, ' and '.join(stops))))}{traffic}",
        "; ".join(remedies),
        partitions=max(worst.leaderless, worst.offline + worst.under_min_isr),
        bytes_per_second=worst.bytes_per_second,
    )


def rack_problems(
    brokers: Brokers, replication_factor: Int32s, *, what: str, rack_rule: RackRule = RackRule.STRICT
) -> tuple[Problem, ...]:
    """Look for rack traps of brokers, observed or proposed, which ``what`` names in ``where``.

    ``replication_factor`` is int32[P]. Kafka itself goes on to place by all racks, whatever the rule of the plan.
    """
    if not len(replication_factor):
        return ()
    usual = int(np.bincount(replication_factor).argmax())
    sizes = Counter(rack for rack in brokers.racks if rack is not None)
    if sizes and sum(sizes.values()) < len(brokers):
        lacking = [int(b) for b, rack in zip(brokers.ids, brokers.racks, strict=True) if rack is None]
        have, names = ("has" if len(lacking) == 1 else "have"), ", ".join(map(str, lacking[:5]))
        message = (
            f"{len(lacking)} of {len(brokers)} brokers {have} no rack ({names}): Kafka's rack-aware placement rejects "
            "such a list"
        )
        return (warning(Code.RACKS_INCOMPLETE, what, message, "set broker.rack on every broker"),)
    uneven = _uneven(sizes, usual, len(brokers), what, rack_rule)
    if not 1 < len(sizes) < usual:
        return uneven
    message = (
        f"replication factor {usual} is above the {len(sizes)} racks: losing one rack takes more than one replica of "
        "many partitions"
    )
    remedy = "add brokers in more racks, or plan for min.insync.replicas when a rack is down"
    return (warning(Code.RF_ABOVE_RACKS, what, message, remedy), *uneven)


def _uneven(sizes: Counter[str], factor: int, count: int, what: str, rule: RackRule) -> tuple[Problem, ...]:
    if len(sizes) < 2 or len(set(sizes.values())) == 1:
        return ()
    rack, size = min(sizes.items(), key=lambda item: (item[1], item[0]))
    layout = ", ".join(f"{name} × {sizes[name]}" for name in sorted(sizes))
    remedy = "give all racks the same number of brokers"
    if factor < len(sizes):
        if rule is not RackRule.STRICT and size > 1:
            return ()
        message = f"racks are uneven ({layout}); rack {rack} can hold at most one replica of each partition"
        return (info(Code.UNEVEN_RACKS, what, message, remedy),)
    per_rack = factor / len(sizes)
    if per_rack / size <= _EVEN_ENOUGH_RATIO * factor / count:
        return ()
    by_whom, of_whom = ("", "all partitions") if rule is RackRule.STRICT else (" that Kafka itself places", "these")
    has = "a replica" if factor == len(sizes) else f"{per_rack:.3g} replicas on average"
    who = "its only broker" if size == 1 else f"each of its {size} brokers"
    message = (
        f"racks are uneven ({layout}): with replication factor {factor} every partition{by_whom} has {has} in rack "
        f"{rack}, so {who} holds {whole_percent(min(1.0, per_rack / size))} of {of_whom} where an even share would be "
        f"{whole_percent(min(1.0, factor / count))}"
    )
    return (warning(Code.UNEVEN_RACKS, what, message, remedy),)


def _rack_changes(observed: Brokers, target: Brokers, what: str) -> Iterator[Problem]:
    """Compare the racks of a proposed list of brokers, which ``what`` names, with those of today.

    The loss of the only rack that is left nothing survives. A slip of the pen makes a rack that does not exist. And
    where a broker has another rack than now, somebody must set it before anything moves.
    """
    before, left = observed.rack_names(), target.rack_names()
    if len(before) > 1 and len(left) == 1 and len(target) > 1 and None not in target.racks:
        message = (
            f"the {len(target):,} brokers are all in rack {left[0]}, where today’s are in {len(before):,} racks: "
            "losing it takes every partition offline"
        )
        yield serious(Code.ONE_RACK, what, message, "keep brokers in several racks, or add new ones there")
    now, then = (dict(zip(one.ids.tolist(), one.racks, strict=True)) for one in (observed, target))
    added = [rack for rack in left if rack not in before and not _is_renamed(now, then, rack)]
    if added and before:
        names = ", ".join(repr(rack) for rack in added[:5])
        message = (
            f"no broker is in {'rack' if len(added) == 1 else 'racks'} {names} today (racks: {', '.join(before[:8])}): "
            "each counts as a separate rack"
        )
        yield warning("new-rack", what, message, "check the spelling")
    changed = [b for b, rack in then.items() if b in now and now[b] != rack]
    if changed:
        names = some(f"{b}: {now[b] or 'none'} → {then[b] or 'none'}" for b in changed)
        have = "broker has" if len(changed) == 1 else "brokers have"
        message = f"{len(changed):,} {have} a different rack from today ({names})"
        yield serious("changed-racks", what, message, "set broker.rack and restart them before the move")


def _is_renamed(now: Mapping[int, str | None], then: Mapping[int, str | None], rack: str) -> bool:
    """Return whether all that is in a new rack was all there is of some old ones: no typo does that."""
    inside = {b for b, own in then.items() if own == rack}
    old = {own for b, own in now.items() if b in inside and own is not None}
    return bool(old) and not any(own in old and b not in inside and b in then for b, own in now.items())


def proposed_problems(observed: Brokers, replication_factor: Int32s, proposed: PlacementScenario) -> list[Problem]:
    """Check the list of brokers that a placement proposes; the observed list is checked with the cluster.

    ``replication_factor`` is int32[P], of every partition today.
    """
    target = proposed.target
    if (target.ids.tolist(), target.racks) == (observed.ids.tolist(), observed.racks):
        return []
    what = f"{len(target)} brokers"
    factor = replication_factor
    if proposed.replication_factor is not None:
        factor = np.full_like(replication_factor, proposed.replication_factor)
    traps = rack_problems(target, factor, what=what, rack_rule=proposed.rack_rule)
    return [replace(problem, about=what) for problem in (*_rack_changes(observed, target, what), *traps)]
