"""Who produces to topics, and in which racks: as clients count it, where they do, or as somebody says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafka_capacity.demand.topic_classes import matching
from kafka_capacity.inventory.column_values import floats
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.kafka.arrays import Flags, Floats, Ints

LEAST_KNOWN_RATIO = 0.9
"""Of what is produced to a topic, clients whose rack is known must produce so much: then theirs are its racks."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Producers:
    """Where the producers of T topics are."""

    racks: tuple[str, ...]  # N names, whether or not brokers are there
    share: Floats  # float64[T, N], of what is produced to a topic; all 0 where it is not known

    @property
    def is_known(self) -> Flags:
        """bool[T], whether their racks are known."""
        return np.asarray(self.share.any(axis=1), dtype=np.bool_)

    def before(self, others: Producers) -> Producers:
        """Return these, and others for the topics of which they say nothing."""
        racks = tuple(sorted({*self.racks, *others.racks}))
        share = np.zeros((len(self.share), len(racks)))
        for one, rows in ((self, self.is_known), (others, ~self.is_known)):
            places = np.array([racks.index(rack) for rack in one.racks], dtype=np.int64)
            share[np.ix_(np.flatnonzero(rows), places)] = one.share[rows]
        return Producers(racks=racks, share=share)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """Who produces to T topics, by the counters of clients: one entry a topic, client id and rack."""

    clients: tuple[str, ...]  # client ids
    racks: tuple[str, ...]
    topic: Ints  # int64[N]
    client: Ints  # int64[N], position in `clients`, -1 where it is not known
    rack: Ints  # int64[N], position in `racks`, likewise
    share: Floats  # float64[N], of all that is produced to the topic; what is missing nobody counts

    @classmethod
    def of(cls, raw: RawInventory, topics: Sequence[str], produced: Floats) -> Measured:
        """Read the table ``producers``; ``produced`` is to each topic, float64[T], bytes per second."""
        table = raw.table("producers")
        place = {name: number for number, name in enumerate(topics)}
        topic = np.array([place.get(name, -1) for name in table.column("topic").to_pylist()], dtype=np.int64)
        rate = floats(table.column("bytes_per_second"))
        is_ours = (topic >= 0) & np.isfinite(rate) & (rate > 0)
        clients, client = _coded(table.column("client_id").to_pylist())
        racks, rack = _coded(table.column("rack").to_pylist())
        topic, rate = topic[is_ours], rate[is_ours]
        whole = np.maximum(np.bincount(topic, weights=rate, minlength=len(topics)), produced)
        return cls(
            clients=clients,
            racks=racks,
            topic=topic,
            client=client[is_ours],
            rack=rack[is_ours],
            share=rate / whole[topic],
        )

    def producers(self, topics: int) -> Producers:
        """Return in which racks the producers of each topic are, where that is known of nearly all."""
        share = np.zeros((topics, len(self.racks)))
        has_rack = self.rack >= 0
        np.add.at(share, (self.topic[has_rack], self.rack[has_rack]), self.share[has_rack])
        known = share.sum(axis=1, keepdims=True)
        is_enough = known >= LEAST_KNOWN_RATIO
        return Producers(racks=self.racks, share=np.divide(share, known, out=np.zeros(share.shape), where=is_enough))


def _coded(names: Sequence[str | None]) -> tuple[tuple[str, ...], Ints]:
    known = tuple(sorted({name for name in names if name}))
    place = {name: number for number, name in enumerate(known)}
    return known, np.array([place.get(name or "", -1) for name in names], dtype=np.int64)


def stated_producers(stated: Sequence[tuple[str, str]], topics: Sequence[str]) -> Producers:
    """Return where producers are said to be, by patterns of topics; evenly where a topic has several racks.

    >>> found = stated_producers([("orders*", "a"), ("orders", "b")], ["logs", "orders", "orders.eu"])
    >>> found.racks, found.share.tolist()
    (('a', 'b'), [[0.0, 0.0], [0.5, 0.5], [1.0, 0.0]])
    """
    racks = tuple(sorted({rack for _, rack in stated}))
    is_there = np.zeros((len(topics), len(racks)), dtype=np.bool_)
    for pattern, rack in stated:
        is_there[matching(topics, pattern), racks.index(rack)] = True
    count = is_there.sum(axis=1, keepdims=True)
    return Producers(racks=racks, share=np.divide(is_there, count, out=np.zeros(is_there.shape), where=count > 0))
