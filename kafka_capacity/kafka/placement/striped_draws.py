"""Every random draw of the striped placer for many topics, made in bulk: offsets and shuffled lists."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Int32s, Ints
from kafka_capacity.kafka.java.random import JavaRandom
from kafka_capacity.kafka.placement.striped_walk import StripeLayout


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StripeDraws:
    """What was drawn for T topics, with S shuffles in all. R racks, N brokers.

    Row 0 of the shuffled lists is their state before any shuffle; the shuffles of a topic follow in order.
    """

    list_offsets: Ints  # int64[T, 2 * R], first offset of each list, 0 for empty ones
    rack_offsets: Ints  # int64[T], position of the rack that leads first
    first_shuffles: Ints  # int64[T], row of the topic's first shuffle, if it has one
    racks: Ints  # int64[1 + S, R], rack numbers in the order in which they are served
    brokers: Int32s  # int32[1 + S, N], the joined lists of the layout as shuffled


def draw_stripes(layout: StripeLayout, counts: Ints, random: JavaRandom) -> StripeDraws:
    """Draw for topics of ``counts`` partitions, int64[T], placed one after another with one generator.

    A topic begins with an offset for every list that has brokers and one for the racks. Whenever it has placed as
    many partitions as there are unfenced brokers, more than one, the racks and every list are shuffled. So the
    bounds of all draws are known beforehand.
    """
    drawn = layout.drawn_lists[layout.sizes[layout.drawn_lists] > 0]
    opening = np.append(layout.sizes[drawn], layout.rack_count)
    shuffled = [_shuffle_bounds(layout.rack_count), *(_shuffle_bounds(int(layout.sizes[index])) for index in drawn)]
    shuffle = np.concatenate(shuffled)
    lone = layout.unfenced_count <= 1
    shuffles = np.zeros_like(counts) if lone else np.maximum(counts - 1, 0) // layout.unfenced_count
    lengths = len(opening) + shuffles * len(shuffle)
    bounds = np.empty(int(lengths.sum()), dtype=np.int64)
    at_opening = (np.cumsum(lengths) - lengths)[:, None] + np.arange(len(opening))
    is_shuffle = np.ones(len(bounds), dtype=np.bool_)
    is_shuffle[at_opening] = False
    bounds[at_opening] = opening
    bounds[is_shuffle] = np.tile(shuffle, int(shuffles.sum()))
    values = random.next_ints_bound(bounds)
    list_offsets = np.zeros((len(counts), len(layout.sizes)), dtype=np.int64)
    list_offsets[:, drawn] = values[at_opening[:, :-1]]
    shuffling = values[is_shuffle].reshape(int(shuffles.sum()), len(shuffle))
    items = _chained(_permutations(layout, drawn, shuffling), shuffles)
    joined = len(layout.brokers)
    return StripeDraws(
        list_offsets=list_offsets,
        rack_offsets=values[at_opening[:, -1]].astype(np.int64),
        first_shuffles=1 + np.cumsum(shuffles) - shuffles,
        racks=items[:, joined:] - joined,
        brokers=layout.brokers[items[:, :joined]],
    )


def _shuffle_bounds(size: int) -> Ints:
    return np.arange(size, 1, -1, dtype=np.int64)


def _permutations(layout: StripeLayout, drawn: Ints, values: Int32s) -> Ints:
    """Turn the draws of each shuffle, int32[S, D], into permutations of the joined lists and, behind them, the racks.

    ``drawn`` are the lists that are not empty, in the order of drawing. Returned is int64[S, N + R], for each position
    the one whose item comes there.
    """
    joined = len(layout.brokers)
    if not len(values):
        return np.empty((0, joined + layout.rack_count), dtype=np.int64)
    spans = [(joined, layout.rack_count)]
    spans += [(int(layout.starts[index]), int(layout.sizes[index])) for index in drawn]
    columns = np.arange(len(values))
    # Positions first: one step of all shuffles then works on whole rows.
    items = np.repeat(np.arange(joined + layout.rack_count)[:, None], len(values), axis=1)
    chosen = np.ascontiguousarray(values.T)
    draw = 0
    for start, size in spans:
        for last in range(start + size - 1, start, -1):
            other = start + chosen[draw]
            taken = items[other, columns]
            items[other, columns] = items[last]
            items[last] = taken
            draw += 1
    return np.ascontiguousarray(items.T)


def _chained(permutations: Ints, lengths: Ints) -> Ints:
    """Apply each topic's shuffles, int64[S, M], one after another: the items after each, before the first in row 0.

    Chains are cut into blocks of about the square root of the longest: first all blocks are composed side by
    side, then each block is put after the one before it. That takes few steps for one long chain as for many short.
    ``lengths``, int64[T], says how many shuffles each topic has.
    """
    shuffle_count, width = permutations.shape
    chained = np.concatenate([np.arange(width)[None, :], permutations])
    longest = int(lengths.max(initial=0))
    ordinal = np.arange(shuffle_count) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    block_size = max(1, math.isqrt(longest))
    step, block = ordinal % block_size, ordinal // block_size
    for rows in _grouped(step)[1:]:
        chained[rows] = _composed(chained, rows - 1, chained[rows])
    for rows in _grouped(block)[1:]:
        chained[rows] = _composed(chained, rows - 1 - step[rows - 1], chained[rows])
    return chained


def _grouped(keys: Ints) -> list[Ints]:
    """List the rows, counted from 1, of key 0, of key 1 and so on."""
    order = np.argsort(keys, kind="stable") + 1
    return np.split(order, np.cumsum(np.bincount(keys))[:-1]) if len(keys) else []


def _composed(chained: Ints, before: Ints, permutations: Ints) -> Ints:
    flat = before[:, None] * chained.shape[1] + permutations
    composed: Ints = np.take(chained, flat)
    return composed
