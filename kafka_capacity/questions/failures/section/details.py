"""Who is affected, by name: survivors over capacity, and consumer groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kafka_capacity.hardware.limits import resource_name
from kafka_capacity.questions.failures.section.view import KINDS, SIDES, FailuresView, PlacementFailures, Row
from kafka_capacity.report.tables import Column, cells, column, table
from kafka_capacity.text import NOTHING, format_percent, plural

MAX_LISTED = 12

COORDINATORS = {
    "refuses": "cannot commit offsets",
    "offline": "has no coordinator: members cannot join, stay or commit",
}


_SURVIVORS = (
    column("broker", "Broker", "id", lambda row: str(row["broker_id"])),
    column("resource", "Resource", "text", lambda row: resource_name(row["resource"])),
)
_GROUPS = (column("group", "Consumer group", "name", lambda row: row["group_id"]),)


def survivors_table(view: FailuresView) -> dict[str, Any] | None:
    """Name the survivors over capacity, each with the likeliest kind of loss that does it."""
    found = _by_side(view, lambda side: side.brokers, lambda row: (row["broker_id"], row["resource"]))
    return _side_by_side("Survivors over capacity", _SURVIVORS, found, lambda row: -row["used_ratio"], _survivor)


def _survivor(row: Row) -> str:
    return f"{format_percent(row['used_ratio'])} without {row['worst_loss']}"


def groups_table(view: FailuresView) -> dict[str, Any] | None:
    """Name the consumer groups that are affected, each by the likeliest kind of loss that does it."""
    found = _by_side(view, lambda side: side.groups, lambda row: row["group_id"])
    return _side_by_side("Affected consumer groups", _GROUPS, found, _likely, _hurt)


def _likely(row: Row) -> tuple[int, int, int]:
    return (KINDS.index(row["kind"]), row["coordinator"] != "offline", -row["offline_partitions"])


def _hurt(row: Row) -> str:
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


def _side_by_side(
    caption: str,
    columns: Sequence[Column],
    found: Mapping[Any, Sequence[Row | None]],
    rank: Callable[[Row], Any],
    write: Callable[[Row], str],
) -> dict[str, Any] | None:
    """List what is affected, what ranks first on a side first; ``None`` where nothing is."""
    if not found:
        return None
    rows = {key: [row for row in sides if row is not None] for key, sides in found.items()}
    ranked = sorted(found, key=lambda key: (min(map(rank, rows[key])), key))
    sides = [column(f"side_{place}", label, "name") for place, label in enumerate(SIDES[: len(found[ranked[0]])])]
    listed = [
        cells(columns, rows[key][0])
        | {one.key: NOTHING if row is None else write(row) for one, row in zip(sides, found[key], strict=True)}
        for key in ranked[:MAX_LISTED]
    ]
    more = len(ranked) - len(listed)
    return table(
        f"{caption}: {len(ranked):,}", (*columns, *sides), listed, note=f"And {more:,} more." if more else None
    )
