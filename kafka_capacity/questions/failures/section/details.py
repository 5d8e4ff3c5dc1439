"""Who is affected, by name: survivors over capacity, and consumer groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kafka_capacity.hardware.limits import resource_name
from kafka_capacity.questions.failures.section.view import KINDS, SIDES, FailuresView, PlacementFailures, Row
from kafka_capacity.report.tables import Column, column, table
from kafka_capacity.text import NOTHING, format_percent, plural

MAX_SURVIVORS = 12
MAX_GROUPS = 12

COORDINATORS = {
    "refuses": "cannot commit offsets",
    "offline": "has no coordinator: members cannot join, stay or commit",
}


def survivors_table(view: FailuresView) -> dict[str, Any] | None:
    """Name the survivors over capacity, each with the likeliest kind of loss that does it."""
    found = _by_side(view, lambda side: side.brokers, lambda row: (row["broker_id"], row["resource"]))
    ranked = sorted(
        found.items(), key=lambda entry: (-max(row["used_ratio"] for row in entry[1] if row is not None), entry[0])
    )
    rows = [
        {
            "broker": str(broker),
            "resource": resource_name(resource),
            **{f"side_{place}": _survivor(row) for place, row in enumerate(sides)},
        }
        for (broker, resource), sides in ranked[:MAX_SURVIVORS]
    ]
    columns = (column("broker", "Broker", "id"), column("resource", "Resource"), *_side_columns(view))
    return _listed("Survivors over capacity", columns, rows, len(ranked))


def _survivor(row: Row | None) -> str:
    return NOTHING if row is None else f"{format_percent(row['used_ratio'])} without {row['worst_loss']}"


def groups_table(view: FailuresView) -> dict[str, Any] | None:
    """Name the consumer groups that are affected, each by the likeliest kind of loss that does it."""
    found = _by_side(view, lambda side: side.groups, lambda row: row["group_id"])
    ranked = sorted(
        found.items(), key=lambda entry: (min(_likely(row) for row in entry[1] if row is not None), entry[0])
    )
    rows = [
        {"group": group, **{f"side_{place}": _hurt(row) for place, row in enumerate(sides)}}
        for group, sides in ranked[:MAX_GROUPS]
    ]
    columns = (column("group", "Consumer group", "name"), *_side_columns(view))
    return _listed("Affected consumer groups", columns, rows, len(ranked))


def _likely(row: Row) -> tuple[int, int, int]:
    return (KINDS.index(row["kind"]), row["coordinator"] != "offline", -row["offline_partitions"])


def _hurt(row: Row | None) -> str:
    if row is None:
        return NOTHING
    parts = []
    if row["offline_partitions"]:
        parts.append(f"{row['offline_partitions']:,} of {plural(row['partitions'], 'partition')} offline")
    if row["coordinator"] in COORDINATORS:
        parts.append(COORDINATORS[row["coordinator"]])
    more = row["losses"] - 1
    like = f" (and {more:,} more losses of that kind)" if more > 1 else " (and one more of that kind)" if more else ""
    return f"without {row['worst_loss']}{like}: {', '.join(parts)}"


def _by_side(
    view: FailuresView, rows: Callable[[PlacementFailures], Sequence[Row]], key: Callable[[Row], Any]
) -> dict[Any, list[Row | None]]:
    """Return for everything that is affected its row on each side: of the likeliest kind of losses that does it."""
    found: dict[Any, list[Row | None]] = {}
    for place, side in enumerate(view.sides):
        for row in sorted(rows(side), key=lambda one: KINDS.index(one["kind"])):
            sides = found.setdefault(key(row), [None] * len(view.sides))
            sides[place] = sides[place] or row
    return found


def _side_columns(view: FailuresView) -> list[Column]:
    return [column(f"side_{place}", label, "name") for place, label in enumerate(SIDES[: len(view.sides)])]


def _listed(
    caption: str, columns: Sequence[Column], rows: Sequence[Mapping[str, Any]], total: int
) -> dict[str, Any] | None:
    if not rows:
        return None
    more = total - len(rows)
    return table(f"{caption}: {total:,}", columns, rows, note=f"And {more:,} more." if more else None)
