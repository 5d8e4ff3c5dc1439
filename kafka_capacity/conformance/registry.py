"""Which function of ours answers which recorded function of Kafka's."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

from kafka_capacity.conformance import answers

Case = dict[str, Any]
Answer = Callable[[Case], Case]
"""Takes the ``input`` of a case, gives its ``output``; raises a ``KafkaCapacityError`` where Kafka would throw."""

_registered: dict[str, Answer] = {}


def answers_to(function: str) -> Callable[[Answer], Answer]:
    """Decorate the :data:`Answer` to the cases of one function."""

    def add(answer: Answer) -> Answer:
        _registered[function] = answer
        return answer

    return add


def load_answers() -> dict[str, Answer]:
    """Import every module of :mod:`kafka_capacity.conformance.answers` and give all answers by function."""
    for module in pkgutil.iter_modules(answers.__path__, f"{answers.__name__}."):
        importlib.import_module(module.name)
    return dict(_registered)
