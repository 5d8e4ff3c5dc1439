"""The answer: one sentence with its figures, the reasons, and the subject of the e-mail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_capacity.questions.change.choice import Option, counts_by_fit
from kafka_capacity.report.caveats import caveats
from kafka_capacity.report.failures import SECTION as FAILURES_SECTION
from kafka_capacity.report.options import PlanView
from kafka_capacity.report.sizing_verdict import sizing_verdict
from kafka_capacity.report.sizing_words import subject_words
from kafka_capacity.report.tables import key_figure
from kafka_capacity.report.waves import MoveView
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
from kafka_capacity.text.names import clipped, visible

SUBJECT_NAME_LENGTH = 60
"""A longer cluster name is cut in the subject, where the verdict must stay in sight."""
COUNTS_NAMED = 3
SERIOUS_NAMED = 3
"""Things that are seriously wrong with the cluster that stand at the top; the section lists them all."""


def decide(view: PlanView) -> dict[str, Any]:
    """Give the verdict as plain data."""
    is_unsound = any(finding["severity"] == "fatal" for finding in view.inputs.findings)
    status = "unsound" if is_unsound else ("fits" if view.recommended else "no_fit")
    return {
        "fits": view.recommended is not None,
        "status": status,
        "headline": _headline(view),
        "recommended_scenario_id": view.recommended.scenario_id if view.recommended else None,
        "nearest_scenario_id": view.nearest.scenario_id,
        "reasons": _reasons(view),
        "caveats": caveats(view),
        "subject": _subject(view, is_unsound=is_unsound),
        "sizing": sizing_verdict(view) if view.sizing else None,
        "serious": _serious(view),
    }


def _serious(view: PlanView) -> dict[str, Any] | None:
    """Name what is seriously wrong with the cluster today, whatever is decided; ``None`` for nothing."""
    found = view.failures.serious if view.failures is not None else []
    if not found:
        return None
    shown = [f"{row['message'][:1].upper()}{row['message'][1:]}. To mend it: {row['mend']}." for row in found]
    return {"texts": shown[:SERIOUS_NAMED], "more": len(shown[SERIOUS_NAMED:]), "anchor": FAILURES_SECTION}


def _headline(view: PlanView) -> str:
    option = view.recommended
    if option is None:
        return _refusal(view)
    verb = "fits" if option.broker_count == 1 else "fit"
    today = view.observed_broker_count
    lead = f"{plural(option.broker_count, 'broker')} {verb}"
    if option.broker_count != today:
        lead += f" ({today:,} today)"
    figures = option.figures
    if not figures["moved_replicas"]:
        if not figures["changed_partitions"]:
            return f"{lead}: nothing has to move."
        return (
            f"{lead}: no bytes move, only the order of {plural(figures['changed_partitions'], 'replica list')} changes."
        )
    if not figures["moved_bytes"]:
        return f"{lead}: {option.placer} moves {plural(figures['moved_replicas'], 'empty replica')}."
    least = "" if view.rate_history_hours else "at least "
    sentence = (
        f"{lead}: {option.placer} moves {format_bytes(figures['moved_bytes'])} "
        f"({format_percent(option.share_ratio)} of {format_bytes(figures['total_bytes'])}) "
        f"{_when(view.move, least) or _at_once(figures, least)}"
    )
    return sentence + _generate_clause(view) + "."


def _at_once(figures: Mapping[str, Any], least: str) -> str:
    return (
        f"in {least}{format_duration(figures['duration_seconds'])} "
        f"at {format_throttle(figures['throttle_bytes_per_second'])}"
    )


def _when(move: MoveView | None, least: str) -> str | None:
    """Say how long the waves take, where there are some."""
    if move is None or not move.waves:
        return None
    waves = plural(len(move.waves), "wave")
    if move.total[1] is None:
        return f"in {waves} that never end at {move.throttle_text}"
    several = f", in {waves}" if len(move.waves) > 1 else ""
    return f"in {least}{format_duration(move.total[1])} at {move.throttle_text}{several}"


def _generate_clause(view: PlanView) -> str:
    generate = view.generate
    if generate is None or not generate.figures["moved_bytes"]:
        return ""
    factor = generate.figures["moved_bytes"] / view.nearest.figures["moved_bytes"]
    return (
        f"; Kafka’s own --generate would move {format_bytes(generate.figures['moved_bytes'])} ({format_factor(factor)})"
    )


def _refusal(view: PlanView) -> str:
    option = view.nearest
    lead = "No option fits" if len(view.options) > 1 else f"{plural(option.broker_count, 'broker')} will not do"
    reason = str(option.excuses[0]["reason"])
    if option.is_refused:
        return (
            f"{lead}: Kafka would refuse {'every placement' if len(view.options) > 1 else 'the placement'}: {reason}."
        )
    if option.excuses[0]["constraint"] == "throttle":
        figures = option.figures
        return (
            f"{lead}: the move to {plural(option.broker_count, 'broker')} with {option.placer} never ends at "
            f"{format_throttle(figures['throttle_bytes_per_second'])}; it ends with a throttle above "
            f"{format_throttle_above(figures['smallest_throttle_bytes_per_second'])}{_or_in_waves(view.move)}."
        )
    more = len(option.excuses) - 1
    rest = f" (and {more:,} more)" if more else ""
    nearest = f". The nearest is {option.label}" if len(view.options) > 1 else ""
    return f"{lead}{nearest}: {reason}{rest}."


def _or_in_waves(move: MoveView | None) -> str:
    """Say what becomes of a move that never ends with everything started at once."""
    if move is None or not move.waves:
        return ""
    if move.total[1] is None:
        return f", in waves above {format_throttle_above(move.smallest_throttle('expected'))}"
    return (
        f" with everything started at once, while {plural(len(move.waves), 'wave')} at {move.throttle_text} take "
        f"{format_duration(move.total[1])}"
    )


def _reasons(view: PlanView) -> list[str]:
    fitting, failing = counts_by_fit(view.options)
    option = view.nearest
    found: list[str] = []
    if view.recommended and len(fitting) + len(failing) > 1:
        tried = ", ".join(f"{count:,}" for count in sorted([*fitting, *failing]))
        found.append(f"{option.broker_count:,} is the smallest broker count that fits, of those tried ({tried}).")
    found += [_failure(view, count) for count in failing]
    if option.is_refused or not option.figures["moved_bytes"]:
        return found
    figures = option.figures
    found.append(_bound_reason(figures))
    found.append(
        f"The broker furthest from its fair share is {format_percent(figures['balance_before'])} off it now, and "
        f"{format_percent(figures['balance_after'])} after the change."
    )
    if figures["bottleneck_broker"] is not None and not option.never_ends and view.move is None:
        direction = "receives" if figures["bottleneck_direction"] == "in" else "sends"
        found.append(f"Broker {figures['bottleneck_broker']} decides the time by what it {direction}.")
    leaders = figures["leaders_changed"]
    of_all = f" of {view.inputs.snapshot_facts['partition_count']:,}"
    found.append(f"{leaders:,}{of_all} partitions {'gets' if leaders == 1 else 'get'} another preferred leader.")
    return found


def _bound_reason(figures: Mapping[str, Any]) -> str:
    least = f"Any plan with this balance must copy at least {format_bytes(figures['lower_bound_bytes'])}"
    gap = figures["gap_ratio"]
    if gap == 0:
        return f"{least}, and this one copies no more."
    more = "" if gap is None else f", {format_percent(gap)} more"
    return f"{least}; this one copies {format_bytes(figures['moved_bytes'])}{more}."


def _failure(view: PlanView, count: int) -> str:
    nearest = next(option for option in view.options if option.broker_count == count)
    reason = nearest.excuses[0]["reason"] if nearest.excuses else "no reason was given"
    verb = "does" if count == 1 else "do"
    return f"{plural(count, 'broker')} {verb} not fit: {reason}."


def _named_counts(counts: list[int]) -> str:
    shown = [f"{count:,}" for count in counts[:COUNTS_NAMED]]
    rest = len(counts) - len(shown)
    if rest:
        return f"{', '.join(shown)} and {rest} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _subject(view: PlanView, *, is_unsound: bool) -> str:
    _, failing = counts_by_fit(view.options)
    if view.sizing is not None:
        answer = subject_words(view.sizing)
    elif view.recommended:
        count = view.recommended.broker_count
        answer = f"{plural(count, 'broker')} {'fits' if count == 1 else 'fit'}"
        if failing:
            answer += f", {_named_counts(failing)} {'does' if failing == [1] else 'do'} not"
    elif view.nearest.never_ends:
        answer = "no option fits (the move never ends)"
    else:
        answer = f"no option fits ({str(view.nearest.excuses[0]['constraint']).replace('_', ' ')})"
    warning = "inventory is unsound; " if is_unsound else ""
    name = clipped(visible(view.inputs.cluster), SUBJECT_NAME_LENGTH)
    return f"[kafka-capacity] {name}: {warning}{answer} ({visible(view.inputs.ds)})"


def key_figures(view: PlanView) -> list[dict[str, Any]]:
    """Give the figures of the first screen: label, value, format, and a note under it."""
    option = view.nearest
    if option.is_refused:
        return _shortfall(option)
    figures = option.figures
    found = [
        key_figure(
            "To copy",
            figures["moved_bytes"],
            "bytes",
            f"{format_percent(option.share_ratio)} of {format_bytes(figures['total_bytes'])}; "
            f"{format_count(figures['moved_replicas'])} of {plural(figures['total_replicas'], 'replica')}",
        ),
        _time_figure(view, option),
        key_figure(
            "Above the least possible",
            figures["gap_ratio"],
            "percent",
            f"any plan this balanced copies at least {format_bytes(figures['lower_bound_bytes'])}",
        ),
    ]
    generate = view.generate
    if generate is not None:
        found.append(_generate_figure(option, generate))
    return (_shortfall(option) if option.excuses else []) + found


def _time_figure(view: PlanView, option: Option) -> dict[str, Any]:
    move = view.move
    if move is None or not move.waves:
        return key_figure("Time", option.figures["duration_seconds"], "duration", _time_note(view, option))
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
    return key_figure("Time", expected, "duration", note)


def _time_note(view: PlanView, option: Option) -> str:
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


def _generate_figure(option: Option, generate: Option) -> dict[str, Any]:
    figures = generate.figures
    low, high = figures["moved_bytes_low"], figures["moved_bytes_high"]
    note = f"median of {plural(figures['seeds_tried'], 'draw')}, {format_bytes(low)} to {format_bytes(high)}"
    own = option.figures["moved_bytes"]
    if own and figures["moved_bytes"]:
        note = f"{format_factor(figures['moved_bytes'] / own)} as much; {note}"
    return key_figure("With --generate", figures["moved_bytes"], "bytes", note)


def _shortfall(option: Option) -> list[dict[str, Any]]:
    excuse = option.excuses[0]
    kinds = {"bytes": "bytes", "bytes_per_second": "throttle"}
    kind = kinds.get(excuse["unit"], "count")
    what = str(excuse["constraint"]).replace("_", " ") if excuse["unit"] in kinds else str(excuse["unit"])
    note = f"{what}, {excuse['where']}"
    return [
        key_figure("Needed", excuse["needed"], kind, note),
        key_figure("Available", excuse["available"], kind, note),
    ]
