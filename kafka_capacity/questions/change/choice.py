"""Which option of a change to take.

Rule: of the options that fit, those that end within all limits before those that are no worse than today; of these
those with as many brokers as are needed now or within four weeks, where sizing says so and one of them has; of those
the smallest broker count; of those, a placer made for planning before Kafka's own ones (which place everything afresh
and are here to compare with); of those, the fewest bytes copied, then a throttle that leaves clients what their
networks take at peak, then the shortest time.

Where none fits, the nearest is the one that breaks the fewest different constraints; of those a placer made for
planning, then the smallest shortfall (its worst ratio of needed to available), then the fewest brokers. Where no placer
made for planning finds a place at all, what it lacks is the answer: the others place what may not be there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kafka_capacity.proposal.excuse import distance
from kafka_capacity.text import format_bytes, format_throttle, plural
from kafka_capacity.text.wording import told_apart

BASELINE_PLACERS = frozenset({"generate", "striped", "zk", "modulo"})
"""Placers that know nothing of what is where, so that nobody would choose them to move less."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Option:
    """One scenario, as it stands in the tables of a plan."""

    scenario_id: str  # unique in the plan
    label: str  # its display name; unique too
    placer: str  # by its name
    broker_count: int  # of the target
    broker_ids: tuple[int, ...]  # of the target
    fits: bool  # whether every constraint holds
    excuses: tuple[Mapping[str, Any], ...]  # the constraints that do not hold
    # those that did not hold before either, where the change makes them no worse
    standing: tuple[Mapping[str, Any], ...]
    # the whole row of `scenarios`; metrics are `None` where Kafka would refuse the placement
    figures: Mapping[str, Any]

    @property
    def is_refused(self) -> bool:
        """Whether Kafka itself would refuse it, so that there are no figures."""
        return self.figures["moved_bytes"] is None

    @property
    def is_moved(self) -> bool:
        """Whether replicas are on other brokers than before."""
        return bool(self.figures["moved_replicas"])

    @property
    def is_baseline(self) -> bool:
        """Whether it is here to be compared with."""
        return self.placer in BASELINE_PLACERS

    @property
    def never_ends(self) -> bool:
        """Whether the move would never finish at its throttle."""
        return not self.is_refused and self.figures["duration_seconds"] is None

    @property
    def taken_from_clients(self) -> float:
        """By how much its throttle is above what a network that copies has left at peak; 0 for unknown."""
        spare = self.figures.get("spare_network_bytes_per_second")
        return 0.0 if spare is None else max(0.0, self.figures["throttle_bytes_per_second"] - spare)

    @property
    def share_ratio(self) -> float | None:
        """What part of all replica bytes is copied."""
        total = self.figures["total_bytes"]
        return self.figures["moved_bytes"] / total if total else (None if self.is_refused else 0.0)

    @property
    def drawn_bytes_text(self) -> str:
        """The range of what a placer copies that draws at random, of all draws."""
        low, high = self.figures["moved_bytes_low"], self.figures["moved_bytes_high"]
        write = told_apart(format_bytes, low, high)
        return write(low) if write(low) == write(high) else f"{write(low)} to {write(high)}"

    def is_same_placement(self, other: Option) -> bool:
        """Return whether another option is the same but for its throttle."""
        asked = ("target_broker_ids", "target_racks", "placer", "replication_factor")
        return all(self.figures[name] == other.figures[name] for name in asked)

    def is_same_change(self, other: Option) -> bool:
        """Return whether another option asks for the same brokers and factor, under the same throttle."""
        asked = ("replication_factor", "throttle_bytes_per_second")
        return self.broker_ids == other.broker_ids and all(self.figures[a] == other.figures[a] for a in asked)


def choose(options: Sequence[Option], *, count_due: int | None = None) -> tuple[Option | None, Option]:
    """Choose by the rule of this module; ``count_due`` brokers are to be approved now.

    Returns:
        The option to take, ``None`` where none fits; and the one to show, which is that or the closest to fitting.
    """
    fitting = [option for option in options if option.fits]
    recommended = min(
        fitting,
        key=lambda option: (bool(option.standing), option.broker_count < (count_due or 0), *_rank(option)),
        default=None,
    )
    planning = [option for option in options if not option.is_baseline]
    closest = planning if planning and all(option.is_refused for option in planning) else options
    return recommended, recommended or min(closest, key=_distance)


def read_options(scenarios: pa.Table) -> tuple[Option, ...]:
    """Return rows of ``scenarios``, in the order in which they are shown."""
    rows = scenarios.to_pylist()
    has_throttles = len({row["throttle_bytes_per_second"] for row in rows}) > 1
    labels = [f"{plural(row['target_broker_count'], 'broker')}, {row['placer']}" for row in rows]
    if has_throttles:
        rates = (format_throttle(row["throttle_bytes_per_second"]) for row in rows)
        labels = [f"{label}, {rate}" for label, rate in zip(labels, rates, strict=True)]
    known = Counter(labels)
    options = (
        Option(
            scenario_id=row["scenario_id"],
            label=label if known[label] == 1 else f"{label} ({row['scenario_id']})",
            placer=row["placer"],
            broker_count=row["target_broker_count"],
            broker_ids=tuple(row["target_broker_ids"]),
            fits=row["fits"],
            excuses=tuple(json.loads(row["excuses"])),
            standing=tuple(json.loads(row.get("standing") or "[]")),
            figures=row,
        )
        for row, label in zip(rows, labels, strict=True)
    )
    return tuple(sorted(options, key=_rank))


def _rank(option: Option) -> tuple[Any, ...]:
    moved, seconds = option.figures["moved_bytes"], option.figures["duration_seconds"]
    return (
        option.broker_count,
        option.is_baseline,
        moved is None,
        moved or 0,
        option.taken_from_clients,
        seconds is None,
        seconds or 0.0,
        option.scenario_id,
    )


def _distance(option: Option) -> tuple[Any, ...]:
    constraints, shortfall = distance(option.excuses)
    return (option.is_refused, constraints, option.is_baseline, shortfall, option.broker_count, option.scenario_id)


def counts_by_fit(options: Sequence[Option]) -> tuple[list[int], list[int]]:
    """Return the broker counts with an option that fits, and those without."""
    fitting = {option.broker_count for option in options if option.fits}
    return sorted(fitting), sorted({option.broker_count for option in options} - fitting)
