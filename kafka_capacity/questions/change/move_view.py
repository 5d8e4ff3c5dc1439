"""The move in time, read from the tables of a plan: the waves of one option, and each broker in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.kafka.reassignment.problem import BAND
from kafka_capacity.kafka.reassignment.schedule import Band
from kafka_capacity.questions.change.move_tables import MOVE_TABLES
from kafka_capacity.text import format_throttle

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MoveView:
    """The waves of one option: rows of ``waves`` and of both timelines, and that of ``schedules``, its JSON read."""

    waves: tuple[Row, ...]
    timeline: tuple[Row, ...]
    facts: Row
    dirs: tuple[Row, ...] = ()

    @property
    def total(self) -> Band:
        """When the last wave ends."""
        low, expected, high = (self.facts[f"total_{band}_seconds"] for band in BAND)
        return low, expected, high

    @property
    def left_out(self) -> int:
        """How many partitions are in no wave: what is told of all waves is not of the whole move."""
        return int(self.facts["refused_partitions"])

    @property
    def never_ends(self) -> bool:
        """Whether a wave does not end at the mean rates."""
        return self.total[1] is None

    def smallest_throttle(self, band: str) -> float | None:
        """Return the throttle above which all waves end, ``None`` where none helps."""
        smallest: float | None = self.facts[f"smallest_throttle_{band}_bytes_per_second"]
        return smallest

    @property
    def copied_bytes(self) -> float:
        """What all waves copy; partitions on a detour count twice."""
        return float(self.facts["copied_bytes"])

    @property
    def throttle_text(self) -> str:
        """The throttle of the waves that copy, or from where to where they are.

        Where it is the largest that leaves headroom it is that of the slowest broker, and others have more.
        """
        rates = {wave["throttle_bytes_per_second"] for wave in self.waves if wave["copied_bytes"]}
        if not rates:
            return "no throttle"
        if self.facts["is_throttle_automatic"]:
            return f"{format_throttle(min(rates))} or more"
        least, most = format_throttle(min(rates)), format_throttle(max(rates))
        return least if least == most else f"{least} to {most}"

    @property
    def fullest(self) -> Row | None:
        """The wave in which a broker comes closest to its disk limit; ``None`` where no limit is known."""
        known = [wave for wave in self.waves if wave["fullest_ratio"] is not None]
        return max(known, key=lambda wave: (wave["fullest_ratio"], -wave["wave"])) if known else None


def read_move(tables: Mapping[str, pa.Table], scenario_id: str) -> MoveView | None:
    """Read the waves of one option; ``None`` where a plan has none for it, or nothing moves."""
    facts = read_schedules(tables).get(scenario_id)
    if facts is None or not (facts["wave_count"] or facts["refusals"]):
        return None
    waves, timeline = (_rows_of(tables, name, scenario_id) for name in ("waves", "broker_timeline"))
    dirs = _rows_of(tables, "log_dir_timeline", scenario_id) if "log_dir_timeline" in tables else ()
    return MoveView(waves=waves, timeline=timeline, facts=facts, dirs=dirs)


def read_schedules(tables: Mapping[str, pa.Table]) -> dict[str, Row]:
    """Return what is said of each schedule as a whole, by option; older plans have none."""
    schedules = tables.get("schedules")
    rows = [] if schedules is None else schedules.to_pylist()
    return {row["scenario_id"]: read_schedule(row) for row in rows}


def read_schedule(row: Row) -> Row:
    """Return a row of ``schedules`` with its columns of JSON parsed; an older plan lacks the last of them."""
    return {**row, **{name: json.loads(row.get(name) or "[]") for name in ("orders", "refusals", "lengths")}}


def _rows_of(tables: Mapping[str, pa.Table], name: str, scenario_id: str) -> tuple[Row, ...]:
    found = tables[name].filter(pc.field("scenario_id") == scenario_id)
    return tuple(found.sort_by([(key, "ascending") for key in MOVE_TABLES[name][1]]).to_pylist())


def chunks(count: int, most: int) -> list[range]:
    """Put waves that follow each other together, as few as it takes to draw no more than so many.

    >>> chunks(5, 3)
    [range(0, 2), range(2, 4), range(4, 5)]
    """
    size = max(1, -(-count // most))
    return [range(start, min(start + size, count)) for start in range(0, count, size)]
