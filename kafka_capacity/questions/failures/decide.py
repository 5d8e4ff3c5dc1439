"""What a plan answers about the cluster as it is today: what is seriously wrong, whatever is decided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kafka_capacity.health.problem import Problem
from kafka_capacity.questions.answer import Answer


def decide_failures(diagnoses: Iterable[Mapping[str, Any]]) -> Answer:
    """Return what is wrong with the cluster before anything fails.

    Args:
        diagnoses: rows of ``diagnoses`` of today's placement.
    """
    return Answer(problems=[_problem(row) for row in diagnoses])


def _problem(row: Mapping[str, Any]) -> Problem:
    known = {name: value for name, value in row.items() if value is not None}
    return Problem.from_dict({"where": known["code"], **known})
