"""The best sets of actions, of which each is judged: what two save together is not what they save one by one.

Algorithm:
    1. Where all sets are no more than may be judged, all are: the answer is that of exhaustive search.
    2. Else the actions are judged one by one, in the order given, with :data:`SINGLE_RATIO` of what may be judged.
    3. Greedy: all of these together, then the best one, the best two and so on, by what they save alone for an effort.
    4. Exchange: from each set on the front one action is left out, and once that makes none better, another takes its
       place, until all of these are judged or no more may be.

Nothing is random: the same actions and judgements give the same sets.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

ActionSet = frozenset[int]  # places of actions

SINGLE_RATIO = 0.6
_ROUNDING = 1e-9  # what is more by less than this is the rounding of sums


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """What was judged."""

    saved: dict[ActionSet, float]  # what each set saves, in the order judged
    is_exhaustive: bool  # whether all sets were


def search_sets(
    efforts: Sequence[int],
    judge: Callable[[Sequence[ActionSet]], Sequence[float]],
    needed: Callable[[ActionSet], ActionSet],
    max_sets: int,
    apart: Collection[int] = (),
) -> Searched:
    """Search, by the efforts of the actions, those to judge first at the start; ``max_sets`` may be judged.

    ``judge`` returns what each of several sets saves; it is called with sets that have not been judged yet, and with
    what ``needed`` leaves of them: without actions that do nothing beside the others. Actions ``apart`` are judged with
    others only where all sets are; else each is one set more, by itself.
    """
    saved: dict[ActionSet, float] = {}

    def try_all(sets: Iterable[ActionSet]) -> None:
        new = [one for one in dict.fromkeys(map(needed, sets)) if one and one not in saved][: max_sets - len(saved)]
        if new:
            saved.update(zip(new, judge(new), strict=True))

    count = len(efforts)
    if count < 32 and 2**count - 1 <= max_sets:
        try_all(frozenset(some) for size in range(1, count + 1) for some in itertools.combinations(range(count), size))
        return Searched(saved=saved, is_exhaustive=True)
    singles = [one for one in range(count) if one not in apart][: max(1, int(SINGLE_RATIO * max_sets))]
    max_sets += len(apart) if max_sets else 0
    try_all(frozenset([one]) for one in (*singles, *apart))
    singles = [one for one in singles if frozenset([one]) in saved]
    alone = sorted(singles, key=lambda one: (-saved[frozenset([one])] / efforts[one], one))
    try_all([frozenset(alone), *(frozenset(alone[:size]) for size in range(2, len(alone)))])
    before = -1
    while before < len(saved) < max_sets:
        before, front = len(saved), pareto_front(saved, efforts)
        for found in front:
            try_all(found - {one} for one in sorted(found))
        for found in front if pareto_front(saved, efforts) == front else ():
            try_all(found - {out} | {new} for out in sorted(found) for new in alone if new not in found)
    return Searched(saved=saved, is_exhaustive=False)


def pareto_front(saved: dict[ActionSet, float], efforts: Sequence[int]) -> list[ActionSet]:
    """Return the sets that save something and that no other beats, those of the least effort first.

    A set beats another that saves no more with no less effort; of equals the smaller one, then the one whose actions
    come first, stays.
    """
    effort = {found: sum(efforts[one] for one in found) for found in saved}
    front: list[ActionSet] = []
    most = 0.0
    for found in sorted(saved, key=lambda found: (effort[found], -saved[found], len(found), sorted(found))):
        if saved[found] > most * (1 + _ROUNDING) + _ROUNDING:
            front.append(found)
            most = saved[found]
    return front
