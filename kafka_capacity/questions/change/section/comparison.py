"""The options side by side: what each moves, against the least possible and against ``--generate``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafka_capacity.kafka.reassignment.problem import BAND
from kafka_capacity.proposal.constraints.registry import standing_sentence
from kafka_capacity.proposal.excuse import first_reason
from kafka_capacity.questions.answer import Status
from kafka_capacity.questions.change.choice import Option
from kafka_capacity.questions.change.request_summary import asked_sentence
from kafka_capacity.questions.change.section.view import ChangePage, change_of
from kafka_capacity.report.sections import section
from kafka_capacity.report.tables import NOTE, REASON, Column, cells, chart, column, table, verdict_badge
from kafka_capacity.report.view import ReportView
from kafka_capacity.text import capitalised, format_bytes, format_throttle, plural

MAX_ROWS = 200
MAX_BARS = 24

Facts = Mapping[str, Any] | None  # what is said of the schedule of an option; `None` where it has none


def _figure(key: str, label: str, kind: str) -> Column:
    return column(key, label, kind, lambda option, *_: option.figures[key])


def _alone(option: Option, *_: Any) -> tuple[float | None, float | None] | None:
    """Return the time with everything started at once, at mean and at peak rates."""
    figures = option.figures
    return (figures["duration_seconds"], figures["duration_peak_seconds"]) if figures["moved_bytes"] else None


def _takes(_option: Option, _verdict: str, schedule: Facts) -> tuple[float | None, ...] | None:
    """Return the time in waves at the low, the expected and the high rates."""
    # Waves of a part are no move: what stays is said beside the table.
    if schedule is None or not schedule["wave_count"] or schedule["refusals"]:
        return None
    return tuple(schedule[f"total_{band}_seconds"] for band in BAND)


def _in_waves(option: Option, verdict: str, schedule: Facts) -> tuple[float | None, float | None] | None:
    """Return the time at mean rates, twice unless it never finishes at peak rates: columns are scarce."""
    band = _takes(option, verdict, schedule)
    return None if band is None else (band[1], None if band[2] is None else band[1])


def _balance(option: Option, *_: Any) -> tuple[float, float] | None:
    return None if option.is_refused else (option.figures["balance_before"], option.figures["balance_after"])


OPTIONS = (
    column("scenario_id", "Option", "name", lambda option, *_: option.scenario_id),
    column("label", "Option", "text", lambda option, *_: option.label),
    column("verdict", "Verdict", "verdict", lambda _option, verdict, _schedule: verdict),
    _figure("moved_bytes", "To copy", "bytes"),
    column("share", "Of all", "percent", lambda option, *_: option.share_ratio),
    _figure("moved_replicas", "Replicas", "count"),
    _figure("lower_bound_bytes", "Minimum", "bytes"),
    _figure("gap_ratio", "Above minimum", "gap"),
    column("balance", "Max imbalance", "percent_change", _balance),
    _figure("leaders_changed", "New leaders", "count"),
    column("wave_count", "Waves", "count", lambda _option, _verdict, facts: facts and facts["wave_count"]),
    column("takes", "Time in waves", "time_band", _takes),
    column("in_waves", "In waves", "duration_band", _in_waves),
    column("unmoved", "Not in a wave", "count", lambda _option, _verdict, facts: facts and facts["refused_partitions"]),
    column(
        "alone",
        "Copying alone",
        "duration_band",
        lambda option, *_: (option.figures["duration_seconds"],) * 2 if option.figures["moved_bytes"] else None,
    ),
    column("duration", "Time", "duration_band", _alone),
    column("alone_to_peak", "Copying alone", "duration_band", _alone),
    _figure("throttle_bytes_per_second", "Throttle", "throttle"),
)
"""One row an option: made of it, the name of its verdict's badge, and what is said of its schedule."""
_IN_TERMINAL = frozenset({"scenario_id", "wave_count", "takes", "unmoved", "alone_to_peak"})
_ON_PAGE = frozenset(
    {"label", "share", "leaders_changed", "in_waves", "alone", "duration", "throttle_bytes_per_second"}
)


def terminal_columns(schedules: Iterable[Mapping[str, Any]]) -> list[Column]:
    """Return the columns for a terminal: the range of times instead of what else is told of an option."""
    facts = list(schedules)
    unused = {"wave_count", "takes"} if not any(one["wave_count"] for one in facts) else set()
    unused |= {"unmoved"} if not any(one["refused_partitions"] for one in facts) else set()
    return [one for one in OPTIONS if one.key not in _ON_PAGE | unused]


