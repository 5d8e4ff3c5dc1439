"""Durability in the terminal: the topics with the greatest expected loss, settings, and ways to outcomes."""

from __future__ import annotations

from kafka_capacity.cli.console import print_data, print_lines
from kafka_capacity.cli.durable import Durable
from kafka_capacity.health.problem import counted
from kafka_capacity.kafka.durability import Acks, Outcome
from kafka_capacity.kafka.durability.traces import trace
from kafka_capacity.questions.failures.durability.evaluate import FAILURE_MODES
from kafka_capacity.questions.failures.durability.tables import durability_tables
from kafka_capacity.questions.failures.section.durability_figures import (
    PlacementDurability,
    few_sentence,
    losses_sentence,
    placement_durability,
    topics_table,
)
from kafka_capacity.text import format_duration

_TOO_GOOD = frozenset({"missing_sizes", "no_metrics"})
"""Findings about a snapshot with which brokers have their data again sooner than they would, and less is lost."""
_WAYS = {
    "crashes": "brokers crash and connections break",
    "power": "brokers crash, connections break and power is lost, of one broker or of all",
    "producer": "brokers crash, connections break and the producer restarts",
}


def side_of(durable: Durable) -> PlacementDurability:
    """Return what the page shows of the durability of a placement."""
    return placement_durability(durability_tables(durable.result), durable.result.scenario.placement_id)


def durability_answer(durable: Durable, side: PlacementDurability) -> str:
    """Describe in one line how often data are lost for good."""
    snapshot = durable.found.snapshot
    return f"{snapshot.cluster} on {snapshot.ds}: {losses_sentence(side)}"


def print_durability(durable: Durable, side: PlacementDurability, *, max_rows: int) -> None:
    """Print the topics, the worst first, and what their figures rest on."""
    result = durable.result
    asked = result.scenario
    idempotent = ", idempotent" if asked.is_idempotent and asked.acks is Acks.ALL else ""
    print_lines(
        [
            f"{counted(len(side.topics), 'topic')}, producers with acks={asked.acks}{idempotent}; up to "
            f"{counted(asked.max_failures, 'failure')} tried",
            few_sentence(side),
            *_caveats(durable, side),
        ]
    )
    print_data(topics_table(side, "Topics by expected loss", max_failures=asked.max_failures, max_rows=max_rows))
    for topic in durable.explained:
        print_lines(["", *_explanation(durable, result.topics.index(topic))])


def _caveats(durable: Durable, side: PlacementDurability) -> list[str]:
    seconds = side.whole["max_repair_seconds"]
    lines = [] if seconds is None else [f"a broker has its data again after {format_duration(seconds)} at most"]
    if not all(row["is_explored"] for row in side.topics):
        lines.append("topics with more than 4 replicas are not explored; their chances of a loss hold")
    snapshot = durable.found.snapshot
    lagging = int(((snapshot.replicas >= 0) & ~snapshot.in_sync).any(axis=1).sum())
    if lagging:
        verb = "has" if lagging == 1 else "have"
        lines.append(
            f"warning: {counted(lagging, 'partition')} {verb} replicas out of sync today; all figures count them as "
            "complete, so until they are in sync more can be lost than is said here"
        )
    lines += [f"warning: {one.message}" for one in durable.found.findings.warnings if one.code in _TOO_GOOD]
    check = durable.check
    if check is not None:
        lines.append(
            f"closed form against failures at random, at rates at which something happens: {check.off_ratio:+.1%}, "
            f"standard error {check.error_ratio:.1%} ({counted(check.copysets, 'copyset')})"
        )
    return lines


def _explanation(durable: Durable, place: int) -> list[str]:
    result = durable.result
    setting = int(result.setting[place])
    name = result.topics[place]
    if setting < 0:
        return [f"{name}: more than 4 replicas are not explored"]
    lines = [
        f"{name}: factor {result.replication_factor[place]}, min.insync.replicas {result.min_insync_replicas[place]}"
    ]
    reported: set[Outcome] = set()
    for mode in FAILURE_MODES:
        explored = result.settings[setting][mode]
        lines.append(f"where {_WAYS[mode]} ({explored.states:,} states):")
        for outcome, failures in sorted(explored.fewest_failures.items()):
            if mode != "crashes" and outcome in reported and failures == _crashes(durable, setting, outcome):
                continue
            reported.add(outcome)
            lines.append(f"  {outcome.words}, after {counted(failures, 'failure')}:")
            lines += [f"    {number}. {step}" for number, step in enumerate(trace(explored, outcome), start=1)]
    return lines


def _crashes(durable: Durable, setting: int, outcome: Outcome) -> int | None:
    return durable.result.settings[setting]["crashes"].fewest_failures.get(outcome)
