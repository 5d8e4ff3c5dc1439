"""How far a group falls behind while partitions are not read, and when it has caught up.

Model:
    A partition receives its rate all the time. A member processes what it is given up to its capacity; where more
    waits than it can do, its partitions share it evenly (a client fetches them in turn). What waits is read in order.

    * The lag of a partition in seconds is what waits ÷ its rate: the age of the oldest waiting record.
    * A member whose partitions have backlog B and rates Λ, with capacity μ > Λ, has caught up B ÷ (μ − Λ) seconds
      later: it is busy until then, in whatever order it reads. With μ ≤ Λ it never catches up. The group has caught
      up when the slowest member has, which is not total lag ÷ total rate.

Time runs in steps that begin and end where partitions start or stop to be read.

Worked example: one member reads two partitions of 10 bytes/s with a capacity of 30 bytes/s, and stops for 6 seconds.
120 bytes wait, and 10 bytes/s are left over for them:

>>> import numpy as np
>>> stopped = Interruptions(
...     partition=np.array([0, 1]), stop_seconds=np.array([0.0, 0.0]), start_seconds=np.array([6.0, 6.0]),
...     before=np.array([0, 0]), after=np.array([0, 0]), left_seconds=np.array([np.nan, np.nan]),
... )
>>> lag = lag_over_time(
...     rate=np.array([10.0, 10.0]), start_lag_bytes=np.zeros(2), capacity=30.0,
...     first_owner=np.array([0, 0]), last_owner=np.array([0, 0]), interruptions=stopped,
... )
>>> lag.catch_up_seconds, lag.max_lag_seconds, float(lag.lag_bytes.max())
(18.0, 6.0, 120.0)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Floats, Ints, runs
from kafka_capacity.kafka.rebalance.model import NOBODY, Interruptions

MAX_STEPS = 400  # of the part in which partitions stop and start
TAIL_STEPS = 24
NEVER_TAIL_SECONDS = 3600.0  # how much of a lag that grows without bound is drawn


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LagOverTime:
    """A group's lag during an event."""

    time_seconds: Floats  # float64[T], ascending, the first is 0
    lag_bytes: Floats  # float64[T], of the group
    lag_seconds: Floats  # float64[T], of the partition with the highest lag
    paused_partitions: Ints  # int64[T], not read from that time on
    max_lag_seconds: float  # the highest; infinite where a partition is never read again or its reader never keeps up
    max_lag_row: int  # the partition, -1 where nothing lags
    peak_lag_bytes: Floats  # float64[P'], the most that waited in each partition
    # when nothing waits any more; infinite for never, NaN where that is not known, 0 where nothing ever waits
    catch_up_seconds: float
    catch_up_row: int  # the partition that waits longest, -1 where nothing does


def lag_over_time(
    *,
    rate: Floats,
    start_lag_bytes: Floats,
    capacity: float,
    first_owner: Ints,
    last_owner: Ints,
    interruptions: Interruptions,
    has_tail: bool = True,
) -> LagOverTime:
    """Follow the backlog of every partition through an event.

    Args:
        rate: float64[P'], bytes per second produced to each partition.
        start_lag_bytes: float64[P'], what waits at time 0.
        capacity: bytes per second that one member processes, infinite where it is not known: nothing waits for a member
            then that reads, and when it has caught up is not known either.
        first_owner: int64[P'], who reads each partition at time 0, -1 for nobody.
        last_owner: int64[P'], who reads it after the last start.
        interruptions: when it is not read.
        has_tail: whether it is followed until everything is caught up, or to the last start. Without it the figures
            leave out what a partition falls behind after that, with more than its part of a member that is busy.
    """
    steps = _Steps(rate, capacity, first_owner, interruptions)
    times = _times(interruptions)
    record = _Record(rate, start_lag_bytes.astype(np.float64))
    for begin, end in pairwise(times.tolist()):
        record.add(steps.step(record.backlog, begin, end))
    settled = float(times[-1])
    waits, is_growing = _waits(record.backlog, rate, capacity, last_owner)
    tail = _tail(settled, waits) if has_tail else np.empty(0)
    for begin, end in pairwise([settled, *tail.tolist()]):
        record.add(steps.step(record.backlog, begin, end))
    peak_seconds = np.where(is_growing, np.inf, record.peak / record.pace)
    highest, slowest = float(peak_seconds.max(initial=0.0)), float(waits.max(initial=0.0))
    has_waited = bool(record.peak.any() or waits.any())
    # To say when would take a capacity that is not known.
    caught_up = math.nan if math.isinf(capacity) and math.isfinite(slowest) else settled + slowest
    return LagOverTime(
        time_seconds=np.concatenate([times, tail]),
        lag_bytes=np.array(record.lag_bytes),
        lag_seconds=np.array(record.lag_seconds),
        paused_partitions=_paused(np.concatenate([times, tail]), interruptions),
        max_lag_seconds=highest,
        max_lag_row=int(np.argmax(peak_seconds)) if highest > 0 else NOBODY,
        peak_lag_bytes=record.peak,
        catch_up_seconds=caught_up if has_waited else 0.0,
        # Several partitions wait as long as their reader does: name the one with the most.
        catch_up_row=int(np.lexsort((-record.peak, -waits))[0]) if has_waited else NOBODY,
    )


