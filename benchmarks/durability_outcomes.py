"""Which outcomes are possible after how many failures, by settings: the table of docs/durability.md.

    python -m benchmarks.durability_outcomes

Nothing in the table is written by hand: each figure is the fewest failures that the explorer found.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from kafka_capacity.kafka.durability.explore import explore
from kafka_capacity.kafka.durability.settings import Acks, Bounds, Configuration, FailureKind, Outcome, Truncation

_CRASH = FailureKind.CRASH
_LOST = (Outcome.LOST_ACKNOWLEDGED, Outcome.LOST_SILENTLY)
_EXPLORED: tuple[tuple[Bounds, Truncation, dict[str, tuple[Outcome, ...]]], ...] = (
    (
        Bounds(records=2, in_flight=2, kinds=(_CRASH,)),
        Truncation.LEADER_EPOCH,
        {
            "lost": _LOST,
            "duplicated": (Outcome.DUPLICATED,),
            "out of order": (Outcome.REORDERED,),
            "refused": (Outcome.REFUSED,),
            "nobody leads": (Outcome.UNAVAILABLE,),
        },
    ),
    (
        Bounds(kinds=(_CRASH, FailureKind.POWER_LOSS, FailureKind.ALL_POWER_LOSS)),
        Truncation.LEADER_EPOCH,
        {"lost, with power losses": _LOST},
    ),
    (
        Bounds(kinds=(_CRASH, FailureKind.PRODUCER_RESTART)),
        Truncation.LEADER_EPOCH,
        {"duplicated, with producer restarts": (Outcome.DUPLICATED,)},
    ),
    (Bounds(kinds=(_CRASH, FailureKind.QUICK_RESTART)), Truncation.HIGH_WATERMARK, {"lost, before 0.11": _LOST}),
)
"""What is explored, and the columns that come of it, by their headings."""


def outcome_table() -> list[str]:
    """Return the lines of a Markdown table, factors from 1 to 3; settings with the same figures share a row."""
    settings = [
        Configuration(
            acks=acks,
            replication_factor=factor,
            min_insync_replicas=minimum,
            is_unclean_allowed=unclean,
            is_idempotent=idempotent,
        )
        for acks in Acks
        for idempotent in ((False, True) if acks is Acks.ALL else (False,))
        for factor in (1, 2, 3)
        for minimum in range(1, factor + 1)
        for unclean in (False, True)
    ]
    cells: dict[Configuration, list[str]] = {one: [] for one in settings}
    for bounds, cut, columns in _EXPLORED:
        explored = explore([replace(one, truncation=cut) for one in settings], bounds)
        for figures, found in zip(cells.values(), explored, strict=True):
            for outcomes in columns.values():
                fewest = [found.fewest_failures[one] for one in outcomes if one in found.fewest_failures]
                figures.append(str(min(fewest)) if fewest else "–")
    headings = ["acks", "factor", "min ISR", "unclean", *(heading for *_, columns in _EXPLORED for heading in columns)]
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    return lines + ["| " + " | ".join(row) + " |" for row in _shared_rows(cells)]


def _shared_rows(cells: dict[Configuration, list[str]]) -> list[list[str]]:
    """Join the rows of one acks and factor that say the same."""
    shared: dict[tuple[str, ...], dict[int, list[str]]] = {}
    for one, figures in cells.items():
        name = f"{one.acks}, idempotent" if one.is_idempotent else f"{one.acks}"
        several = shared.setdefault((name, str(one.replication_factor), *figures), {})
        several.setdefault(one.min_insync_replicas, []).append("yes" if one.is_unclean_allowed else "no")
    rows = []
    for (label, size, *fewest), joined in shared.items():
        by_unclean: dict[str, list[str]] = {}
        for minimum, uncleans in joined.items():
            by_unclean.setdefault("either" if len(uncleans) == 2 else uncleans[0], []).append(str(minimum))
        rows += [[label, size, ", ".join(minima), unclean, *fewest] for unclean, minima in by_unclean.items()]
    return rows


if __name__ == "__main__":
    sys.stdout.write("\n".join(outcome_table()) + "\n")
