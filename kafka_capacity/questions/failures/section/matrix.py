"""Losses by figures, today beside the option, marked where it affects: a matrix, and a heat map of two brokers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_capacity.hardware.limits import resource_name
from kafka_capacity.questions.failures.section.sentences import KIND_NAMES, change_word, traffic_lost
from kafka_capacity.questions.failures.section.view import (
    KINDS,
    FailuresView,
    PlacementFailures,
    Row,
    is_leaderless,
)
from kafka_capacity.report import heat
from kafka_capacity.report.tables import Column, column
from kafka_capacity.text import NOTHING, format_count, format_duration, format_percent, plural
from kafka_capacity.text.partition_ranges import number_ranges

MAX_ROWS = {"broker": 16, "rack": 12, "given": 16, "pair": 10, "rack+broker": 10}
"""Losses of a kind that are listed, the worst first; the others are counted."""
MAX_BROKERS = 20  # rows and columns of the heat map; of more brokers those of the worst pairs are drawn
_NAMED = 6  # losses that do the same and are named in one row, where they are no single brokers
_FOLDED = frozenset({"pair", "rack+broker"})


def _overloaded(row: Row) -> str:
    if not row["overloaded_brokers"]:
        return NOTHING
    worst = f"{row['loaded_broker']} {resource_name(row['loaded_resource'])}"
    return f"{plural(row['overloaded_brokers'], 'broker')}, worst {worst}"


def lost_name(row: Row) -> str:
    """Name a set of losses, and say where it leaves no majority of the controllers."""
    return f"{row['name']} (no majority)" if is_leaderless(row) else str(row["name"])


_NO_MAJORITY = (
    "No majority: of the controllers, so that no leader is elected and nobody leaves an ISR; under min ISR is what has "
    "a lost replica in it, where writes with acks=all are not committed."
)
LOSSES = (
    column("name", "Lost", "name", lost_name, _NO_MAJORITY),
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
Pairs = Mapping[tuple[int, int], Row]


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
    counts = ("offline", "unclean_leaders", "under_min_isr", "groups_affected")
    loads, times = ([row[key] for row in rows] for key in ("loaded_ratio", "rebuild_seconds"))
    return {
        **{key: max(row[key] for row in rows) for key in counts},
        "loaded_ratio": max((load for load in loads if load is not None), default=None),
        "rebuild_seconds": None if None in times else max(times),
        "has_majority": not any(map(is_leaderless, rows)),
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


_WORSE = (
    *("unclean_leaders", "under_min_isr", "overloaded_brokers", "groups_affected", "at_min_isr", "loaded_ratio"),
    "rebuild_bytes",
)
"""What else is worse of two losses the more there is of it, the first that differs."""


def rank(found: Sequence[Row | None]) -> tuple[Any, ...]:
    """Order losses by what they do at worst on either side, then as they were listed."""
    there = [row for row in found if row is not None]
    return (
        not any(map(is_leaderless, there)),
        -max(row["offline"] or 0 for row in there),
        -max(traffic_lost(row) if row["offline"] else 0.0 for row in there),
        *(-max(row[key] or 0 for row in there) for key in _WORSE),
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
    value, unclean = row[figure.key], row["unclean_leaders"]
    if figure.key == "rebuild_seconds":
        if value is None:
            return {"text": "no majority" if is_leaderless(row) else "never", "kind": "bad"}
        return {"text": format_duration(value), "kind": "plain"}
    if figure.key == "loaded_ratio":
        if value is None:
            return {"text": "—", "kind": "unknown"}
        kind = "bad" if value > 1.0 else "warn" if value > heat.WARN_RATIO else "good"
        return {"text": format_percent(value), "kind": kind}
    if figure.key == "offline" and is_leaderless(row):
        return {"text": f"{format_count(value)}, no majority", "kind": "bad"}
    if figure.key == "offline" and unclean:  # what is online at the price of records stands beside it
        return {"text": f"{format_count(value)}, {format_count(unclean)} unclean", "kind": "bad"}
    is_new = figure.key == "offline" and value > side.before["offline_before"]
    warned = "bad" if is_new else "warn"
    return {"text": format_count(value), "kind": warned if value else "good"}


def pair_map(view: FailuresView) -> dict[str, Any] | None:
    """Return today's pairs below the diagonal and those after the change above it; ``None`` where none was tried."""
    sides = [{_ids(row): row for row in side.losses.get("pair", ())} for side in view.sides]
    worst = sorted((row for pairs in sides for row in pairs.values()), key=lambda row: rank([row]))
    found = dict.fromkeys(broker for row in worst for broker in row["brokers"])
    drawn = sorted(list(found)[:MAX_BROKERS])
    if len(drawn) < 2:
        return None
    note = (
        "Worst effect: ▲ offline, no majority of the controllers, or overloaded, ● writes rejected or groups affected, "
    )
    note += "otherwise the busiest survivor in %."
    note += " Below the diagonal today, above it after the change." if len(sides) > 1 else ""
    if len(drawn) < len(found):
        note += f" Shown are {len(drawn)} of {len(found):,} brokers, those of the worst pairs."
    return heat.heat(
        "Two brokers lost together",
        "Broker",
        [str(broker) for broker in drawn],
        [(str(one), [_pair_cell(view.sides, sides, one, other) for other in drawn]) for one in drawn],
        note=note,
    )


def _ids(row: Row) -> tuple[int, int]:
    first, second = sorted(row["brokers"])
    return first, second


def _pair_cell(sides: Sequence[PlacementFailures], pairs: Sequence[Pairs], one: int, other: int) -> heat.Cell:
    if one == other:
        return {**heat.EMPTY, "kind": "diagonal"}
    place = int(other > one)
    if place >= len(pairs):
        return heat.EMPTY
    row = pairs[place].get((min(one, other), max(one, other)))
    if row is None:
        return heat.EMPTY
    when = "after" if place else "today"
    cells = {figure.label: drawn_cell(figure, row, sides[place]) for figure in FIGURES}
    for kind, mark in (("bad", "▲"), ("warn", "●")):
        for label, cell in cells.items():
            if cell["kind"] == kind:
                said = f"{one} and {other} lost, {when}: {label.lower()} {cell['text']}"
                return {"text": f"{mark} {cell['text']}", "kind": kind, "title": said}
    return heat.share_cell(row["loaded_ratio"], f"{one} and {other} lost, {when}: busiest survivor")
