"""In which racks the producers of topics are: as somebody says, since nothing else tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.topic_classes import matching


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Producers:
    """Where the producers of T topics are."""

    racks: tuple[str, ...]  # N names, whether or not brokers are there
    share: NDArray[np.float64]  # float64[T, N], of what is produced to a topic; all 0 where it is not known

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """bool[T], whether their racks are known."""
        return np.asarray(self.share.any(axis=1), dtype=np.bool_)


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
