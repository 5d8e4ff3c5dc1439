"""The options of a plan, and which of them to recommend.

Rule: of the options that fit, those that end within all limits before those that are no worse than today; of these the
smallest broker count; of those, a placer made for planning before Kafka's own ones (which place everything afresh and
are here to compare with); of those, the fewest bytes copied, then the shortest time.

Where none fits, the nearest is the one that breaks the fewest different constraints; of those a placer made for
planning, then the smallest shortfall (its worst ratio of needed to available), then the fewest brokers.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kafka_capacity.errors import RenderError
from kafka_capacity.report.failures import FailuresView, read_failures
from kafka_capacity.report.groups import GroupsView, read_groups
from kafka_capacity.report.inputs import ReportInputs
from kafka_capacity.report.sizing import SizingView, read_sizing
from kafka_capacity.report.waves import MoveView, read_move, read_schedules
from kafka_capacity.text import format_throttle, plural

BASELINE_PLACERS = frozenset({"generate", "striped", "zk", "modulo"})
"""Placers that know nothing of what is where, so that nobody would choose them to move less."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Option:
    """One scenario, as the report speaks of it.

    Attributes:
        scenario_id: unique in the plan.
        label: what people call it; unique too.
        placer: by its name.
        broker_count: of the target.
        broker_ids: of the target.
        fits: whether every constraint holds.
        excuses: the constraints that do not hold.
        standing: those that did not hold before either, where the change makes them no worse.
        figures: the whole row of ``scenarios``; metrics are ``None`` where Kafka would refuse the placement.
    """

    scenario_id: str
    label: str
    placer: str
    broker_count: int
    broker_ids: tuple[int, ...]
    fits: bool
    excuses: tuple[Mapping[str, Any], ...]
    standing: tuple[Mapping[str, Any], ...]
    figures: Mapping[str, Any]

    @property
    def verdict(self) -> str:
        """``fits``, ``no_worse`` than today though over limits, or ``no_fit``."""
        return ("no_worse" if self.standing else "fits") if self.fits else "no_fit"

    @property
    def is_refused(self) -> bool:
        """Whether Kafka itself would refuse it, so that there are no figures."""
        return self.figures["moved_bytes"] is None

    @property
    def is_baseline(self) -> bool:
        """Whether it is here to be compared with."""
        return self.placer in BASELINE_PLACERS

    @property
    def never_ends(self) -> bool:
        """Whether the move would never finish at its throttle."""
        return not self.is_refused and self.figures["duration_seconds"] is None

    @property
    def share_ratio(self) -> float | None:
        """What part of all replica bytes is copied."""
        total = self.figures["total_bytes"]
        return self.figures["moved_bytes"] / total if total else (None if self.is_refused else 0.0)

    def is_same_placement(self, other: Option) -> bool:
        """Tell whether another option is the same but for its throttle."""
        asked = ("target_broker_ids", "target_racks", "placer", "replication_factor")
        return all(self.figures[name] == other.figures[name] for name in asked)

    def is_same_change(self, other: Option) -> bool:
        """Tell whether another option asks for the same brokers and factor, under the same throttle."""
        asked = ("replication_factor", "throttle_bytes_per_second")
        return self.broker_ids == other.broker_ids and all(self.figures[a] == other.figures[a] for a in asked)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlanView:
    """A plan's inputs with the options read from them, and the choice between those.

    Attributes:
        inputs: what the report is made of.
        options: all of them, by broker count, then planning placers first, then bytes.
        recommended: the best that fits, ``None`` when none does.
        nearest: the option to speak of: the recommended one, else the one that is closest to fitting.
        groups: what the plan says of consumer groups; ``None`` where it says nothing.
        move: the option to speak of in waves; ``None`` where the plan has none for it.
        sizing: how many brokers by when; ``None`` where the plan says nothing of it.
        failures: what breaks; ``None`` where the plan says nothing of it.
    """

    inputs: ReportInputs
    options: tuple[Option, ...]
    recommended: Option | None
    nearest: Option
    groups: GroupsView | None = None
    move: MoveView | None = None
    sizing: SizingView | None = None
    failures: FailuresView | None = None

    @property
    def rate_history_hours(self) -> int:
        """How many hours of traffic the plan rests on."""
        return int(self.inputs.snapshot_facts.get("rate_history_hours") or 0)

    @property
    def observed_broker_count(self) -> int:
        """How many brokers there are today."""
        return int(self.inputs.snapshot_facts["broker_count"])

    @property
    def schedules(self) -> Mapping[str, Mapping[str, Any]]:
        """What is said of the schedule of each option that has one."""
        return read_schedules(self.inputs.tables)

    @property
    def generate(self) -> Option | None:
        """What ``--generate`` makes of the change that is spoken of, where it was tried."""
        found = [o for o in self.options if o.placer == "generate" and o.is_same_change(self.nearest)]
        return found[0] if found and not found[0].is_refused and self.nearest.placer != "generate" else None


