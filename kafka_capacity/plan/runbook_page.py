"""``runbook.md``: what a team does, wave by wave, with the exact commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from kafka_capacity.kafka.reassignment.problem import BAND
from kafka_capacity.kafka.reassignment.runbook import WAVES_FOLDER
from kafka_capacity.proposal.constraints.moves import no_throttle_helps
from kafka_capacity.questions.change.move_words import window_sentence
from kafka_capacity.questions.change.wave_runbook import are_unsized, has_step, hours_of, wave_amount, wave_page
from kafka_capacity.text import (
    format_bytes,
    format_duration,
    format_throttle,
    format_throttle_above,
    plural,
    whole_percent,
)
from kafka_capacity.text.names import without_markdown

RUNBOOK = "runbook.md"

_BROKERS = [
    "First say where the brokers are and, on a secured cluster, how to authenticate:\n",
    "```sh",
    "export BOOTSTRAP=broker-1.example.com:9092",
    'export COMMAND_CONFIG="--command-config admin.properties"',
    "```\n",
]


def runbook_markdown(
    schedule: Mapping[str, Any],
    waves: Sequence[Mapping[str, Any]],
    added: Sequence[Mapping[str, Any]] = (),
    warnings: Sequence[str] = (),
    hashes: Mapping[str, str] = MappingProxyType({}),
) -> bytes:
    """Write the runbook of a schedule from rows of its tables, with what is serious and the hashes of other files."""
    # A line that ends with another end of line is followed by an empty one.
    lines = [f"# Runbook: {without_markdown(schedule['scenario_id'])}\n"]
    lines += _introduction(schedule, waves, is_growing=bool(added))
    lines += _warnings(warnings)
    lines += _files(hashes)
    lines += _left_out(schedule)
    lines += _more_partitions(added, waves)
    for wave in waves:
        lines += _wave(wave, len(waves))
    return ("\n".join(lines).rstrip() + "\n").encode()


def time_band(low: float | None, expected: float | None, high: float | None) -> str:
    """Return how long something takes.

    >>> time_band(60.0, 90.0, None)
    '1 min 30 s; 1 min without writes, never finishes at peak rates'
    """
    times = [format_duration(seconds) for seconds in (low, expected, high)]
    if times[0] == times[1] == times[2]:
        return times[1]
    return f"{times[1]}; {times[0]} without writes, {times[2]} at peak rates"


def _introduction(schedule: Mapping[str, Any], waves: Sequence[Mapping[str, Any]], *, is_growing: bool) -> list[str]:
    count = len(waves)
    if not count:
        nothing = "No wave can be executed." if schedule["refusals"] else "Nothing is moved."
        return [f"{nothing}\n", *(_BROKERS if is_growing else [])]
    copied = f"{format_bytes(schedule['copied_bytes'])} to copy"
    total = time_band(*(schedule[f"total_{band}_seconds"] for band in BAND))
    if are_unsized(waves):
        copied, total = "replicas of unknown size (or empty) to copy", "not known"
    throttle = (
        f"the largest throttle per broker that leaves {whole_percent(schedule['headroom_ratio'])} free at its peak"
        if schedule["is_throttle_automatic"]
        else f"{format_throttle(schedule['throttle_bytes_per_second'])} per broker and direction"
    )
    lines = [f"{plural(count, 'wave')}, {copied} at {throttle}, in the order {schedule['order']}. Total: {total}.\n"]
    if (sentence := window_sentence(schedule, waves)) is not None:
        lines.append(f"{sentence}\n")
    smallest = schedule["smallest_throttle_expected_bytes_per_second"]
    if schedule["total_expected_seconds"] is None:
        needs = no_throttle_helps() if smallest is None else f"it needs more than {format_throttle_above(smallest)}"
        if smallest is not None and schedule["is_throttle_automatic"]:
            needs = "headroom leaves too little; use a smaller headroom or a fixed throttle"
        lines.append(f"**It never finishes with this throttle**: {needs}.\n")
    return [
        *lines,
        "Run one wave after another; you may stop after any of them. Run the commands in the folder of this file, "
        f"which contains `{WAVES_FOLDER}`. First say where the brokers are:\n",
        *_BROKERS[1:],
    ]


def _more_partitions(added: Sequence[Mapping[str, Any]], waves: Sequence[Mapping[str, Any]]) -> list[str]:
    if not added:
        return []
    starting = next((wave["wave"] for wave in waves if has_step(wave, "start")), 0)
    where = f": do the step Start of wave {starting} first" if starting else ""
    lines = [
        "## Before the first wave: more partitions\n",
        f"New brokers must be up{where}. **This cannot be undone**: Kafka never removes a partition. Existing records "
        "do not move, but new records with keys may go to other partitions, so let consumers that rely on the order of "
        "a key, or keep state by partition, read to the end first.\n",
    ]
    for number, row in enumerate(added, start=1):
        topic = without_markdown(row["topic"])
        lines += [
            f"{number}. **{topic}: {row['count_before']:,} to {row['count_after']:,} partitions.** "
            f"{whole_percent(row['moved_keys_ratio'])} of all keys change partition, if producers set keys.\n",
            "   ```sh",
            f"   {row['command']}",
            "   ```\n",
        ]
    return lines


def _warnings(warnings: Sequence[str]) -> list[str]:
    if not warnings:
        return []
    return ["## Before you begin\n", *(f"- {without_markdown(text)}" for text in warnings), ""]


def _files(hashes: Mapping[str, str]) -> list[str]:
    if not hashes:
        return []
    checks = [f'echo "{sha256}  {name}" | sha256sum --check' for name, sha256 in hashes.items()]
    said = "The files next to this one belong to the same plan if these commands print OK:\n"
    return [said, "```sh", *checks, "```\n"]


def _left_out(schedule: Mapping[str, Any]) -> list[str]:
    if not schedule["refusals"]:
        return []
    count = schedule["refused_partitions"]
    one = "is not in any wave and stays where it is, although `moves.json` and `target.json` include it"
    several = "are not in any wave and stay where they are, although `moves.json` and `target.json` include them"
    return [
        "## What stays\n",
        f"{plural(count, 'partition')} {one if count == 1 else several}; do not execute those files as a whole:\n",
        *(f"- {without_markdown(each['reason'])}" for each in schedule["refusals"]),
        "",
    ]


def _wave(wave: Mapping[str, Any], count: int) -> list[str]:
    page = wave_page(wave)
    start = format_duration(wave["start_expected_seconds"])
    begins = "Starts immediately" if wave["wave"] == 1 else f"Starts after {start}"
    if (hours := hours_of(wave)) is not None:
        begins = f"Runs from {hours}"
    if wave["start_expected_seconds"] is None:
        begins = "Never starts, because an earlier one does not finish"
    lines = [f"## Wave {wave['wave']} of {count}: {wave['kind']}\n", f"{begins}; {wave_amount(wave)}.\n"]
    for number, step in enumerate(page["steps"], start=1):
        lines += _step(f"{number}. ", step)
    lines.append("### Back\n")
    for step in page["back"]:
        lines += _step("- ", step)
    return lines


def _step(bullet: str, step: Mapping[str, Any]) -> list[str]:
    indent = " " * len(bullet)
    lines = [f"{bullet}**{step['does']}.** {without_markdown(step['text'])}\n"]
    if step["commands"]:
        lines += [f"{indent}```sh", *(indent + command for command in step["commands"]), f"{indent}```\n"]
    return lines
