"""The runbook, as the page shows it: what a team does, wave by wave, what it watches, and how it goes back."""

from __future__ import annotations

import json
from typing import Any

from kafka_capacity.report.formats import (
    format_bytes,
    format_duration,
    format_percent,
    format_throttle,
    format_throttle_above,
    plural,
)
from kafka_capacity.report.waves import MoveView, Row

FOLDER = "reassignment/"
"""Where commands are run, beside the report; the files are in ``waves`` there."""
MAX_PAGES = 40
"""Waves with their commands on the page; more would make it too heavy to open."""
OPEN_PAGES = 2
"""Waves whose commands are not folded away."""

_DOES = {
    "leadership": "get another preferred leader, so that drained brokers send less; nothing is copied",
    "drop": "lose replicas; nothing is copied",
    "copy": "move",
    "detour": "move, some by way of a third broker",
    "reorder": "get another order of replicas; nothing is copied",
}


def pages(move: MoveView) -> list[dict[str, Any]]:
    """Give the pages of the first waves."""
    return [_page(wave, at) for at, wave in enumerate(move.waves[:MAX_PAGES])]


def _page(wave: Row, at: int) -> dict[str, Any]:
    page = json.loads(wave["runbook"])
    own = {"execute": f"{_what(wave)}.", "watch": _watch(wave), "elect": _elects(wave)}
    return {
        "number": wave["wave"],
        "gist": _gist(wave),
        "is_open": at < OPEN_PAGES,
        "steps": [_step(step, own.get(step["does"])) for step in page["steps"]],
        "back": [_step(step) for step in page["back"]],
    }


def _step(step: Row, text: str | None = None) -> dict[str, Any]:
    """Give a step; ``text`` says why in the units of the report."""
    return {
        "does": str(step["does"]).capitalize(),
        "text": text or str(step["why"]),
        "commands": [str(command) for command in step["commands"]],
    }


def _what(wave: Row) -> str:
    amount = f", {format_bytes(wave['copied_bytes'])} to copy" if wave["copied_bytes"] else ""
    return f"{plural(wave['partitions'], 'partition')} {_DOES.get(str(wave['kind']), str(wave['kind']))}{amount}"


def _elects(wave: Row) -> str:
    verb = "has" if wave["elections"] == 1 else "have"
    return f"{plural(wave['elections'], 'partition')} {verb} a new first replica while another one still leads."


def _gist(wave: Row) -> str:
    took = _took(wave, "expected")
    if not wave["copied_bytes"]:
        return f"{plural(wave['partitions'], 'partition')}, nothing to copy"
    ends = "never ends" if took is None else format_duration(took)
    return f"{plural(wave['partitions'], 'partition')}, {format_bytes(wave['copied_bytes'])}, {ends}"


def _took(wave: Row, band: str) -> float | None:
    start, end = wave[f"start_{band}_seconds"], wave[f"end_{band}_seconds"]
    return None if start is None or end is None else float(end - start)


def _watch(wave: Row) -> str:
    if not wave["copied_bytes"]:
        return "It is over within seconds."
    low, expected, high = (_took(wave, band) for band in ("low", "expected", "high"))
    sure = format_throttle_above(wave["smallest_throttle_expected_bytes_per_second"])
    if expected is None:
        time = f"It does not end at {format_throttle(wave['throttle_bytes_per_second'])}: it takes more than {sure}"
    else:
        late = "never at peak rates" if high is None else f"{format_duration(high)} at peak rates"
        time = f"It is done after {format_duration(expected)} ({format_duration(low)} if nobody writes, {late})"
    disk = ""
    if wave["fullest_ratio"] is not None:
        held, ratio = format_bytes(wave["fullest_peak_bytes"]), format_percent(wave["fullest_ratio"])
        disk = f" Broker {wave['fullest_broker']} holds up to {held} on the way, {ratio} of its disk limit."
    decides = "" if wave["bottleneck_broker"] is None else f"; {bottleneck(wave)} decides"
    return (
        f"{time}{decides}.{disk} Look at UnderReplicatedPartitions, ReassigningPartitions and "
        "ReassignmentBytesInPerSec, and at the disks. If it falls behind, run execute again with --additional and a "
        "larger --throttle."
    )


def bottleneck(wave: Row) -> str | None:
    """Name who decides how long a wave takes."""
    if wave["bottleneck_broker"] is None:
        return None
    direction = str(wave["bottleneck_direction"])
    by = {"in": "receiving", "out": "sending", "fetch": "its fetchers"}.get(direction, direction)
    return f"broker {wave['bottleneck_broker']} ({by})"
