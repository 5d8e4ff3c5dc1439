"""What a plan says of drift: that what comes has left what earlier plans predicted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kafka_capacity.demand.outlook import STORED, TRAFFIC
from kafka_capacity.health.problem import Figure, Problem, serious, warning
from kafka_capacity.questions.accuracy.scores import CPU, MOVES, NAMES
from kafka_capacity.text import format_bytes, format_duration, format_percent, format_rate
from kafka_capacity.text.wording import listed

PREDICTION_DRIFT = "prediction-drift"

_FIGURES: dict[str, tuple[str, Callable[[float], str], str]] = {
    TRAFFIC: ("traffic at peak has", format_rate, "bytes_per_second"),
    STORED: ("stored bytes have", format_bytes, "bytes"),
    CPU: ("CPU time per MiB has", "{:,.2f} cores per broker".format, "cores"),
    MOVES: ("move times have", format_duration, "seconds"),
}
"""What begins a sentence about each figure, how its amounts are written, and their unit."""


def drift_problems(scores: Mapping[str, Any] | None) -> tuple[Problem, ...]:
    """Return a problem each figure that has drifted; none where nothing was scored, or by an earlier version."""
    return tuple(_problem(drift) for drift in (scores or {}).get("drifts", ()))


def score_sentences(scores: Mapping[str, Any]) -> list[tuple[bool, str]]:
    """Return what there is to say of scores, what has drifted first, each with whether it is a warning."""
    drifts = [(True, problem.text) for problem in drift_problems(scores)]
    sums = [(False, str(one["sentence"])) for one in scores["summaries"]]
    return drifts + sums + [(bool(one["has_drifted"]), str(one["sentence"])) for one in scores["coefficients"]]


def _problem(drift: Mapping[str, Any]) -> Problem:
    figure, ratio = drift["figure"], drift["ratio"]
    subject, amount, unit = _FIGURES[figure]
    last_ratio = float(drift["observed"]) / float(drift["expected"])
    side, last = (f"{format_percent(abs(one - 1))} {'above' if one > 1 else 'below'}" for one in (ratio, last_ratio))
    came, expected = (amount(drift[name]) for name in ("observed", "expected"))
    message = (
        f"{subject} typically been {side} what was predicted since {drift['since']}: {came} on {drift['last']}, where "
        f"the plan of {drift['made_on']} expected {expected}, is {last}"
    )
    classes = [
        f"{row['name']} ({amount(row['observed'])} instead of {amount(row['expected'])})"
        for row in drift.get("classes", ())
    ]
    if classes:
        message += f". Most of it comes from {listed(classes)}"
    if drift.get("effect"):
        message += f". {drift['effect']}"
    make = serious if drift.get("is_beyond") else warning
    return make(
        PREDICTION_DRIFT,
        NAMES[figure],
        message,
        f"base orders on a plan of {drift['last']} or later, which uses actual figures, and find out what changed",
        about=figure,
        figure=Figure(float(drift["observed"]), float(drift["expected"]), unit),
    )
