"""What the report says of the waves of a move, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from kafka_capacity.health.problem import Problem, serious
from kafka_capacity.kafka.reassignment.clock import Window
from kafka_capacity.proposal.constraints.moves import no_throttle_helps, too_little_left
from kafka_capacity.questions.change.move_view import MoveView, Row
from kafka_capacity.questions.change.wave_runbook import MAY_HOLD, UNSIZED_TIME, are_unsized, fullest_disk, took
from kafka_capacity.text import (
    capitalised,
    format_duration,
    format_limit,
    format_percent,
    format_throttle,
    format_throttle_above,
    plural,
)
from kafka_capacity.text.wording import few_names


def summary(move: MoveView) -> str:
    """Return how many waves there are, how long they take, and that one may stop."""
    count = len(move.waves)
    if not count:
        return "None of it can be moved as things stand."
    fullest = move.fullest
    stop = "You may stop after any wave: none" if count > 1 else "It never"
    stop += " leaves a partition with fewer replicas, racks or in-sync replicas than before or in the target, or "
    if fullest is None or fullest["fullest_ratio"] <= 1:
        stop += f"fills a disk beyond {MAY_HOLD}."
    else:
        stop += "takes a disk over its limit that is within it today."
    return f"The move has {plural(count, 'wave')}. {_how_long(move)} {stop}"


def _how_long(move: MoveView) -> str:
    low, expected, high = move.total
    if move.left_out:
        return f"{left_out_words(move)}, so how long all of it takes is not known."
    if not move.copied_bytes:
        return UNSIZED_TIME if are_unsized(move.waves) else "Nothing is copied: each finishes within seconds."
    if expected is None:
        at_peak = move.smallest_throttle("high")
        if move.smallest_throttle("expected") is None or move.facts["is_throttle_automatic"]:
            return f"It never finishes; {what_helps(move)}."
        more = "no throttle helps" if at_peak is None else format_throttle_above(at_peak)
        return f"At {move.throttle_text} it never finishes; {what_helps(move)} ({more} at peak rates)."
    took = f"It takes {format_duration(expected)} at {move.throttle_text}"
    edges = f"{format_duration(low)} without writes"
    if high is None:
        smallest = move.smallest_throttle("high")
        if smallest is None:
            return f"{took} ({edges}); at peak rates it never finishes, and {no_throttle_helps()}."
        above = format_throttle_above(smallest)
        unless = f"unless the throttle is above {above}"
        if move.facts["is_throttle_automatic"]:
            unless = f"unless headroom is smaller, or the throttle a fixed one above {above}"
        return f"{took} ({edges}); at peak rates it never finishes {unless}."
    if format_duration(low) == format_duration(expected) == format_duration(high):
        return f"{took}, both without writes and at peak rates throughout."
    return f"{took} ({edges}, {format_duration(high)} at peak rates throughout)."


def what_helps(move: MoveView) -> str:
    """Describe what would end waves that never end, a clause."""
    smallest = move.smallest_throttle("expected")
    if smallest is not None and move.facts["is_throttle_automatic"]:
        brokers, throttle = _starved(move)
        # A broker of unknown network has the fixed throttle, which is no matter of headroom.
        if throttle != move.facts["throttle_bytes_per_second"]:
            return too_little_left(brokers, throttle, move.facts["headroom_ratio"])
    if smallest is not None:
        return f"it needs a throttle above {format_throttle_above(smallest)}"
    wave = next(wave for wave in move.waves if wave["smallest_throttle_expected_bytes_per_second"] is None)
    return no_throttle_helps(wave["bottleneck_broker"], wave["bottleneck_direction"])


def _starved(move: MoveView) -> tuple[list[int], float]:
    """Return the brokers that copy and whose throttle is 0, or who decides that waves never end; and the throttle."""
    none = {
        row["broker_id"]
        for row in move.timeline
        for direction in ("in", "out")
        if row[f"{direction}_bytes"] and not row[f"throttle_{direction}_bytes_per_second"]
    }
    if none:
        return sorted(none), 0.0
    wave = next(wave for wave in move.waves if wave["end_expected_seconds"] is None)
    broker, column = wave["bottleneck_broker"], f"throttle_{wave['bottleneck_direction']}_bytes_per_second"
    return [broker], next(row[column] for row in move.timeline if row["broker_id"] == broker)


def left_out_words(move: MoveView) -> str:
    """Return how many partitions are in no wave, a clause."""
    return f"{plural(move.left_out, 'partition')} {'is' if move.left_out == 1 else 'are'} in no wave"


def throttle_sentence(move: MoveView) -> str | None:
    """Describe how throttles were chosen, where nobody gave them."""
    if not move.facts["is_throttle_automatic"]:
        return None
    free = format_limit(move.facts["headroom_ratio"])
    return (
        f"Throttles are set per broker and direction, as large as possible while leaving {free} of network and disk "
        "free at each broker’s peak."
    )


def window_sentence(schedule: Row, waves: Sequence[Row]) -> str | None:
    """Say when waves may run, and how many end in time only as expected; nothing where that is at any time."""
    text = str(schedule.get("window") or "")
    window = Window.of(text) if text else None
    if window is None:
        return None
    late = sum(_is_late_at_peak(one, window) for one in waves)
    of = plural(len(waves), "wave")
    at_peak = (
        f" At peak rates {late:,} of {of} would not be done by then, and would have to be cancelled." if late else ""
    )
    return (
        f"Waves run only from {text.replace('-', ' to ')} UTC. A running reassignment cannot be paused, so each wave "
        f"starts only if it is expected to finish before the window closes, at the traffic of these hours.{at_peak}"
    )


def _is_late_at_peak(wave: Row, window: Window) -> bool:
    """Return whether a wave that begins when it is expected to is not done at peak rates when the window closes."""
    high, closes = took(wave, "high"), wave.get("closes_at")
    if high is None or wave["start_expected_seconds"] is None:
        return wave["start_expected_seconds"] is not None
    left = window.seconds
    if closes is not None:
        left = (datetime.fromisoformat(closes) - datetime.fromisoformat(wave["starts_at"])).total_seconds()
    return high > left


def length_sentence(move: MoveView) -> str | None:
    """Compare the length of waves that was chosen with no limit; nothing where nothing was to choose."""
    by_length = {one["max_wave_seconds"]: one for one in move.facts["lengths"]}
    chosen, whole = by_length.get(move.facts["max_wave_seconds"]), by_length.get(None)
    if chosen is None or whole is None:
        return None
    lead = f"Waves take at most {format_duration(chosen['max_wave_seconds'])}: without that limit"
    count, seconds = plural(whole["wave_count"], "wave"), whole["total_seconds"]
    if seconds is None:
        return f"{lead} the move in {count} never finishes."
    peak = "never finishes" if whole["total_high_seconds"] is None else format_duration(whole["total_high_seconds"])
    verb = "takes" if whole["wave_count"] == 1 else "take"
    return f"{lead} {count} {verb} {format_duration(seconds)}, at peak rates {peak}."


def order_sentence(move: MoveView) -> str | None:
    """Describe in which order partitions move, and why; nothing where there was no choice."""
    orders = move.facts["orders"]
    chosen = next((one for one in orders if one["order"] == move.facts["order"]), None)
    if chosen is None or len(move.waves) < 2:
        return None
    others = [one for one in orders if one is not chosen]
    worst = move.facts["worst_broker"]
    if worst is None:
        return f"Order: {chosen['order']}, the fastest, since the move relieves no broker."
    who = f"broker {worst}, the most loaded ({str(move.facts['worst_resource']).replace('_', ' ')})"
    if all(one["relieved_seconds"] is None for one in orders):
        return f"Order: {chosen['order']}; none of the orders tried relieves {who}."
    lead = f"Order: {chosen['order']}. It relieves {who},"
    if move.facts["is_leadership_first"]:
        # The orders were tried without that.
        taken = f"{chosen['order']} {_after(chosen['relieved_seconds'])}"
        compared = f"; {_compared(chosen, others)}" if others else ""
        return f"{lead} {_after(move.facts['relieved_seconds'])} with leaders moved first; without, {taken}{compared}."
    compared = f"; {_compared(chosen, others)}" if others else ""
    return f"{lead} {_after(chosen['relieved_seconds'])}{compared}."


def _compared(chosen: Row, others: list[Row]) -> str:
    taken = _after(chosen["relieved_seconds"])
    times = [(one["order"], _after(one["relieved_seconds"])) for one in others]
    if all(time == taken for _, time in times):
        return "other orders are no faster"
    return ", ".join(f"{order} {'just as late' if time == taken else time}" for order, time in times)


def _after(seconds: float | None) -> str:
    return "never" if seconds is None else f"after {format_duration(seconds)}"


def leadership_sentence(move: MoveView) -> str | None:
    """Compare moving leaders off drained brokers first with the plain drain, where there was that choice."""
    count = move.facts["leaders_moved_first"]
    if count is None:
        return None
    plain, first = (_ends(move.facts[f"{name}_seconds"]) for name in ("plain", "leadership_first"))
    leaders = plural(count, "leader")
    if move.facts["is_leadership_first"]:
        verb = "moves" if count == 1 else "move"
        return f"First {leaders} {verb} off the drained brokers: the move then {first}; without it, it {plain}."
    return (
        f"Moving {leaders} off the drained brokers first was tried and is no faster: the move then {first}; as "
        f"planned it {plain}."
    )


def _ends(seconds: float | None) -> str:
    return "never finishes" if seconds is None else f"takes {format_duration(seconds)}"


def disk_sentence(move: MoveView) -> str:
    """Describe how full the fullest broker gets on the way."""
    fullest = move.fullest
    if fullest is None:
        return "No broker’s disk size is known, so disks are not checked during the move."
    disk, wave = fullest_disk(fullest), fullest["wave"]
    share = f"{format_percent(fullest['fullest_ratio'])} of it in wave {wave:,}"
    if fullest["fullest_ratio"] > 1:
        return f"{capitalised(disk)} is over its disk limit before the move, and reaches at most {share}."
    return f"During the move {disk} comes closest to what its disk may hold ({MAY_HOLD}): {share}."


def detour_sentence(move: MoveView) -> str | None:
    """Describe that some partitions go by way of a third broker."""
    waves = [wave["wave"] for wave in move.waves if wave["kind"] == "detour"]
    if not waves:
        return None
    named = few_names((f"{wave:,}" for wave in waves), 5)
    return (
        f"In {'wave' if len(waves) == 1 else 'waves'} {named} partitions move by way of a third broker, because full "
        "disks block each other; these are copied twice."
    )


def refusal_texts(move: MoveView) -> list[str]:
    """Return which partitions are in no wave, and why, a sentence a reason."""
    return [f"Not in any wave: {_ended(str(refusal['reason']))}" for refusal in move.facts["refusals"]]


def refusal_problem(move: MoveView) -> Problem | None:
    """Return what is in no wave as one problem."""
    refusals = move.facts["refusals"]
    if not refusals:
        return None
    count, more = move.left_out, len(refusals) - 1
    verbs = ("is", "stays") if count == 1 else ("are", "stay")
    lead = f"{plural(count, 'partition')} {verbs[0]} not in any wave and {verbs[1]} put"
    rest = f" (and {plural(more, 'more reason')})" if more else ""
    message = f"{lead}: {_ended(str(refusals[0]['reason']))[:-1]}{rest}"
    return serious("partitions-in-no-wave", plural(count, "partition"), message, partitions=count)


def endless_problem(move: MoveView) -> Problem:
    """Describe that the waves never end, and with which throttle they would."""
    is_none_named = move.smallest_throttle("expected") is None or move.facts["is_throttle_automatic"]
    at = "" if is_none_named else f" at {move.throttle_text}"
    message = f"In waves the move never finishes{at}; {what_helps(move)}"
    return serious("waves-never-end", "the throttle", message)


def time_notes(move: MoveView, at_once: float | None) -> list[str]:
    """Describe what the scheduled time is made of, beside that of copying with everything started at once.

    ``at_once`` is how many seconds that would take at the throttle that was asked for, ``None`` for never.
    """
    fill = (
        "The old copy of a partition stays until the new one is in sync, so disks hold more during the move than "
        f"after it. {disk_sentence(move)}"
    )
    expected = move.total[1]
    if expected is None or not move.waves:
        return [fill]
    if len(move.waves) == 1 and at_once is not None and format_duration(at_once) == format_duration(expected):
        text = (
            f"{format_duration(expected)} is for the copying alone, with everything started at once and the throttle "
            "fully used on the bottleneck broker."
        )
        return [text, fill]
    alone = ""
    if at_once is not None:
        is_automatic = move.facts["is_throttle_automatic"]
        rate = f" at {format_throttle(move.facts['throttle_bytes_per_second'])}" if is_automatic else ""
        slower = ", since new data for all moving partitions would then use up the throttle"
        alone = f" The copying alone, with everything started at once{rate}, would take {format_duration(at_once)}"
        alone += slower + "." if at_once > expected and not is_automatic else "."
    begun = (
        "as soon as the previous one is done" if move.facts.get("window") is None else "when a window has room for it"
    )
    each = f"each started {begun}, " if len(move.waves) > 1 else ""
    return [
        (
            f"{format_duration(expected)} is for {plural(len(move.waves), 'wave')}, {each}with the throttle fully "
            f"used on the bottleneck broker.{alone}"
        ),
        fill,
    ]


def _ended(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