_THROTTLES = (
    column("throttle", "Throttle", "throttle"),
    column("verdict", "Verdict", "verdict"),
    column("wave_count", "Waves", "count"),
    column("takes", "Takes", "time_band"),
    column("alone", "Copying alone", "duration_band"),
    column("smallest", "Finishes above", "throttle_above"),
)


@section("comparison", title="Options compared", order=10)
def build(report: ReportView) -> dict[str, Any]:
    """Return the table of options and the chart of what they move."""
    view = report.of(change_of)
    drawn = [option for option in view.options if not option.is_refused]
    throttles = {option.figures["throttle_bytes_per_second"] for option in view.options}
    # The one that is spoken of comes first, whatever is cut off.
    shown = sorted(view.options, key=lambda option: option is not view.nearest)[:MAX_ROWS]
    listed = [option for option in view.options if option in shown]
    has_waves = any(facts["wave_count"] for facts in view.schedules.values())
    of_use = {
        "throttle_bytes_per_second": len(throttles) > 1,
        "in_waves": has_waves,
        "alone": has_waves,
        "duration": not has_waves,
    }
    columns = [one for one in OPTIONS if one.key not in _IN_TERMINAL and of_use.get(one.key, True)]
    asked = asked_sentence(view.inputs.request)
    note = "Time is at mean rates, up to the time if it ran entirely at peak rates; leaders are preferred leaders."
    if has_waves:
        note = (
            "Times are at mean rates: in waves as scheduled; copying alone with everything started at once. Leaders "
            "are preferred leaders."
        )
    if len(throttles) == 1:
        is_automatic = any(facts["is_throttle_automatic"] for facts in view.schedules.values())
        automatic = ", in waves the largest that leaves headroom" if is_automatic else ""
        note += f" Throttle: {format_throttle(throttles.pop())} for each broker and direction{automatic}."
    if len(listed) < len(view.options):
        note += f" {len(listed):,} of {plural(len(view.options), 'option')} are listed."
    return {
        "asked": asked,
        "throttles": _throttles(view) if len(throttles) > 1 else None,
        "table": table("All options", columns, [_row(view, option) for option in listed], note=note),
        "charts": [_chart(view, drawn)] if any(option.figures["moved_bytes"] for option in drawn) else [],
    }


def _throttles(view: ChangePage) -> dict[str, Any]:
    """Set the throttles of the option that is spoken of side by side."""
    caption = f"Throttles for {plural(view.nearest.broker_count, 'broker')} with {view.nearest.placer}"
    rows = []
    same = [option for option in view.options if option.is_same_placement(view.nearest) and not option.is_refused]
    for option in sorted(same, key=lambda option: float(option.figures["throttle_bytes_per_second"])):
        figures, schedule = option.figures, view.schedules.get(option.scenario_id)
        row = {
            "throttle": figures["throttle_bytes_per_second"],
            "verdict": badge_of(view, option),
            "wave_count": None,
            "takes": None,
            "alone": (figures["duration_seconds"], figures["duration_peak_seconds"]),
            "smallest": figures["smallest_throttle_bytes_per_second"],
        }
        if schedule is not None and schedule["wave_count"]:
            row["wave_count"] = schedule["wave_count"]
            row["takes"] = tuple(schedule[f"total_{band}_seconds"] for band in BAND)
            row["smallest"] = schedule["smallest_throttle_expected_bytes_per_second"]
        rows.append(row)
    note = (
        "Time in waves is the expected time, in brackets the range from no writes to peak rates throughout; copying "
        "alone is at mean and at peak rates."
    )
    if not view.rate_history_hours:
        return table(caption, [one for one in _THROTTLES if one.key != "smallest"], rows, note=note)
    note += (
        " The move finishes with any throttle larger than the one under Finishes above; with a dash there no throttle "
        "helps."
    )
    return table(caption, _THROTTLES, rows, note=note)


def badge_of(view: ChangePage, option: Option) -> str:
    """Return the name of the badge of an option of the page."""
    return option_verdict(option, view.verdict(option), is_recommended=option is view.recommended)


