"""What could be wrong with the answer: each assumption that this plan rests on, with its figures."""

from __future__ import annotations

import math

from kafka_capacity.questions.change.choice import Option
from kafka_capacity.report import wave_words
from kafka_capacity.report.group_words import at_risk_line
from kafka_capacity.report.groups import SECTION
from kafka_capacity.report.options import PlanView
from kafka_capacity.report.sizing_verdict import sizing_caveats
from kafka_capacity.report.waves import MoveView
from kafka_capacity.text import format_bytes, format_duration, format_throttle_above, plural

WEEK_HOURS = 168
"""Less history than this has not seen every hour of the week."""


def caveats(view: PlanView) -> list[dict[str, str]]:
    """List what could be wrong, serious first.

    Each has a ``severity``, ``serious`` or ``note``, and perhaps an ``anchor``: the section that says more.
    """
    found = [*sizing_caveats(view), *_groups(view), *cluster_caveats(view), *move_caveats(view.nearest, view.move)]
    found.append(_note(f"Sizes are those of the inventory of {view.inputs.ds}; topics that grow take longer to copy."))
    return sorted(found, key=lambda caveat: caveat["severity"] != "serious")


def cluster_caveats(view: PlanView) -> list[dict[str, str]]:
    """List what could be wrong with what is known about the cluster, whatever is done to it."""
    found = [*_inventory(view), *_unknown_sizes(view), *_log_dirs(view)]
    if not view.nearest.is_refused:
        found += [*_rates(view), *_capacities(view)]
    return found


def _groups(view: PlanView) -> list[dict[str, str]]:
    line = at_risk_line(view.groups) if view.groups else None
    return [] if line is None else [{**_serious(line), "anchor": SECTION}]


def _serious(text: str) -> dict[str, str]:
    return {"severity": "serious", "text": text}


def _note(text: str) -> dict[str, str]:
    return {"severity": "note", "text": text}


def _inventory(view: PlanView) -> list[dict[str, str]]:
    by_severity = {"fatal": 0, "warning": 0, "info": 0}
    for finding in view.inputs.findings:
        by_severity[finding["severity"]] = by_severity.get(finding["severity"], 0) + 1
    found = []
    if by_severity["fatal"]:
        what = plural(by_severity["fatal"], "fatal finding")
        found.append(
            _serious(f"The inventory is unsound ({what}): no figure here can be relied on until that is mended.")
        )
    if by_severity["warning"]:
        found.append(
            _note(
                f"{plural(by_severity['warning'], 'warning')} about the inventory or the layout; the report lists them."
            )
        )
    return found


def _unknown_sizes(view: PlanView) -> list[dict[str, str]]:
    facts = view.inputs.snapshot_facts
    unknown = int(facts.get("unknown_size_partitions") or 0)
    if not unknown:
        return []
    return [
        _serious(
            f"The size of {unknown:,} of {plural(int(facts['partition_count']), 'partition')} is not known and counts "
            "as nothing: copied bytes, disks and time are too low."
        )
    ]


def _log_dirs(view: PlanView) -> list[dict[str, str]]:
    facts = view.inputs.snapshot_facts
    several = int(facts.get("brokers_with_several_log_dirs") or 0)
    # A plan from before the sizes were looked at does not tell: there all of them were judged as one disk.
    unsized = int(facts.get("brokers_with_unsized_log_dirs", several) or 0)
    if unsized:
        return [
            _serious(
                f"{plural(unsized, 'broker')} {_have(unsized)} several log dirs of unknown size, which are judged as "
                "one disk here: a full one beside an empty one is not seen."
            )
        ]
    if several and _has_new_brokers(view):
        return [_note("New brokers are planned with the log dirs, paths and sizes, of a broker of today.")]
    return []


def _has_new_brokers(view: PlanView) -> bool:
    today = {row["broker_id"] for row in view.inputs.snapshot_facts.get("brokers", ())}
    return not set(view.nearest.broker_ids) <= today


