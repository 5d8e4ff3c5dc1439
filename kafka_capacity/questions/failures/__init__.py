"""What breaks when brokers or racks die: a scenario and a snapshot in, one row for each set of losses out."""

from kafka_capacity.questions.failures.evaluate import evaluate_failures
from kafka_capacity.questions.failures.scenario import (
    CoordinatorState,
    FailureResult,
    FailureScenario,
    FailureSet,
    LeftOut,
    SetKind,
)

__all__ = [
    "CoordinatorState",
    "FailureResult",
    "FailureScenario",
    "FailureSet",
    "LeftOut",
    "SetKind",
    "evaluate_failures",
]
