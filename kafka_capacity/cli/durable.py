"""What ``durability`` finds out of how data could be lost, and how it shows that: the worst topics first."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from kafka_capacity.cli.console import Steps, print_data, print_lines
from kafka_capacity.cli.one_question import Found
from kafka_capacity.cli.plan_input import ask_snapshot
from kafka_capacity.errors import RequestError
from kafka_capacity.hardware.plain import to_plain
from kafka_capacity.kafka.durability import Acks, Outcome
from kafka_capacity.kafka.durability.settings import MAX_REPLICAS
from kafka_capacity.kafka.durability.traces import trace
from kafka_capacity.questions.answer import unknown_traffic
from kafka_capacity.questions.failures.durability.checking import FormulaCheck, check_formula
from kafka_capacity.questions.failures.durability.evaluate import FAILURE_MODES, evaluate_durability
from kafka_capacity.questions.failures.durability.scenario import DurabilityResult, DurabilityScenario
from kafka_capacity.questions.failures.durability.tables import assumed, durability_tables, placement_row, unknown_of
from kafka_capacity.questions.failures.section.durability import (
    FAILURE_WORDS,
    PlacementDurability,
    assumed_sentences,
    few_sentence,
    losses_sentence,
    placement_durability,
    topics_table,
    worst_first,
)
from kafka_capacity.questions.question import Basis
from kafka_capacity.text import format_duration, format_percent, plural

_TOO_GOOD = frozenset({"missing_sizes", "no_metrics"})
"""Findings about a snapshot with which brokers have their data again sooner than they would, and less is lost."""


def find_durability(
    snapshot: str,
    given: Mapping[str, Any],
    explained: Sequence[str],
    begin: Steps,
    *,
    max_failures: int,
    is_checked: bool,
    max_rows: int,
) -> Found:
    """Read and evaluate; with a check, brokers are let fail at random, to hold the closed form against that."""
    begin("reading the snapshot", steps=2 + is_checked)
    asked = ask_snapshot(snapshot, given)
    basis, request = asked.basis, asked.parameters
    scenario: DurabilityScenario = request.durability_scenario(
        rules=request.election_rules, throttle_bytes_per_second=request.throttle_bytes_per_second
    )
    scenario = dataclasses.replace(scenario, max_failures=max_failures)
    topics = basis.snapshot.partitions.topics
    strange = [name for name in explained if name not in topics]
    if strange:
        raise RequestError(f"--explain: {strange[0]!r} is not a topic of this cluster, which has {len(topics):,}")
    begin("exploring all failure sequences")
    unknown = unknown_traffic(basis.unknown_traffic)
    result = evaluate_durability(basis.snapshot, basis.load, scenario, unknown_traffic=unknown)
    check = None
    if is_checked:
        begin("simulating random failures")
        check = check_formula(basis.snapshot.brokers, result.today.replicas)

    def show() -> None:
        _print(result, basis, check, max_rows)
        for topic in dict.fromkeys(explained):
            print_lines(["", *_explanation(result, result.topics.index(topic))])

    return Found(
        of=basis.snapshot,
        answer=lambda: _answer(_side_of(result)),
        hint="" if explained else "--explain TOPIC shows the shortest path to each outcome",
        document=lambda: _document(result, check),
        show=show,
    )


def _answer(side: PlacementDurability) -> str:
    return " ".join([losses_sentence(side), *assumed_sentences(side)])


def _document(result: DurabilityResult, check: FormulaCheck | None) -> dict[str, Any]:
    side, few = _side_of(result), result.few_copysets
    return {
        "assumed": assumed(result.scenario),
        "today": {**placement_row(result.today), **unknown_of(result)},
        "few_copysets": None if few is None else {**placement_row(few), "moved_bytes": result.moved_bytes},
        "check": to_plain(check),
        "topics": worst_first(side),
        "outcomes": side.outcomes,
    }


def _side_of(result: DurabilityResult) -> PlacementDurability:
    """Return what the page shows of the durability of a placement."""
    return placement_durability(durability_tables(result), result.scenario.placement_id)


def _print(result: DurabilityResult, basis: Basis, check: FormulaCheck | None, max_rows: int) -> None:
    """Print the topics, the worst first, and what their figures rest on."""
    side, asked = _side_of(result), result.scenario
    idempotent = ", idempotent" if asked.is_idempotent and asked.acks is Acks.ALL else ""
    print_lines(
        [
            f"{plural(len(side.topics), 'topic')}, producers with acks={asked.acks}{idempotent}; up to "
            f"{plural(asked.max_failures, 'failure')} explored",
            few_sentence(side),
            *_caveats(side, basis, check),
        ]
    )
    print_data(topics_table(side, "Topics by expected loss", max_failures=asked.max_failures, max_rows=max_rows))


def _caveats(side: PlacementDurability, basis: Basis, check: FormulaCheck | None) -> list[str]:
    seconds = side.whole["max_repair_seconds"]
    # With a single replica nothing can be copied back.
    is_copied = seconds is not None and any(row["replication_factor"] > 1 for row in side.topics)
    lines = [f"a replaced broker has its data back within {format_duration(seconds)}"] if is_copied else []
    if not all(row["is_explored"] for row in side.topics):
        lines.append(
            f"topics with more than {MAX_REPLICAS} replicas are not explored; their loss probabilities are still valid"
        )
    snapshot = basis.snapshot
    lagging = int(((snapshot.replicas >= 0) & ~snapshot.in_sync).any(axis=1).sum())
    if lagging:
        verb = "has" if lagging == 1 else "have"
        lines.append(
            f"warning: {plural(lagging, 'partition')} {verb} replicas out of sync today; all figures assume they are "
            "complete, so more can be lost than shown until they are back in sync"
        )
    lines += [f"warning: {one.message}" for one in basis.findings.warnings if one.code in _TOO_GOOD]
    if check is not None:
        lines.append(
            "closed form compared with simulated random failures, at rates high enough to see losses: off by "
            f"{format_percent(check.off_ratio)}, standard error {format_percent(check.error_ratio)} "
            f"({plural(check.copysets, 'copyset')})"
        )
    return lines


def _where(mode: str) -> str:
    usual = next(iter(FAILURE_WORDS))
    return FAILURE_WORDS[mode] if mode == usual else f"{FAILURE_WORDS[usual]}, and {FAILURE_WORDS[mode]}"


def _explanation(result: DurabilityResult, place: int) -> list[str]:
    setting = int(result.setting[place])
    name = result.topics[place]
    if setting < 0:
        return [f"{name}: more than {MAX_REPLICAS} replicas are not explored"]
    assumed = " (assumed)" if result.configs.is_min_isr_assumed[place] else ""
    lines = [
        f"{name}: factor {result.replication_factor[place]}, "
        f"min.insync.replicas {result.configs.min_insync_replicas[place]}{assumed}"
    ]
    reported, crashes = set[Outcome](), result.settings[setting]["crashes"].fewest_failures
    for mode in FAILURE_MODES:
        explored = result.settings[setting][mode]
        lines.append(f"where {_where(mode)} ({explored.states:,} states):")
        for outcome, failures in sorted(explored.fewest_failures.items()):
            if mode != "crashes" and outcome in reported and failures == crashes.get(outcome):
                continue
            reported.add(outcome)
            lines.append(f"  {outcome.words}, after {plural(failures, 'failure')}:")
            lines += [f"    {number}. {step}" for number, step in enumerate(trace(explored, outcome), start=1)]
    return lines
