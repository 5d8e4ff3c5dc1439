"""What a plan says about sizing, read from its tables and its document."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.demand.calendar_days import days_between, days_later
from kafka_capacity.demand.workload import PeakBasis
from kafka_capacity.hardware.limits import RESOURCES
from kafka_capacity.proposal.constraints.registry import BROKER_MAXIMA
from kafka_capacity.questions.answer import Status, unknown_traffic
from kafka_capacity.questions.capacity.cost import DAYS_A_MONTH
from kafka_capacity.questions.capacity.results import (
    OptionKind,
    is_refused,
    nearness,
    speaks_of_unknowns,
)

Row = Mapping[str, Any]

_MAXIMA = frozenset(one.name for one in BROKER_MAXIMA.values())

STEPS_NAMED = 4  # steps to the horizon that sentences name one by one
SOON_DAYS = 28  # what is due within four weekly reports is approved now: brokers have to be ordered and started
NEAR_DAYS = 35  # so far ahead a month says too little, and the day is named


def family_of(row: Row) -> tuple[Any, ...]:
    """Return :attr:`CapacityOption.family` of the option of a row."""
    return row["shape"], row["extra_racks"], row["replication_factor"], removed_brokers(row)


def removed_brokers(row: Row) -> tuple[int, ...]:
    """Return which of today's brokers an option does without; plans of earlier versions know of none."""
    return tuple(row.get("removed_brokers") or ())


def is_alike(row: Row, other: Row) -> bool:
    """Return whether two options differ in their number of brokers only."""
    return family_of(row) == family_of(other)


def is_unknown(row: Row) -> bool:
    """Return whether an option neither fits nor fails, because something is not known."""
    return speaks_of_unknowns([excuse["constraint"] for excuse in row["excuses"]])


def is_unplaced(row: Row) -> bool:
    """Return whether Kafka would refuse an option's placement."""
    return is_refused([excuse["constraint"] for excuse in row["excuses"]], row["headroom_ratio"])


