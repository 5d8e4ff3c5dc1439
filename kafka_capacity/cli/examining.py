"""From the options of ``doctor`` to what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka_capacity.cli.console import print_problem_rows
from kafka_capacity.cli.documents import document_head
from kafka_capacity.cli.plan_input import ask_snapshot
from kafka_capacity.cli.plan_options import split_names
from kafka_capacity.errors import RequestError
from kafka_capacity.health.problem import Problems, Severity
from kafka_capacity.plan.handing import failures_today
from kafka_capacity.questions.failures.request import ControllerRequest
from kafka_capacity.questions.question import Basis

SCHEMA_VERSION = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Examined:
    """What was found."""

    found: Basis
    problems: Problems


def examine_snapshot(snapshot: str, given: Mapping[str, Any], controllers: str | None) -> Examined:
    """Read and examine.

    Args:
        snapshot: its folder or address.
        given: fields of the request that were given.
        controllers: ``1:a,2:b,3``, ``None`` where they are not known.

    Raises:
        KafkaCapacityError: the controllers or the snapshot are wrong.
    """
    check_voters(controllers)
    asked = ask_snapshot(snapshot, {**given, "controllers": split_names(controllers or "")})
    problems = failures_today(asked).problems_today(asked.basis.findings)
    return Examined(found=asked.basis, problems=problems)


def check_voters(text: str | None) -> None:
    """Check ``1:a,2:b,3`` before anything is read.

    Raises:
        RequestError: an id is no number, comes twice, or there is none at all.
    """
    if text is None:
        return
    try:
        voters = ControllerRequest.parse(split_names(text))
    except RequestError as error:
        raise RequestError(f"--controllers: {error}") from None
    if not voters:
        raise RequestError("--controllers: there is none; name the voters, such as 1:a,2:b,3:c, or leave it out")


def doctor_document(examined: Examined) -> dict[str, Any]:
    """Give ``doctor.json``."""
    snapshot = examined.found.snapshot
    return {
        **document_head(SCHEMA_VERSION, cluster=snapshot.cluster, ds=snapshot.ds),
        "problems": examined.problems.to_json(),
    }


def doctor_answer(examined: Examined) -> str:
    """Count in one line what was found."""
    snapshot, found = examined.found.snapshot, examined.problems
    counts = {severity: sum(one.severity is severity for one in found) for severity in Severity}
    summary = ", ".join(f"{count} {severity}" for severity, count in counts.items() if count)
    return f"{snapshot.cluster} on {snapshot.ds}: {summary or 'nothing wrong was found'}"


def print_problems(examined: Examined) -> None:
    """Print a row for each problem."""
    if len(examined.problems):
        print_problem_rows("Problems", examined.problems)
