"""Every two brokers that may be lost together, as a heat map: the worst that it does, today and after the change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_capacity.questions.failures.section.matrix import FIGURES, drawn_cell, rank
from kafka_capacity.questions.failures.section.view import FailuresView, PlacementFailures, Row
from kafka_capacity.report.heat import EMPTY, Cell, heat, share_cell

MAX_BROKERS = 20  # rows and columns; of more brokers those of the worst pairs are drawn

Pairs = Mapping[tuple[int, int], Row]


def pair_map(view: FailuresView) -> dict[str, Any] | None:
    """Return today's pairs below the diagonal and those after the change above it; ``None`` where none was tried."""
    sides = [{_ids(row): row for row in side.losses.get("pair", ())} for side in view.sides]
    worst = sorted((row for pairs in sides for row in pairs.values()), key=lambda row: rank([row]))
    found = dict.fromkeys(broker for row in worst for broker in row["brokers"])
    drawn = sorted(list(found)[:MAX_BROKERS])
    if len(drawn) < 2:
        return None
    note = "Worst effect: ▲ offline or overloaded, ● writes rejected or groups affected, "
    note += "otherwise the busiest survivor in %."
    note += " Below the diagonal today, above it after the change." if len(sides) > 1 else ""
    if len(drawn) < len(found):
        note += f" Shown are {len(drawn)} of {len(found):,} brokers, those of the worst pairs."
    return heat(
        "Two brokers lost together",
        "Broker",
        [str(broker) for broker in drawn],
        [(str(one), [_cell(view.sides, sides, one, other) for other in drawn]) for one in drawn],
        note=note,
    )


def _ids(row: Row) -> tuple[int, int]:
    first, second = sorted(row["brokers"])
    return first, second


def _cell(sides: Sequence[PlacementFailures], pairs: Sequence[Pairs], one: int, other: int) -> Cell:
    if one == other:
        return {**EMPTY, "kind": "diagonal"}
    place = int(other > one)
    if place >= len(pairs):
        return EMPTY
    row = pairs[place].get((min(one, other), max(one, other)))
    if row is None:
        return EMPTY
    when = "after" if place else "today"
    cells = {figure.label: drawn_cell(figure, row, sides[place]) for figure in FIGURES}
    for kind, mark in (("bad", "▲"), ("warn", "●")):
        for label, cell in cells.items():
            if cell["kind"] == kind:
                said = f"{one} and {other} lost, {when}: {label.lower()} {cell['text']}"
                return {"text": f"{mark} {cell['text']}", "kind": kind, "title": said}
    return share_cell(row["loaded_ratio"], f"{one} and {other} lost, {when}: busiest survivor")
