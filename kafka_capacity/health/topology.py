"""Racks of lists of brokers, observed or proposed: traps, each with the figure that makes it matter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.health.codes import Code
from kafka_capacity.health.problem import Problem, Severity
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.placement.problem import RackRule
from kafka_capacity.proposal.scenario import PlacementScenario

_EVEN = "make the racks equal in brokers"


def rack_problems(
    brokers: Brokers, replication_factor: NDArray[np.int32], *, what: str, rack_rule: RackRule = RackRule.STRICT
) -> tuple[Problem, ...]:
    """Look for rack traps.

    Args:
        brokers: observed or proposed.
        replication_factor: int32[P], of every partition.
        what: names these brokers in ``where``, such as ``today`` or ``15 brokers``.
        rack_rule: of the plan. Kafka itself goes on to place by all racks, whatever the rule.
    """
    if not len(replication_factor):
        return ()
    usual = int(np.bincount(replication_factor).argmax())
    sizes = Counter(rack for rack in brokers.racks if rack is not None)
    found: list[Problem] = []
    if sizes and sum(sizes.values()) < len(brokers):
        lacking = [int(b) for b, rack in zip(brokers.ids, brokers.racks, strict=True) if rack is None]
        found.append(
            Problem(
                severity=Severity.WARNING,
                code=Code.RACKS_INCOMPLETE,
                where=what,
                message=(
                    f"{len(lacking)} of {len(brokers)} brokers have no rack ({', '.join(map(str, lacking[:5]))}): "
                    "Kafka's rack-aware placement refuses such a list"
                ),
                remedy="set broker.rack on every broker",
            )
        )
        return tuple(found)
    if 1 < len(sizes) < usual:
        found.append(
            Problem(
                severity=Severity.WARNING,
                code=Code.RF_ABOVE_RACKS,
                where=what,
                message=(
                    f"replication factor {usual} is above the {len(sizes)} racks: losing one rack takes more than one "
                    f"replica of many partitions"
                ),
                remedy="add brokers in further racks, or mind min.insync.replicas when a rack is down",
            )
        )
    return (*found, *_uneven(sizes, usual, len(brokers), what, rack_rule))


def _uneven(sizes: Counter[str], factor: int, count: int, what: str, rule: RackRule) -> list[Problem]:
    if len(sizes) < 2 or len(set(sizes.values())) == 1:
        return []
    rack, size = min(sizes.items(), key=lambda item: (item[1], item[0]))
    layout = ", ".join(f"{name} × {sizes[name]}" for name in sorted(sizes))
    even = factor / count
    if factor >= len(sizes):
        share = 1.0 / size
        by_whom, of_whom = ("", "all partitions") if rule is RackRule.STRICT else (" that Kafka itself places", "these")
        text = (
            f"racks are uneven ({layout}): with replication factor {factor} every partition{by_whom} has a replica in "
            f"rack {rack}, so {'its only broker' if size == 1 else f'each of its {size} brokers'} holds {share:.0%} of "
            f"{of_whom} where an even share would be {min(1.0, even):.0%}"
        )
        return [Problem(severity=Severity.WARNING, code=Code.UNEVEN_RACKS, where=what, message=text, remedy=_EVEN)]
    if rule is not RackRule.STRICT and size > 1:
        return []
    text = f"racks are uneven ({layout}); rack {rack} can hold at most one replica of each partition"
    return [Problem(severity=Severity.INFO, code=Code.UNEVEN_RACKS, where=what, message=text, remedy=_EVEN)]


def new_rack_problems(observed: Brokers, target: Brokers, *, what: str) -> tuple[Problem, ...]:
    """Name the racks that no observed broker has: a slip of the pen makes a rack that does not exist.

    Args:
        observed: the brokers there are.
        target: those wanted.
        what: names the target in ``where``.
    """
    known = observed.rack_names()
    added = [rack for rack in target.rack_names() if rack not in known and not _is_renamed(observed, target, rack)]
    if not added or not known:
        return ()
    names = ", ".join(repr(rack) for rack in added[:5])
    return (
        Problem(
            severity=Severity.WARNING,
            code="new-rack",
            where=what,
            message=(
                f"no broker is in {'rack' if len(added) == 1 else 'racks'} {names} today (racks: "
                f"{', '.join(known[:8])}): a rack counts as a place of its own"
            ),
            remedy="check the spelling",
        ),
    )


def _is_renamed(observed: Brokers, target: Brokers, rack: str) -> bool:
    """Return whether all that is in a new rack was all there is of some old ones: no typo does that."""
    inside = {b for b, own in zip(target.ids.tolist(), target.racks, strict=True) if own == rack}
    before = {b: own for b, own in zip(observed.ids.tolist(), observed.racks, strict=True) if own is not None}
    old = {before[b] for b in inside if b in before}
    return bool(old) and not any(own in old and b not in inside and b in target.ids for b, own in before.items())


def changed_rack_problems(observed: Brokers, target: Brokers, *, what: str) -> tuple[Problem, ...]:
    """Name the brokers whose rack is another than now: somebody must set it before anything moves.

    Args:
        observed: the brokers there are.
        target: those wanted.
        what: names the target in ``where``.
    """
    before = dict(zip(observed.ids.tolist(), observed.racks, strict=True))
    after = dict(zip(target.ids.tolist(), target.racks, strict=True))
    changed = [b for b, rack in after.items() if b in before and before[b] != rack]
    if not changed:
        return ()
    names = ", ".join(f"{b}: {before[b] or 'none'} → {after[b] or 'none'}" for b in changed[:5])
    more = f" and {len(changed) - 5:,} more" if len(changed) > 5 else ""
    return (
        Problem(
            severity=Severity.INFO,
            code="changed-racks",
            where=what,
            message=(
                f"{len(changed):,} {'broker has' if len(changed) == 1 else 'brokers have'} another rack than today "
                f"({names}{more})"
            ),
            remedy="set broker.rack and restart them before the move",
        ),
    )


def proposed_problems(
    observed: Brokers, replication_factor: NDArray[np.int32], scenarios: Sequence[PlacementScenario]
) -> list[Problem]:
    """Check the lists of brokers that placements propose; the observed list is checked with the cluster.

    Args:
        observed: the brokers there are.
        replication_factor: int32[P], of every partition today.
        scenarios: the placements.
    """
    proposed = {(tuple(one.target.ids.tolist()), one.target.racks): one for one in scenarios}
    proposed.pop((tuple(observed.ids.tolist()), observed.racks), None)
    found: list[Problem] = []
    for one in proposed.values():
        what = f"{len(one.target)} brokers"
        factor = replication_factor
        if one.replication_factor is not None:
            factor = np.full_like(replication_factor, one.replication_factor)
        found += new_rack_problems(observed, one.target, what=what)
        found += changed_rack_problems(observed, one.target, what=what)
        found += rack_problems(one.target, factor, what=what, rack_rule=one.rack_rule)
    return found
