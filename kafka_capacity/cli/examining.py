"""From the options of ``doctor`` to what was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kafka_capacity.cli.console import Align, print_lines, print_table
from kafka_capacity.cli.documents import document_head
from kafka_capacity.cli.plan_input import PlanInput, read_plan_input
from kafka_capacity.cli.plan_options import split_names
from kafka_capacity.errors import RequestError
from kafka_capacity.health.problem import Problem
from kafka_capacity.inventory.findings import counted
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.questions.failures.doctor import Diagnosis, Seriousness, Voter, examine
from kafka_capacity.questions.failures.question import ControllerQuestion

SCHEMA_VERSION = 1
DOCTOR = "doctor.json"
_COLUMNS: tuple[tuple[str, Align], ...] = (
    ("severity", "left"),
    ("where", "left"),
    ("what", "left"),
    ("mend", "left"),
)
_SAID_BETTER = {
    "isr_empty",
    "leader_missing",
    "min_isr_above_rf",
    "min_isr_equals_rf",
    "rack_missing",
    "rf_above_racks",
    "single_replica",
    "under_replicated",
    "uneven_racks",
}
"""Findings about a snapshot that the doctor repeats, with what is at stake."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Examined:
    """What was found.

    Attributes:
        found: the snapshot.
        diagnoses: the most serious first.
        others: warnings about the snapshot that say something else.
    """

    found: PlanInput
    diagnoses: tuple[Diagnosis, ...]
    others: tuple[Problem, ...]


def examine_snapshot(snapshot: str, controllers: str | None) -> Examined:
    """Read and examine.

    Args:
        snapshot: its folder or address.
        controllers: ``1:a,2:b,3``, ``None`` where they are not known.

    Raises:
        KafkaCapacityError: the controllers or the snapshot are wrong.
    """
    typed = split_voters(controllers)
    found = read_plan_input(snapshot)
    voters = [_with_rack(voter, found.snapshot.brokers) for voter in typed]
    return Examined(
        found=found,
        diagnoses=examine(found.snapshot, found.load, voters=voters),
        others=tuple(one for one in found.findings.warnings if one.code not in _SAID_BETTER),
    )


def split_voters(text: str | None) -> list[Voter]:
    """Read ``1:a,2:b,3``.

    Raises:
        RequestError: an id is no number, comes twice, or there is none at all.
    """
    if text is None:
        return []
    try:
        voters = list(ControllerQuestion.parse(split_names(text)))
    except RequestError as error:
        raise RequestError(f"--controllers: {error}") from None
    if not voters:
        raise RequestError("--controllers: there is none; name the voters, such as 1:a,2:b,3:c, or leave it out")
    return voters


def _with_rack(voter: Voter, brokers: Brokers) -> Voter:
    if voter.rack is not None or voter.node_id not in brokers.ids:
        return voter
    return Voter(node_id=voter.node_id, rack=brokers.racks[brokers.ids.tolist().index(voter.node_id)])


def is_as_serious(found: Seriousness, limit: Seriousness) -> bool:
    """Tell whether something is at least so serious."""
    order = list(Seriousness)
    return order.index(found) <= order.index(limit)


def doctor_document(examined: Examined) -> dict[str, Any]:
    """Give ``doctor.json``."""
    snapshot = examined.found.snapshot
    return {
        **document_head(SCHEMA_VERSION, cluster=snapshot.cluster, ds=snapshot.ds),
        "diagnoses": [one.as_dict() for one in examined.diagnoses],
        "other_warnings": len(examined.others),
    }


def print_diagnoses(examined: Examined) -> None:
    """Print a row for each thing found."""
    snapshot, found = examined.found.snapshot, examined.diagnoses
    counts = [sum(one.severity is severity for one in found) for severity in Seriousness]
    summary = ", ".join(f"{count} {severity}" for count, severity in zip(counts, Seriousness, strict=True) if count)
    title = f"{snapshot.cluster} on {snapshot.ds}: {summary or 'nothing wrong was found'}"
    if found:
        print_table(title, _COLUMNS, [[str(one.severity), one.where, one.message, one.mend] for one in found])
    else:
        print_lines([title])
    if examined.others:
        print_lines(
            [f"{counted(len(examined.others), 'other warning')} about the snapshot: inventory check lists them"]
        )
