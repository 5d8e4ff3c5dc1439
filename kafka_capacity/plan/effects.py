"""What came of problems and actions: the effect that was measured, from the figures of when they were first seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kafka_capacity.health.problem import Code
from kafka_capacity.text import format_percent, format_usd, plural

PROBLEM, ACTION = "problem", "action"
PLAN_AGAIN = "plan-again"  # the code of an action that only asks for another plan
GONE, DROPPED = "no longer found", "no longer recommended"  # what became of a problem, and of an action not taken
_EARLIER_DROPPED = "no longer requested"  # what was kept until model version 24


def effect_of(entry: Mapping[str, Any], today: Mapping[str, Any]) -> str:
    """Return what an action or full disks changed, as far as that is known."""
    before, wanted = entry["at_first"], entry["broker_count"]
    if wanted is None and entry["code"] == PLAN_AGAIN:
        return GONE  # a plan moves nothing
    was, now = before.get("broker_count"), today["broker_count"]
    if wanted is not None and was is not None:
        if _is_missed(was, wanted, now):
            return f"{DROPPED}; there are {plural(now, 'broker')}"
        full, fuller = (one.get("fullest_disk_ratio") for one in (before, today))
        if wanted == was and full is not None and fuller is not None and fuller >= full:
            return DROPPED  # a move among as many brokers would show
    told = [
        f"{label}{write(before[name])} → {write(today[name])}"
        for name, (label, write) in _MEASURED.items()
        if None not in (before.get(name), today.get(name)) and write(before[name]) != write(today[name])
    ]
    is_measured = entry["kind"] == ACTION or entry["code"] == Code.DISK_OVER_LIMIT
    return ", ".join(told) if told and is_measured else GONE


def ended(effect: str) -> str:
    """Return in a word how what had that effect ended."""
    return "dropped" if effect.startswith((DROPPED, _EARLIER_DROPPED)) else "gone" if effect == GONE else "done"


def _is_missed(was: int, wanted: int, now: int) -> bool:
    """Whether a count is not reached that was wanted: from below, from above, or by staying as it was."""
    if wanted == was:
        return now != wanted
    return now < wanted if wanted > was else now > wanted


_MEASURED: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "broker_count": ("", lambda count: plural(count, "broker")),
    "fullest_disk_ratio": ("the fullest disk ", format_percent),
    "usd_per_month": ("", lambda usd: f"{format_usd(usd)} per month"),
}
