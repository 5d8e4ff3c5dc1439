"""What a plan answers about sizing: how many brokers now and by when, until when today's last, what is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_capacity.hardware.limits import RESOURCES, resource_name
from kafka_capacity.health.problem import Problem, info, serious, warning
from kafka_capacity.proposal.constraints.moves import no_throttle_helps
from kafka_capacity.questions.answer import Action, Answer, KeyFigure, Status, StepVerb
from kafka_capacity.questions.capacity.approval import assumed_ratio
from kafka_capacity.questions.capacity.cost_words import (
    cheaper_phrase,
    cost_sentence,
    month_words,
    price_wanted,
    todays_usd,
)
from kafka_capacity.questions.capacity.option_words import (
    CONDITION_WORDS,
    option_name,
    run_verb,
    tightest_phrase,
)
from kafka_capacity.questions.capacity.results import OptionKind
from kafka_capacity.questions.capacity.sizing_steps import mean_usd_per_month
from kafka_capacity.questions.capacity.sizing_view import Row, SizingView, has_no_rates, is_unknown
from kafka_capacity.questions.capacity.sizing_words import (
    badge,
    headline,
    later_steps,
    not_judged_sentence,
    rise_sentence,
    silence_sentence,
)
from kafka_capacity.text import format_month, format_percent, format_throttle_above, format_usd, listed, plural

SINGLE_REPLICAS = "single-replicas"  # partitions with one, today or planned, where a loss must be tolerated


def decide_capacity(view: SizingView | None, document: Mapping[str, Any]) -> Answer | None:
    """Return the answer; ``None`` for a plan that says nothing of sizing, whose document is empty."""
    if view is None:
        return _without_rates() if has_no_rates(document) else None
    now = view.steps[0].option if view.steps else view.nearest
    status = Status.NOT_JUDGED if view.is_as_far_as_known(now) or view.is_unknown else Status.FITS
    return Answer(
        status=status if view.steps or view.is_unknown else Status.DOES_NOT_FIT,
        headline=headline(view),
        badge=badge(view),
        reasons=() if view.nearest["total_usd_per_month"] is None else (cost_sentence(view),),
        problems=_problems(view),
        figures=key_figures(view),
        actions=_actions(view),
        unknown=(
            *(resource_name(one) for one in now["not_judged"]),
            *([view.unknown_traffic] if view.unknown_traffic is not None else []),
        ),
    )


def _without_rates() -> Answer:
    message = "Broker needs cannot be determined: no rates above 0 are known"
    problem = serious("sizing-without-rates", "the inventory", message, "stage an inventory with metrics")
    return Answer(status=Status.NOT_JUDGED, problems=(problem,), unknown=("traffic",))


def _problems(view: SizingView) -> list[Problem]:
    found = []
    missing = not_judged_sentence(view.nearest)
    if missing is not None:
        found.append(serious("resource-not-judged", "the brokers", missing.removesuffix(".")))
    step = view.steps[0].option if view.steps else None
    if step is not None and step["change_seconds"] is None and step["least_throttle_bytes_per_second"] != 0:
        least = step["least_throttle_bytes_per_second"]
        message, remedy = f"copying for {option_name(step)} never finishes", ""
        if least is None:
            message += f": {no_throttle_helps()}"
        else:
            message += " at the throttle of the request"
            remedy = f"raise the throttle above {format_throttle_above(least)}"
        found.append(serious("copying-never-finishes", option_name(step), message, remedy))
    # A plan from before these were looked for does not tell.
    single = view.document.get("single_replicas")
    if single is not None and view.nearest["replication_factor"] in (None, 1):
        reason = str(single["reason"]).removesuffix(".")
        found.append(serious(SINGLE_REPLICAS, "the topics", reason, partitions=int(single["partitions"])))
    silence = silence_sentence(view.document)
    if silence:
        remedy = "check where the metrics come from, and stage again"
        found.append(serious("no-traffic", "the history", silence.removesuffix("."), remedy))
    if rise := rise_sentence(view.document):
        remedy = "plan again in a week, or now with a growth rate if it is to stay"
        found.append(warning("traffic-risen", "the history", rise.removesuffix("."), remedy))
    assumed = assumed_ratio(view)
    if assumed:
        share = "all" if assumed == 1.0 else f"{format_percent(assumed)} of the"
        text = (
            f"Growth is assumed, not forecast, for {share} partitions: the months ahead are only as good as that "
            "assumption"
        )
        found.append(info("growth-assumed", "the forecast", text))
    return found


def _actions(view: SizingView) -> list[Action]:
    """Return a step of brokers each, but for keeping today's."""
    found = []
    for place, step in enumerate(view.steps):
        if step.option is view.today:
            continue
        usd = step.usd_per_month
        name = option_name(step.option)
        about, text = f"{StepVerb.HAVE} {name}", f"Have {name}"
        kind = step.option["kind"]
        is_shrunk = kind == OptionKind.SHRINK_VOLUMES
        if is_shrunk:
            about, text = "replace the volumes", f"Replace the volumes with smaller ones, {name.partition(' (')[0]}"
        elif kind == OptionKind.REBALANCE:
            about, text = StepVerb.REBALANCE.about(step.option["broker_count"]), f"Rebalance the {name}"
        if place:
            before = view.steps[place - 1]
            why = f"run out of {resource_name(before.resource)}" if before.resource else "are not enough"
            text += f": {before.option['broker_count']:,} {why} on {step.from_day}"
        found.append(
            Action(
                code="volumes" if is_shrunk else "brokers",
                about=about,
                text=f"{text}.",
                by=step.from_day if place else None,
                cost=None if usd is None else month_words(step.option, usd),
                broker_count=None if is_shrunk else step.option["broker_count"],
            )
        )
    return found


