"""Tables and charts of a report as plain data; templates and the chart engine draw them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_capacity.text import FORMATS

NOTE = "note"
"""A row may carry a sentence under this key; it stands below the row, across all columns."""
ANCHOR = "anchor"
"""A row may carry an id of the page under this key; its first cell then leads there."""


def column(key: str, label: str, kind: str = "text") -> dict[str, str]:
    """Describe a column: the key of its values, its heading, and the name of its format."""
    if kind != "verdict" and kind not in FORMATS:
        msg = f"column {key!r}: {kind!r} is no format; choose one of {', '.join(sorted(FORMATS))}"
        raise ValueError(msg)
    return {"key": key, "label": label, "format": kind}


def table(
    caption: str, columns: Sequence[Mapping[str, str]], rows: Sequence[Mapping[str, Any]], *, note: str | None = None
) -> dict[str, Any]:
    """Describe a table; the first column names its rows.

    Args:
        caption: what the table shows.
        columns: made by :func:`column`.
        rows: values by the columns' keys, and perhaps a :data:`NOTE`; other values are left out.
        note: stands under the table, such as what was left out.
    """
    keys = [one["key"] for one in columns]
    return {
        "caption": caption,
        "columns": [dict(one) for one in columns],
        "rows": [
            {**{key: row[key] for key in keys}, NOTE: row.get(NOTE), **({ANCHOR: row[ANCHOR]} if ANCHOR in row else {})}
            for row in rows
        ],
        "note": note,
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
        is_in_email: whether e-mails show it too.
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
