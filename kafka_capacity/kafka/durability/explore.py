"""Every state that can be reached, breadth first, and so the shortest way to each outcome.

Goals (ordered)
    1. Exact: within its bounds every order of every step is tried; what is not found cannot happen in the model.
    2. A shortest trace, among those with the fewest failures, for each outcome that is found.
    3. Fast enough to ask for all combinations of settings: many configurations are explored at once, as arrays.

Worked example:
    >>> from kafka_capacity.kafka.durability.settings import Acks
    >>> found = explore([Configuration(acks=Acks.LEADER, replication_factor=2)], Bounds(failures=1))[0]
    >>> found.fewest_failures[Outcome.LOST_ACKNOWLEDGED], found.fewest_failures[Outcome.EXACTLY_ONCE]
    (1, 0)
    >>> Outcome.REORDERED in found.fewest_failures
    False
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.arrays import Flags, Ints
from kafka_capacity.kafka.cluster.columns import join_columns
from kafka_capacity.kafka.durability.failing import failing_steps
from kafka_capacity.kafka.durability.rules import (
    CONFIGURATION,
    FAILURES,
    IN_SYNC,
    KNOWN_END,
    LENGTH,
    LIVE,
    LOG,
    READ,
    RECORDS_OF_LOG,
    SENT_UNTOLD,
    TOLD_ERROR,
    TOLD_WRITTEN,
    WRITTEN_ELSEWHERE,
    Mask,
    Rules,
    States,
    Words,
    copies,
    status_of,
)
from kafka_capacity.kafka.durability.settings import Bounds, Configuration, Outcome
from kafka_capacity.kafka.durability.steps import ordinary_steps

_AT_ONCE = 64
_MIX = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93, 0xFF51AFD7ED558CCD)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reached:
    """All states of configurations that were explored at once, in the order in which they were found."""

    rules: Rules  # of them
    states: States  # N of them, sorted words; `number` is the state that each follows from, -1 for the first
    # int64[N], by which it was reached: 16 times the `Step`, and of which replica or record. -1 for the first
    step: Ints

    def way_to(self, number: int) -> list[int]:
        """List the states from the first to one."""
        way = [number]
        while self.states.number[way[-1]] >= 0:
            way.append(int(self.states.number[way[-1]]))
        return way[::-1]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Explored:
    """What can come of a configuration within bounds."""

    configuration: Configuration  # what was explored
    fewest_failures: dict[Outcome, int]  # of each outcome that is possible, with how many failures at least
    states: int  # how many states were reached
    reached: Reached  # all of them, for traces
    shortest: dict[Outcome, int]  # of each outcome, the first state with it and the fewest failures


def explore(configurations: Sequence[Configuration], bounds: Bounds) -> list[Explored]:
    """Explore configurations, each by itself; those of one replication factor share the work."""
    found: dict[int, Explored] = {}
    by_factor: dict[int, list[int]] = {}
    for number, one in enumerate(configurations):
        by_factor.setdefault(one.replication_factor, []).append(number)
    for numbers in by_factor.values():
        for start in range(0, len(numbers), _AT_ONCE):
            part = numbers[start : start + _AT_ONCE]
            reached, verdicts = _reach(Rules.of([configurations[number] for number in part], bounds))
            found.update(zip(part, _summaries(configurations, part, reached, verdicts), strict=True))
    return [found[number] for number in range(len(configurations))]


def _summaries(
    configurations: Sequence[Configuration], part: Sequence[int], reached: Reached, verdicts: Flags
) -> Iterator[Explored]:
    which, failures = CONFIGURATION.get(reached.states.rest), FAILURES.get(reached.states.rest)
    counts = np.bincount(which, minlength=len(part))
    shortest: list[dict[Outcome, int]] = [{} for _ in part]
    for outcome in Outcome:
        rows = np.flatnonzero(verdicts[:, outcome])
        order = rows[np.lexsort((rows, failures[rows], which[rows]))]
        for place, first in zip(*np.unique(which[order], return_index=True), strict=True):
            shortest[place][outcome] = int(order[first])
    for place, number in enumerate(part):
        yield Explored(
            configuration=configurations[number],
            fewest_failures={outcome: int(failures[row]) for outcome, row in shortest[place].items()},
            states=int(counts[place]),
            reached=reached,
            shortest=shortest[place],
        )


def _reach(rules: Rules) -> tuple[Reached, Flags]:
    layer = rules.first_states()
    step = np.full(len(layer), -1, dtype=np.int64)
    layers, steps, verdicts = [layer], [step], [outcomes(rules, layer)]
    seen = _Seen(layer)
    first = 0
    while len(layer):
        numbered = States(layer.replicas, layer.rest, np.arange(first, first + len(layer)))
        first += len(layer)
        layer, step = seen.new(list(following(rules, numbered)))
        layers.append(layer)
        steps.append(step)
        verdicts.append(outcomes(rules, layer))
    reached = Reached(rules=rules, states=join_columns(layers), step=np.concatenate(steps))
    return reached, np.concatenate(verdicts)


def following(rules: Rules, states: States) -> Iterator[tuple[int, States]]:
    """Take every step from every state; the code of the step, and what follows."""
    for taken in (ordinary_steps(rules, states), failing_steps(rules, states)):
        for step, which, found in taken:
            if len(found):
                yield step * 16 + which, found


class _Seen:
    """The states that were found already, sorted by a mix of their words."""

    def __init__(self, states: States) -> None:
        order = np.argsort(_mixed(states))
        self._key = _mixed(states)[order]
        self._words = _words(states)[order]

    def new(self, parts: list[tuple[int, States]]) -> tuple[States, Ints]:
        """Return the states that were not found before, each once, the first of each; and remember them."""
        if not parts:
            width = self._words.shape[1] - 1
            none = np.empty(0, dtype=np.int64)
            return States(np.empty((0, width), dtype=np.int64), none, none), none
        states = join_columns([part for _, part in parts])
        step = np.repeat([code for code, _ in parts], [len(part) for _, part in parts]).astype(np.int64)
        words = _words(states)
        # Sorted before they are looked up: a search for one key after another in order finds most of them in the cache.
        unique, first, again = np.unique(_mixed(states), return_index=True, return_inverse=True)
        _check(words, words[first[again]])
        place = np.searchsorted(self._key, unique)
        is_known = place < len(self._key)
        is_known[is_known] = self._key[place[is_known]] == unique[is_known]
        _check(words[first[is_known]], self._words[place[is_known]])
        added = first[~is_known]
        self._key = np.insert(self._key, place[~is_known], unique[~is_known])
        self._words = np.insert(self._words, place[~is_known], words[added], axis=0)
        chosen = np.zeros(len(step), dtype=np.bool_)
        chosen[added] = True
        return states.where(chosen), step[chosen]


def _words(states: States) -> Words:
    return np.column_stack([states.replicas, states.rest])


def _mixed(states: States) -> NDArray[np.uint64]:
    """Mix the words of each state to one number; two states with the same one are told apart by :func:`_check`."""
    mixed = np.zeros(len(states), dtype=np.uint64)
    for place, word in enumerate(_words(states).T):
        mixed ^= word.astype(np.uint64) * np.uint64(_MIX[place])
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(_MIX[-1])
        mixed ^= mixed >> np.uint64(32)
    return mixed


def _check(words: Words, others: Words) -> None:
    if not np.array_equal(words, others):
        raise AssertionError("two states of the exploration mix to one number; the mixing must be changed")


def outcomes(rules: Rules, states: States) -> Flags:
    """Return bool[S, O]: which :class:`Outcome` holds; none where things have not settled.

    *Settled* means: somebody leads, the producer has been told of every record or tells nobody, and every live replica
    is in sync and has fetched to the end. Brokers may still be dead: what they have does not change the leader's log
    any more. *Lost* means: acknowledged, and not in the log of that leader. Where nobody leads, that is the only
    verdict.
    """
    found = np.zeros((len(states), len(Outcome)), dtype=np.bool_)
    found[:, Outcome.UNAVAILABLE] = ~states.is_led
    settled = _is_settled(rules, states)
    found[settled] = _judged(rules, states.where(settled))
    return found


def _is_settled(rules: Rules, states: States) -> Mask:
    replicas = states.replicas
    end = LENGTH.get(replicas[:, :1])
    caught_up = (IN_SYNC.get(replicas) == 1) & (LENGTH.get(replicas) == end) & (KNOWN_END.get(replicas) == end)
    caught_up[:, 0] = True
    all_caught_up = (caught_up | (LIVE.get(replicas) == 0)).all(axis=1)
    return np.asarray(states.is_led & ~rules.is_outstanding(states) & all_caught_up, dtype=np.bool_)


def _judged(rules: Rules, states: States) -> Flags:
    found = np.zeros((len(states), len(Outcome)), dtype=np.bool_)
    leader, read = states.replicas[:, 0], READ.get(states.rest)
    is_plain = np.ones(len(states), dtype=np.bool_)
    before = np.zeros(len(states), dtype=np.int64)
    for record in range(rules.bounds.records):
        count, first = copies(leader, record)
        status, is_there = status_of(record).get(states.rest), count > 0
        found[:, Outcome.LOST_ACKNOWLEDGED] |= (status == TOLD_WRITTEN) & ~is_there
        found[:, Outcome.LOST_SILENTLY] |= (status == SENT_UNTOLD) & ~is_there
        found[:, Outcome.DUPLICATED] |= count > 1
        found[:, Outcome.DUPLICATED_ACROSS_PARTITIONS] |= (status == WRITTEN_ELSEWHERE) & is_there
        found[:, Outcome.READ_THEN_GONE] |= ((read >> record) & 1 == 1) & ~is_there
        found[:, Outcome.REFUSED] |= (status == TOLD_ERROR) & ~is_there
        found[:, Outcome.WRITTEN_THOUGH_REFUSED] |= (status == TOLD_ERROR) & is_there
        found[:, Outcome.REORDERED] |= is_there & (first < before)
        is_plain &= (
            (count + (status == WRITTEN_ELSEWHERE) == 1) & (status != TOLD_ERROR) & ~(is_there & (first < before))
        )
        before = np.where(is_there, np.maximum(first, before), before)
    found[:, Outcome.EXACTLY_ONCE] = is_plain
    found[:, Outcome.DIVERGED] = _differs(states)
    return found


def _differs(states: States) -> Mask:
    """Return where a live replica holds other records than the leader."""
    records = LOG.get(states.replicas) & RECORDS_OF_LOG
    differs = (records != records[:, :1]) & (LIVE.get(states.replicas) == 1)
    return np.asarray(differs.any(axis=1), dtype=np.bool_)
