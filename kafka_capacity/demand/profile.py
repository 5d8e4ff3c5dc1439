"""The mean and a high percentile of many groups of values at once.

The percentile is numpy's ``linear`` one (Hyndman and Fan's type 7): of n sorted values the q-th sits at place
``(n - 1) * q``, and between two places the value is interpolated on the straight line between them.

Everything is computed on sorted values, so that the order of the rows cannot show in the last bit of a sum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.arrays import Float32s, Floats, Ints

PEAK_QUANTILE = 0.99  # "peak" of hourly rates: four weeks have six hours above it, so that one odd hour is no peak


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupProfile:
    """One entry a group; a group without values is 0 everywhere."""

    mean: Floats  # float64[G]
    peak: Floats  # float64[G]
    count: Ints  # int64[G], how many values it rests on


def profile_groups(
    group: NDArray[np.integer], values: Float32s, group_count: int, *, quantile: float = PEAK_QUANTILE
) -> GroupProfile:
    """Return the mean and the percentile, at a quantile of 0 to 1, of each group of values.

    Groups are int[N], 0 to ``group_count - 1`` in any order, values float32[N], not negative and finite.
    """
    # One sort of integers by group, then size, since non-negative floats sort as their bits do.
    bits = np.ascontiguousarray(values + np.float32(0)).view(np.uint32).astype(np.uint64)
    key = (group.astype(np.uint64) << np.uint64(32)) | bits
    key.sort()
    ordered = (key & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.float32).astype(np.float64)
    count = np.bincount(group, minlength=group_count).astype(np.int64)
    starts = np.cumsum(count) - count
    has_values = count > 0
    sums = np.zeros(group_count)
    if has_values.any():
        sums[has_values] = np.add.reduceat(ordered, starts[has_values])
    mean = np.divide(sums, count, out=np.zeros(group_count), where=has_values)
    return GroupProfile(mean=mean, peak=_percentile(ordered, starts, count, quantile), count=count)


def _percentile(ordered: Floats, starts: Ints, count: Ints, quantile: float) -> Floats:
    if not len(ordered):
        return np.zeros(len(count))
    share, below = np.modf((count - 1).clip(min=0) * quantile)
    places = starts + below.astype(np.int64)
    last = len(ordered) - 1
    low = ordered[places.clip(0, last)]
    high = ordered[np.minimum(places + 1, starts + count - 1).clip(0, last)]
    # As numpy does it: from the nearer end, so that the result never passes either of the two values.
    gap = high - low
    value = np.where(share >= 0.5, high - gap * (1 - share), low + gap * share)
    return np.where(count > 0, value, 0.0)
