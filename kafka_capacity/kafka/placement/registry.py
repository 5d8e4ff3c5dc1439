"""The placers by the names users type.

Functions are named one by one, so that the lookup also works when the package is imported from a zip file on
``sys.path``; the module of each is imported when its placer is first asked for.
"""

from __future__ import annotations

import pkgutil
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
_FUNCTIONS = {
    FEWEST_BYTES: "fewest_bytes:place_with_fewest_bytes",
    "generate": "generate:place_as_generate",
    "modulo": "modulo:place_by_modulo",
    "striped": "striped:place_striped",
    "zk": "zk:place_as_zookeeper",
}


def placer_names() -> tuple[str, ...]:
    """Name all placers, sorted."""
    return tuple(sorted(_FUNCTIONS))


def placer(name: str) -> Placer:
    """Find a placer by its name; RequestError where there is none."""
    if name not in _FUNCTIONS:
        raise RequestError(f"placer: {name!r} is unknown; choose one of {', '.join(placer_names())}")
    return Placer(name=name, place=pkgutil.resolve_name(f"{__package__}.{_FUNCTIONS[name]}"))
