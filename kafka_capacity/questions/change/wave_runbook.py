"""The runbook in words: what a team does, wave by wave, what it watches, and how it goes back.

Steps and commands are those that were stored with the plan. The page and ``runbook.md`` both show what is made here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kafka_capacity.kafka.reassignment.problem import BAND
from kafka_capacity.kafka.reassignment.schedule import COPIES, WaveKind
from kafka_capacity.questions.change.move_view import MoveView, Row
from kafka_capacity.text import (
    capitalised,
    format_bytes,
    format_duration,
    format_moment,
    format_percent,
    format_throttle,
    format_throttle_above,
    listed,
    plural,
    uncapitalised,
)

PLAN_FILES_FOLDER = "reassignment/"  # where commands are run, beside the report; the files are in `waves` there
MAX_PAGES = 3  # waves with their commands on the page; more would make it too heavy to open

_DOES = {
    "leadership": ("get", " another preferred leader, so that drained brokers send less; nothing is copied"),
    "drop": ("lose", " replicas; nothing is copied"),
    "copy": ("move", ""),
    "detour": ("move", ", some by way of a third broker"),
    "reorder": ("get", " another order of replicas; nothing is copied"),
}

_ALWAYS = {
    "cordon": "Before anything is copied: from now on no new topic or partition is placed on these brokers, which "
    "will be drained. This needs metadata.version 4.3; on earlier versions, create no topics or "
    "partitions until the last wave is done.",
    "confirm": "Shut these brokers down only if this lists no partition on them; anything it lists was placed there "
    "meanwhile and needs a plan from a new inventory. A broker that is also a controller voter must "
    "leave the voters first.",
    "uncordon": "Brokers that get replicas back must accept them again; from 4.4 on Kafka rejects every replica "
    "list with a cordoned broker. Those that are to be emptied must be cordoned again before this wave is run again.",
    "cordon again": "Back to the state before the move: no new replica is placed on these brokers.",
    "throttle": "These brokers have more headroom than the slowest one, whose throttle applies to all of them now.",
    "verify": "Repeat until it reports every partition as completed; this also removes the throttles, "
    "which stay otherwise.",
    "cancel": "While it runs: unfinished partitions stay where they were, though the order of their replicas may "
    "change, and the throttles are removed. Then roll this wave back, as below, even if nothing of it was finished.",
    "roll back": "After a cancel, or once it is done and later waves are rolled back: restores every replica list to "
    "what it was before this wave. Repeat --verify until it reports every partition as completed: that removes the "
    "throttles.",
}
"""Why a step is taken, whatever the wave."""

STOP_AFTER = 1.5  # times as long as a wave takes at peak rates: then something is other than it was planned
STOP_ABOVE = 1.01  # times as much as the fullest broker holds at its fullest, likewise

MAY_HOLD = "its limit, or what is held there today where that is more"  # what a disk may during a move
UNSIZED_TIME = "How long it takes is unknown: the partitions to copy have no known size, or are empty."


def pages(move: MoveView) -> list[dict[str, Any]]:
    """Return the pages of the first waves, for the report."""
    return [{"number": wave["wave"], "gist": _gist(wave), **wave_page(wave)} for wave in move.waves[:MAX_PAGES]]


def has_step(wave: Row, does: str) -> bool:
    """Return whether a wave has such a step forward."""
    return any(step["does"] == does for step in json.loads(wave["runbook"])["steps"])


def wave_page(wave: Row) -> dict[str, Any]:
    """Return what to do for a wave as plain data: ``steps`` and ``back``, each ``does``, ``text`` and ``commands``."""
    stored = json.loads(wave["runbook"])
    return {part: [_step(wave, step) for step in stored[part]] for part in ("steps", "back")}


def _step(wave: Row, step: Row) -> dict[str, Any]:
    does = str(step["does"])
    if step["seconds"] is not None:
        text = f"The disk space of removed replicas is free after {format_duration(step['seconds'])}."
    elif does == "start":
        text = _starts(step["brokers"])
    elif does == "leave out":
        text = _leaves_out(step["brokers"], is_all=not step["commands"])
    elif does == "check":
        text = _checks(step["brokers"])
    else:
        text = _ALWAYS[does] if does in _ALWAYS else _OF_WAVE[does](wave)
        if does == "execute" and step["brokers"]:
            text += _executes_twice(step["brokers"])
        if does == "execute" and not step["commands"]:
            text += (
                " There is no command: no throttle leaves the headroom that was asked for. Plan again with a smaller "
                "headroom or a fixed throttle."
            )
        if does == "roll back" and not any("--execute" in command for command in step["commands"]):
            text += " There is no command for that: no throttle leaves the headroom that was asked for."
        if does == "roll back" and any("leader-election" in command for command in step["commands"]):
            text += " The election is the last command: run it then, for before it fails."
        if does == "roll back" and wave["kind"] == WaveKind.DROP:
            text += " The deleted replicas are copied again, whole, from their leaders."
    return {"does": does.capitalize(), "text": text, "commands": [str(command) for command in step["commands"]]}


def _starts(brokers: Sequence[tuple[int, str | None]]) -> str:
    """Name the brokers that must be there by their racks."""
    of_rack: dict[str | None, list[str]] = {}
    for broker, rack in brokers:
        of_rack.setdefault(rack, []).append(str(broker))
    said = [f"{listed(ids)} {'without a rack' if rack is None else f'in rack {rack}'}" for rack, ids in of_rack.items()]
    who, they, them, every = "Brokers", "they hold", "them", "every one"
    if len(brokers) == 1:
        who, they, them, every = "Broker", "it holds", "it", "it"
    return (
        f"{who} {'; '.join(said)}: {they} nothing yet and must be running before anything is copied to {them}. The "
        f"command must list {every}, in its rack."
    )


def _checks(down: Sequence[tuple[int, str | None]]) -> str:
    """Say what must be so before a wave is executed."""
    text = (
        "Make sure that the files are the planned ones, that nothing else is being reassigned, and that no partition "
        "is under-replicated: the last command must print nothing"
    )
    if not down:
        return f"{text}."
    who, is_down, it = _who(down)
    is_gone = f"unless {'it is' if len(down) == 1 else 'they are'} gone for good"
    return f"{text}, except for partitions on {uncapitalised(who)}, which {is_down}: start {it} first, {is_gone}."


def _who(brokers: Sequence[tuple[int, str | None]]) -> tuple[str, str, str]:
    who = f"{'Broker' if len(brokers) == 1 else 'Brokers'} {listed([str(broker) for broker, _ in brokers])}"
    return (who, "is down", "it") if len(brokers) == 1 else (who, "are down", "them")


def _executes_twice(brokers: Sequence[tuple[int, str | None]]) -> str:
    """Say why a wave with throttles is executed once more without where brokers are down (KAFKA-13392)."""
    who, is_down, it = _who(brokers)
    return (
        f" {who} {is_down}: Kafka sets the throttle on {it} too, waits, and ends with a TimeoutException after about a "
        "minute, before anything is moved. The throttles of all others are set then, and the second command starts the "
        "wave under them; if the first one did start it, the second refuses to."
    )


def _leaves_out(brokers: Sequence[tuple[int, str | None]], *, is_all: bool) -> str:
    """Say why lists that name brokers which are down are taken out of a way back."""
    who, is_down, it = _who(brokers)
    why = f"{who} {is_down}, and kafka-reassign-partitions.sh refuses a whole file that names {it}. Start {it} first"
    if is_all:
        return f"{why}: every partition of this wave was on {it}, so that nothing can be rolled back without {it}."
    return (
        f"{why}, or leave the partitions that were on {it} where they are now, with these commands. The whole file is "
        "kept beside the one that is left."
    )


def _what(wave: Row) -> str:
    amount = f", {format_bytes(wave['copied_bytes'])} to copy" if wave["copied_bytes"] else ""
    verb, rest = _DOES[str(wave["kind"])]
    ending = "s" if wave["partitions"] == 1 else ""
    return f"{plural(wave['partitions'], 'partition')} {verb}{ending}{rest}{amount}."


def _elects(wave: Row) -> str:
    verb = "has" if wave["elections"] == 1 else "have"
    return f"{plural(wave['elections'], 'partition')} {verb} a new first replica while another one still leads."


def _gist(wave: Row) -> str:
    expected = took(wave, "expected")
    if not wave["copied_bytes"]:
        return wave_amount(wave)
    ends = "never finishes" if expected is None else format_duration(expected)
    amount = f"{plural(wave['partitions'], 'partition')}, {format_bytes(wave['copied_bytes'])}, {ends}"
    return amount if (hours := hours_of(wave)) is None else f"{amount}, {hours}"


def wave_amount(wave: Row) -> str:
    """Describe how much a wave moves."""
    copied = f"{format_bytes(wave['copied_bytes'])} to copy" if wave["copied_bytes"] else "nothing to copy"
    return f"{plural(wave['partitions'], 'partition')}, {'of unknown size, or empty' if is_unsized(wave) else copied}"


def is_unsized(wave: Row) -> bool:
    """Return whether a wave copies replicas, none of which is known to hold a byte."""
    return not wave["copied_bytes"] and wave["kind"] in COPIES


def are_unsized(waves: Iterable[Row]) -> bool:
    """Return whether replicas are copied, and none of all that are is known to hold a byte."""
    waves = tuple(waves)
    return not any(wave["copied_bytes"] for wave in waves) and any(map(is_unsized, waves))


def took(wave: Row, band: str) -> float | None:
    """Return how long a wave takes in seconds, ``None`` for one that never finishes."""
    if (own := wave.get(f"{band}_seconds")) is not None:
        return float(own)
    # So it is in plans of model version 35 and before, too.
    start, end = wave[f"start_{band}_seconds"], wave[f"end_{band}_seconds"]
    return None if start is None or end is None else float(end - start)


def _watch(wave: Row) -> str:
    if not wave["copied_bytes"]:
        return UNSIZED_TIME if is_unsized(wave) else "It finishes within seconds."
    low, expected, high = (took(wave, band) for band in BAND)
    if wave["start_expected_seconds"] is None:
        time = "It never starts, because an earlier wave does not finish"
    elif expected is None:
        smallest = wave["smallest_throttle_expected_bytes_per_second"]
        given, sure = format_throttle(wave["throttle_bytes_per_second"]), format_throttle_above(smallest)
        needs = "no throttle helps" if smallest is None else f"it needs more than {sure}"
        time = f"It does not finish at {given}: {needs}"
    else:
        late = "never at peak rates" if high is None else f"{format_duration(high)} at peak rates"
        time = f"It takes {format_duration(expected)}"
        if len({format_duration(seconds) for seconds in (low, expected, high)}) > 1:
            time += f" ({format_duration(low)} without writes, {late})"
    disk = ""
    if wave["fullest_ratio"] is not None:
        held, ratio = _held(wave["fullest_peak_bytes"]), format_percent(wave["fullest_ratio"])
        is_over, may = wave["fullest_ratio"] > 1, f"what it may ({MAY_HOLD})"
        may = "its disk limit, which it is over before the move" if is_over else may
        disk = f" {capitalised(fullest_disk(wave))} holds up to {held} meanwhile, {ratio} of {may}."
    raises = "run execute again with --additional and a larger --throttle"
    if has_step(wave, "throttle"):
        raises = "raise the throttles of single brokers as under Throttle, at the price of their headroom"
    decides = "" if wave["bottleneck_broker"] is None else f"; the bottleneck is {bottleneck(wave)}"
    return (
        f"{time}{decides}.{disk} Watch UnderReplicatedPartitions, ReassigningPartitions, ReassignmentBytesInPerSec "
        f"and the disks. If it falls behind, {raises}. {_stop(wave)}"
    )


def fullest_disk(wave: Row) -> str:
    """Name the broker that comes closest to its disk limit, or its log dir where it has several."""
    broker, log_dir = f"broker {wave['fullest_broker']}", wave.get("fullest_log_dir")
    return broker if log_dir is None else f"log dir {log_dir} of {broker}"


def _held(amount_bytes: float) -> str:
    """Write what a disk holds so that a percent more shows."""
    return format_bytes(amount_bytes, 1)


def hours_of(wave: Row) -> str | None:
    """Return from when to when a wave is expected to run by the clock; ``None`` for one that may at any time."""
    if wave.get("starts_at") is None:
        return None
    start, end = format_moment(wave["starts_at"]), wave["ends_at"]
    return f"{start} to {'no end' if end is None else format_moment(end)}"


def _stop(wave: Row) -> str:
    """Say when to stop a wave: what it must not do, and what it was planned to do at the most."""
    when = ["a broker's UnderMinIsrPartitionCount is above what it was before"]
    if wave["fullest_ratio"] is not None:
        limit = _held(STOP_ABOVE * wave["fullest_peak_bytes"])
        when.append(f"{fullest_disk(wave)} holds more than {limit}")
    if (high := took(wave, "high")) is not None:
        when.append(f"it takes more than {format_duration(STOP_AFTER * high)}")
    if wave.get("closes_at") is not None:
        when.append(f"it is not done by {format_moment(wave['closes_at'])}, when the window closes")
    return f"Cancel it and investigate if {listed(when, 'or')}."


def bottleneck(wave: Row) -> str | None:
    """Name who decides how long a wave takes."""
    if wave["bottleneck_broker"] is None:
        return None
    direction = str(wave["bottleneck_direction"])
    by = {"in": "receiving", "out": "sending", "fetch": "its fetchers"}.get(direction, direction)
    return f"broker {wave['bottleneck_broker']} ({by})"


_OF_WAVE: dict[str, Callable[[Row], str]] = {"execute": _what, "watch": _watch, "elect": _elects}