class _Record:
    """What is kept of the backlogs: their sums and peaks, since all of them would be too much for large groups."""

    def __init__(self, rate: Floats, backlog: Floats) -> None:
        self.pace = np.where(rate > 0, rate, np.inf)
        self.peak = backlog
        self.lag_bytes: list[float] = []
        self.lag_seconds: list[float] = []
        self.add(backlog)

    def add(self, backlog: Floats) -> None:
        self.backlog = backlog
        self.peak = np.maximum(self.peak, backlog)
        self.lag_bytes.append(float(backlog.sum()))
        self.lag_seconds.append(float((backlog / self.pace).max(initial=0.0)))


def _times(interruptions: Interruptions) -> Floats:
    """List where steps begin and end: at 0 and where partitions start or stop.

    Where that is too many, stops are left out: those of one member mostly fall together, and then nothing is lost. If
    there are still too many, the starts after the longest pauses are kept, and of the others some.
    """
    starts, stops = interruptions.start_seconds, interruptions.stop_seconds
    is_finite = np.isfinite(starts)
    points = np.unique(starts[is_finite])
    everything = np.unique(np.concatenate([[0.0], points, stops]))
    if len(everything) <= MAX_STEPS:
        return everything
    if len(points) > MAX_STEPS:
        longest = np.argsort(-interruptions.pause_seconds[is_finite], kind="stable")[: MAX_STEPS // 4]
        spread = points[np.linspace(0, len(points) - 1, MAX_STEPS * 3 // 4).astype(np.int64)]
        points = np.union1d(spread, starts[is_finite][longest])
    return np.unique(np.concatenate([[0.0], points, stops[~is_finite]]))


def _tail(settled: float, waits: Floats) -> Floats:
    """List the times after the last start until everything is caught up."""
    slowest = float(waits.max(initial=0.0))
    if slowest == 0:
        return np.empty(0)
    if np.isinf(slowest):
        slowest = max([NEVER_TAIL_SECONDS, *(waits[np.isfinite(waits)].tolist())])
    return settled + np.linspace(0.0, slowest, TAIL_STEPS + 1)[1:]


def _waits(backlog: Floats, rate: Floats, capacity: float, owner: Ints) -> tuple[Floats, Flags]:
    """Return how long each partition waits from the last start on (as long as its reader is busy), and whose lags grow.

    That is float64[P'], infinite for ever, and bool[P'], whether it grows without bound.
    """
    has_owner = owner != NOBODY
    members = int(owner.max(initial=NOBODY)) + 1
    waiting = np.bincount(owner[has_owner], weights=backlog[has_owner], minlength=members)
    load = np.bincount(owner[has_owner], weights=rate[has_owner], minlength=members)
    spare = capacity - load
    # A member that is full to the last byte is not behind; one with too much to do gets behind even from nothing.
    is_over = spare < -1e-9 * load
    per_member = np.divide(waiting, spare, out=np.zeros(members), where=(spare > 0) & (waiting > 0))
    per_member[is_over | ((waiting > 1e-6) & (spare <= 0))] = np.inf
    waits = np.where((rate > 0) | (backlog > 0), np.inf, 0.0)
    waits[has_owner] = per_member[owner[has_owner]]
    is_growing = rate > 0
    is_growing[has_owner] &= is_over[owner[has_owner]]
    return waits, is_growing


def _paused(times: Floats, interruptions: Interruptions) -> Ints:
    begun = np.searchsorted(np.sort(interruptions.stop_seconds), times, side="right")
    ended = np.searchsorted(np.sort(interruptions.start_seconds), times, side="right")
    return (begun - ended).astype(np.int64)


class _Steps:
    """Moves backlogs through time."""

    def __init__(self, rate: Floats, capacity: float, first_owner: Ints, interruptions: Interruptions) -> None:
        self._rate = rate
        self._capacity = capacity
        self._owner = first_owner.copy()
        self._members = int(max(first_owner.max(initial=0), interruptions.after.max(initial=0))) + 1
        self._found = interruptions
        self._by_start = np.argsort(interruptions.start_seconds, kind="stable")
        self._next = 0

    def step(self, backlog: Floats, begin: float, end: float) -> Floats:
        """Return the backlogs at the end of a step."""
        found, length = self._found, end - begin
        self._take_over(begin)
        is_in = (found.stop_seconds < end) & (found.start_seconds > begin)
        overlap = np.minimum(found.start_seconds[is_in], end) - np.maximum(found.stop_seconds[is_in], begin)
        paused = np.bincount(found.partition[is_in], weights=overlap, minlength=len(self._rate))
        read_for = np.clip(length - paused, 0.0, length)
        read_for[self._owner == NOBODY] = 0.0
        wanted = np.where(read_for > 0, backlog + self._rate * read_for, 0.0)
        return np.maximum(backlog + self._rate * length - self._processed(wanted, read_for), 0.0)

    def _take_over(self, now: float) -> None:
        """Let those read who have started by now."""
        found = self._found
        first = self._next
        while self._next < len(self._by_start) and found.start_seconds[self._by_start[self._next]] <= now:
            self._next += 1
        rows = self._by_start[first : self._next]
        self._owner[found.partition[rows]] = found.after[rows]

    def _processed(self, wanted: Floats, read_for: Floats) -> Floats:
        """Share each member's work among its partitions: as much as is wanted, else evenly up to a level."""
        if np.isinf(self._capacity):
            return wanted
        rows = np.flatnonzero(wanted > 0)
        owner = self._owner[rows]
        busy_for = np.zeros(self._members)
        np.maximum.at(busy_for, owner, read_for[rows])
        work = self._capacity * busy_for
        asked = np.bincount(owner, weights=wanted[rows], minlength=self._members)
        is_full = asked > work
        processed = wanted.copy()
        rows = rows[is_full[owner]]
        if len(rows):
            processed[rows] = _levelled(wanted[rows], self._owner[rows], work)
        return processed


def _levelled(wanted: Floats, owner: Ints, work: Floats) -> Floats:
    """Return ``min(wanted, level)``, with the level of each owner that makes the sum its work."""
    order = np.lexsort((wanted, owner))
    sorted_owner, amount = owner[order], wanted[order]
    first, counts = runs(sorted_owner)
    group = np.repeat(np.arange(len(first)), counts)
    sums = np.cumsum(amount) - amount
    below = sums - sums[first][group]
    left = counts[group] - (np.arange(len(order)) - first[group])
    due = work[sorted_owner]
    # The first amount that would not fit if all that follow took as much sets the level.
    is_level = below + amount * left >= due * (1 - 1e-12)
    place = np.where(is_level, np.arange(len(order)), len(order) - 1)
    at = np.minimum.reduceat(place, first)
    level = (due[at] - below[at]) / left[at]
    given = np.minimum(amount, level[group])
    result = np.empty(len(given))
    result[order] = given
    return result
