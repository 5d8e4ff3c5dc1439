"""The oracle: try every assignment there is and keep the cheapest that is allowed. Nothing of the product is used."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product

from tests.properties.strategies import Case


def racks_of(case: Case, brokers: Iterable[int]) -> set[object]:
    """Name the racks of some brokers; one without a rack is a rack of its own."""
    rack = dict(zip(case.ids, case.racks, strict=True))
    return {rack[b] if rack[b] is not None else ("lone", b) for b in brokers}


def racks_wanted(case: Case, factor: int) -> int:
    """Over how many racks the rule wants a partition."""
    possible = min(factor, len(racks_of(case, case.ids)))
    return {"strict": possible, "two-racks": min(2, possible), "off": min(1, possible)}[case.rack_rule.value]


def loads(case: Case, rows: Iterable[Iterable[int]], unit: Iterable[float]) -> dict[int, float]:
    """Sum what each wanted broker holds."""
    load = dict.fromkeys(case.ids, 0.0)
    for brokers, worth in zip(rows, unit, strict=True):
        for broker in brokers:
            if broker in load:
                load[broker] += worth
    return load


def copied(case: Case, rows: Iterable[Iterable[int]]) -> int:
    """Sum the sizes of the replicas that were not there before."""
    return sum(
        size * len(set(after) - set(before)) for size, before, after in zip(case.sizes, case.before, rows, strict=True)
    )


def choices(case: Case, factor: int, *, knows_fences: bool = False) -> list[tuple[int, ...]]:
    """List the sets of brokers that one partition may be on."""
    del knows_fences
    return [
        chosen for chosen in combinations(case.ids, factor) if len(racks_of(case, chosen)) >= racks_wanted(case, factor)
    ]


def cheapest(case: Case, unit: tuple[float, ...], lower: dict[int, float], upper: dict[int, float]) -> int | None:
    """Return the fewest bytes copied by any assignment inside the limits, ``None`` where there is none."""
    best: int | None = None
    slack = 1e-6
    for rows in product(*(choices(case, factor) for factor in case.factors)):
        cost = copied(case, rows)
        if best is not None and cost >= best:
            continue
        load = loads(case, rows, unit)
        if all(lower[b] - slack <= load[b] <= upper[b] + slack for b in case.ids):
            best = cost
    return best
