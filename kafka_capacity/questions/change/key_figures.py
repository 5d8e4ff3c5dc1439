"""The figures of a change that stand on the first screen, each with its definition."""

from __future__ import annotations

from typing import Any

from kafka_capacity.questions.answer import KeyFigure
from kafka_capacity.questions.change.change_view import ChangeView
from kafka_capacity.questions.change.choice import Option
from kafka_capacity.text import (
    format_bytes,
    format_count,
    format_duration,
    format_factor,
    format_percent,
    format_throttle,
    format_throttle_above,
    plural,
)

_DEFINITIONS = {
    "copied_bytes": "Bytes of replicas that brokers get and do not hold today.",
    "move_seconds": "Time from the first command until all new replicas are in sync, at mean rates.",
    "gap_ratio": "Bytes copied beyond the least that any plan with this balance must copy, as a ratio of that.",
    "generate_bytes": "Bytes that the plan of kafka-reassign-partitions --generate copies, the median of its draws.",
    "needed": "What the limit that is passed would have to allow.",
    "available": "What that limit allows.",
}


def _figure(name: str, label: str, value: Any, unit: str, note: str) -> KeyFigure:
    return KeyFigure(name=name, label=label, value=value, unit=unit, note=note, definition=_DEFINITIONS[name])


def key_figures(view: ChangeView) -> list[KeyFigure]:
    """Return the figures of the option to show."""
    option = view.nearest
    if option.is_refused:
        return _shortfall(option)
    figures = option.figures
    moved = f"{format_count(figures['moved_replicas'])} of {plural(figures['total_replicas'], 'replica')}"
    if view.has_no_sizes:
        sizes = "no partition’s size is known"
        return [
            *(_shortfall(option) if option.excuses else ()),
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
            "Above the least possible",
            figures["gap_ratio"],
            "gap",
            f"any plan this balanced copies at least {format_bytes(figures['lower_bound_bytes'])}",
        ),
    ]
    generate = view.generate
    if generate is not None:
        found.append(_generate_figure(option, generate))
    return (_shortfall(option) if option.excuses else []) + found


def _time_figure(view: ChangeView, option: Option) -> KeyFigure:
    move = view.move
    if move is None or not move.waves:
        return _figure("move_seconds", "Time", option.figures["duration_seconds"], "duration", _time_note(view, option))
    low, expected, high = move.total
    note = f"{plural(len(move.waves), 'wave')} at {move.throttle_text}"
    if expected is None:
        note += f"; above {format_throttle_above(move.smallest_throttle('expected'))} they end"
    elif not view.rate_history_hours:
        note += ", if nothing is produced meanwhile"
    elif high is None:
        note += "; at peak rates they never end"
    elif format_duration(low) != format_duration(high):
        note += f"; {format_duration(low)} if nobody writes, {format_duration(high)} at peak rates"
    return _figure("move_seconds", "Time", expected, "duration", note)


def _time_note(view: ChangeView, option: Option) -> str:
    figures = option.figures
    throttle = format_throttle(figures["throttle_bytes_per_second"])
    if option.never_ends:
        return f"at {throttle}; above {format_throttle_above(figures['smallest_throttle_bytes_per_second'])} it does"
    if not figures["moved_bytes"]:
        return "nothing is copied"
    if not view.rate_history_hours:
        return f"at {throttle}, if nothing is produced meanwhile"
    peak = figures["duration_peak_seconds"]
    if peak is None:
        return f"at {throttle}; at peak rates it never ends"
    if format_duration(peak) == format_duration(figures["duration_seconds"]):
        return f"at {throttle}, at mean and at peak rates"
    return f"at {throttle}; {format_duration(peak)} if all of it ran at peak rates"


def _generate_figure(option: Option, generate: Option) -> KeyFigure:
    figures = generate.figures
    low, high = figures["moved_bytes_low"], figures["moved_bytes_high"]
    note = f"median of {plural(figures['seeds_tried'], 'draw')}, {format_bytes(low)} to {format_bytes(high)}"
    own = option.figures["moved_bytes"]
    if own and figures["moved_bytes"]:
        note = f"{format_factor(figures['moved_bytes'] / own)} as much; {note}"
    return _figure("generate_bytes", "With --generate", figures["moved_bytes"], "bytes", note)


def _shortfall(option: Option) -> list[KeyFigure]:
    excuse = option.excuses[0]
    kinds = {"bytes": "bytes", "bytes_per_second": "throttle"}
    kind = kinds.get(excuse["unit"], "count")
    what = str(excuse["constraint"]).replace("_", " ") if excuse["unit"] in kinds else str(excuse["unit"])
    note = f"{what}, {excuse['where']}"
    return [
        _figure("needed", "Needed", excuse["needed"], kind, note),
        _figure("available", "Available", excuse["available"], kind, note),
    ]
