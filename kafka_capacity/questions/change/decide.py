"""What a plan answers about a change: whether it fits, what moves, in which time, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_capacity.proposal.constraints.moves import THROTTLE, no_throttle_helps
from kafka_capacity.proposal.constraints.registry import OF_BROKERS, standing_sentence
from kafka_capacity.proposal.excuse import first_reason
from kafka_capacity.proposal.gap import gap_text, is_proven_least
from kafka_capacity.questions.answer import BADGES, Action, Answer, KeyFigure, Status, StepVerb
from kafka_capacity.questions.change.change_view import ChangeView, unknown_words
from kafka_capacity.questions.change.choice import Option, counts_by_fit
from kafka_capacity.questions.change.move_view import MoveView
from kafka_capacity.questions.change.move_words import left_out_words, what_helps
from kafka_capacity.questions.change.problems import change_problems
from kafka_capacity.text import (
    capitalised,
    format_bytes,
    format_count,
    format_duration,
    format_factor,
    format_percent,
    format_throttle,
    format_throttle_above,
    listed,
    plural,
)

_COUNTS_NAMED = 3
_MOST_TIMES = 100  # as much; more only says that next to nothing moves


def decide_change(view: ChangeView) -> Answer:
    """Return the answer about the change that is recommended, else about the one closest to fitting."""
    option, is_unsound = view.nearest, view.is_unsound
    status = Status.NOT_JUDGED if is_unsound else view.status(option)
    unknown = ("the inventory's data, which is inconsistent",) if is_unsound else ()
    return Answer(
        status=status,
        headline=_headline(view),
        badge=("bad", "! Inventory inconsistent") if is_unsound else BADGES[status],
        reasons=_reasons(view),
        problems=change_problems(view),
        figures=key_figures(view),
        actions=_actions(view),
        unknown=(*unknown, *view.unknown(option)),
    )


def subject_words(view: ChangeView) -> str:
    """Return the answer in few words, for the subject of an e-mail."""
    _, failing = counts_by_fit(view.options)
    option = view.recommended
    if option is not None:
        answer = f"{plural(option.broker_count, 'broker')} {_verb(option)}"
        if view.unknown(option) and not option.standing:
            answer = f"not judged whether {answer}"
        if failing:
            answer += f", {_named_counts(failing)} {'does' if failing == [1] else 'do'} not"
        return answer
    if view.nearest.never_ends:
        return "no option fits (the move never ends)"
    return f"no option fits ({str(view.nearest.excuses[0]['constraint']).replace('_', ' ')})"


def _actions(view: ChangeView) -> tuple[Action, ...]:
    option = view.recommended
    if option is None or not option.figures["changed_partitions"]:
        return ()
    text = f"Move to {plural(option.broker_count, 'broker')} with the plan of {option.placer}: "
    moved = option.figures["moved_bytes"]
    size = f"{format_bytes(moved)} to copy" if moved else "no bytes to copy"
    if deleted := int(option.figures.get("deleted_bytes") or 0):
        size += f", {format_bytes(deleted)} to delete"
    text += "an unknown number of bytes" if view.has_no_sizes else size
    return (
        Action(
            code="move",
            about=StepVerb.MOVE.about(option.broker_count),
            text=f"{text}.",
            broker_count=option.broker_count,
        ),
    )


def _headline(view: ChangeView) -> str:
    option = view.recommended
    if option is None:
        return _refusal(view)
    lead, figures = _lead(view, option), option.figures
    # A plan from before these were counted does not tell.
    deleted = int(figures.get("deleted_replicas") or 0)
    gone = f"{plural(deleted, 'replica')} {'is' if deleted == 1 else 'are'} deleted"
    if not figures["moved_replicas"]:
        if not figures["changed_partitions"]:
            return f"{lead}: nothing has to move."
        if deleted:
            freed = "" if view.has_no_sizes else f", which frees {format_bytes(figures['deleted_bytes'])}"
            return f"{lead}: nothing is copied, {gone}{freed}."
        return (
            f"{lead}: no bytes move, only the order of {plural(figures['changed_partitions'], 'replica list')} changes."
        )
    if view.has_no_sizes or not figures["moved_bytes"]:
        noun = "replica" if view.has_no_sizes else "empty replica"
        moves = f"{lead}: {option.placer} moves {plural(figures['moved_replicas'], noun)}"
        return f"{moves}; {gone}." if deleted else f"{moves}."
    least = "at least " if view.is_time_least else ""
    sentence = (
        f"{lead}: {option.placer} moves {format_bytes(figures['moved_bytes'])} "
        f"({format_percent(option.share_ratio)} of {format_bytes(figures['total_bytes'])}) "
        f"{_when(view.move, figures, least)}"
    )
    return sentence + (f"; {gone}" if deleted else "") + _generate_clause(view) + "."


def _lead(view: ChangeView, option: Option) -> str:
    brokers, today = plural(option.broker_count, "broker"), view.observed_broker_count
    verb = _verb(option)
    now = "" if option.broker_count == today else f" ({today:,} today)"
    unknown = view.unknown(option)
    if unknown and not option.standing:
        return f"Not judged whether {brokers} {verb}{now}, because {unknown_words(unknown)}"
    return f"{brokers} {verb}{now}"


def _verb(option: Option) -> str:
    is_one = option.broker_count == 1
    if option.standing:
        return f"{'is' if is_one else 'are'} no worse than today"
    return "fits" if is_one else "fit"


def _when(move: MoveView | None, figures: Mapping[str, Any], least: str) -> str:
    """Return how long the waves take; without any, how long everything at once does."""
    if move is None or not move.waves:
        throttle = format_throttle(figures["throttle_bytes_per_second"])
        return f"in {least}{format_duration(figures['duration_seconds'])} at {throttle}"
    waves = plural(len(move.waves), "wave")
    if move.left_out:
        return f"in {waves}, but {left_out_words(move)}"
    if move.total[1] is None:
        return f"in {waves} that never finish at {move.throttle_text}"
    several = f", in {waves}" if len(move.waves) > 1 else ""
    return f"in {least}{format_duration(move.total[1])} at {move.throttle_text}{several}"


def _generate_clause(view: ChangeView) -> str:
    generate = view.generate
    if generate is None or not generate.figures["moved_bytes"]:
        return ""
    moved, own = generate.figures["moved_bytes"], view.nearest.figures["moved_bytes"]
    times = "" if moved > _MOST_TIMES * own else f" ({format_factor(moved / own)})"
    return f"; Kafka’s own --generate would move {format_bytes(moved)}{times}"


def _refusal(view: ChangeView) -> str:
    option = view.nearest
    lead = "No option fits" if len(view.options) > 1 else _not_enough(option)
    if option.is_refused:  # by Kafka, or by a placer for a rule of ours, such as a pin
        return f"{lead}: {option.excuses[0]['reason']}."
    if option.excuses[0]["constraint"] == THROTTLE:
        the_move = f"{lead}: the move" if len(view.options) > 1 else "The move"
        return (
            f"{the_move} to {plural(option.broker_count, 'broker')} with {option.placer} never finishes"
            f"{_unless(option.figures, view.move)}."
        )
    nearest = f". The nearest is {option.label}" if len(view.options) > 1 else ""
    return f"{lead}{nearest}: {first_reason(option.excuses)}."


def _not_enough(option: Option) -> str:
    brokers = plural(option.broker_count, "broker")
    if option.is_refused:
        return f"The move to {brokers} cannot be made"
    if option.excuses[0].get("is_proven") is False:
        return f"No placement on {brokers} was found that keeps all limits"
    if option.excuses[0]["constraint"] in OF_BROKERS:
        return f"{brokers} {'is' if option.broker_count == 1 else 'are'} not enough"
    return f"The move to {brokers} cannot be made as requested"


def _unless(figures: Mapping[str, Any], move: MoveView | None) -> str:
    """Describe at which throttle a move never ends, and what would do."""
    smallest, at = figures["smallest_throttle_bytes_per_second"], figures["throttle_bytes_per_second"]
    if move is not None and move.waves and move.never_ends:
        in_waves = move.smallest_throttle("expected")
        if in_waves is None or move.facts["is_throttle_automatic"]:
            return f"; {what_helps(move)}"
        if smallest is None:
            return f" at {move.throttle_text}; in waves {what_helps(move)}"
    if smallest is None:
        why = no_throttle_helps(figures["bottleneck_broker"], figures["bottleneck_direction"])
        return f"; {why}{_or_in_waves(move)}"
    needs = f"it needs a throttle above {format_throttle_above(smallest)}"
    return f" at {format_throttle(at)}; {needs}{_or_in_waves(move)}"


def _or_in_waves(move: MoveView | None) -> str:
    """Describe what becomes of a move that never ends with everything started at once."""
    if move is None or not move.waves or move.left_out:
        return ""
    if move.total[1] is None:
        return f", in waves above {format_throttle_above(move.smallest_throttle('expected'))}"
    verb = "takes" if len(move.waves) == 1 else "take"
    return (
        f" with everything started at once, while {plural(len(move.waves), 'wave')} at {move.throttle_text} {verb} "
        f"{format_duration(move.total[1])}"
    )


def _reasons(view: ChangeView) -> list[str]:
    fitting, failing = counts_by_fit(view.options)
    option = view.nearest
    standing = standing_sentence(option.standing)
    found = [f"{capitalised(standing)}."] if standing else []
    if view.recommended and not option.standing and len(fitting) + len(failing) > 1:
        tried = ", ".join(f"{count:,}" for count in sorted([*fitting, *failing]))
        why = "is the smallest broker count that fits"
        fewer = [one for one in view.options if one.fits and one.broker_count < option.broker_count]
        if fewer:
            better = "within all limits" if all(one.standing for one in fewer) else "that covers what is needed first"
            why = f"is the smallest broker count {better}"
        elif view.unknown(option):
            why = "is the smallest broker count that exceeds no known limit"
        found.append(f"{option.broker_count:,} {why} among those tried ({tried}).")
    found += [_failure(view, count) for count in failing]
    if option.is_refused or not option.figures["moved_bytes"]:
        return found
    figures = option.figures
    found.append(_bound_reason(figures))
    today = " over today’s brokers" if view.new_broker_ids else ""
    found.append(
        f"Max imbalance is {format_percent(figures['balance_before'])} now{today}, and "
        f"{format_percent(figures['balance_after'])} after the change: how far the worst broker is from its fair "
        "share."
    )
    if figures["bottleneck_broker"] is not None and not option.never_ends and view.move is None:
        direction = "receives" if figures["bottleneck_direction"] == "in" else "sends"
        found.append(f"Broker {figures['bottleneck_broker']} is the bottleneck, by what it {direction}.")
    leaders = figures["leaders_changed"]
    of_all = f"of {plural(view.facts['partition_count'], 'partition')}"
    found.append(f"{leaders:,} {of_all} {'gets' if leaders == 1 else 'get'} another preferred leader.")
    return found


def _bound_reason(figures: Mapping[str, Any]) -> str:
    least = f"Any plan as even on every broker must copy at least {format_bytes(figures['lower_bound_bytes'])}"
    moved, bound = figures["moved_bytes"], figures["lower_bound_bytes"]
    if is_proven_least(moved, bound):
        return f"{least}, and this one copies no more."
    gap = gap_text(moved, bound)
    return f"{least}; this one copies {format_bytes(moved)}{'' if gap is None else f', {gap} more'}."


def _failure(view: ChangeView, count: int) -> str:
    nearest = next(option for option in view.options if option.broker_count == count)
    reason = nearest.excuses[0]["reason"] if nearest.excuses else "no reason was given"
    verb = "does" if count == 1 else "do"
    return f"{plural(count, 'broker')} {verb} not fit: {reason}."


def _named_counts(counts: list[int]) -> str:
    shown = [f"{count:,}" for count in counts[:_COUNTS_NAMED]]
    rest = len(counts) - len(shown)
    return f"{', '.join(shown)} and {rest} more" if rest else listed(shown)


_DEFINITIONS = {
    "copied_bytes": "Bytes of replicas that brokers receive and do not hold today.",
    "move_seconds": "Time from the first command until all new replicas are in sync, at mean rates.",
    "gap_ratio": "Bytes copied in excess of the minimum for any plan as even on every broker, over that minimum.",
    "generate_bytes": "Bytes that the plan of kafka-reassign-partitions --generate copies, the median of its draws.",
    "needed": "What the exceeded limit would have to allow.",
    "available": "What that limit allows.",
}


def _figure(name: str, label: str, value: Any, unit: str, note: str) -> KeyFigure:
    return KeyFigure(name=name, label=label, value=value, unit=unit, note=note, definition=_DEFINITIONS[name])


def key_figures(view: ChangeView) -> list[KeyFigure]:
    """Return the figures of the option to show."""
    option, figures = view.nearest, view.nearest.figures
    shortfall = _shortfall(option) if option.excuses else []
    if option.is_refused:
        return shortfall
    moved = f"{format_count(figures['moved_replicas'])} of {plural(figures['total_replicas'], 'replica')}"
    if view.has_no_sizes:
        sizes = "no partition’s size is known"
        return [
            *shortfall,
            _figure("copied_bytes", "To copy", "not known", "text", f"{moved}; {sizes}"),
            _figure("move_seconds", "Time", "not known", "text", sizes),
        ]
    found = [
        _figure(
            "copied_bytes",
            "To copy",
            figures["moved_bytes"],
            "bytes",
            f"{format_percent(option.share_ratio)} of {format_bytes(figures['total_bytes'])}; {moved}",
        ),
        _time_figure(view, option),
        _figure(
            "gap_ratio",
            "Above the minimum",
            figures["gap_ratio"],
            "gap",
            f"any plan as even on every broker copies at least {format_bytes(figures['lower_bound_bytes'])}",
        ),
    ]
    if view.generate is not None:
        found.append(_generate_figure(option, view.generate))
    return shortfall + found


_LONGER = "; it takes longer by what is produced where traffic is unknown"


def _time_figure(view: ChangeView, option: Option) -> KeyFigure:
    move = view.move
    if move is None or not move.waves:
        return _figure("move_seconds", "Time", option.figures["duration_seconds"], "duration", _time_note(view, option))
    if move.left_out:
        return _figure("move_seconds", "Time", "not known", "text", left_out_words(move))
    low, expected, high = move.total
    note = f"{plural(len(move.waves), 'wave')} at {move.throttle_text}"
    if expected is None:
        smallest = move.smallest_throttle("expected")
        helps = "no throttle helps" if smallest is None else f"above {format_throttle_above(smallest)} they finish"
        if smallest is not None and move.facts["is_throttle_automatic"]:
            helps = "headroom leaves too little"
        note += f"; {helps}"
    elif not view.rate_history_hours:
        note += ", without any writes"
    elif view.is_time_least:
        note += _LONGER
    elif high is None:
        note += "; at peak rates they never finish"
    elif format_duration(low) != format_duration(high):
        note += f"; {format_duration(low)} without writes, {format_duration(high)} at peak rates"
    return _figure("move_seconds", "Time", expected, "duration", note)


def _time_note(view: ChangeView, option: Option) -> str:
    figures = option.figures
    throttle = format_throttle(figures["throttle_bytes_per_second"])
    if option.never_ends:
        smallest = figures["smallest_throttle_bytes_per_second"]
        helps = "no throttle helps" if smallest is None else f"above {format_throttle_above(smallest)} it does"
        return f"at {throttle}; {helps}"
    if not figures["moved_bytes"]:
        return "nothing is copied"
    if not view.rate_history_hours:
        return f"at {throttle}, without any writes"
    if view.is_time_least:
        return f"at {throttle}{_LONGER}"
    peak = figures["duration_peak_seconds"]
    if peak is None:
        return f"at {throttle}; at peak rates it never finishes"
    if format_duration(peak) == format_duration(figures["duration_seconds"]):
        return f"at {throttle}, at mean and at peak rates"
    return f"at {throttle}; {format_duration(peak)} if run entirely at peak rates"


def _generate_figure(option: Option, generate: Option) -> KeyFigure:
    figures = generate.figures
    low, high = figures["moved_bytes_low"], figures["moved_bytes_high"]
    note = f"median of {plural(figures['seeds_tried'], 'draw')}, {format_bytes(low)} to {format_bytes(high)}"
    own = option.figures["moved_bytes"]
    if own and 0 < figures["moved_bytes"] <= _MOST_TIMES * own:
        note = f"{format_factor(figures['moved_bytes'] / own)} as much; {note}"
    return _figure("generate_bytes", "With --generate", figures["moved_bytes"], "bytes", note)


def _shortfall(option: Option) -> list[KeyFigure]:
    excuse = option.excuses[0]
    kinds = {"bytes": "bytes", "bytes_per_second": "throttle", "seconds": "duration"}
    kind = kinds.get(excuse["unit"], "count")
    what = str(excuse["constraint"]).replace("_", " ") if excuse["unit"] in kinds else str(excuse["unit"])
    note = f"{what}, {excuse['where']}"
    needed, needed_kind = excuse["needed"], kind
    if excuse["constraint"] == THROTTLE and needed is None:
        needed, needed_kind = "no throttle helps", "text"
    return [
        _figure("needed", "Needed", needed, needed_kind, note),
        _figure("available", "Available", excuse["available"], kind, note),
    ]