def option_verdict(option: Option, decided: Mapping[str, Any], *, is_recommended: bool) -> str:
    """Return the name of the badge of an option, as it was decided."""
    status = str(decided["status"])
    if is_recommended and status == Status.NOT_JUDGED:
        return "recommended_unjudged"
    if status == Status.DOES_NOT_FIT and option.fits:
        return "fits_today"  # too small according to sizing, which counts peaks and failures
    if status != Status.FITS or not is_recommended:
        return status
    return "recommended_now" if decided["lasts"] == "until" else "recommended"


def _lasts(view: ChangePage, option: Option) -> str | None:
    """Describe until when an option lasts, where sizing says that this is before the horizon."""
    decided = view.verdict(option)
    if not option.fits:
        return None
    if decided["lasts"] == "not-today":
        return "According to sizing, at peak and with failures, this is already too few brokers today."
    return f"According to sizing it lasts until {decided['until']}." if decided["until"] else None


_AMOUNTS = frozenset(
    {"moved_bytes", "share", "lower_bound_bytes", "gap_ratio", "balance", "takes", "in_waves", "alone", "duration"}
)
"""What is not known of an option where no size is."""


def option_cells(
    columns: Sequence[Column], option: Option, verdict: str, schedule: Facts, *, has_no_sizes: bool
) -> dict[str, Any]:
    """Return the cells of an option, empty where its bytes are not known."""
    found = cells(columns, option, verdict, schedule)
    return {key: None if has_no_sizes and key in _AMOUNTS else value for key, value in found.items()}


def _row(view: ChangePage, option: Option) -> dict[str, Any]:
    return {
        **option_cells(
            OPTIONS,
            option,
            badge_of(view, option),
            view.schedules.get(option.scenario_id),
            has_no_sizes=view.has_no_sizes,
        ),
        NOTE: " ".join(filter(None, (_note(option), _lasts(view, option)))) or None,
        **({REASON: capitalised(str(option.excuses[0]["reason"]))} if option.excuses else {}),
    }


def _note(option: Option) -> str | None:
    if option.excuses:
        return capitalised(first_reason(option.excuses)) + "."
    if option.standing:
        return f"{capitalised(standing_sentence(option.standing))}."
    return draws_note(option)


def draws_note(option: Option) -> str | None:
    """Describe the range of what a placer copies that draws at random; ``None`` for any other."""
    figures = option.figures
    if option.is_refused or figures["seeds_tried"] <= 1 or not figures["moved_bytes_high"]:
        return None
    return f"Median of {plural(figures['seeds_tried'], 'draw')}: {option.drawn_bytes_text}."


def _chart(view: ChangePage, drawn: list[Option]) -> dict[str, Any]:
    kept = sorted(drawn, key=lambda option: option is not view.nearest)[:MAX_BARS]
    bars = [_bar(view, option) for option in drawn if option in kept]
    left_out = f" {len(bars)} of {len(drawn):,} options are shown." if len(bars) < len(drawn) else ""
    return chart(
        "moved-by-option",
        "moved_by_option",
        title="Bytes to copy, by option",
        description="Bar chart of the bytes that each option copies: "
        + "; ".join(f"{bar['label']}: {format_bytes(bar['moved_bytes'])}" for bar in bars)
        + ".",
        values=bars,
        data_table=table(
            "Bytes to copy, by option",
            (
                column("label", "Option"),
                column("moved_bytes", "To copy", "bytes"),
                column("bound_bytes", "Minimum", "bytes"),
                column("low_bytes", "Min of the draws", "bytes"),
                column("high_bytes", "Max of the draws", "bytes"),
            ),
            bars,
        ),
        note="Bars of options that do not fit are grey. The vertical mark is the minimum for any plan as even "
        "on every broker; the thin line is the range over all draws of a placer that shuffles." + left_out,
        is_in_email=True,
    )


def _bar(view: ChangePage, option: Option) -> dict[str, Any]:
    figures = option.figures
    kind = "recommended" if option is view.recommended else str(view.verdict(option)["status"]).replace("_", " ")
    _, _, words = verdict_badge(badge_of(view, option))
    return {
        "label": f"{option.label} ({words[0].lower()}{words[1:]})",
        "kind": kind,
        "moved_bytes": figures["moved_bytes"],
        "bound_bytes": figures["lower_bound_bytes"],
        "low_bytes": figures["moved_bytes_low"],
        "high_bytes": figures["moved_bytes_high"],
    }
