"""Heat maps: tables whose cells are coloured by how much, and say it in figures and marks to who sees no colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_capacity.text import NOTHING
from kafka_capacity.text.names import clipped, visible

WARN_RATIO = 0.8  # from here on a share of a limit is marked, though it is within it
STEPS = 4  # shades of what needs no mark, beside none at all
HEAD_LENGTH = 40

Cell = Mapping[str, str]


def heat(
    caption: str,
    corner: str,
    heads: Sequence[str],
    rows: Sequence[tuple[str, Sequence[Cell]]],
    *,
    groups: Sequence[tuple[str, int]] = (),
    note: str = "",
) -> dict[str, Any]:
    """Describe a heat map of rows, each a name and its cells, made by :func:`share_cell` and :func:`amount_cell`.

    ``corner`` is what the names of rows are, and groups stand above the heads, each with how many of them it spans.
    """
    return {
        "caption": caption,
        "corner": corner,
        "heads": list(heads),
        "groups": [{"label": clipped(visible(label), HEAD_LENGTH), "span": span} for label, span in groups],
        "cells": [{"name": name, "cells": list(cells)} for name, cells in rows],
        "note": note,
    }


def share_cell(ratio: float | None, title: str) -> Cell:
    """Return the cell of a share of a limit, in per cent: ``▲`` above it, ``●`` close to it, else the shade of it."""
    if ratio is None:
        return {"text": NOTHING, "kind": "", "title": ""}
    text = f"{ratio * 100:,.0f}" if ratio >= 0.005 or not ratio else "<1"
    if ratio > WARN_RATIO:
        mark, kind = ("▲", "bad") if ratio > 1.0 else ("●", "warn")
        return {"text": f"{mark} {text}", "kind": kind, "title": title}
    return {"text": text, "kind": _shade(ratio / WARN_RATIO), "title": title}


def amount_cell(amount: float, largest: float, text: str, title: str) -> Cell:
    """Return the cell of an amount, shaded by how much it is of the largest one; nothing is left empty."""
    return {"text": text, "kind": _shade(amount / largest), "title": title} if amount else dict(EMPTY)


EMPTY: Cell = {"text": "", "kind": "", "title": ""}


def _shade(share: float) -> str:
    """Return the class of a shade, of the lowest fifth none."""
    step = min(STEPS, int(share * (STEPS + 1)))
    return f"heat-{step}" if step else ""
