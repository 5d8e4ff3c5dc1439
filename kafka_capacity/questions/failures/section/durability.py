"""What could be lost for good, duplicated or refused, in sentences and tables: today, and after the change."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kafka_capacity.questions.failures.scenario import TODAY
from kafka_capacity.questions.failures.section.view import Row, placement_rows
from kafka_capacity.report.sections import section
from kafka_capacity.report.tables import NOTE, cells, column, table
from kafka_capacity.report.view import ReportView
from kafka_capacity.text import (
    format_bytes,
    format_count,
    format_duration,
    format_throttle,
    listed,
    plural,
    uncapitalised,
)
from kafka_capacity.text.wording import few_names

_CHANCE = "Probability that a partition loses all its replicas within a year"

MAX_TOPICS = 20
FAILURE_WORDS = {
    "crashes": "brokers crash and connections break",
    "power": "one or all brokers lose power as well",
    "producer": "the producer restarts as well",
}
"""What happens in each course of failures, the first in all of them."""
_BAD = {
    "lost acknowledged": "An acknowledged record is lost",
    "lost silently": "A record is lost without an error",
    "duplicated": "A record is duplicated",
    "reordered": "Records are reordered",
    "read then gone": "A record that was read disappears",
    "diverged": "Replicas diverge",
    "refused": "Writes are rejected",
}
_ASSUMED = {
    "min.insync.replicas 1": "is_min_isr_assumed",
    "unclean.leader.election.enable=false": "is_unclean_assumed",
}
"""Kafka's defaults of settings, by the column that says whether they are assumed."""


