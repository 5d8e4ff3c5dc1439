"""The failure matrix: losses by figures, today beside the option, marked where it affects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kafka_capacity.hardware.limits import resource_name
from kafka_capacity.questions.failures.section.sentences import KIND_NAMES, change_word, traffic_lost
from kafka_capacity.questions.failures.section.view import KINDS, FailuresView, PlacementFailures, Row
from kafka_capacity.report.heat import WARN_RATIO
from kafka_capacity.report.tables import Column, column
from kafka_capacity.text import NOTHING, format_count, format_duration, format_percent, plural
from kafka_capacity.text.partition_ranges import number_ranges

MAX_ROWS = {"broker": 16, "rack": 12, "given": 16, "pair": 10, "rack+broker": 10}
"""Losses of a kind that are listed, the worst first; the others are counted."""
_NAMED = 6  # losses that do the same and are named in one row, where they are no single brokers
_FOLDED = frozenset({"pair", "rack+broker"})


def _overloaded(row: Row) -> str:
    if not row["overloaded_brokers"]:
        return NOTHING
    worst = f"{row['loaded_broker']} {resource_name(row['loaded_resource'])}"
    return f"{plural(row['overloaded_brokers'], 'broker')}, worst {worst}"


LOSSES = (
    column("name", "Lost", "name"),
    column("offline", "Partitions offline", "count", is_key=True),
    column("offline_topics", "Topics offline", "count"),
    column("under_min_isr", "Under min ISR", "count", is_key=True),
    column("at_min_isr", "At min ISR", "count"),
    column("new_leaders", "New leaders", "count"),
    column("unclean_leaders", "Unclean leaders", "count"),
    column("stopped_bytes_per_second", "Traffic stopped", "rate"),
    column("loaded_ratio", "Busiest survivor", "percent", is_key=True),
    column("overloads", "Over capacity", "text", _overloaded),
    column("groups_affected", "Groups affected", "count", is_key=True),
    column("rebuild_bytes", "To re-replicate", "bytes"),
    column("rebuild_seconds", "Re-replication", "duration", is_key=True),
)
"""One row a set of brokers that are lost together: made of a row of ``failures``; the page shows the key figures."""
FIGURES = tuple(one for one in LOSSES if one.is_key)

Cell = dict[str, str]


def matrices(view: FailuresView, *, is_without_pairs: bool) -> list[dict[str, Any]]:
    """Return one table a kind of losses, without pairs where something else shows them."""
    kinds = [kind for kind in KINDS if any(kind in side.losses for side in view.sides)]
    return [_matrix(view, kind) for kind in kinds if kind != "pair" or not is_without_pairs]


def overview(view: FailuresView) -> dict[str, Any] | None:
    """Return the worst of each kind in one table; ``None`` where there was nothing to lose."""
    rows = []
    for kind in KINDS:
        if not any(kind in side.losses for side in view.sides):
            continue
        sides = [_worst(side.losses[kind]) if kind in side.losses else None for side in view.sides]
        counts = dict.fromkeys(f"{len(side.losses.get(kind, ())):,}" for side in view.sides)
        rows.append(
            {
                "name": f"{KIND_NAMES[kind]} ({', then '.join(counts)})",
                "cells": _cells(view.sides, sides),
                "change": change_word(view, kind),
            }
        )
    if not rows:
        return None
    return _table("Worst case by kind of loss", view, rows, has_change=view.then is not None)


def _worst(rows: Sequence[Row]) -> Row:
    """Put the worst of each figure together; they may be of different losses."""
    return {
        "offline": max(row["offline"] for row in rows),
        "unclean_leaders": max(row["unclean_leaders"] for row in rows),
        "under_min_isr": max(row["under_min_isr"] for row in rows),
        "loaded_ratio": max((row["loaded_ratio"] for row in rows if row["loaded_ratio"] is not None), default=None),
        "groups_affected": max(row["groups_affected"] for row in rows),
        "rebuild_seconds": max(
            (row["rebuild_seconds"] for row in rows if row["rebuild_seconds"] is not None), default=0.0
        )
        if all(row["rebuild_seconds"] is not None for row in rows)
        else None,
    }


def _matrix(view: FailuresView, kind: str) -> dict[str, Any]:
    by_name: dict[str, list[Row | None]] = {}
    for place, side in enumerate(view.sides):
        for row in side.losses.get(kind, ()):
            by_name.setdefault(row["name"], [None] * len(view.sides))[place] = row
    ranked = sorted(by_name.items(), key=lambda entry: rank(entry[1]))
    # One row for losses that do the same: the first of them stands where the worst would.
    alike: dict[str, tuple[list[str], list[Cell]]] = {}
    for name, found in ranked:
        cells = _cells(view.sides, found)
        alike.setdefault(repr(cells), ([], cells))[0].append(name)
    shown = list(alike.values())[: MAX_ROWS[kind]]
    rows = [{"name": _named(names), "cells": cells, "change": None} for names, cells in shown]
    is_marked = any(cell["kind"] in {"bad", "warn"} for _, cells in shown for cell in cells)
    caption = f"{KIND_NAMES[kind]} lost: {len(by_name):,}{'' if is_marked else ', nothing is marked'}"
    made = _table(caption, view, rows, has_change=False)
    return {
        **made,
        "left_out": len(ranked) - sum(len(names) for names, _ in shown),
        "is_folded": kind in _FOLDED or not is_marked,
    }


def _named(names: Sequence[str]) -> str:
    """Name losses that do the same: ``brokers 1–6, 8``."""
    numbers = [name.removeprefix("broker ") for name in names]
    if len(names) > 1 and all(number.isdecimal() for number in numbers):
        return f"brokers {number_ranges(map(int, numbers))}"
    return "; ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else "")


def rank(found: Sequence[Row | None]) -> tuple[Any, ...]:
    """Order losses by what they do at worst on either side, then as they were listed."""
    there = [row for row in found if row is not None]
    return (
        -max(row["offline"] or 0 for row in there),
        -max(traffic_lost(row) if row["offline"] else 0.0 for row in there),
        *(-max(row[key] or 0 for row in there) for key in ("unclean_leaders", "under_min_isr", "overloaded_brokers")),
        *(-max(row[key] or 0 for row in there) for key in ("groups_affected", "loaded_ratio")),
        there[0]["position"],
    )


def _table(caption: str, view: FailuresView, rows: Sequence[Mapping[str, Any]], *, has_change: bool) -> dict[str, Any]:
    return {
        "caption": caption,
        "figures": [one.label for one in FIGURES],
        "sides": ["today", "after"][: len(view.sides)],
        "rows": list(rows),
        "has_change": has_change,
        "left_out": 0,
        "is_folded": False,
    }


def _cells(sides: Sequence[PlacementFailures], found: Sequence[Row | None]) -> list[Cell]:
    """Return the cells of a row: for each figure the sides beside each other."""
    return [
        {"text": "—", "kind": "unknown"} if row is None else drawn_cell(one, row, side)
        for one in FIGURES
        for side, row in zip(sides, found, strict=True)
    ]


def drawn_cell(figure: Column, row: Row, side: PlacementFailures) -> Cell:
    """Return the cell of one of :data:`FIGURES` of a loss."""
    return _priced(figure.key, row, _DRAWN[figure.key](row[figure.key], side.before))


def _priced(key: str, row: Row, cell: Cell) -> Cell:
    """Describe beside what is offline what is online at the price of records."""
    unclean = row["unclean_leaders"] if key == "offline" else 0
    return {"text": f"{cell['text']}, {format_count(unclean)} unclean", "kind": "bad"} if unclean else cell


def _offline(value: int, before: Row) -> Cell:
    kind = "good" if not value else "warn" if value <= before["offline_before"] else "bad"
    return {"text": format_count(value), "kind": kind}


def _refused(value: int, before: Row) -> Cell:
    del before
    return {"text": format_count(value), "kind": "warn" if value else "good"}


def _loaded(value: float | None, before: Row) -> Cell:
    del before
    if value is None:
        return {"text": "—", "kind": "unknown"}
    return {"text": format_percent(value), "kind": "bad" if value > 1.0 else "warn" if value > WARN_RATIO else "good"}


def _copied(value: float | None, before: Row) -> Cell:
    del before
    return {"text": "never", "kind": "bad"} if value is None else {"text": format_duration(value), "kind": "plain"}


_DRAWN: dict[str, Callable[[Any, Row], Cell]] = {
    "offline": _offline,
    "under_min_isr": _refused,
    "loaded_ratio": _loaded,
    "groups_affected": _refused,
    "rebuild_seconds": _copied,
}
