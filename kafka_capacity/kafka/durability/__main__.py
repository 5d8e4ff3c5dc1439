"""``python -m kafka_capacity.kafka.durability``: which outcomes are possible after how many failures, by settings.

Nothing in this table for documents is written by hand: each figure is the fewest failures that the explorer found.
"""

from __future__ import annotations

import sys
from itertools import product

from kafka_capacity.kafka.durability.explore import explore
from kafka_capacity.kafka.durability.settings import Acks, Bounds, Configuration, FailureKind, Outcome, Truncation

_CRASH = (FailureKind.CRASH,)
_COLUMNS: tuple[tuple[str, tuple[Outcome, ...], Bounds, Truncation], ...] = tuple(
    (heading, outcomes, bounds, cut)
    for bounds, cut, several in (
        (
            Bounds(records=2, in_flight=2, kinds=_CRASH),
            Truncation.LEADER_EPOCH,
            (
                ("lost", (Outcome.LOST_ACKNOWLEDGED, Outcome.LOST_SILENTLY)),
                ("duplicated", (Outcome.DUPLICATED,)),
                ("out of order", (Outcome.REORDERED,)),
                ("refused", (Outcome.REFUSED,)),
                ("nobody leads", (Outcome.UNAVAILABLE,)),
            ),
        ),
        (
            Bounds(kinds=(*_CRASH, FailureKind.POWER_LOSS, FailureKind.ALL_POWER_LOSS)),
            Truncation.LEADER_EPOCH,
            (("lost, with power losses", (Outcome.LOST_ACKNOWLEDGED, Outcome.LOST_SILENTLY)),),
        ),
        (
            Bounds(kinds=(*_CRASH, FailureKind.PRODUCER_RESTART)),
            Truncation.LEADER_EPOCH,
            (("duplicated, with producer restarts", (Outcome.DUPLICATED,)),),
        ),
        (
            Bounds(kinds=(*_CRASH, FailureKind.QUICK_RESTART)),
            Truncation.HIGH_WATERMARK,
            (("lost, before 0.11", (Outcome.LOST_ACKNOWLEDGED, Outcome.LOST_SILENTLY)),),
        ),
    )
    for heading, outcomes in several
)


def outcome_table() -> list[str]:
    """Return the lines of a Markdown table, factors from 1 to 3; settings with the same figures share a row."""
    keys = [
        (acks, factor, minimum, unclean, idempotent)
        for acks in Acks
        for idempotent in ((False, True) if acks is Acks.ALL else (False,))
        for factor in (1, 2, 3)
        for minimum, unclean in product(range(1, factor + 1), (False, True))
    ]
    cells: dict[tuple[object, ...], list[str]] = {key: [] for key in keys}
    for bounds, cut in dict.fromkeys((bounds, cut) for _, _, bounds, cut in _COLUMNS):
        explored = explore([_configuration(*key, cut) for key in keys], bounds)
        wanted = [outcomes for _, outcomes, its_bounds, its_cut in _COLUMNS if (its_bounds, its_cut) == (bounds, cut)]
        for key, found in zip(keys, explored, strict=True):
            for outcomes in wanted:
                fewest = [found.fewest_failures[one] for one in outcomes if one in found.fewest_failures]
                cells[key].append(str(min(fewest)) if fewest else "–")
    headings = ["acks", "factor", "min ISR", "unclean", *(heading for heading, *_ in _COLUMNS)]
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    return lines + ["| " + " | ".join(row) + " |" for row in _shared_rows(cells)]


def _configuration(
    acks: Acks, factor: int, minimum: int, unclean: bool, idempotent: bool, cut: Truncation
) -> Configuration:
    return Configuration(
        acks=acks,
        replication_factor=factor,
        min_insync_replicas=minimum,
        is_unclean_allowed=unclean,
        is_idempotent=idempotent,
        truncation=cut,
    )


def _shared_rows(cells: dict[tuple[object, ...], list[str]]) -> list[list[str]]:
    """Join the rows of one acks and factor that say the same."""
    shared: dict[tuple[object, ...], dict[int, list[str]]] = {}
    for (acks, factor, minimum, unclean, idempotent), figures in cells.items():
        name = f"{acks}, idempotent" if idempotent else f"{acks}"
        several = shared.setdefault((name, factor, *figures), {})
        several.setdefault(int(str(minimum)), []).append("yes" if unclean else "no")
    rows = []
    for (label, size, *fewest), joined in shared.items():
        by_unclean: dict[str, list[str]] = {}
        for minimum, uncleans in joined.items():
            by_unclean.setdefault("either" if len(uncleans) == 2 else uncleans[0], []).append(str(minimum))
        rows += [
            [str(label), str(size), ", ".join(minima), unclean, *map(str, fewest)]
            for unclean, minima in by_unclean.items()
        ]
    return rows


if __name__ == "__main__":
    sys.stdout.write("\n".join(outcome_table()) + "\n")
