"""Failures in sentences: what any one loss does, whether a change makes it better, and what figures rest on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafka_capacity.demand.workload import PeakBasis
from kafka_capacity.hardware.limits import Resource, resource_name
from kafka_capacity.questions.answer import NO_RATES, traffic_warning
from kafka_capacity.questions.failures.section.view import (
    SIDES,
    FailuresView,
    PlacementFailures,
    Row,
    is_leaderless,
)
from kafka_capacity.text import capitalised, format_percent, format_rate, format_throttle, listed, plural

KIND_NAMES = {
    "broker": "One broker",
    "rack": "One rack",
    "given": "Given sets",
    "pair": "Two brokers",
    "rack+broker": "A rack and one more broker",
}
_MAY_DIE = {
    "broker": "Any one broker may die",
    "rack": "Any one rack may die",
    "given": "Any of the given sets may be lost",
    "pair": "Any two brokers may die",
    "rack+broker": "Any rack and one more broker may die",
}
_OF_RACKS = frozenset({"rack", "rack+broker"})
_FENCED = "a broker that vanishes is fenced after broker.session.timeout.ms of silence, 9 s by default"
_ELECTIONS = {
    "kraft": _FENCED,
    "kraft-elr": _FENCED,
    "zookeeper": "a broker that vanishes is detected after zookeeper.session.timeout.ms, 18 s by default",
}


def worst_of(rows: Sequence[Row], key: str) -> Row:
    """Return the first of the losses with the most of something; of several with as much, of those that stop most."""
    return max(rows, key=lambda row: (row[key] or 0, traffic_lost(row), -row["position"]))


def traffic_lost(row: Row) -> float:
    """Return what is produced to partitions that a loss stops, or under min ISR: bytes a second."""
    return float((row["stopped_bytes_per_second"] or 0.0) + (row["refused_bytes_per_second"] or 0.0))


FIRST_KINDS = ("broker", "rack", "given")  # of losses: what people ask for first


def loss_sentences(side: PlacementFailures, kinds: Iterable[str] = FIRST_KINDS) -> list[str]:
    """Describe what the losses of some kinds do at worst, and what is not known of them."""
    asked = list(kinds)
    said = [loss_sentence(side, kind) for kind in asked if kind in side.losses]
    if said and (assumed := side.before.get("assumed_min_isr_topics")):
        said.append(f"min.insync.replicas of {plural(assumed, 'topic')} is unknown.")
    if said and (unknown := _unknown_traffic(side)) is not None:
        said.append(f"{traffic_warning(unknown)}.")
    return said + _no_rack(side, asked)


def _unknown_traffic(side: PlacementFailures) -> str | None:
    """Return that of which partitions is not known, where some is."""
    unknown: str | None = side.before.get("unknown_traffic")
    return None if side.before["peak_basis"] == str(PeakBasis.UNKNOWN) else unknown


def _no_rack(side: PlacementFailures, kinds: Iterable[str]) -> list[str]:
    """Say that no rack was lost, where that was asked for and none is known."""
    rows = [side.kinds[kind] for kind in kinds if kind in _OF_RACKS and kind in side.kinds and kind not in side.losses]
    is_none_known = any(row.get("brokers_without_rack") == row["broker_count"] for row in rows)
    return ["No rack is known: no rack was lost."] if is_none_known else []


def loss_sentence(side: PlacementFailures, kind: str) -> str:
    """Describe what losses of a kind do at worst, the verdict first."""
    every, before = side.losses[kind], side.before
    # What a loss stops that leaves no leader elected is said by itself.
    rows = [row for row in every if not is_leaderless(row)] or every
    offline = worst_of(rows, "offline")
    more = offline["offline"] - before["offline_before"]
    looked_at, possible = (side.kinds[kind][name] for name in ("looked_at", "possible"))
    lost = f"{KIND_NAMES[kind]} lost"
    lost += f" ({looked_at:,} of {possible:,} evaluated)" if looked_at < possible else ""
    without_rack = (before.get("brokers_without_rack") or 0) if kind in _OF_RACKS else 0
    if without_rack:
        have = "has" if without_rack == 1 else "have"
        lost += f" ({without_rack:,} of {plural(before['broker_count'], 'broker')} {have} no rack)"
    if more > 0:
        count = sum(row["offline"] > before["offline_before"] for row in rows)
        does = (
            f"{_some(count, len(rows))} {'takes' if count == 1 else 'take'} partitions offline, at worst "
            f"{_stopped(offline, more, before['offline_before'])}"
        )
    else:
        does = f"nothing{' more' if before['offline_before'] else ''} goes offline"
    without = [row for row in every if is_leaderless(row)]
    if without:
        does = f"{_leaderless(without, len(every))}{'' if rows is every else f'; with a majority, {does}'}"
    is_hurt = any(
        row["unclean_leaders"]
        or row["overloaded_brokers"]
        or _newly_under_min_isr(row, before["under_min_isr_before"]) > 0
        for row in rows
    )
    unsure = [row for row in every if row.get("has_majority") is None] if side.are_voters_known else []
    if unsure and not without:
        does += f", and whether a majority of the controllers is left is not known ({unsure[0]['name']})"
    # A loss may only be called harmless where all that it could do is known.
    is_known = not (without_rack or before.get("assumed_min_isr_topics")) and looked_at >= possible
    is_known = is_known and all(row["loaded_ratio"] is not None for row in rows) and _unknown_traffic(side) is None
    is_harmless = is_known and not (without or unsure or is_hurt) and more <= 0
    lead = f"{_MAY_DIE[kind] if is_harmless else lost}: {does}"
    refused = "" if rows == without else _refused(side, rows)
    return f"{lead}{_unclean(rows)}{refused}{_overloaded(side, kind, rows)}{_groups(side, rows)}."


def _leaderless(without: Sequence[Row], total: int) -> str:
    """Describe the losses that leave no majority of the controllers."""
    worst = max(without, key=lambda row: (row["offline"] + row["new_leaders"], row["under_min_isr"], -row["position"]))
    many, stalled = worst["offline"] + worst["new_leaders"], worst["under_min_isr"]
    # Controllers that are lost alone take no leader with them.
    does = [f"{plural(many, 'partition')} {'has' if many == 1 else 'have'} none"] if many else []
    if stalled:
        does.append(f"writes with acks=all stop on {f'{stalled:,} more' if many else plural(stalled, 'partition')}")
    at_worst = f" and, at worst, {', and '.join(does)}" if does else ""
    return (
        f"{_some(len(without), total)} {'leaves' if len(without) == 1 else 'leave'} no majority of the controllers, so "
        f"that no leader is elected{at_worst} ({worst['name']})"
    )


def _stopped(worst: Row, more: int, already: int) -> str:
    """Describe what a loss stops; topics and traffic are known only together with what is offline already."""
    if already:
        return f"{plural(more, 'more partition')} ({worst['name']})"
    topics, rate = plural(worst["offline_topics"], "topic"), worst["stopped_bytes_per_second"]
    stopped = f", {format_rate(rate)} stopped" if rate else ""  # nothing where no rate is known
    return f"{plural(more, 'partition')} of {topics} ({worst['name']}{stopped})"


def _unclean(rows: Sequence[Row]) -> str:
    """Describe what is online at the price of records."""
    worst = worst_of(rows, "unclean_leaders")
    count = worst["unclean_leaders"]
    if not count:
        return ""
    led = "partition is" if count == 1 else "partitions are"
    return (
        f", up to {count:,} {led} led by a replica that was out of sync, so that committed records may be lost "
        f"({worst['name']})"
    )


def _some(count: int, total: int) -> str:
    if total == 1:
        return "the one loss"
    return f"all {total:,} losses" if count == total else f"{count:,} of {total:,} losses"


def _refused(side: PlacementFailures, rows: Sequence[Row]) -> str:
    already = side.before["under_min_isr_before"]
    rows = [{**row, "newly": _newly_under_min_isr(row, already)} for row in rows]
    worst = worst_of(rows, "newly")
    more = worst["newly"]
    known = " as far as known" if side.before.get("assumed_min_isr_topics") else ""
    if more <= 0:
        return f", no{' further' if already else ''} partition falls under min ISR{known}"
    verb = "falls" if more == 1 else "fall"
    if already:
        return f", up to {plural(more, 'more partition')} {verb} under min ISR{known} ({worst['name']})"
    rate = worst["refused_bytes_per_second"]
    of_it = f", {format_rate(rate)}" if rate else ""
    return f", up to {plural(more, 'partition')} {verb} under min ISR{known} ({worst['name']}{of_it})"


def _newly_under_min_isr(row: Row, already: int) -> int:
    """Return how many partitions fall under min ISR; plans of earlier versions tell the difference only."""
    newly = row.get("newly_under_min_isr")
    return max(0, row["under_min_isr"] - already) if newly is None else int(newly)


def _overloaded(side: PlacementFailures, kind: str, rows: Sequence[Row]) -> str:
    if all(row["loaded_ratio"] is None for row in rows):
        if all(row.get("survivors") == 0 for row in rows):
            return ", no broker survives"
        return ", the load of survivors is unknown"
    count = sum(row["overloaded_brokers"] > 0 for row in rows)
    worst = worst_of(rows, "loaded_ratio")
    used = format_percent(worst["loaded_ratio"])
    of_what = f"of its {resource_name(worst['loaded_resource'])}"
    if not count:
        least = "" if _unknown_traffic(side) is None else "at least "
        return f", the busiest survivor uses {least}{used} {of_what}"
    names = len({row["broker_id"] for row in side.brokers if row["kind"] == kind})
    return (
        f", {plural(names, 'survivor')} {'is' if names == 1 else 'are'} over capacity after "
        f"{_some(count, len(rows))}, at worst broker {worst['loaded_broker']} at {used} {of_what}"
    )


def _groups(side: PlacementFailures, rows: Sequence[Row]) -> str:
    worst = worst_of(rows, "groups_affected")
    count = worst["groups_affected"]
    already = side.before["offline_before"] or side.before["under_min_isr_before"]
    among = ", including those already affected" if already else ""
    return f", up to {plural(count, 'consumer group')} affected{among}" if count else ""


def badness(side: PlacementFailures, kind: str) -> tuple[float, ...]:
    """Rank what losses of a kind do: the larger, the worse."""
    rows, before = side.losses[kind], side.before
    return (
        sum(map(is_leaderless, rows)) / len(rows),
        max(row["offline"] for row in rows) - before["offline_before"],
        sum(row["offline"] > before["offline_before"] for row in rows) / len(rows),
        max(row["unclean_leaders"] for row in rows),
        max(row["under_min_isr"] for row in rows),
        sum(row["overloaded_brokers"] > 0 for row in rows) / len(rows),
        max(row["groups_affected"] for row in rows),
    )


def change_word(view: FailuresView, kind: str) -> str | None:
    """Return whether the option makes losses of a kind better or worse; ``None`` where there is nothing to compare."""
    if view.then is None or kind not in view.then.losses or kind not in view.today.losses:
        return None
    today, then = badness(view.today, kind), badness(view.then, kind)
    return "same" if today == then else "better" if then < today else "worse"


def failures_line(view: FailuresView) -> str:
    """Return in one line what the loss of a broker would do, today and after the change."""
    parts = []
    kind = next(iter(view.today.losses), None)
    if kind is not None:
        parts.append(f"Today: {loss_sentence(view.today, kind)}")
        word = change_word(view, kind)
        if view.then is not None and word in {"better", "worse"}:
            parts.append(f"After the change: {loss_sentence(view.then, kind)}")
    return " ".join(parts or _no_rack(view.today, view.today.kinds))


def basis_notes(view: FailuresView) -> list[str]:
    """Describe what the figures rest on, and what was not looked at."""
    before, document = view.today.before, view.document
    resources = [resource_name(name) for name in before["resources"]]
    notes = [
        "Counts are for the whole cluster after the loss, including what was wrong before; a survivor’s load is the "
        f"99th percentile of its hours, relative to its full capacity, for {listed(resources)}."
    ]
    if str(Resource.CPU) in before["resources"]:
        notes.append(f"The CPU cost of traffic is {document['cpu_source']}.")
    if before["peak_basis"] == str(PeakBasis.SUM_OF_PEAKS):
        notes.append(
            "Loads are upper estimates: with too few hours of history, all partitions are assumed to peak at once."
        )
    if before["peak_basis"] == str(PeakBasis.UNKNOWN):
        notes.append(f"{capitalised(NO_RATES)}, so the load of survivors is unknown.")
    notes += [
        f"{name}: {row['looked_at']:,} of {row['possible']:,} losses of the kind “{KIND_NAMES[kind].lower()}” "
        "were evaluated"
        f"{', half of them the pairs that share the most partitions, the rest' if kind == 'pair' else ','} drawn at "
        "random; the parameter max_failure_sets raises that."
        for name, side in zip(SIDES, view.sides, strict=False)
        for kind, row in side.kinds.items()
        if row["possible"] > row["looked_at"]
    ]
    if view.then is not None or view.is_then_same:
        notes.append(
            "After the change, all replicas on live brokers are assumed to be in sync, and preferred leaders to lead."
        )
    throttle = format_throttle(document["throttle_bytes_per_second"])
    notes.append(
        f"Leaders are elected by the rules of {document['rules']}: {_ELECTIONS[document['rules']]}. Re-replication "
        f"copies what the lost brokers held of partitions that still have a leader onto empty disks, at {throttle} "
        "at most, and within what networks have left."
    )
    return notes