def view_plan(inputs: ReportInputs) -> PlanView:
    """Read the options and choose.

    Raises:
        RenderError: the plan has no options.
    """
    options = read_options(inputs.tables["scenarios"])
    if not options:
        msg = f"plan {inputs.plan_id!r} has no scenarios, so there is nothing to report; evaluate at least one"
        raise RenderError(msg)
    recommended, nearest = choose(options)
    return PlanView(
        inputs=inputs,
        options=options,
        recommended=recommended,
        nearest=nearest,
        groups=read_groups(inputs),
        move=read_move(inputs.tables, nearest.scenario_id),
        sizing=read_sizing(inputs),
        failures=read_failures(inputs, nearest.scenario_id),
    )


def choose(options: Sequence[Option]) -> tuple[Option | None, Option]:
    """Return the option to recommend, where one fits, and the one to speak of: that, else the nearest to fitting."""
    fitting = [option for option in options if option.fits]
    recommended = min(fitting, key=lambda option: (bool(option.standing), *_rank(option)), default=None)
    return recommended, recommended or min(options, key=_distance)


def read_options(scenarios: pa.Table) -> tuple[Option, ...]:
    """Read rows of ``scenarios``, in the order in which they are shown."""
    rows = scenarios.to_pylist()
    has_throttles = len({row["throttle_bytes_per_second"] for row in rows}) > 1
    labels = [_bare_label(row, has_throttles=has_throttles) for row in rows]
    known = Counter(labels)
    options = [
        _read(row, label if known[label] == 1 else f"{label} ({row['scenario_id']})")
        for row, label in zip(rows, labels, strict=True)
    ]
    return tuple(sorted(options, key=_rank))


def _bare_label(row: Mapping[str, Any], *, has_throttles: bool) -> str:
    throttle = f", {format_throttle(row['throttle_bytes_per_second'])}" if has_throttles else ""
    return f"{plural(row['target_broker_count'], 'broker')}, {row['placer']}{throttle}"


def _read(row: Mapping[str, Any], label: str) -> Option:
    return Option(
        scenario_id=row["scenario_id"],
        label=label,
        placer=row["placer"],
        broker_count=row["target_broker_count"],
        broker_ids=tuple(row["target_broker_ids"]),
        fits=row["fits"],
        excuses=tuple(json.loads(row["excuses"])),
        standing=tuple(json.loads(row.get("standing") or "[]")),
        figures=row,
    )


def _rank(option: Option) -> tuple[Any, ...]:
    moved, seconds = option.figures["moved_bytes"], option.figures["duration_seconds"]
    return (
        option.broker_count,
        option.is_baseline,
        moved is None,
        moved or 0,
        seconds is None,
        seconds or 0.0,
        option.scenario_id,
    )


def _distance(option: Option) -> tuple[Any, ...]:
    """Say how far an option is from fitting: ten disks that are too small are one constraint, not ten."""
    return (
        option.is_refused,
        len({excuse["constraint"] for excuse in option.excuses}),
        option.is_baseline,
        max((_shortfall_ratio(excuse) for excuse in option.excuses), default=0.0),
        option.broker_count,
        option.scenario_id,
    )


def _shortfall_ratio(excuse: Mapping[str, Any]) -> float:
    """Give how many times as much is needed as there is."""
    needed, available = excuse["needed"], excuse["available"]
    if needed is None or available is None or not available > 0 or math.isnan(needed):
        return math.inf
    return float(needed / available)


def counts_by_fit(options: Sequence[Option]) -> tuple[list[int], list[int]]:
    """Give the broker counts with an option that fits, and those without."""
    fitting = {option.broker_count for option in options if option.fits}
    return sorted(fitting), sorted({option.broker_count for option in options} - fitting)