def is_soon(day: str, today: str) -> bool:
    """Return whether what is due on a day has to be approved by now."""
    return days_between(today, day) <= SOON_DAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One count of brokers on the way to the horizon."""

    option: Row  # the row of `sizing_options`
    from_day: str  # when it is needed, because the step before runs out; the first day for now
    until: str | None  # the last day on which it does, the one before it runs out itself; `None` for beyond the horizon
    resource: str | None  # of which; `None` likewise, and where a planned topic asks for more brokers
    usd_per_month: float | None  # what a month costs when it begins; `None` where that is not known
    more_usd_per_month: float | None  # how much that is more than the step before costs then, or doing nothing today

    def as_dict(self) -> dict[str, Any]:
        """Return what it takes by when as plain data."""
        named = {name: self.option[name] for name in ("option_id", "broker_count")}
        return {**named, "from_day": self.from_day, "until": self.until, "resource": self.resource}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SizingView:
    """The options, what is recommended, and when each runs out."""

    options: tuple[Row, ...]  # rows of `sizing_options` in the order tried, `excuses` as lists
    exhaustion: Mapping[str, Mapping[str, Row]]  # by option and resource, the rows of `sizing_exhaustion`
    use: pa.Table  # `sizing_use`
    document: Mapping[str, Any]  # what `sizing.json` says
    estimate: str  # which one decides, `high` or `middle`
    steps: tuple[Step, ...] = ()  # brokers of the recommended hardware on the way to the horizon

    @property
    def dates(self) -> Sequence[str]:
        """The days that are judged, ascending."""
        return list(self.document["dates"])

    @property
    def horizon(self) -> str:
        """The last of them."""
        return self.dates[-1]

    @property
    def today(self) -> Row:
        """Doing nothing."""
        return next(row for row in self.options if row["kind"] == "do-nothing")

    @property
    def why_none_placed(self) -> str | None:
        """Why Kafka would refuse every placement but today's; ``None`` where it takes one."""
        others = [row for row in self.options if row is not self.today]
        return str(others[-1]["excuses"][0]["reason"]) if others and all(map(is_unplaced, others)) else None

    @property
    def removed_brokers(self) -> tuple[int, ...]:
        """Which of today's brokers the request does without."""
        return tuple(self.document.get("removed_brokers") or ())

    @property
    def unknown_traffic(self) -> str | None:
        """The partitions of which no traffic is known, where they hold much of what is stored."""
        return unknown_traffic(self.document)

    @property
    def cheaper_elsewhere(self) -> Row | None:
        """Other hardware that fits for less than what is recommended at an estimated price."""
        return self.by_id(self.document["advice"].get("cheaper_elsewhere"))

    def is_as_far_as_known(self, option: Row) -> bool:
        """Return whether something that an option needs is not known, so that it may need more."""
        return bool(option["not_judged"]) or self.unknown_traffic is not None

    def status(self, option: Row) -> Status:
        """Return the verdict on an option up to the horizon."""
        if option["fits"]:
            return Status.NOT_JUDGED if self.is_as_far_as_known(option) else Status.FITS
        return Status.NOT_JUDGED if is_unknown(option) else Status.DOES_NOT_FIT

    def is_own(self, row: Row) -> bool:
        """Return whether an option is so many of today's brokers, or what the request makes of them, and nothing else.

        That is without those that the request does without, and with the replication factor of the planned move.
        """
        shape, racks, *_ = family_of(self.today)
        return family_of(row) == (shape, racks, self.document.get("moved_replication_factor"), self.removed_brokers)

    @property
    def recommended(self) -> Row | None:
        """What to do; ``None`` where nothing that was tried lasts."""
        return next((row for row in self.options if row["is_recommended"]), None)

    @property
    def nearest(self) -> Row:
        """The recommended option, else the one closest to fitting, of equals the cheapest, of these the first."""

        def rank(row: Row) -> tuple[Any, ...]:
            return nearness(row["excuses"], row["headroom_ratio"], row["total_usd_per_month"], row["broker_count"])

        return self.recommended or min(self.options, key=rank)

    @property
    def now(self) -> Row:
        """What figures of the first screen are about: what is needed now, else today's or the nearest option.

        Today's are spoken of where they last for a while and nothing but the budget is in the way of anything better.
        """
        if self.steps:
            return self.steps[0].option
        is_budget = self.nearest["fits"] and self.recommended is None
        return self.today if is_budget and self.today["fits_until"] else self.nearest

    @property
    def fits_today(self) -> bool:
        """Whether any option fits on the first day."""
        return any(self.lasts(row, self.dates[0]) for row in self.options)

    @property
    def is_unknown(self) -> bool:
        """Whether no count can be named, because something is not known."""
        return not self.steps and is_unknown(self.nearest)

    @property
    def budget_usd_per_month(self) -> float | None:
        """What an option may cost; ``None`` for as much as it does, and in plans of before there were budgets."""
        budget: float | None = self.document["advice"].get("budget_usd_per_month")
        return budget

    def usd_on(self, option: Row, day: str) -> float | None:
        """Return what a month of an option costs on a day of the outlook; ``None`` where that is not known."""
        by_date = option.get("by_date_usd_per_month")
        if not by_date or None in by_date:
            return None
        days = [days_between(self.dates[0], date) for date in self.dates]
        return float(np.interp(days_between(self.dates[0], day), days, by_date))

    def usd_between(self, option: Row, first: str, last: str) -> float | None:
        """Return what an option costs from one day to another; ``None`` where that is not known."""
        days = sorted({first, last, *(date for date in self.dates if first < date < last)})
        usd = [self.usd_on(option, day) for day in days]
        known = [one for one in usd if one is not None]
        months = np.diff([days_between(first, day) for day in days]) / DAYS_A_MONTH
        return float(months @ (np.add(known[1:], known[:-1]) / 2)) if len(known) == len(usd) else None

    def by_id(self, option_id: str | None) -> Row | None:
        """Find an option."""
        return next((row for row in self.options if row["option_id"] == option_id), None)

    def until(self, option: Row) -> str | None:
        """Return the last day before an option passes a limit; ``None`` for beyond the horizon.

        This is the one date of an option that lasts: steps, tables and sentences show it.
        """
        passed_on = end_of(self, option)[0]
        return None if passed_on is None else days_later(passed_on, -1)

    def of_count(self, count: int, *, is_moved: bool = False) -> Row | None:
        """Return the option of so many brokers and nothing else changed: that of the steps, else what lasts longest.

        Where replicas move between today's brokers (``is_moved``) these are not as they are now any more.
        """
        rows = [row for row in self.options if row["broker_count"] == count and self.is_own(row)]
        if is_moved and any(row["kind"] == OptionKind.REBALANCE for row in rows):
            rows = [row for row in rows if row is not self.today]
        stepped = [step.option for step in self.steps if step.option in rows]

        def lasting(row: Row) -> tuple[bool, str, bool]:
            return row["fits"], row["fits_until"] or "", row is not self.today  # a move, too, is no longer as it is

        return max(stepped or rows, key=lasting, default=None)

    @property
    def due_soon(self) -> Step | None:
        """The step that brings more brokers within :data:`SOON_DAYS`, where today's do until then."""
        if len(self.steps) < 2 or self.steps[0].option is not self.today:
            return None
        step = self.steps[1]
        is_more = int(step.option["broker_count"]) > int(self.today["broker_count"])
        return step if is_more and is_soon(step.from_day, self.dates[0]) else None

    @property
    def count_due(self) -> int | None:
        """How many brokers of today's hardware to approve now, needed now or soon; ``None`` where that is no answer."""
        for step in (self.due_soon, *self.steps[:1]):
            if step is not None and self.is_own(step.option):
                return int(step.option["broker_count"])
        return None

    @property
    def count_to_move_to(self) -> int | None:
        """The first count other than today's that is needed, now or later; ``None`` where that is no answer."""
        counts = [int(step.option["broker_count"]) for step in self.steps]
        other = (count for count in counts if count != self.today["broker_count"])
        return None if self.count_due is None else next(other, None)

    def use_of(self, option: Row, **wanted: str) -> pa.Table:
        """Return the rows of ``sizing_use`` of an option whose columns have the values that are wanted."""
        is_wanted = pc.field("option_id") == option["option_id"]
        for name, value in wanted.items():
            is_wanted &= pc.field(name) == value
        return self.use.filter(is_wanted)

    def lasts(self, option: Row, day: str) -> bool:
        """Return whether an option fits up to a day of the outlook."""
        return bool(option["fits"]) or (option["fits_until"] or "") >= day

    def worst_used(self, option: Row) -> Mapping[tuple[str, str, str], float]:
        """Return, by resource, date and estimate, the used share of the limit where it is largest.

        That is at whichever broker and condition; an option of which no details were kept has none.
        """
        rows = self.use_of(option).filter(pc.field("used_ratio").is_valid())
        found = rows.group_by(["resource", "date", "estimate"]).aggregate([("used_ratio", "max")])
        return {(row["resource"], row["date"], row["estimate"]): row["used_ratio_max"] for row in found.to_pylist()}

    def is_already_out(self, option: Row, resource: str, day: str | None, estimate: str = "") -> bool:
        """Return whether what passes a limit on a day is beyond it in the inventory itself.

        Else it passes in the course of the day of the inventory, or later. Where no details were kept, the day tells.
        """
        key = resource, self.dates[0], estimate or self.estimate
        return day == self.dates[0] and self.worst_used(option).get(key, math.inf) > 1.0

    def passed_maximum(self, option: Row) -> Row | None:
        """Return the excuse of a count that a request limits, such as of leaders, where an option is over it today."""
        return next((one for one in option["excuses"] if one["constraint"] in _MAXIMA), None)

    def runs_out(self, option: Row, estimate: str = "") -> Row | None:
        """Return the first resource that runs out at an estimate, of itself the one that decides; ``None`` if none."""
        at = estimate or self.estimate
        rows = [row for row in self.exhaustion.get(option["option_id"], {}).values() if row[at]]
        return min(rows, key=lambda row: (row[at], row["resource"]), default=None)


def has_no_rates(document: Mapping[str, Any]) -> bool:
    """Return whether sizing was tried on an inventory without rates: then it can answer nothing."""
    return document.get("peak_basis") == str(PeakBasis.UNKNOWN)


def end_of(view: SizingView, option: Row) -> tuple[str | None, str | None]:
    """Return when an option first passes a limit, and of which resource, where it is one of these."""
    out = view.runs_out(option)
    until, resource = (None, None) if out is None else (str(out[view.estimate]), str(out["resource"]))
    # A topic that is planned may ask for more brokers before any of their resources runs out.
    for excuse in option["excuses"]:
        when = excuse.get("when")
        if when and excuse["constraint"] not in RESOURCES and (until is None or when < until):
            until, resource = str(when), None
    return until, resource