@section("durability", title="What could be lost", order=8, is_closed=True)
def build(view: ReportView) -> dict[str, Any] | None:
    """Return the chances of a year, the topics, the ways to each outcome, and the assumptions."""
    sides = read_durability(view)
    if not sides:
        return None
    max_failures = int(view.inputs.failures["durability"]["max_failures"])
    names = ("Today", f"After the change: {view.focus_label}")
    return {
        "line": chances_line(sides),
        "verdicts": [
            {"side": name, "sentences": [losses_sentence(side), *assumed_sentences(side), few_sentence(side)]}
            for name, side in zip(names, sides, strict=False)
        ],
        "tables": [
            topics_table(side, f"Topics by expected loss: {uncapitalised(name)}", max_failures=max_failures)
            for name, side in zip(names, sides, strict=False)
        ],
        "settings": ways(sides[0]),
        "notes": basis_notes(view.inputs.failures),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementDurability:
    """What could be lost of one placement."""

    topics: Sequence[Row]  # rows of `durability`
    whole: Row  # of `durability_placements`, the placement as it is
    few: Row | None  # the same in few copysets; `None` where that was not tried
    outcomes: Sequence[Row]  # rows of `durability_outcomes`


def read_durability(view: ReportView) -> tuple[PlacementDurability, ...]:
    """Return today's, then that of the option that is spoken of where it differs; none where the plan says nothing."""
    tables, failures = view.inputs.tables, view.inputs.failures
    found = tables.get("durability_placements")
    if not failures.get("durability") or found is None or not len(found):
        return ()
    then = failures["placements"].get(view.focus_id)
    today = placement_durability(tables, TODAY)
    after = None if then is None else placement_durability(tables, then)
    return (today,) if after is None or after == today else (today, after)


def placement_durability(tables: Mapping[str, pa.Table], placement_id: str) -> PlacementDurability:
    """Read what a plan says of one placement."""
    names = ("durability", "durability_placements", "durability_outcomes")
    topics, placements, outcomes = (placement_rows(tables, name, placement_id) for name in names)
    whole = {row["is_few_copysets"]: row for row in placements}
    return PlacementDurability(topics=topics, whole=whole[False], few=whole.get(True), outcomes=outcomes)


def chance(ratio: float | None) -> str:
    """Write a chance in a year; small ones as one in so many years."""
    if ratio is None:
        return "not known"
    if ratio == 0:
        return "none"
    return (
        f"{ratio * 100:.1f} %" if ratio >= 0.001 else f"one in {round(1 / ratio, -len(str(int(1 / ratio))) + 2):,.0f}"
    )


def chances_line(sides: Sequence[PlacementDurability]) -> str:
    """Name the chance of a loss today, and after the change."""
    if any(side.whole["loss_probability"] is None for side in sides):
        return ""
    found = (f"{_least_chance(one)} {when}" for one, when in zip(sides, ("today", "after the change"), strict=False))
    return f"{_CHANCE}: {', '.join(found)}."


def _unknown(side: PlacementDurability) -> list[str]:
    """Name what is not known, so that brokers have their data again later than said, and more is lost."""
    unsized, traffic = (side.whole.get(name) for name in ("unknown_size_partitions", "unknown_traffic"))
    return [*([f"the size of {plural(unsized, 'partition')}"] if unsized else []), *([traffic] if traffic else [])]


def _least_chance(side: PlacementDurability) -> str:
    ratio = side.whole["loss_probability"]
    return f"at least {chance(ratio)}" if ratio and _unknown(side) else chance(ratio)


def losses_sentence(side: PlacementDurability) -> str:
    """Describe what a year costs, the chance first."""
    whole = side.whole
    if whole["loss_probability"] is None:
        return (
            "The probability of a loss is unknown: a broker that loses its disks never gets its data back under "
            "this throttle, or with what its network has left."
        )
    tails = sum(row["lost_tail_bytes_per_year"] or 0.0 for row in side.topics)
    ends = f", plus {format_bytes(tails)} that only leaders had when they died" if tails else ""
    unknown = _unknown(side)
    least = "at least " if unknown else ""
    why = f": {listed(unknown)} {'is' if len(unknown) == 1 else 'are'} unknown" if unknown else ""
    return (
        f"{_CHANCE}: {_least_chance(side)}. Expected loss: {least}"
        f"{format_bytes(whole['lost_bytes_per_year'])} per year{ends}{why}. {_sets(whole['copysets'])} all replicas of "
        f"a partition.{_single(side)}"
    )


def assumed_sentences(side: PlacementDurability) -> list[str]:
    """Name the settings for which Kafka's default counts because they are unknown; none where all are known."""
    assumed = [
        f"{setting} of {plural(count, 'topic')}"
        for setting, flag in _ASSUMED.items()
        if (count := sum(bool(row.get(flag)) for row in side.topics))
    ]
    if not assumed:
        return []
    return [f"Unknown, so that Kafka's default is assumed: {', '.join(assumed)}."]


def _sets(count: int) -> str:
    verbs = ("is", "holds") if count == 1 else ("are", "hold")
    return f"There {verbs[0]} {plural(count, 'set')} of brokers that {verbs[1]}"


def _single(side: PlacementDurability) -> str:
    """Name what no placement helps, and what most of the chance comes from."""
    names = [row["topic"] for row in side.topics if row["replication_factor"] == 1]
    if not names:
        return ""
    lost, where = ("is lost", "it is") if len(names) == 1 else ("are lost", "they are")
    return (
        f" {plural(len(names), 'topic')} with a single replica ({few_names(names, 3)}) {lost} with one broker's "
        f"disks, wherever {where}."
    )


def few_sentence(side: PlacementDurability) -> str:
    """Describe what few copysets would change, and cost."""
    few, whole = side.few, side.whole
    if few is None:
        why = "there are too many partitions, or too few brokers take new replicas"
        return f"A placement with few copysets was not tried: {why}."
    if few["loss_probability"] is None:
        return "What a placement with few copysets would change is unknown for the same reason."
    sets = plural(few["copysets"], "set")
    is_rarer = few["loss_probability"] < whole["loss_probability"]
    if not is_rarer or chance(few["loss_probability"]) == chance(whole["loss_probability"]):
        return f"A placement with few copysets ({sets} of brokers) would not make losses noticeably rarer."
    return (
        f"With the same replicas on only {sets} of brokers, the probability would be "
        f"{chance(few['loss_probability'])}; that copies {format_bytes(few['moved_bytes'])}, and the fullest broker "
        f"would hold {few['highest_over_mean']:.2f} times the mean ({whole['highest_over_mean']:.2f} without). With "
        "fewer sets, losses are rarer but larger: about as many bytes are lost in the long run."
    )


def _fewest(name: str) -> Callable[[Row, int], str]:
    """Return after how many failures at least an outcome is possible; silently, where nobody acknowledges."""
    silently = "lost_silently_after" if name.startswith("lost_after") else name

    def value(row: Row, most: int) -> str:
        failures = row[silently if row["acks"] == "0" else name]
        return f"> {most:,}" if failures is None and row["is_explored"] else format_count(failures)

    return value


def _min_isr(row: Row) -> str:
    """Write min.insync.replicas of a topic, and whether it is assumed."""
    return f"{row['min_insync_replicas']}{' (assumed)' if row.get('is_min_isr_assumed') else ''}"


def _lost_bytes(row: Row, _most: int) -> float | None:
    lost = row["lost_bytes_per_year"]
    return None if lost is None else lost + (row["lost_tail_bytes_per_year"] or 0.0)


TOPICS = (
    column("topic", "Topic", "name", lambda row, _: row["topic"]),
    column(
        "replicas",
        "Replicas, min ISR",
        "text",
        lambda row, _: f"{row['replication_factor']}, {_min_isr(row)}",
    ),
    column(
        "lost",
        "Lost after crashes",
        "text",
        _fewest("lost_after_crashes"),
        "Smallest number of failures; > means that the number explored is not enough, — that the topic was not "
        "explored.",
    ),
    column("power", "With power losses", "text", _fewest("lost_after_power_losses")),
    column("duplicated", "Duplicated after", "text", _fewest("duplicated_after_producer_restarts")),
    column("refused", "Rejected after", "text", _fewest("refused_after")),
    column(
        "copysets",
        "Copysets",
        "count",
        lambda row, _: row["copysets"],
        "A copyset is a set of brokers that holds all replicas of something.",
    ),
    column("chance", "Loss per year, probability", "text", lambda row, _: chance(row["loss_probability"])),
    column("bytes", "Bytes lost per year", "bytes", _lost_bytes),
    column("few", "With few copysets", "text", lambda row, _: chance(row["few_loss_probability"])),
)
"""One row a topic: made of a row of ``durability``, and how many failures were tried."""


def topics_table(
    side: PlacementDurability, caption: str, *, max_failures: int, max_rows: int = MAX_TOPICS
) -> dict[str, Any]:
    """List the topics with the greatest expected loss."""
    order = worst_first(side)
    more = len(order) - max_rows
    rows = [
        {
            **cells(TOPICS, row, max_failures),
            NOTE: "Unclean leaders may be elected." if row["is_unclean_allowed"] else None,
        }
        for row in order[:max_rows]
    ]
    is_known = more > 0 and _lost_bytes(order[max_rows - 1], 0) is not None
    note = f"And {more:,} more topics{' with smaller losses' if is_known else ''}." if more > 0 else None
    return table(caption, TOPICS, rows, note=note)


def worst_first(side: PlacementDurability) -> list[Row]:
    """Order the topics: those whose loss is unknown, then the greatest expected loss in bytes, then its chance."""
    return sorted(side.topics, key=_badness)


def _badness(row: Row) -> tuple[Any, ...]:
    lost = _lost_bytes(row, 0)
    if lost is None:  # what a year costs is not known, and fewer failures or replicas lose it sooner
        fewest = (row[name] or math.inf for name in ("lost_after_crashes", "lost_after_power_losses"))
        return False, *fewest, row["replication_factor"], row["topic"]
    return True, -lost, -(row["loss_probability"] or 0.0), row["topic"]


def ways(side: PlacementDurability) -> list[dict[str, Any]]:
    """Return a shortest way to each bad outcome, by setting of topics; what fewer kinds of failures do is told once."""
    found: dict[int, dict[str, Any]] = {}
    reported: set[tuple[int, str, int]] = set()
    modes = list(FAILURE_WORDS)
    topics = Counter(topic["setting"] for topic in side.topics)
    for row in sorted(side.outcomes, key=lambda one: (one["setting"], modes.index(one["course"]), one["outcome"])):
        key = (row["setting"], row["outcome"], row["fewest_failures"])
        if row["outcome"] not in _BAD or key in reported:
            continue
        reported.add(key)
        more = ", unclean election" if row["is_unclean_allowed"] else ""
        more += f", acks={row['acks']}{', idempotent' if row['is_idempotent'] else ''}"
        one = found.setdefault(
            row["setting"],
            {
                "name": f"Replication factor {row['replication_factor']}, min.insync.replicas "
                f"{row['min_insync_replicas']}{more}",
                "topics": topics[row["setting"]],
                "ways": [],
            },
        )
        one["ways"].append(
            {
                "title": f"{_BAD[row['outcome']]} after {plural(row['fewest_failures'], 'failure')}, if "
                f"{FAILURE_WORDS[row['course']]}",
                "steps": list(row["steps"]),
            }
        )
    return list(found.values())


def basis_notes(document: Row) -> list[str]:
    """Describe what the figures rest on."""
    asked = document["durability"]
    idempotent = ", idempotent" if asked["is_idempotent"] else ""
    racks = "racks never lose all disks at once"
    if (rack := asked["rack_mttf_seconds"]) is not None:
        racks = f"a rack loses all disks after {format_duration(rack)}"
    return [
        f"Producers are assumed to set acks={asked['acks']}{idempotent}: an inventory does not show it. Brokers "
        "write Kafka's own topics with acks=all.",
        "Every order of sending, appending, fetching, failing and recovering was explored, with one record and up "
        f"to {plural(asked['max_failures'], 'failure')}.",
        f"A broker loses its disks after {asked['mttf_years']:.1f} years on average, and {racks}. A replacement "
        f"starts after {format_duration(asked['replacement_seconds'])} and copies at "
        f"{format_throttle(asked['throttle_bytes_per_second'])}. These are assumptions, and the probabilities are "
        "only as good as they are.",
        "All replicas count as complete, even those that are out of sync or on a dead broker today: until they are "
        "back, more can be lost than shown here. Probabilities are upper bounds, because the sets that one failure "
        "may complete are added up.",
        "Without log.flush.interval.messages=1 nothing is flushed before it is acknowledged: if all brokers lose "
        "power at once, the ends of all logs may be lost, whatever the other settings.",
    ]
