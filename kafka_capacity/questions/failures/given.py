"""Brokers and racks that people name as lost together: ``1,2,rack:a``.

>>> lost_together("2, 1,rack:a")
LostTogether(brokers=(1, 2), racks=('a',))
>>> lost_together("2, 1,rack:a").name
'brokers 1, 2 + rack a'
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.proposal.pins import RACK_PREFIX

_MAX_NAMED = 8


@dataclass(frozen=True, slots=True)
class LostTogether:
    """What is lost at once; which brokers are in a rack hangs on the placement.

    Attributes:
        brokers: ids, ascending.
        racks: names, in order.
    """

    brokers: tuple[int, ...]
    racks: tuple[str, ...]

    @property
    def name(self) -> str:
        """Describe it for people."""
        shown = ", ".join(map(str, self.brokers[:_MAX_NAMED]))
        more = f" and {len(self.brokers) - _MAX_NAMED} more" if len(self.brokers) > _MAX_NAMED else ""
        lost = [f"broker{'s' if len(self.brokers) > 1 else ''} {shown}{more}"] if self.brokers else []
        return " + ".join([*lost, *(f"rack {rack}" for rack in self.racks)])

    def members(self, brokers: Brokers) -> tuple[int, ...]:
        """Return those of them that are in a list of brokers, ascending."""
        by_rack = brokers.brokers_by_rack()
        named = {*self.brokers, *(one for rack in self.racks for one in by_rack.get(rack, ()))}
        return tuple(sorted(named & set(brokers.ids.tolist())))

    def unknown(self, brokers: Brokers) -> list[str]:
        """Name the brokers and racks that are not in a list of brokers."""
        ids, racks = set(brokers.ids.tolist()), set(brokers.rack_names())
        missing = [f"broker {one}" for one in self.brokers if one not in ids]
        return missing + [f"rack {one}" for one in self.racks if one not in racks]


def lost_together(text: str) -> LostTogether:
    """Read ``1,2,rack:a``.

    Raises:
        RequestError: a part is neither, or there is none.
    """
    brokers: set[int] = set()
    racks: set[str] = set()
    for part in filter(None, (one.strip() for one in text.split(","))):
        rack = part.removeprefix(RACK_PREFIX)
        if part.startswith(RACK_PREFIX) and rack:
            racks.add(rack)
        elif part.isascii() and part.isdecimal():
            brokers.add(int(part))
        else:
            raise RequestError(f"{part!r} is neither a broker nor a rack: write ids and racks, such as 1,2 or 7,rack:a")
    if not brokers and not racks:
        raise RequestError("a set of lost brokers is empty; name at least one")
    return LostTogether(tuple(sorted(brokers)), tuple(sorted(racks)))