def count_sentence(view: SizingView, count: int, *, is_moved: bool = False) -> str:
    """Return what sizing says of a move to a count of today's hardware that is not the one it needs now."""
    row = view.of_count(count, is_moved=is_moved)
    if row is not None:
        return _lasting(view, row) + (" as well" if row["fits"] else "")
    tried = {int(one["broker_count"]) for one in view.options if view.is_own(one)}
    fewer, more = (one for one in tried if one < count), (one for one in tried if one > count)
    beside = [view.of_count(one) for one in (max(fewer, default=0), min(more, default=0))]
    known = ", and ".join(_lasting(view, one) for one in beside if one is not None)
    return f"sizing did not try {plural(count, 'broker')} of today’s hardware{f'; {known}' if known else ''}"


def _lasting(view: SizingView, row: Row) -> str:
    """Return how long an option of today's hardware lasts, or why it does not today."""
    count = int(row["broker_count"])
    if row["fits"]:
        return f"{count:,} {run_verb(count, 'fit')} up to {view.horizon}"
    if row["fits_until"] is not None:
        return f"{count:,} {run_verb(count, 'last')} only until {view.until(row) or row['fits_until']}"
    is_are = "is" if count == 1 else "are"
    return f"according to sizing, {count:,} {is_are} not enough today: {_todays(row['excuses'][0])}"


def _todays(excuse: Mapping[str, Any]) -> str:
    """Return why a limit is passed today; the reason of a resource has the figures of the horizon."""
    if excuse["constraint"] not in RESOURCES or not excuse.get("when"):
        return str(excuse["reason"])
    place, _, condition = str(excuse["where"]).partition(", ")
    when = f" with {CONDITION_WORDS[condition]}" if condition in CONDITION_WORDS else ""
    return f"{resource_name(excuse['constraint'])} of {place} is over its limit{when}"


_DEFINITIONS = {
    "brokers_now": "The brokers to have now: today's while they meet every limit, at peak and after losses, else the "
    "smallest number that does.",
    "runs_out": "The first day on which one of today's brokers exceeds a limit, at the deciding estimate.",
    "usd_per_month": "Machines, disks, rack traffic and ingest for the brokers needed now, on average up to the "
    "horizon.",
    "headroom_ratio": "What the limits leave at the tightest point up to the horizon, as a ratio of what they allow.",
}


def _figure(name: str, label: str, value: Any, unit: str, note: str) -> KeyFigure:
    return KeyFigure(name=name, label=label, value=value, unit=unit, note=note, definition=_DEFINITIONS[name])


