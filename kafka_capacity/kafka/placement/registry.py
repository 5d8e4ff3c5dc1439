"""The placers by the names users type.

Modules are named one by one, so that the lookup also works when the package is imported from a zip file on
``sys.path``; each is imported when its placer is first asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.arrays import Int32s
from kafka_capacity.kafka.placement.problem import PlacementProblem

Places = Callable[[PlacementProblem], Int32s]
"""Says where all replicas of a problem go: int32[P, W], broker ids of ``problem.target``, the preferred leader first,
padded with -1; raises :class:`PlacementError` where Kafka would refuse the placement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placer:
    """A way to place replicas, by the name that users type."""

    name: str
    place: Places


FEWEST_BYTES = "fewest-bytes"  # the placer that knows rack rules and balances; those of Kafka spread in their own way
_MODULES = {
    FEWEST_BYTES: "kafka_capacity.kafka.placement.fewest_bytes",
    "generate": "kafka_capacity.kafka.placement.generate",
    "modulo": "kafka_capacity.kafka.placement.modulo",
    "striped": "kafka_capacity.kafka.placement.striped",
    "zk": "kafka_capacity.kafka.placement.zk",
}
_registered: dict[str, Placer] = {}


def register(name: str) -> Callable[[Places], Places]:
    """Decorate a function that places, so that :func:`placer` finds it."""

    def add(place: Places) -> Places:
        _registered[name] = Placer(name=name, place=place)
        return place

    return add


def placer_names() -> tuple[str, ...]:
    """Name all placers, sorted."""
    return tuple(sorted({*_MODULES, *_registered}))


def placer(name: str) -> Placer:
    """Find a placer by its name; RequestError where there is none."""
    if name not in _registered and name in _MODULES:
        importlib.import_module(_MODULES[name])
    if name not in _registered:
        raise RequestError(f"placer: {name!r} is unknown; choose one of {', '.join(placer_names())}")
    return _registered[name]
