"""Durability in the terminal: the topics with the greatest expected loss, settings, and ways to outcomes."""

from __future__ import annotations

from typing import Any

from kafka_capacity.cli.console import Align, print_lines, print_table
from kafka_capacity.cli.durable import Durable
from kafka_capacity.inventory.findings import counted
from kafka_capacity.kafka.durability import Acks, Outcome
from kafka_capacity.kafka.durability.traces import trace
from kafka_capacity.questions.failures.durability.courses import COURSES
from kafka_capacity.questions.failures.durability.plain import placement_row, topic_rows, worst_first
from kafka_capacity.text import NOTHING, format_bytes, format_duration

_TOPICS: tuple[tuple[str, Align], ...] = (
    ("topic", "left"),
    ("factor", "right"),
    ("min ISR", "right"),
    ("unclean", "left"),
    ("lost after crashes", "right"),
    ("with power losses", "right"),
    ("duplicated after", "right"),
    ("refused after", "right"),
    ("copysets", "right"),
    ("chance of a loss a year", "right"),
    ("bytes lost a year", "right"),
    ("in few copysets", "right"),
)
_TOO_GOOD = frozenset({"missing_sizes", "no_metrics"})
"""Findings about a snapshot with which brokers have their data again sooner than they would, and less is lost."""
_WAYS = {
    "crashes": "brokers crash and connections break",
    "power": "brokers crash, connections break and power is lost, of one broker or of all",
    "producer": "brokers crash, connections break and the producer restarts",
}


def print_durability(durable: Durable, *, most_rows: int) -> None:
    """Print the topics, the worst first, and what their figures rest on.

    Args:
        durable: what was found.
        most_rows: of the table.
    """
    result = durable.result
    rows = topic_rows(result)
    order = worst_first(result)
    asked = result.scenario
    idempotent = ", idempotent" if asked.is_idempotent and asked.acks is Acks.ALL else ""
    print_lines(
        [
            f"{durable.found.snapshot.cluster} on {durable.found.snapshot.ds}: {counted(len(rows), 'topic')}, "
            f"producers with acks={asked.acks}{idempotent}; up to {counted(asked.most_failures, 'failure')} tried"
        ]
    )
    more = f", the worst {most_rows:,} of {len(rows):,}" if len(rows) > most_rows else ""
    most = asked.most_failures
    print_lines(_placements(durable))
    print_table(f"what could be lost{more}", _TOPICS, [_row(rows[place], most) for place in order[:most_rows]])
    for topic in durable.explained:
        print_lines(["", *_explanation(durable, result.topics.index(topic))])


def _row(row: dict[str, Any], most: int) -> list[str]:
    lost = row["lost_silently_after"] if row["acks"] == "0" else row["lost_after_crashes"]
    powered = row["lost_silently_after"] if row["acks"] == "0" else row["lost_after_power_losses"]
    expected = row["lost_bytes_per_year"]
    duplicated = row["duplicated_after_producer_restarts"]
    return [
        row["topic"],
        f"{row['replication_factor']}",
        f"{row['min_insync_replicas']}",
        "yes" if row["is_unclean_allowed"] else "no",
        *(_after(row, value, most) for value in (lost, powered, duplicated, row["refused_after"])),
        f"{row['copysets']:,}",
        chance(row["loss_probability"]),
        NOTHING if expected is None else format_bytes(expected + row["lost_tail_bytes_per_year"]),
        chance(row["few_loss_probability"]),
    ]


def _after(row: dict[str, Any], failures: int | None, most: int) -> str:
    if not row["is_explored"]:
        return NOTHING
    return f"more than {most}" if failures is None else f"{failures}"


def chance(ratio: float | None) -> str:
    """Write a chance, small ones as powers of ten."""
    if ratio is None:
        return NOTHING
    return f"{ratio:.1%}" if ratio >= 0.001 or ratio == 0 else f"{ratio:.1e}"


def _placements(durable: Durable) -> list[str]:
    result = durable.result
    today = placement_row(result.today)
    lines = [
        f"all topics: {counted(today['copysets'], 'copyset')}, a loss of some partition in a year "
        f"{chance(today['loss_probability'])}; {_repair(today)}"
    ]
    if result.few_copysets is not None:
        few = placement_row(result.few_copysets)
        lines.append(
            f"in few copysets (scatter width {result.scenario.scatter_width}): {counted(few['copysets'], 'copyset')}, "
            f"{chance(few['loss_probability'])}; {_repair(few)}; that copies {format_bytes(result.moved_bytes)}, and "
            f"the fullest broker holds {few['highest_over_mean']:.2f} times the mean "
            f"({today['highest_over_mean']:.2f} today)"
        )
        lines.append("fewer copysets lose less often and more at once: about as many bytes are lost in the long run")
    else:
        lines.append("few copysets were not tried: there are too many partitions, or too few living brokers")
    if any(one < 0 for one in result.setting.tolist()):
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


def _repair(row: dict[str, Any]) -> str:
    seconds = row["longest_repair_seconds"]
    if seconds is None:
        return "a broker never has its data again under this throttle, so its topics have no figures"
    return f"a broker has its data again after {format_duration(seconds)} at most"


def _explanation(durable: Durable, place: int) -> list[str]:
    result = durable.result
    setting = int(result.setting[place])
    name = result.topics[place]
    if setting < 0:
        return [f"{name}: more than 4 replicas are not explored"]
    lines = [
        f"{name}: factor {result.replication_factor[place]}, min.insync.replicas {result.min_insync_replicas[place]}"
    ]
    told: set[Outcome] = set()
    for course in COURSES:
        explored = result.settings[setting][course]
        lines.append(f"where {_WAYS[course]} ({explored.states:,} states):")
        for outcome, failures in sorted(explored.fewest_failures.items()):
            if course != "crashes" and outcome in told and failures == _crashes(durable, setting, outcome):
                continue
            told.add(outcome)
            lines.append(f"  {outcome.words}, after {counted(failures, 'failure')}:")
            lines += [f"    {number}. {step}" for number, step in enumerate(trace(explored, outcome), start=1)]
    return lines


def _crashes(durable: Durable, setting: int, outcome: Outcome) -> int | None:
    return durable.result.settings[setting]["crashes"].fewest_failures.get(outcome)