def key_figures(view: SizingView) -> list[KeyFigure]:
    """Return the figures: brokers now and by when, when today's run out, what they cost, and what is left."""
    today, last = view.today, view.nearest
    now = view.now
    others = "" if now["shape"] == today["shape"] else f"of {now['shape']}; "
    label = "Brokers needed now" if view.steps else "Brokers today" if now is today else "Nearest option"
    then = f"; {listed(later_steps(view))}" if len(view.steps) > 1 else ""
    dollars = now["total_usd_per_month"]
    price = _figure("usd_per_month", "Cost per month", "not known", "text", price_wanted(now))
    if dollars is not None:
        estimated = ", estimated" if now.get("priced_as") else ""
        price = _figure("usd_per_month", f"US dollars per month{estimated}", dollars, "usd", _price_note(view, now))
    return [
        _figure("brokers_now", label, now["broker_count"], "count", f"{others}{today['broker_count']:,} today{then}"),
        _run_out_figure(view),
        price,
        _figure(
            "headroom_ratio",
            f"Headroom of {option_name(last)} until {format_month(view.horizon)}",
            last["headroom_ratio"],
            "percent",
            tightest_phrase(last) or "nothing was judged",
        ),
    ]


def _price_note(view: SizingView, option: Row) -> str:
    names = {"brokers": "machines", "disks": "disks", "between_racks": "traffic between racks", "ingest": "ingest"}
    parts = {name: option[f"{part}_usd_per_month"] for part, name in names.items()}
    parts_text = ", ".join(f"{name} {format_usd(value)}" for name, value in parts.items() if value)
    if (like := option.get("priced_as")) is not None:
        parts_text += f"; at the prices of {like}"
    return f"{_on_average(view)} with {option_name(option)}{_as_today(view, option)}; {parts_text}"


def cost_of_steps(view: SizingView) -> str | None:
    """Return what per month costs with the steps to the horizon, with the first alone and with today's brokers.

    Other hardware that would cost less than an estimate is named, with what has to be given to compare them.
    """
    option = view.now
    usd = option["total_usd_per_month"]
    if usd is None:
        return None
    with_it = f"with {option_name(option)}"
    mean = mean_usd_per_month(view) if len(view.steps) > 1 else None
    if mean is None:
        return f"{month_words(option, usd)} {_on_average(view)} {with_it}{_as_today(view, option)}{_elsewhere(view)}."
    alone = "" if option is view.today else " alone"
    every = f"{month_words(option, mean)} {_on_average(view)} with all steps"
    return f"{every}, {format_usd(usd)} {with_it}{alone}{_as_today(view, option)}{_elsewhere(view)}."


def _elsewhere(view: SizingView) -> str:
    cheaper = view.cheaper_elsewhere
    return "" if cheaper is None else f"; {cheaper_phrase(cheaper)}: {price_wanted(view.today)} to compare"


def _on_average(view: SizingView) -> str:
    return f"on average until {format_month(view.horizon)}"


def _as_today(view: SizingView, option: Row) -> str:
    if option is view.today or view.today["total_usd_per_month"] is None:
        return ""
    return f", {todays_usd(view, option)} with today’s {view.today['broker_count']:,}"


def _run_out_figure(view: SizingView) -> KeyFigure:
    count = view.today["broker_count"]
    label = f"Today’s {count:,} {run_verb(count, 'run')} out"
    if (maximum := view.passed_maximum(view.today)) is not None:
        return _figure("runs_out", label, "already", "text", str(maximum["reason"]))
    out = view.runs_out(view.today)
    if out is None:
        if not view.today["fits"]:
            excuse = view.today["excuses"][0]
            if is_unknown(view.today):
                return _figure("runs_out", label, "not known", "text", str(excuse["reason"]))
            when = "already" if view.today["fits_until"] is None else str(excuse.get("when") or "later")
            return _figure("runs_out", label, when, "text", str(excuse["reason"]))
        left = format_percent(view.today["headroom_ratio"])
        return _figure("runs_out", label, "not yet", "text", f"not before {view.horizon}, headroom {left}")
    day = str(out[view.estimate])
    where = "" if out["broker_id"] is None else f" of broker {out['broker_id']}"
    note = resource_name(out["resource"]) + where
    is_already = view.is_already_out(view.today, out["resource"], day)
    if view.estimate == "high" and not is_already:
        note += f"; at the middle estimate {out['middle'] or 'not before ' + view.horizon}"
    return _figure("runs_out", label, "already" if is_already else day, "text", note)
