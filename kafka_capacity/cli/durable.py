"""From the options of ``durability`` to what came of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_capacity.cli.console import Steps
from kafka_capacity.cli.documents import document_head
from kafka_capacity.cli.plan_input import ask_snapshot
from kafka_capacity.errors import RequestError
from kafka_capacity.hardware.plain import to_plain
from kafka_capacity.questions.failures.durability import DurabilityResult, DurabilityScenario, evaluate_durability
from kafka_capacity.questions.failures.durability.checking import FormulaCheck, check_formula
from kafka_capacity.questions.failures.durability.tables import (
    assumed,
    outcome_rows,
    placement_row,
    topic_rows,
    worst_first,
)
from kafka_capacity.questions.question import Basis

SCHEMA_VERSION = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Durable:
    """All that came of it.

    Attributes:
        found: the snapshot.
        result: of its topics.
        explained: topics whose outcomes are told step by step.
        check: the closed form against failures at random, where that was asked for.
    """

    found: Basis
    result: DurabilityResult
    explained: tuple[str, ...]
    check: FormulaCheck | None


def find_durability(
    snapshot: str,
    given: Mapping[str, Any],
    explained: Sequence[str],
    begin: Steps,
    *,
    max_failures: int,
    is_checked: bool,
) -> Durable:
    """Read and evaluate.

    Args:
        snapshot: its folder or address.
        given: fields of the request that were given.
        explained: topics.
        begin: told of each step.
        max_failures: so many are tried together.
        is_checked: whether brokers are let fail at random.

    Raises:
        KafkaCapacityError: an option or the snapshot is wrong.
    """
    begin("reading the snapshot", steps=2 + is_checked)
    asked = ask_snapshot(snapshot, given)
    found, request = asked.basis, asked.parameters
    scenario: DurabilityScenario = request.durability_scenario(
        rules=request.election_rules, throttle_bytes_per_second=request.throttle_bytes_per_second
    )
    scenario = dataclasses.replace(scenario, max_failures=max_failures)
    topics = found.snapshot.partitions.topics
    unknown = [name for name in explained if name not in topics]
    if unknown:
        raise RequestError(f"--explain: {unknown[0]!r} is not a topic of this cluster, which has {len(topics):,}")
    begin("trying every failure mode")
    result = evaluate_durability(found.snapshot, found.load, scenario)
    check = None
    if is_checked:
        begin("letting brokers fail")
        check = check_formula(found.snapshot.brokers, result.today.replicas)
    return Durable(found=found, result=result, explained=tuple(dict.fromkeys(explained)), check=check)


def durability_document(durable: Durable) -> dict[str, Any]:
    """Give ``durability.json``: null where there is no figure, or none that ends."""
    result, snapshot = durable.result, durable.found.snapshot
    rows = topic_rows(result)
    few = result.few_copysets
    return {
        **document_head(SCHEMA_VERSION, cluster=snapshot.cluster, ds=snapshot.ds),
        "assumed": assumed(result.scenario),
        "today": placement_row(result.today),
        "few_copysets": None if few is None else {**placement_row(few), "moved_bytes": result.moved_bytes},
        "check": None if durable.check is None else to_plain(durable.check),
        "topics": [rows[place] for place in worst_first(result)],
        "outcomes": outcome_rows(result),
    }