def _rates(view: PlanView) -> list[dict[str, str]]:
    hours = view.rate_history_hours
    if not hours:
        return [
            _serious(
                "There is no traffic history: times leave out what is produced during the move, so it takes longer "
                "than said, and network limits are not checked."
            )
        ]
    found = []
    if hours < WEEK_HOURS:
        found.append(_note(f"Rates rest on {plural(hours, 'hour')} of history, less than a week."))
    found.append(_note("Peaks add up each partition’s 99th percentile, as if all peaked together: an upper estimate."))
    return found


def _capacities(view: PlanView) -> list[dict[str, str]]:
    rows = [
        row
        for row in view.inputs.tables["broker_load"].to_pylist()
        if row["scenario_id"] == view.nearest.scenario_id and not row["is_removed"]
    ]
    found = []
    for what, fields in (
        ("disk", ("disk_capacity_bytes",)),
        ("network", ("network_in_bytes_per_second", "network_out_bytes_per_second")),
    ):
        unknown = sum(1 for row in rows if any(not _is_known(row[name]) for name in fields))
        if unknown:
            found.append(
                _serious(
                    f"The {what} of {unknown:,} of {plural(len(rows), 'broker')} is not known, so it is not checked."
                )
            )
    return found


def _is_known(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def move_caveats(option: Option, move: MoveView | None = None) -> list[dict[str, str]]:
    """List what could go wrong with the move to one option.

    Args:
        option: the one.
        move: its waves, where they are known.
    """
    if option.is_refused:
        return []
    figures = option.figures
    # A plan from before partitions could be added does not tell.
    found = _new_partitions(int(figures.get("created_partitions") or 0))
    if figures["unreachable_partitions"]:
        count = plural(figures["unreachable_partitions"], "partition")
        found.append(
            _serious(f"{count} to be copied {_have(figures['unreachable_partitions'])} no leader to copy from.")
        )
    if option.never_ends:
        smallest = format_throttle_above(figures["smallest_throttle_bytes_per_second"])
        at_once = " with everything started at once" if move is not None and not move.never_ends else ""
        in_waves = f"; in waves above {format_throttle_above(move.smallest_throttle('expected'))}" if move else ""
        found.append(_serious(f"The move never ends at this throttle{at_once}; it must be above {smallest}{in_waves}."))
    elif move is not None and move.waves and move.never_ends:
        found.append(wave_words.endless_caveat(move))
    elif (figures["duration_peak_seconds"] if move is None else move.total[2]) is None:
        at_peak = figures["smallest_throttle_peak_bytes_per_second"] if move is None else move.smallest_throttle("high")
        smallest = format_throttle_above(at_peak)
        found.append(
            _serious(
                "At peak rates the copies fall behind and the move never ends: run it off-peak, or with a throttle "
                f"above {smallest}."
            )
        )
    if move is not None and (stays := wave_words.refusal_caveat(move)) is not None:
        found.append(stays)
    if figures["moved_bytes"]:
        found += (
            _note_on_copying(option) if move is None else wave_words.time_caveats(move, figures["duration_seconds"])
        )
    if figures["seeds_tried"] > 1:
        found.append(
            _note(
                f"This placer draws at random: {format_bytes(figures['moved_bytes_low'])} to "
                f"{format_bytes(figures['moved_bytes_high'])} over {plural(figures['seeds_tried'], 'draw')}."
            )
        )
    return found


def _new_partitions(count: int) -> list[dict[str, str]]:
    if not count:
        return []
    return [
        _serious(
            f"{plural(count, 'partition')} {_are(count)} added before the first wave, which cannot be undone: records "
            "with keys change partition, and what consumers rely on the order of a key for is at risk meanwhile."
        ),
        _note(
            "What is produced to a topic with new partitions is taken to be shared evenly by all of them; its consumer "
            "groups are simulated with today’s partitions."
        ),
    ]


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _note_on_copying(option: Option) -> list[dict[str, str]]:
    seconds = option.figures["duration_seconds"]
    found = [
        _note(
            "The old copy of a partition stays until the new one is in sync: on the way a disk holds more than after."
        )
    ]
    if seconds is not None:
        found.insert(
            0,
            _note(
                f"{format_duration(seconds)} is the copying alone, with everything started at once and the throttle "
                "used in full on the broker that decides."
            ),
        )
    return found


def _have(count: int) -> str:
    return "has" if count == 1 else "have"
