"""A plan's change as it stands in its tables: options, the choice between them, and the waves of the one to show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from kafka_capacity.errors import RenderError
from kafka_capacity.questions.answer import Status, unknown_traffic
from kafka_capacity.questions.change.choice import Option, choose, read_options
from kafka_capacity.questions.change.move_view import MoveView, read_move
from kafka_capacity.report.inputs import ReportInputs
from kafka_capacity.text import listed, plural

_LIMITS = (
    ("disk", ("disk_capacity_bytes",)),
    ("network", ("network_in_bytes_per_second", "network_out_bytes_per_second")),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShownChange:
    """The options of a plan, and the one of them that is shown."""

    inputs: ReportInputs  # the results
    options: tuple[Option, ...]  # in the order in which they are shown
    recommended: Option | None  # the option to take; `None` when none fits
    nearest: Option  # the option to show: the recommended one, else the one that is closest to fitting
    move: MoveView | None  # the waves of the nearest; `None` where the plan has none for it

    @property
    def facts(self) -> Mapping[str, Any]:
        """What is known of the cluster (``snapshot`` of ``facts.json``)."""
        return self.inputs.snapshot_facts

    @property
    def rate_history_hours(self) -> int:
        """How many hours of traffic the plan rests on."""
        return int(self.facts.get("rate_history_hours") or 0)

    @property
    def is_time_least(self) -> bool:
        """Whether what is produced during a move is not known, so that it takes at least as long as said."""
        return not self.rate_history_hours or unknown_traffic(self.facts) is not None

    @property
    def has_no_sizes(self) -> bool:
        """Whether no partition's size is known, so that bytes and times are not known either."""
        unknown = int(self.facts.get("unknown_size_partitions") or 0)
        return unknown > 0 and unknown == int(self.facts["partition_count"])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChangeView(ShownChange):
    """What the question of a change is decided from."""

    @property
    def proposed(self) -> Sequence[Mapping[str, Any]]:
        """What is wrong with the brokers of the option to show."""
        return self.inputs.proposed.get(self.nearest.scenario_id, ())

    @property
    def is_unsound(self) -> bool:
        """Whether the inventory is inconsistent, so that no figure is reliable."""
        return any(finding["severity"] == "fatal" for finding in self.inputs.findings)

    @property
    def observed_broker_count(self) -> int:
        """How many brokers there are today."""
        return int(self.facts["broker_count"])

    @property
    def new_broker_ids(self) -> list[int]:
        """Brokers of the option to show that are not there today."""
        today = {row["broker_id"] for row in self.facts.get("brokers", ())}
        return sorted(set(self.nearest.broker_ids) - today) if today else []

    @property
    def fenced_broker_ids(self) -> list[int]:
        """Brokers that are down today; none of plans that do not tell."""
        return [int(row["broker_id"]) for row in self.facts.get("brokers", ()) if row.get("is_fenced")]

    @property
    def generate(self) -> Option | None:
        """What ``--generate`` makes of the change that is shown, where it was tried."""
        found = [o for o in self.options if o.placer == "generate" and o.is_same_change(self.nearest)]
        return found[0] if found and not found[0].is_refused and self.nearest.placer != "generate" else None

    def brokers_after(self, option: Option) -> list[dict[str, Any]]:
        """Return what each broker of an option has and carries, rows of the table ``broker_load``."""
        is_its = (pc.field("scenario_id") == option.scenario_id) & ~pc.field("is_removed")
        return list(self.inputs.tables["broker_load"].filter(is_its).to_pylist())

    def unknown(self, option: Option) -> tuple[str, ...]:
        """Describe what is not known of an option's brokers and so was not judged, in a few words each."""
        rows = self.brokers_after(option)
        found = []
        for what, fields in _LIMITS:
            count = sum(1 for row in rows if any(row[name] is None or not math.isfinite(row[name]) for name in fields))
            if count:
                found.append(f"the {what} of {count:,} of {plural(len(rows), 'broker')}")
        sizes = int(self.facts.get("unknown_size_partitions") or 0)
        if sizes:
            found.append(f"the size of {sizes:,} of {plural(int(self.facts['partition_count']), 'partition')}")
        traffic = unknown_traffic(self.facts) if self.rate_history_hours else "traffic"
        return (*found, *([traffic] if traffic is not None and not option.is_refused else []))

    def status(self, option: Option) -> Status:
        """Return the verdict on an option."""
        if not option.fits:
            return Status.DOES_NOT_FIT
        if option.standing:
            return Status.NO_WORSE
        return Status.NOT_JUDGED if self.unknown(option) else Status.FITS


def unknown_words(unknown: Sequence[str]) -> str:
    """Say that what :meth:`ChangeView.unknown` found is not known, a clause."""
    return f"{listed(unknown)} {'is' if len(unknown) == 1 else 'are'} unknown"


def view_change(results: ReportInputs, *, count_due: int | None) -> ChangeView:
    """Read the options of a plan and choose one; ``count_due`` brokers are to be approved now, where that is answered.

    Raises:
        RenderError: the plan has no options.
    """
    options = read_options(results.tables["scenarios"])
    if not options:
        raise RenderError("the plan has no scenarios, so there is nothing to decide; evaluate at least one")
    recommended, nearest = choose(options, count_due=count_due)
    return ChangeView(
        inputs=results,
        options=options,
        recommended=recommended,
        nearest=nearest,
        move=read_move(results.tables, nearest.scenario_id),
    )
