"""What a plan answers about savings: the best sets, what saves nothing and why, and what the decision box says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kafka_capacity.questions.answer import Answer
from kafka_capacity.questions.savings.actions import ActionKind
from kafka_capacity.text import capitalised, format_bytes, format_month, format_usd, listed, plural

Row = Mapping[str, Any]
_NAMED = 3  # actions that a sentence names
ALIKE_RATIO = 0.01  # what saves so little more than another set is not worth a greater effort
_NEVER = "9999-12-31"  # later than every day of an outlook
_NO_PRICE = "dollars are unknown without prices"


def by_effort(sets: Iterable[Row]) -> list[Row]:
    """Return sets, those of the least effort first."""
    return sorted(sets, key=lambda row: (row["effort"], row["set_id"]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SavingsView:
    """What was judged: rows of the tables."""

    actions: Mapping[str, Row]  # by their ids, in the order found
    sets: Sequence[Row]  # the first is nothing done
    dates: Sequence[Row]
    scope: Row

    @property
    def nothing(self) -> Row:
        """Nothing done, as sizing answers it."""
        return self.sets[0]

    @property
    def front(self) -> list[Row]:
        """The best sets, those of the least effort first."""
        return by_effort(row for row in self.sets if row["is_on_front"])

    @property
    def judged(self) -> list[Row]:
        """The actions that were judged alone."""
        return [row for row in self.actions.values() if row["saves_nothing"] is not None]

    @property
    def horizon(self) -> str:
        """The last date."""
        return max(str(row["date"]) for row in self.dates)

    def clause(self, found: Row, most: int = _NAMED) -> str:
        """Return what a set is, a clause that begins with a verb; what is done alike to several topics is said once.

        So many actions are named at most.
        """
        subjects: dict[str, tuple[list[str], set[str]]] = {}  # by what is done: those with a name, topics without
        for row in (self.actions[one] for one in found["actions"]):
            done = row["text"].replace(row["subject"], "{}", 1) if row["subject"] else row["text"]
            named, counted = subjects.setdefault(done, ([], set()))
            if row["subject"] == plural(len(row["topics"]), "topic"):
                counted.update(row["topics"])
            else:
                named.append(row["subject"])
        texts = [done.replace("{}", _together(named, len(counted)), 1) for done, (named, counted) in subjects.items()]
        more = len(texts) - most
        return listed([*texts[:most], f"take {plural(more, 'more action')}"] if more > 0 else texts)

    def saves(self, found: Row) -> str:
        """Return what a set saves, a clause without a subject."""
        brokers, usd = found["saved_brokers"], found["saved_usd_per_month"]
        parts = [f"up to {plural(brokers, 'broker')}"] if brokers else []
        if usd is not None and (usd >= 1 or not parts):
            parts.append(self.month(found, found["known_until"] or self.horizon))
        saves = f"saves {listed(parts)}" if parts else "saves nothing"
        if not self.makes_last(found):
            return saves
        count = found["broker_count_at_horizon"]
        lasts = f"makes {plural(count, 'broker')} last up to {self.horizon}, which without it nothing does"
        return f"{lasts}, and {saves}" if usd is not None and usd >= 1 else lasts

    def month(self, found: Row, until: str | None) -> str:
        """Return the dollars that a set saves per month, and over what time that is the average."""
        over = "on average" + (f" until {format_month(until)}" if until else "")
        when = "at today’s size" if until == min(str(row["date"]) for row in self.dates) else over
        estimate = ", estimated" if found["is_estimate"] else ""
        return f"{format_usd(found['saved_usd_per_month'])} per month {when}{estimate}"

    def makes_last(self, found: Row) -> bool:
        """Return whether something lasts up to the horizon with a set, and nothing without."""
        return self.nothing["broker_count_at_horizon"] is None and found["broker_count_at_horizon"] is not None

    @property
    def first_need(self) -> str | None:
        """The first day on which more brokers are needed than there are, or date on which no number is enough."""
        without = (row for row in self.dates if row["set_id"] == self.nothing["set_id"])
        ends = [row["date"] for row in without if row["broker_count"] is None]
        return min(filter(None, [self.nothing["first_purchase"], *ends]), default=None)


def read_savings(tables: Mapping[str, pa.Table]) -> SavingsView:
    """Read what was stored."""
    (scope,) = tables["savings_scope"].to_pylist()
    return SavingsView(
        actions={row["action_id"]: row for row in tables["savings_actions"].to_pylist()},
        sets=tables["savings_sets"].to_pylist(),
        dates=tables["savings_dates"].to_pylist(),
        scope=scope,
    )


def decide_savings(tables: Mapping[str, pa.Table]) -> Answer:
    """Return the answer that the tables hold; its details are the line of the decision box, ``None`` for none."""
    view = read_savings(tables)
    if view.nothing["broker_count_now"] is None:
        headline = "Alternatives to buying cannot be evaluated: no option is known to fit today, whatever it costs."
        return Answer(headline=headline, reasons=tuple(view.scope["notes"]))
    return Answer(headline=_headline(view), reasons=tuple(_reasons(view)), details=instead(view))


def _headline(view: SavingsView) -> str:
    if not view.actions:
        return "No alternatives to buying were found."
    best = answered(view)
    if best is None:
        tried = plural(view.scope["sets_tried"], "set")
        is_priced = any(row["saved_usd_per_month"] is not None for row in view.sets)
        none = "none saves a broker or a dollar" if is_priced else f"none saves a broker, and {_NO_PRICE}"
        return f"{tried} of actions evaluated: {none}."
    return _that_saves(view, best)


def _that_saves(view: SavingsView, found: Row) -> str:
    clause = view.clause(found)
    return f"{capitalised(clause)}: that {view.saves(found)}{_as_far_as_known(found)}."


def _as_far_as_known(found: Row) -> str:
    if not (unknown := found.get("unknown")):  # plans of model version 24 and before do not say
        return ""
    return f"; as far as known, since {listed(unknown)} {'was' if len(unknown) == 1 else 'were'} not judged"


def _reasons(view: SavingsView) -> list[str]:
    useless = [row for row in view.judged if row["saves_nothing"]]
    found = []
    best = answered(view)
    if best is not None and _saves_more(view.front[-1], best):
        of = "Another set" if view.scope["is_exhaustive"] else "Another of the sets evaluated"
        found.append(f"{of} saves the most. {_that_saves(view, view.front[-1])}")
    if useless:
        count = len(useless)
        looks = "looks like a saving but saves" if count == 1 else "look like savings but save"
        first = f"{capitalised(useless[0]['text'])}: that {because(useless[0])}"
        found.append(f"{count:,} of {plural(len(view.judged), 'action')} {looks} nothing alone. {first}")
    left = len(view.actions) - len(view.judged)
    tried = view.scope["sets_tried"]
    how = "all possible ones" if view.scope["is_exhaustive"] else "not all possible ones"
    judged = f"{plural(tried, 'set')} of actions {_was(tried)} evaluated, {how}, each by sizing the cluster again"
    found.append(f"{judged}; {plural(left, 'more action')} {_was(left)} not evaluated." if left else f"{judged}.")
    return [*found, *view.scope["notes"]]


def _together(named: Sequence[str], counted: int) -> str:
    """Name what something is done to: what has a name first, then how many topics have none.

    >>> _together(["clicks.*", "logs.*"], 32), _together([], 1)
    ('clicks.*, logs.* and 32 other topics', '1 topic')
    """
    return listed([*named, *([plural(counted, "other topic" if named else "topic")] if counted else [])])


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def because(action: Row) -> str:
    """Return why an action saves nothing, with the figure of what stands in the way, a clause without a subject."""
    freed, why = action["freed_bytes"], action["because"]
    usd = action["saved_usd_per_month"]
    nothing = "saves nothing" if usd is not None else f"saves no broker, and {_NO_PRICE}"
    if usd is not None and usd <= -1:
        nothing = f"costs {format_usd(-usd)} more per month"
    frees = f"frees {format_bytes(freed)} and {nothing}" if freed else nothing
    if action["kind"] in (ActionKind.SHAPE, ActionKind.VOLUMES):
        return f"{frees}: no number of brokers that fits costs less with it."
    if not why:
        return f"{frees}; fewer brokers were not tried."
    # What costs more with as many brokers does so by what is stored elsewhere, or where replicas are then.
    is_dearer = usd is not None and usd <= -1 and not action["saved_brokers"]
    return f"{frees}: it saves no broker, because {why}." if is_dearer else f"{frees}, because {why}."


def offered(view: SavingsView) -> Row | None:
    """Return the set that is offered instead of buying; ``None`` where nothing avoids or postpones that."""
    first = view.first_need
    if first is None:
        return None
    candidates = [
        row
        for row in view.sets[1:]
        if row["broker_count_now"] is not None
        and not any(view.actions[one]["kind"] == ActionKind.SHAPE for one in row["actions"])
        and (row["first_purchase"] or _NEVER) > first
        # Where nothing lasts to the horizon, no purchase is none that is known of.
        and (
            row["broker_count_at_horizon"] is not None
            or (view.nothing["broker_count_at_horizon"] is None and row["first_purchase"] is not None)
        )
        and (view.makes_last(row) or row["saved_usd_per_month"] is None or row["saved_usd_per_month"] > 0)
    ]
    latest = max((row["first_purchase"] or _NEVER for row in candidates if row["is_on_front"]), default=None)
    if latest is None:
        return None
    # One that saves less than another of less effort may still be the least effort for so long.
    last = [row for row in candidates if (row["first_purchase"] or _NEVER) >= latest]
    return min(last, key=lambda row: (row["effort"], -(row["saved_usd_per_month"] or 0.0), row["set_id"]))


def answered(view: SavingsView) -> Row | None:
    """Return the set that is the answer, ``None`` for none: what is offered instead of buying, else what saves most.

    Of sets that save about as much it is the one of the least effort.
    """
    return offered(view) or next((row for row in view.front if not _saves_more(view.front[-1], row)), None)


def _saves_more(found: Row, than: Row) -> bool:
    usd, less = found["saved_usd_per_month"], than["saved_usd_per_month"]
    if found["saved_brokers"] > than["saved_brokers"] or usd is None or less is None:
        return bool(found["set_id"] != than["set_id"])
    return bool(usd * (1 - ALIKE_RATIO) > less)


def instead(view: SavingsView) -> str | None:
    """Return what the decision box offers instead of buying, if anything."""
    best = offered(view)
    if best is None:
        return None
    until = f"before {best['first_purchase']}" if best["first_purchase"] else f"up to {view.horizon}"
    clause, usd = view.clause(best), best["saved_usd_per_month"]
    saved = plural(best["saved_brokers"], "broker") if best["saved_brokers"] else None
    if usd is not None and usd >= 1:
        saved = view.month(best, best["known_until"])
    if best["broker_count_now"] < view.scope["brokers_today"]:
        clause += f", go down to {plural(best['broker_count_now'], 'broker')}"
    saves = f"; saves {saved}" if saved else ""
    return f"{capitalised(clause)}, and buy no brokers {until}{saves}{_as_far_as_known(best)}."
