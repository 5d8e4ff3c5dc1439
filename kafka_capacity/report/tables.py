"""Tables and charts of a report as plain data; templates, the terminal and the chart engine draw them.

A figure that is new is a column here and there: its key, heading, format, where it comes from, and its definition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka_capacity.text import FORMATS

NOTE = "note"  # a row may carry a sentence under this key; it stands below the row, across all columns
REASON = "reason"  # a row of the options may carry why it does not fit, in one sentence without its stop
ANCHOR = "anchor"  # a row may carry an id of the page under this key; what is said there stands behind the row
REST = "is_rest"
"""A row may carry this key where there is nothing to do about it; a long table first shows the others alone."""
HOVER = "hover"
"""A value of a chart may carry under this key what its mark says under the pointer; its spec encodes it so."""


VERDICTS: Mapping[str, tuple[str, str, str]] = {
    "recommended": ("good recommended", "✓", "Recommended"),
    "recommended_now": ("good recommended", "✓", "Recommended"),
    "recommended_unjudged": ("warn recommended", "?", "Recommended, not judged"),
    "needed_now": ("good", "✓", "Needed now"),
    "needed_later": ("note", "↑", "Needed later"),
    "recommended_later": ("note", "↑", "Needed later"),
    "best": ("good recommended", "✓", "Best"),
    "fits": ("good", "✓", "Fits"),
    "no_worse": ("note", "○", "No worse than today"),
    "fits_today": ("warn", "✓", "Fits today’s sizes"),
    "lasts": ("warn", "!", "Fits for now"),
    "not_judged": ("warn", "?", "Not judged"),
    "at_risk": ("bad", "✕", "At risk"),
    "at_risk_no_fit": ("bad", "✕", "At risk, nothing fits"),
    "at_risk_not_judged": ("bad", "✕", "At risk, options not judged"),
    "better": ("good", "↑", "Fits, could be improved"),
    "empty": ("note", "○", "Not simulated as is"),
    "unsound": ("bad", "!", "Inventory inconsistent"),
    "over_budget": ("bad", "✕", "Over budget"),
    "does_not_fit": ("bad", "✕", "Does not fit"),
}
"""Every verdict: the kind of its badge, its mark, and its words. What is none of them does not fit.

One option of a page is recommended: the move to make. ``recommended_later`` is of reports of earlier versions.
"""


def verdict_badge(name: str) -> tuple[str, str, str]:
    """Return the kind of a verdict's badge, its mark, and its words."""
    return VERDICTS.get(name, VERDICTS["does_not_fit"])


def plain_badge(name: str) -> tuple[str, str]:
    """Return the kind of a verdict's badge, and its mark and words as one text."""
    kind, mark, words = verdict_badge(name)
    return kind, f"{mark} {words}"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table, on the page and in the terminal alike."""

    key: str  # of its values in a row
    label: str  # its heading
    kind: str = "text"  # the name of its format, of `FORMATS`, or `verdict`
    # of a row, from what the table's rows are made of; without it the field of the column's key
    value: Callable[..., Any] | None = None
    definition: str = ""  # a sentence, which stands under the table; empty where the heading says it all
    is_key: bool = field(default=False, kw_only=True)  # whether shorter tables and the mail show it: a key figure

    def __post_init__(self) -> None:
        if self.kind != "verdict" and self.kind not in FORMATS:
            formats = ", ".join(sorted(FORMATS))
            raise ValueError(f"column {self.key!r}: {self.kind!r} is not a format; choose one of {formats}")


column = Column  # as it reads in the tables that are made of them


def chosen(columns: Iterable[Column], *keys: str) -> list[Column]:
    """Return some of the columns, in the order of the keys."""
    by_key = {one.key: one for one in columns}
    return [by_key[key] for key in keys]


def cells(columns: Iterable[Column], *made_of: Any) -> dict[str, Any]:
    """Return the values of one row by the columns' keys."""
    return {one.key: made_of[0][one.key] if one.value is None else one.value(*made_of) for one in columns}


def definitions(columns: Iterable[Column]) -> str:
    """Return what the columns mean, in sentences."""
    return " ".join(dict.fromkeys(one.definition for one in columns if one.definition))


def table(
    caption: str,
    columns: Iterable[Column],
    rows: Sequence[Mapping[str, Any]],
    *,
    note: str | None = None,
    is_defined: bool = True,
) -> dict[str, Any]:
    """Describe a table; the first column names its rows, which are values by keys and perhaps a :data:`NOTE`.

    Values that have no column are left out. Under it stand the definitions of its columns, unless something else has
    them once for many tables (``is_defined``), and a note, such as what was left out.
    """
    kept = list(columns)
    notes = " ".join(text for text in (definitions(kept) if is_defined else "", note) if text)
    return {
        "caption": caption,
        "columns": [{"key": one.key, "label": one.label, "format": one.kind} for one in kept],
        "rows": [
            {
                **{one.key: row[one.key] for one in kept},
                NOTE: row.get(NOTE),
                **{key: row[key] for key in (ANCHOR, REASON, REST) if key in row},
            }
            for row in rows
        ],
        "note": notes or None,
    }


def chart(
    chart_id: str,
    spec: str,
    *,
    title: str,
    description: str,
    values: Sequence[Mapping[str, Any]],
    data_table: Mapping[str, Any],
    note: str | None = None,
    params: Mapping[str, Any] | None = None,
    is_half_wide: bool = False,
    is_in_email: bool = False,
) -> dict[str, Any]:
    """Describe a chart.

    Args:
        chart_id: unique in the report, in letters, digits and hyphens.
        spec: the stem of its Vega-Lite file in ``templates/charts``.
        title: its caption.
        description: what it shows, for who cannot see it.
        values: the data of the marks; fields that end in ``_bytes`` are scaled to one unit when drawn.
        data_table: the same figures as a table.
        note: how to read it, or what was left out.
        params: values of the spec's ``params``.
        is_half_wide: whether two of its kind stand side by side on a wide screen.
        is_in_email: whether an e-mail shows it where no chart before it is for e-mails.
    """
    return {
        "id": chart_id,
        "spec": spec,
        "title": title,
        "description": description,
        "values": [dict(value) for value in values],
        "params": dict(params or {}),
        "table": dict(data_table),
        "note": note,
        "is_half_wide": is_half_wide,
        "is_in_email": is_in_email,
    }
