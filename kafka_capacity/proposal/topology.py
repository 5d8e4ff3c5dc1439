"""Traps in the layout of a cluster, each with the figure that makes it matter."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.placement.problem import RackRule


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyWarning:
    """One trap.

    Attributes:
        severity: ``warning`` or ``info``.
        code: its short name.
        where: the rack, or the option, that it is about.
        message: a sentence with the figures.
    """

    severity: str
    code: str
    where: str
    message: str

    def as_dict(self) -> dict[str, str]:
        """Give plain data."""
        return {"severity": self.severity, "code": self.code, "where": self.where, "message": self.message}


def topology_warnings(
    brokers: Brokers, replication_factor: NDArray[np.int32], *, what: str, rack_rule: RackRule = RackRule.STRICT
) -> tuple[TopologyWarning, ...]:
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
    found: list[TopologyWarning] = []
    if sizes and sum(sizes.values()) < len(brokers):
        lacking = [int(b) for b, rack in zip(brokers.ids, brokers.racks, strict=True) if rack is None]
        found.append(
            TopologyWarning(
                severity="warning",
                code="racks-incomplete",
                where=what,
                message=(
                    f"{len(lacking)} of {len(brokers)} brokers have no rack ({', '.join(map(str, lacking[:5]))}): "
                    "Kafka's rack-aware placement refuses such a list"
                ),
            )
        )
        return tuple(found)
    if 1 < len(sizes) < usual:
        found.append(
            TopologyWarning(
                severity="warning",
                code="rf-above-racks",
                where=what,
                message=(
                    f"replication factor {usual} is above the {len(sizes)} racks: losing one rack takes more than one "
                    f"replica of many partitions"
                ),
            )
        )
    return (*found, *_uneven(sizes, usual, len(brokers), what, rack_rule))


def _uneven(sizes: Counter[str], factor: int, count: int, what: str, rule: RackRule) -> list[TopologyWarning]:
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
        return [TopologyWarning(severity="warning", code="uneven-racks", where=what, message=text)]
    if rule is not RackRule.STRICT and size > 1:
        return []
    text = f"racks are uneven ({layout}); rack {rack} can hold at most one replica of each partition"
    return [TopologyWarning(severity="info", code="uneven-racks", where=what, message=text)]


def new_rack_warnings(observed: Brokers, target: Brokers, *, what: str) -> tuple[TopologyWarning, ...]:
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
        TopologyWarning(
            severity="warning",
            code="new-rack",
            where=what,
            message=(
                f"no broker is in {'rack' if len(added) == 1 else 'racks'} {names} today (racks: "
                f"{', '.join(known[:8])}): check the spelling, since a rack counts as a place of its own"
            ),
        ),
    )


def _is_renamed(observed: Brokers, target: Brokers, rack: str) -> bool:
    """Tell whether all that is in a new rack was all there is of some old ones: nobody misspells a rack that whole."""
    inside = {b for b, own in zip(target.ids.tolist(), target.racks, strict=True) if own == rack}
    before = {b: own for b, own in zip(observed.ids.tolist(), observed.racks, strict=True) if own is not None}
    old = {before[b] for b in inside if b in before}
    return bool(old) and not any(own in old and b not in inside and b in target.ids for b, own in before.items())


def changed_rack_notes(observed: Brokers, target: Brokers, *, what: str) -> tuple[TopologyWarning, ...]:
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
        TopologyWarning(
            severity="info",
            code="changed-racks",
            where=what,
            message=(
                f"{len(changed):,} {'broker has' if len(changed) == 1 else 'brokers have'} another rack than today "
                f"({names}{more}): set broker.rack and restart them before the move"
            ),
        ),
    )
