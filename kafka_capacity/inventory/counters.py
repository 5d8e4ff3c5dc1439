"""From samples of counters to what was counted hour by hour.

A counter only grows until its process starts again; then it begins at 0. So between two samples was counted what it
grew by, and where it fell, what it has reached since (what came between the last sample and the restart is lost, less
than one step of samples).

* **Copies.** The same counter may come as several series: from servers that scrape it side by side, or under a new
  address after a restart. The growth over a step is taken from a copy that has both of its ends, so that copies which
  were read at other moments never look like a restart; only where none has both is the step between two copies.
* **Gaps.** A step that lies within one hour counts whole, however long it is: the counter itself bridges it. A longer
  step than :data:`LONGEST_STEP_SECONDS` across the end of an hour says nothing of either hour.
* **Hours.** The rate of an hour is what was counted in its covered seconds, divided by them; with less than
  :data:`LEAST_COVERED_SECONDS` it is not known.
* **Births.** Kafka makes the counter of a topic at its first record and drops it when the broker leads it no more.
  While its broker is scraped (``is_up``), a counter that is not there stands at 0.

Worked example: the process starts again within the first hour
    >>> seconds = np.array([0, 900, 1800, 2700, 3600])
    >>> values = np.array([[[100.0, 190.0, 45.0, 135.0, 225.0]]])
    >>> (hourly_rates(values, seconds) * 3600).tolist()
    [[315.0]]
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Floats, Ints

HOUR = 3600

LONGEST_STEP_SECONDS = 900
"""Three steps of five minutes: a single missed scrape is bridged across the end of an hour, an outage is not."""

LEAST_COVERED_SECONDS = 2700  # three quarters of an hour: a mean over less could miss most of what happened in it


class Fall(StrEnum):
    """What it means when a value falls."""

    RESTART = "restart"  # a counter or a log that starts over: what it has reached was counted since
    REWIND = "rewind"  # an offset that somebody set back: nothing was counted


def hourly_rates(values: Floats, seconds: Ints, *, is_up: Flags | None = None, fall: Fall = Fall.RESTART) -> Floats:
    """Return the mean rate of each counter in each whole hour.

    Args:
        values: float64[G, R, T], R copies of G counters at T moments; NaN where a copy has no sample.
        seconds: int64[T], the moments since 1970, ascending.
        is_up: bool[G, T], whether what keeps the counter was scraped: then a counter without a sample stands at 0.
        fall: what a fall means.

    Returns:
        float64[G, H], per second, of the whole hours between the first moment and the last; NaN where not known.
    """
    first, last = -(-int(seconds[0]) // HOUR), int(seconds[-1]) // HOUR
    growth, began = growth_by_step(values, seconds, is_up=is_up, fall=fall)
    return _by_hour(growth, began, seconds, first, max(last - first, 0))


def growth_by_step(
    values: Floats, seconds: Ints, *, is_up: Flags | None = None, fall: Fall = Fall.RESTART
) -> tuple[Floats, Ints]:
    """Return by how much each counter grew up to each of its samples.

    Returns:
        float64[G, T], the growth since the sample before, NaN where there is no sample or none before; and int64[G, T],
        the moment of that sample before.
    """
    count, copies, moments = values.shape
    # The copy with the most samples comes first: it is used for as long as it lasts.
    order = np.argsort(-np.isfinite(values).sum(axis=2), axis=1, kind="stable")
    values = np.take_along_axis(values, order[:, :, None], axis=1)
    growth = np.full((count, moments), np.nan)
    began = np.zeros((count, moments), dtype=np.int64)
    row = np.arange(count)
    before = np.full((count, copies), np.nan)  # each copy's value at the last moment that counted
    joined = np.full(count, np.nan)  # the value of whichever copy was used then
    moment = np.zeros(count, dtype=np.int64)
    for step in range(moments):
        now = values[:, :, step]
        has_now = np.isfinite(now)
        has_both = has_now & np.isfinite(before)
        has_any = has_now.any(axis=1)
        chosen = np.where(has_both.any(axis=1), has_both.argmax(axis=1), has_now.argmax(axis=1))
        reached = now[row, chosen]
        earlier = np.where(has_both.any(axis=1), before[row, chosen], joined)
        if is_up is not None:
            is_zero = ~has_any & is_up[:, step]
            reached = np.where(is_zero, 0.0, reached)
            has_any = has_any | is_zero
        grown = reached - earlier
        grown = np.where(grown < 0, reached if fall is Fall.RESTART else 0.0, grown)
        growth[has_any, step] = grown[has_any]
        began[:, step] = moment
        before[has_any] = now[has_any]
        joined = np.where(has_any, reached, joined)
        moment = np.where(has_any, seconds[step], moment)
    return growth, began


def _by_hour(growth: Floats, began: Ints, seconds: Ints, first: int, hours: int) -> Floats:
    counter, step = np.nonzero(np.isfinite(growth))
    grown, start, end = growth[counter, step], began[counter, step], seconds[step]
    length = end - start
    counted = np.zeros(len(growth) * hours)
    covered = np.zeros(len(growth) * hours)
    begins_in, ends_in = start // HOUR, (end - 1) // HOUR
    is_within = begins_in == ends_in
    is_across = ~is_within & (length <= LONGEST_STEP_SECONDS)
    before_edge = np.where(is_within, length, ends_in * HOUR - start)
    for hour, part, is_used in (
        (begins_in, before_edge, is_within | is_across),
        (ends_in, length - before_edge, is_across),
    ):
        is_used = is_used & (hour >= first) & (hour < first + hours)
        place = (counter * hours + hour - first)[is_used]
        share = part[is_used]
        counted += np.bincount(place, grown[is_used] * share / length[is_used], minlength=len(counted))
        covered += np.bincount(place, share, minlength=len(covered))
    rate: Floats = np.divide(
        counted, covered, out=np.full(len(counted), np.nan), where=covered >= LEAST_COVERED_SECONDS
    )
    return rate.reshape(len(growth), hours)
