"""Who pays: topics, client ids that produce to them, groups and client ids that read them; cents sum to the bill.

A topic carries what is stored and replicated of it, its partitions, and what is produced to it and read of it by nobody
known; a producer what it produces, and a group what it reads. Each charge is in proportion to one thing, the same for
all: a byte stored costs the same in every topic, and so does a byte written, replicated, read, or carried between
racks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kafka_capacity.inventory.owners import Owners, owner_of
from kafka_capacity.kafka.arrays import Floats, Int32s, Ints
from kafka_capacity.questions.chargeback.producers import Measured
from kafka_capacity.questions.chargeback.readers import Readers
from kafka_capacity.questions.chargeback.split import CHARGES, USED, Charge, Drivers, shared_cents


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ledger:
    """Rows of who pays what."""

    clients: tuple[str, ...]  # client ids of members and producers
    topic: Ints  # int64[N], position in `Partitions.topics`
    group: Ints  # int64[N], position in `Readers.groups`, -1 for what the topic itself and producers carry
    client: Ints  # int64[N], position in `clients`, -1 where it is not known
    cents: Mapping[Charge, Ints]  # int64[N] each

    @property
    def total_cents(self) -> Ints:
        """What each row pays in all: int64[N]."""
        return np.asarray(np.sum(list(self.cents.values()), axis=0), dtype=np.int64)


def make_ledger(
    topic: Int32s,
    drivers: Drivers,
    readers: Readers,
    producers: Measured,
    charged: Mapping[Charge, int],
    *,
    is_idle_shared: bool,
) -> Ledger:
    """Share out charges, cents of all parts of the bill, by what partitions of topics, int32[P], carry.

    Idle capacity and headroom are carried by nobody but where ``is_idle_shared``.
    """
    topics = np.unique(topic).astype(np.int64)
    # One number a row: nobody known is the first group and client.
    clients = tuple(dict.fromkeys((*readers.clients, *producers.clients)))
    sizes = (int(topics.max(initial=0)) + 1, len(readers.groups) + 1, len(clients) + 1)
    named = producers.client >= 0
    by_topic, share = producers.topic[named], producers.share[named]
    by_client = np.array([clients.index(name) for name in producers.clients], dtype=np.int64)[producers.client[named]]
    keys = np.concatenate(
        [
            np.ravel_multi_index((topics, np.zeros_like(topics), np.zeros_like(topics)), sizes),
            np.ravel_multi_index((by_topic, np.zeros_like(by_topic), by_client + 1), sizes),
            np.ravel_multi_index((topic[readers.row].astype(np.int64), readers.group + 1, readers.client + 1), sizes),
        ]
    )
    found, place = np.unique(keys, return_inverse=True)
    count, (of_topic, of_group, of_client) = len(found), np.unravel_index(found, sizes)
    own, by, read = np.split(place, [len(topics), len(topics) + len(by_topic)])
    at = own[np.searchsorted(topics, topic)]

    def written(rate: Floats) -> Floats:
        return np.bincount(at, weights=rate, minlength=count).astype(np.float64)

    def produced(rate: Floats) -> Floats:
        of_topic = np.bincount(topic, weights=rate, minlength=sizes[0])
        theirs = np.bincount(by, weights=of_topic[by_topic] * share, minlength=count)
        left = 1.0 - np.minimum(np.bincount(by_topic, weights=share, minlength=sizes[0]), 1.0)
        return theirs + written(rate * left[topic])

    def consumed(rate: Floats) -> Floats:
        return np.bincount(read, weights=rate[readers.row] * readers.share, minlength=count).astype(np.float64)

    weights = {
        Charge.STORAGE: written(drivers.stored),
        Charge.PRODUCE: produced(drivers.produced),
        Charge.REPLICATE: written(drivers.replicated),
        Charge.CONSUME: consumed(drivers.consumed),
        Charge.CROSS_RACK: written(drivers.cross_rack_written) + consumed(drivers.cross_rack_read),
        Charge.PARTITIONS: written(drivers.replicas),
    }
    cents: dict[Charge, Ints] = {charge: shared_cents(charged[charge], weights[charge]) for charge in USED}
    # Idle capacity is of brokers and disks: what crosses racks says nothing of these.
    used = np.sum([cents[charge] for charge in USED if charge is not Charge.CROSS_RACK], axis=0).astype(np.float64)
    basis = used if used.any() else weights[Charge.PARTITIONS]
    for charge in (Charge.HEADROOM, Charge.IDLE):
        nothing = np.zeros(count, dtype=np.int64)
        cents[charge] = shared_cents(charged[charge], basis) if is_idle_shared and count else nothing
    return Ledger(
        clients=clients,
        topic=of_topic,
        group=of_group - 1,
        client=of_client - 1,
        cents={one: cents[one] for one in CHARGES},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Owned:
    """Who owns each topic and each group, ``None`` where nobody is known to."""

    topics: tuple[str | None, ...]
    groups: tuple[str | None, ...]

    @classmethod
    def of(cls, topics: Sequence[str], groups: Sequence[str], owners: Owners) -> Owned:
        """Look each name up once."""
        return cls(
            topics=tuple(owner_of(owners, name) for name in topics),
            groups=tuple(owner_of(owners, name) for name in groups),
        )

    def of_rows(self, ledger: Ledger) -> list[str | None]:
        """Return who owns each row: of what a group reads the owner of the group, else that of the topic."""
        return [
            self.topics[topic] if group < 0 else self.groups[group]
            for topic, group in zip(ledger.topic.tolist(), ledger.group.tolist(), strict=True)
        ]
