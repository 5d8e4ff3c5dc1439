"""How the move stands to sizing: the one is judged today, the other for the months to come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafka_capacity.hardware.shapes import TODAY
from kafka_capacity.health.check import RESOLVED, ListedProblem
from kafka_capacity.health.problem import OVER_LIMIT, Problem, info, serious
from kafka_capacity.questions.answer import Action, Status, StepVerb
from kafka_capacity.questions.capacity.decide import count_sentence
from kafka_capacity.questions.capacity.option_words import move_parameters, until_words
from kafka_capacity.questions.capacity.results import OptionKind
from kafka_capacity.questions.capacity.sizing_view import SizingView, is_unknown, removed_brokers
from kafka_capacity.questions.change.change_view import ChangeView, unknown_words
from kafka_capacity.questions.change.choice import counts_by_fit
from kafka_capacity.text import format_month, listed, plural
from kafka_capacity.text.wording import named_brokers

_COUNTS_NAMED = 6  # broker counts of the move that are named; of more the first


def relation_of(view: ChangeView, sizing: SizingView, request: Mapping[str, Any]) -> tuple[str, Problem | None]:
    """Return how the move stands to the months to come, and the problem where it goes to another count than needed."""
    sentence = (
        f"The move is judged at today’s sizes and rates, among {_counts(view, request)}; the answer above is for "
        f"peaks up to {format_month(sizing.horizon)}, failures included."
    )
    count, needed = view.nearest.broker_count, sizing.steps[0].option if sizing.steps else None
    if needed is None:
        return sentence, None
    today, wanted = sizing.today, int(needed["broker_count"])
    asked = listed([f"{name} {value}" for name, value in move_parameters(needed).items()])
    # Where the request has racks for new brokers, the move brings those.
    new_racks = 0 if request.get("new_broker_racks") else needed["extra_racks"]
    where = f" in {plural(new_racks, 'new rack')}" if new_racks else ""
    remedy = f"plan the move to {wanted:,}{where} with {asked}"
    again = f"A run with {asked} plans the move to {wanted:,}{where}."
    if needed["shape"] != today["shape"]:
        onto = f" It moves replicas on today’s hardware, not onto {needed['shape']}."
        return sentence + (onto if view.recommended else ""), None
    if view.recommended is None:
        if not where and wanted in {one.broker_count for one in view.options}:
            return sentence, None
        other = f"No planned move fits, and none goes to the {wanted:,} brokers{where} that are needed now"
        return f"{sentence} {other}. {again}", serious("other-count", plural(count, "broker"), other, remedy)
    if weaker := sorted({*removed_brokers(needed)} - {*sizing.removed_brokers}):
        names = named_brokers(weaker)
        other = f"The move keeps {names}, which sizing does without"
        problem = serious("other-count", names, other, f"plan the move to {wanted:,} without {names} with {asked}")
        return f"{sentence} {other}.", problem
    if where:
        other = f"The move keeps to other racks than the {wanted:,} brokers{where} that are needed now"
        return f"{sentence} {other}. {again}", serious("other-count", plural(count, "broker"), other, remedy)
    _, failing = counts_by_fit(view.options)
    if today["shape"] != TODAY and today["broker_count"] in failing and today["fits_until"]:
        sentence += (
            f" For the move {plural(today['broker_count'], 'broker')} do not fit, because it uses the disks and "
            f"networks in the inventory; the answer above uses those of {today['shape']}."
        )
    is_moved = view.recommended.is_moved
    if goes := _where_needed(view, sizing, is_moved=is_moved):
        return f"{sentence} It goes to {goes}.", None
    other = f"It goes to {plural(count, 'broker')}, not to the {wanted:,} that are needed now: "
    other += count_sentence(sizing, count, is_moved=is_moved)
    if wanted in failing:
        return f"{sentence} {other}; at today’s sizes no option with {wanted:,} fits.", None
    make = serious if wanted > count else info
    message = other.replace("It goes", "The move goes", 1)
    problem = make("other-count", plural(count, "broker"), message, remedy)
    return f"{sentence} {other}. {again}", problem


def _where_needed(view: ChangeView, sizing: SizingView, *, is_moved: bool) -> str:
    """Return to what count a move goes and how long that lasts; nothing where more or fewer are needed now."""
    count, needed = view.nearest.broker_count, sizing.steps[0].option
    if count == needed["broker_count"]:
        how, until = lasts_until(sizing, count, is_moved=is_moved)
        if how == "not-today":
            return f"{plural(count, 'broker')}: {count_sentence(sizing, count, is_moved=is_moved)}"
        # Where nothing is moved, a rebalance that is due later makes today's brokers last no longer.
        lasts = until_words(sizing, until if is_moved else sizing.steps[0].until) + _once_back(view)
        return f"the {count:,} that are needed now, which last {lasts}"
    if (due := sizing.due_soon) is not None and count == due.option["broker_count"]:
        lasts = until_words(sizing, due.until) + _once_back(view)
        return f"the {count:,} that are needed by {due.from_day}, which last {lasts}"
    if needed["kind"] in (OptionKind.DO_NOTHING, OptionKind.SHRINK_VOLUMES):
        enough = until_words(sizing, sizing.steps[0].until)
        return f"{plural(count, 'broker')}; today’s {needed['broker_count']:,} last {enough}"
    return ""


def _once_back(view: ChangeView) -> str:
    """Say that brokers which are down count as back in sizing, and that the move leaves with them what they hold."""
    down = [one for one in view.fenced_broker_ids if one in view.nearest.broker_ids]
    if not down:
        return ""
    are, hold = ("is", "it holds") if len(down) == 1 else ("are", "they hold")
    return f" once {named_brokers(down)} {are} back and another move has spread what {hold}"


def why_not_approved(view: ChangeView, sizing: SizingView | None, problems: Iterable[ListedProblem]) -> str:
    """Say why nothing is to be approved yet, a clause: nobody knows whether the broker count is needed, or enough.

    Empty where somebody does.
    More brokers are needed for what is over its limit today and no longer after the move, whatever else is unknown.
    """
    if view.is_unsound:
        return "the inventory is inconsistent"
    option, today = view.recommended, view.observed_broker_count
    if option is None or option.broker_count == today or not (sizing is None or sizing.is_unknown):
        return ""
    if view.status(option) is not Status.NOT_JUDGED:
        return ""
    more = option.broker_count - today
    if more > 0 and any(one.problem.code in OVER_LIMIT and one.then == RESOLVED for one in problems):
        return ""
    if more > 0:
        what = f"{plural(more, 'more broker')} {'is' if more == 1 else 'are'} needed"
    else:
        what = f"{plural(option.broker_count, 'broker')} {'is' if option.broker_count == 1 else 'are'} enough"
    return f"whether {what} is not judged, because {unknown_words(view.unknown(option))}"


def _counts(view: ChangeView, request: Mapping[str, Any]) -> str:
    fitting, failing = counts_by_fit(view.options)
    tried = sorted([*fitting, *failing])
    shown = ", ".join(f"{count:,}" for count in tried[:_COUNTS_NAMED]) + (", …" if tried[_COUNTS_NAMED:] else "")
    if request.get("broker_counts"):
        return f"the requested counts ({shown})"
    if any(request.get(name) for name in ("removed_brokers", "replaced_brokers", "rack_names")):
        return f"the requested brokers ({shown})"
    return f"the default counts ({shown})"


def lasts_until(sizing: SizingView | None, count: int, *, is_moved: bool) -> tuple[str, str | None]:
    """Return whether a count lasts (``horizon``, ``until``, ``not-today``, ``not-judged``), and until which day.

    ``is_moved`` is whether replicas move on the way to it.
    """
    row: Mapping[str, Any] | None = None if sizing is None else sizing.of_count(count, is_moved=is_moved)
    if sizing is None or row is None:
        return "not-judged", None
    if row["fits"]:
        return "horizon", None
    if row["fits_until"] is None:
        return "not-judged" if is_unknown(row) else "not-today", None
    return "until", sizing.until(row)


def missing_of(sizing: SizingView | None, count: int) -> Sequence[str]:
    """Return what is not known of the hardware, which is so for every count of it."""
    if sizing is None:
        return ()
    missing: Sequence[str] = (sizing.of_count(count) or sizing.nearest)["not_judged"]
    return missing


def is_done_by(view: ChangeView, action: Action, other: Problem | None) -> bool:
    """Return whether the recommended move is what a step of sizing asks for: what is due now, or a later rebalance.

    It is not where it goes to another count than needed, the problem, nor where nothing has to move.
    """
    option = view.recommended
    if option is None or not option.figures["changed_partitions"]:
        return False
    is_due = action.code == "brokers" and action.by is None and other is None
    return is_due or action.about == StepVerb.REBALANCE.about(option.broker_count)
