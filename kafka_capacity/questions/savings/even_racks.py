"""As many brokers in every rack: which are replaced, and by brokers in which racks.

Where one rack has fewer, replicas that every rack must have fill its brokers before all others.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.text.wording import few_names, listed

_BROKERS_NAMED = 12


def evened(brokers: Brokers) -> dict[int, str]:
    """Return the brokers to replace until racks differ by one broker at most, by id: the racks of those that come.

    Of a rack that has too many those with the highest ids go. Nothing where a broker has no rack.
    """
    members: dict[str, list[int]] = {}
    for broker, rack in zip(brokers.ids.tolist(), brokers.racks, strict=True):
        if rack is None:
            return {}
        members.setdefault(rack, []).append(broker)
    replaced: dict[int, str] = {}
    while members:
        by_size = sorted(members, key=lambda rack: (len(members[rack]), rack))
        least, most = by_size[0], by_size[-1]
        if len(members[most]) - len(members[least]) <= 1:
            break
        broker = members[most].pop()
        members[least].insert(0, broker)
        replaced[broker] = least
    return replaced


def replaced_words(replaced: Mapping[int, str]) -> str:
    """Name what :func:`evened` replaces, rack by rack.

    >>> replaced_words({16: "a", 17: "a", 21: "b"})
    'brokers 16, 17 with 2 in rack a and broker 21 with one in rack b'
    """
    parts = []
    for rack in sorted(set(replaced.values())):
        ids = sorted(broker for broker, other in replaced.items() if other == rack)
        what, new = ("broker", "one") if len(ids) == 1 else ("brokers", f"{len(ids):,}")
        parts.append(f"{what} {few_names(ids, _BROKERS_NAMED)} with {new} in rack {rack}")
    return listed(parts)
