"""Named brokers that go or are replaced, and racks that get other names: what a cluster is before brokers are counted.

>>> three = Brokers.of([1, 2, 3], ["a", "b", "c"])
>>> changed = BrokerChanges(removed=(2,), replaced=((3, 13),), rack_names=(("a", "zone-a"),)).apply(three)
>>> changed.ids.tolist(), changed.racks
([1, 13], ('zone-a', 'c'))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.text.wording import few_names

_MAX_NAMES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerChanges:
    """Changes of the brokers that there are."""

    removed: tuple[int, ...] = ()  # ids of brokers that go
    # pairs of ids, sorted: a broker that goes, and the new one in its rack and with its hardware
    replaced: tuple[tuple[int, int], ...] = ()
    # pairs, sorted: a rack and its new name. Two racks with one new name become one.
    rack_names: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls, *, removed: tuple[int, ...], replaced: Mapping[int, int], rack_names: Mapping[str, str]
    ) -> BrokerChanges:
        """Build from what was asked, in any order."""
        return cls(
            removed=tuple(sorted(set(removed))),
            replaced=tuple(sorted(replaced.items())),
            rack_names=tuple(sorted(rack_names.items())),
        )

    def __bool__(self) -> bool:
        return bool(self.removed or self.replaced or self.rack_names)

    def apply(self, observed: Brokers) -> Brokers:
        """Return the brokers after the changes; what replaces a fenced broker is not fenced."""
        new_id, new_rack = dict(self.replaced), dict(self.rack_names)
        kept = ~np.isin(observed.ids, self.removed)
        places = np.flatnonzero(kept).tolist()
        ids = observed.ids.tolist()

        def figures(name: str) -> list[float]:
            return [float(value) for value in getattr(observed, name)[places]]

        return Brokers.of(
            [new_id.get(ids[at], ids[at]) for at in places],
            [new_rack.get(observed.racks[at] or "", observed.racks[at]) for at in places],
            is_fenced=[bool(observed.is_fenced[at]) and ids[at] not in new_id for at in places],
            disk_capacity_bytes=figures("disk_capacity_bytes"),
            network_in_bytes_per_second=figures("network_in_bytes_per_second"),
            network_out_bytes_per_second=figures("network_out_bytes_per_second"),
            memory_bytes=figures("memory_bytes"),
        )

    def check(self, observed: Brokers) -> None:
        """Refuse changes of brokers and racks that there are not, and new ids that are taken.

        Raises:
            RequestError: one line for each mistake.
        """
        ids, racks = observed.ids.tolist(), observed.rack_names()
        asked = [("removed_brokers", broker) for broker in self.removed]
        asked += [("replaced_brokers", old) for old, _ in self.replaced]
        complaints = [
            f"{field}: broker {broker} is refused: the cluster has no such broker "
            f"(brokers: {few_names(ids, _MAX_NAMES) or 'none'})"
            for field, broker in asked
            if broker not in ids
        ]
        uses = Counter(new for _, new in self.replaced)
        for old, new in self.replaced:
            if old in self.removed:
                complaints.append(f"replaced_brokers: broker {old} is refused: it is removed as well; choose one")
            if new in ids:
                complaints.append(f"replaced_brokers: {old} by {new} is refused: broker {new} exists; choose a free id")
            elif uses[new] > 1:
                complaints.append(f"replaced_brokers: {old} by {new} is refused: {new} replaces another one too")
        complaints += [
            f"rack_names: {old!r} is refused: no broker is in it (racks: {few_names(racks, _MAX_NAMES) or 'none'})"
            for old, _ in self.rack_names
            if old not in racks
        ]
        if ids and set(ids) <= set(self.removed):
            complaints.append("removed_brokers: all brokers of the cluster are refused: leave one")
        if complaints:
            raise RequestError("\n".join(complaints))
