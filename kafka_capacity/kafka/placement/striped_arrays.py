"""The striped placement of many partitions as array operations.

Algorithm:
    Which list a replica comes from, and the how-manieth of this list it is, follows from the order of the racks and
    the one whose turn it is: the rack that leads gives one broker, then every rack in turn gives one, again and
    again, the leading rack skipping the first round and used-up racks skipping the rest. So this is worked out once
    for every order and turn (a *pattern*), not for every partition. The broker then follows from how often its list
    was used before: in every partition for most lists. Until the first shuffle the turns repeat, so a table for each
    first turn tells the uses; in longer topics they are counted.

Limits:
    This holds as long as no list is used in one epoch, not at all until the epoch of the same number comes back
    after a shuffle, and then again (see :class:`~kafka_capacity.kafka.placement.striped_walk.StripeWalk`). Topics where
    that happens are found and given back, to be walked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Int32s, Ints
from kafka_capacity.kafka.java.hash_map import stable_order
from kafka_capacity.kafka.placement.striped_draws import StripeDraws
from kafka_capacity.kafka.placement.striped_walk import StripeLayout

_CHUNK_ROWS = 1 << 15  # keeps the working arrays in the cache


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StripeRows:
    """The partitions of topics, in order."""

    topic: Ints  # int64[P], position of the topic in the draws
    ordinal: Ints  # int64[P], position of the partition in its topic
    shuffle: Ints  # int64[P], row of the shuffled lists that holds for it
    pattern: Ints  # int64[P], `shuffle * R` plus the position of the rack whose turn it is


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StripePatterns:
    """Where the replicas come from in each pattern. F is the replication factor."""

    lists: Ints  # int64[patterns, F], number of the list
    taken: Ints  # int64[patterns, F], how many brokers of the list the same partition has before this one


def stripe_rows(layout: StripeLayout, draws: StripeDraws, topics: Ints, counts: Ints) -> StripeRows:
    """Lay out the partitions of some topics (positions in the draws) with ``counts`` partitions each."""
    topic = np.repeat(topics, counts)
    ordinal = np.arange(len(topic)) - np.repeat(np.cumsum(counts) - counts, counts)
    shuffle = np.zeros_like(topic)
    if layout.unfenced_count > 1:
        done = ordinal // layout.unfenced_count
        shuffle = np.where(done > 0, draws.first_shuffles[topic] + done - 1, 0)
    turn = (draws.rack_offsets[topic] + ordinal) % layout.rack_count
    return StripeRows(topic=topic, ordinal=ordinal, shuffle=shuffle, pattern=shuffle * layout.rack_count + turn)


def stripe_patterns(layout: StripeLayout, racks: Ints, replication_factor: int) -> StripePatterns:
    """Work out all patterns of the rack orders ``racks``, int64[1 + S, R]."""
    order_count, rack_count = racks.shape
    order = np.repeat(np.arange(order_count), rack_count)
    turn = np.tile(np.arange(rack_count), order_count)
    unfenced, total = layout.sizes[::2], layout.sizes[::2] + layout.sizes[1::2]
    leading = racks[order, turn]
    for ahead in range(1, rack_count):
        stuck = unfenced[leading] == 0
        if not stuck.any():
            break
        leading = np.where(stuck, racks[order, (turn + ahead) % rack_count], leading)
    lists = np.zeros((len(order), replication_factor), dtype=np.int64)
    taken = np.zeros_like(lists)
    lists[:, 0] = 2 * leading
    found = np.ones(len(order), dtype=np.int64)
    step = 0
    while (open_rows := np.flatnonzero(found < replication_factor)).size:
        rack = racks[order[open_rows], (turn[open_rows] + step) % rack_count]
        nth = step // rack_count
        gives = (nth < total[rack]) & ((rack != leading[open_rows]) | (nth > 0))
        rows, rack = open_rows[gives], rack[gives]
        is_fenced = nth >= unfenced[rack]
        lists[rows, found[rows]] = 2 * rack + is_fenced
        taken[rows, found[rows]] = nth - np.where(is_fenced, unfenced[rack], 0)
        found[rows] += 1
        step += 1
    return StripePatterns(lists=lists, taken=taken)


def place_stripes(
    layout: StripeLayout, draws: StripeDraws, rows: StripeRows, patterns: StripePatterns
) -> tuple[Int32s, Ints]:
    """Place partitions: int32[P, F], broker ids; and name topics, int64[any], whose rows do not hold: walk these."""
    opening = draws.list_offsets
    # Topics without a shuffle; a table larger than the partitions would not pay.
    if layout.rack_count**2 <= len(rows.topic) and not rows.shuffle.any():
        return _place_unshuffled(layout, draws, rows, patterns), np.empty(0, dtype=np.int64)
    uses: Ints | None = None
    walked = np.empty(0, dtype=np.int64)
    if not _uses_lists_always(patterns, len(layout.sizes)):
        uses, walked = _count_uses(layout, rows, patterns)
    placed = np.empty((len(rows.topic), patterns.lists.shape[1]), dtype=np.int32)
    for begin in range(0, len(placed), _CHUNK_ROWS):
        chunk = slice(begin, begin + _CHUNK_ROWS)
        lists, taken = patterns.lists[rows.pattern[chunk]], patterns.taken[rows.pattern[chunk]]
        used = rows.ordinal[chunk, None] if uses is None else uses[chunk]
        offset = (opening[rows.topic[chunk, None], lists] + used + taken) % layout.sizes[lists]
        flat = rows.shuffle[chunk, None] * len(layout.brokers) + layout.starts[lists] + offset
        placed[chunk] = np.take(draws.brokers, flat)
    return placed, walked


def _place_unshuffled(layout: StripeLayout, draws: StripeDraws, rows: StripeRows, patterns: StripePatterns) -> Int32s:
    """Place partitions of topics without a shuffle: the patterns are those of row 0, one for each turn."""
    turns, list_count = layout.rack_count, len(layout.sizes)
    is_used = np.zeros((turns, list_count), dtype=np.int32)
    is_used[np.arange(turns)[:, None], patterns.lists[:turns]] = 1
    # Row k: how often each list is used in the first k turns.
    used = np.concatenate([np.zeros((1, list_count), np.int32), np.cumsum(np.tile(is_used, (2, 1)), 0, np.int32)])
    first = np.repeat(np.arange(turns), turns)
    reached = first + np.tile(np.arange(turns), turns)
    lists = patterns.lists[reached % turns].astype(np.int32)
    # A list is born in the epoch of ordinal 0, so a use there does not move it on.
    moved = np.take_along_axis(used[reached + 1] - used[first + 1], lists, axis=1)
    moved += patterns.taken[reached % turns].astype(np.int32)
    moved_a_cycle = used[turns][lists]
    sizes, starts = layout.sizes.astype(np.int32), layout.starts.astype(np.int32)
    opening = draws.list_offsets.astype(np.int32).ravel()
    placed = np.empty((len(rows.topic), lists.shape[1]), dtype=np.int32)
    for begin in range(0, len(placed), _CHUNK_ROWS):
        chunk = slice(begin, begin + _CHUNK_ROWS)
        topic, ordinal = rows.topic[chunk], rows.ordinal[chunk].astype(np.int32)
        cycle = ordinal // turns
        key = draws.rack_offsets[topic] * turns + (ordinal - cycle * turns)
        chosen = np.take(lists, key, axis=0)
        offset = np.take(moved_a_cycle, key, axis=0)
        offset *= cycle[:, None]
        offset += np.take(moved, key, axis=0)
        offset += np.take(opening, topic[:, None] * list_count + chosen)
        offset %= np.take(sizes, chosen)
        offset += np.take(starts, chosen)
        np.take(layout.brokers, offset, out=placed[chunk], mode="clip")
    return placed


def _uses_lists_always(patterns: StripePatterns, list_count: int) -> bool:
    """Return whether every list is used in all patterns or in none."""
    times = np.bincount(patterns.lists[patterns.taken == 0], minlength=list_count)
    return bool(((times == 0) | (times == len(patterns.lists))).all())


def _count_uses(layout: StripeLayout, rows: StripeRows, patterns: StripePatterns) -> tuple[Ints, Ints]:
    """Count how often the list of each replica moved on before: int64[P, F]; and name the topics to be walked."""
    factor = patterns.lists.shape[1]
    lists = patterns.lists[rows.pattern].ravel()
    is_first = (patterns.taken[rows.pattern] == 0).ravel()
    events = np.flatnonzero(is_first)
    events = events[stable_order(lists[events], len(layout.sizes))]
    row = events // factor
    topic, ordinal, used_list = rows.topic[row], rows.ordinal[row], lists[events]
    begins = np.ones(len(events), dtype=np.bool_)
    begins[1:] = (used_list[1:] != used_list[:-1]) | (topic[1:] != topic[:-1])
    group = np.cumsum(begins) - 1
    at_begin = np.flatnonzero(begins)
    # A list is born in epoch 0: its first use moves it on unless that is the epoch.
    period = layout.unfenced_count
    epoch = ordinal[at_begin] % period if period > 1 else ordinal[at_begin]
    count = np.arange(len(events)) - at_begin[group] + (epoch > 0)[group]
    uses = np.zeros((len(rows.topic), factor), dtype=np.int64)
    uses.ravel()[events] = count
    _copy_within_rows(uses, rows, patterns)
    if period <= 1:
        return uses, np.empty(0, dtype=np.int64)
    gap = ordinal[1:] - ordinal[:-1]
    comes_back = ~begins[1:] & (gap % period == 0)
    return uses, np.unique(topic[1:][comes_back])


def _copy_within_rows(uses: Ints, rows: StripeRows, patterns: StripePatterns) -> None:
    """Give the later replicas that a partition takes from a list the count of the first."""
    lists, taken = patterns.lists, patterns.taken
    for later in range(1, lists.shape[1]):
        if not taken[:, later].any():
            continue
        same = (lists[:, :later] == lists[:, later, None]) & (taken[:, :later] == 0)
        source = np.where(taken[:, later] > 0, same.argmax(axis=1), later)
        uses[:, later] = np.take_along_axis(uses, source[rows.pattern, None], axis=1)[:, 0]
