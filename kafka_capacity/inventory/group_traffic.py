"""What a group's partitions get in its peak hour, and what its members have read so far.

The peak hour is one hour for the whole group, so that partitions which peak at other times are not added up. It is the
hour whose total is the 99th percentile of the hours by nearest rank: of 672 hours six are above it. An hour in which a
partition has no value counts its mean for it; an hour of which nothing is known is left out.

What a member has read is judged by the partitions that it reads today:

* A member that is less than :data:`KEEPS_UP_SECONDS` of its mean traffic behind has read all that was produced; its
  best hour counts.
* One that is further behind has at least read what was produced over the last hours less what waits now; the best of
  these means, over as many last hours as serve it best, counts. Its best hour would be wrong: the member may have
  fallen behind in just that hour.

* One of whose partitions nobody has read anything for hours has stopped: it is judged by the hours before, and by what
  waited then.

All are lower bounds of what a member can do: it was never asked for more. Only where the member that read most is
itself behind is it known to have done all it could, and not where it has stopped since, nor where it reads partitions
of which no rate is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.calendar_days import HOUR_SECONDS
from kafka_capacity.demand.profile import PEAK_QUANTILE
from kafka_capacity.kafka.arrays import Flags, Float32s, Floats, Ints

KEEPS_UP_SECONDS = 60.0  # batches and commits take less; a member that cannot keep up is further behind within the hour

_UNREAD_RATIO = 0.01  # of what is read in the mean: an hour with less is one without readers
_MAX_SHARE_BEHIND = 0.5  # of the hours that are known: who fell behind by its rate kept up in the others


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupTraffic:
    """The traffic of one group."""

    # float64[N], produced to each partition in the group's peak hour, 0 without a history
    peak_bytes_per_second: Floats
    # the most that any member is known to have read over an hour or longer, `None` without a history, without members
    # that read, or where nothing was read
    best_read_bytes_per_second: float | None
    # whether the one that read it is behind by more than `KEEPS_UP_SECONDS`, and what it reads is known: it did all it
    # could
    is_at_its_limit: bool
    is_known: Flags  # bool[N], whether anything is known of what is produced to each partition; where not it counts 0
    hours: int  # how many hours these rest on


def group_traffic(
    rates: Float32s,
    mean_bytes_per_second: Floats,
    owner: NDArray[np.integer],
    lag_bytes: Floats,
    reads: Float32s | None = None,
) -> GroupTraffic:
    """Judge the history of a group.

    Args:
        rates: float32[N, H], bytes per second produced to each partition, hours ascending, NaN where not known.
        mean_bytes_per_second: float64[N], stands in for the hours that are not known.
        owner: int[N], the member that reads each partition today, -1 for nobody.
        lag_bytes: float64[N], what waits today.
        reads: float32[N, H], bytes per second read of each partition by all who read it, NaN where not known.
    """
    told = ~np.isnan(rates).all(axis=0)
    filled = _filled(rates[:, told], mean_bytes_per_second)
    hours = filled.shape[1]
    if not hours:
        return GroupTraffic(
            peak_bytes_per_second=np.zeros(len(owner)),
            best_read_bytes_per_second=None,
            is_at_its_limit=False,
            is_known=np.zeros(len(owner), dtype=np.bool_),
            hours=0,
        )
    is_known = ~np.isnan(rates).all(axis=1) | (mean_bytes_per_second > 0)
    peak = filled[:, peak_hour(filled.sum(axis=0, dtype=np.float64))].astype(np.float64)
    unread = np.zeros(len(owner), dtype=np.int64) if reads is None else _unread_hours(reads[:, told])
    best, is_at_its_limit = _best_read(filled, mean_bytes_per_second, owner, lag_bytes, is_known, unread)
    return GroupTraffic(
        peak_bytes_per_second=peak,
        best_read_bytes_per_second=best,
        is_at_its_limit=is_at_its_limit,
        is_known=is_known,
        hours=hours,
    )


def peak_hour(total_bytes_per_second: Floats) -> int:
    """Return the hour of the 99th percentile by nearest rank, the earliest of equals.

    >>> peak_hour(np.arange(200.0)), peak_hour(np.array([1.0, 3.0, 3.0]))
    (197, 1)
    """
    rank = int(np.ceil(len(total_bytes_per_second) * PEAK_QUANTILE)) - 1
    value = np.partition(total_bytes_per_second, rank)[rank]
    return int((total_bytes_per_second == value).argmax())


def _filled(rates: Float32s, mean: Floats) -> Float32s:
    unknown = np.isnan(rates)
    return np.where(unknown, mean[:, None].astype(np.float32), rates) if unknown.any() else rates


def _best_read(
    rates: Float32s,
    mean: Floats,
    owner: NDArray[np.integer],
    lag_bytes: Floats,
    is_known: Flags,
    unread_hours: Ints,
) -> tuple[float | None, bool]:
    order = np.argsort(owner, kind="stable")
    order = order[owner[order] >= 0]
    if not len(order):
        return None, False
    starts = np.flatnonzero(np.diff(owner[order], prepend=-1))
    produced = np.add.reduceat(rates[order], starts, axis=0, dtype=np.float64)
    # What waits where no rate is known says nothing of how fast the rest was read.
    known_lag = np.where(is_known, lag_bytes, 0.0)
    member_mean, member_lag = (np.add.reduceat(values[order], starts) for values in (mean, known_lag))
    best, is_told, keeps_up = _seen(produced, member_mean, member_lag)
    # Who has stopped was at no limit when it was seen last.
    is_late, hours = known_lag > KEEPS_UP_SECONDS * mean, rates.shape[1]
    stopped = np.minimum.reduceat(np.where(is_late, unread_hours, hours)[order], starts)
    stopped = np.where(keeps_up | ~np.logical_or.reduceat(is_late[order], starts), 0, stopped)
    rows = np.split(order, starts[1:])
    for member in np.flatnonzero(stopped).tolist():
        mine = rows[member]
        since = rates[mine[is_late[mine]], hours - stopped[member] :].sum(dtype=np.float64) * HOUR_SECONDS
        then = member_lag[[member]] - since
        ran = produced[[member], : hours - stopped[member]]
        best[member], is_told[member], _ = (one[0] for one in _seen(ran, member_mean[[member]], then))
    busiest = int(np.argmax(best))
    if not (best[busiest] > 0 and is_told[busiest]):
        return None, False
    is_all_known = np.logical_and.reduceat(is_known[order], starts)
    return float(best[busiest]), bool(~keeps_up[busiest] & is_all_known[busiest] & (stopped[busiest] == 0))


def _seen(produced: Floats, mean: Floats, lag_bytes: Floats) -> tuple[Floats, Flags, Flags]:
    """Return, [M] each, what members have read at most, whether the hours tell that, and whether they keep up."""
    keeps_up = lag_bytes <= KEEPS_UP_SECONDS * mean
    if not produced.shape[1]:
        return np.zeros(len(mean)), np.zeros(len(mean), dtype=np.bool_), keeps_up
    read = _read_at_least(produced, lag_bytes)
    is_told = keeps_up | (read.argmax(axis=1) < read.shape[1] * _MAX_SHARE_BEHIND)
    return np.where(keeps_up, produced.max(axis=1), read.max(axis=1)), is_told, keeps_up


def _unread_hours(reads: Float32s) -> Ints:
    """Return int64[N], in how many last hours nobody read to speak of, 0 where that is not known."""
    known = ~np.isnan(reads)
    mean = np.where(known, reads, 0.0).sum(axis=1, dtype=np.float64) / np.maximum(known.sum(axis=1), 1)
    is_read = ~(known & (reads <= _UNREAD_RATIO * mean[:, None]))[:, ::-1]
    return np.asarray(np.where(is_read.any(axis=1), is_read.argmax(axis=1), reads.shape[1]), dtype=np.int64)


def _read_at_least(produced: Floats, lag_bytes: Floats) -> Floats:
    """Return float64[M, H], the mean rate that members must have read at over the last 1, 2, … H hours."""
    last = np.arange(1, produced.shape[1] + 1)
    read = np.cumsum(produced[:, ::-1], axis=1) - lag_bytes[:, None] / HOUR_SECONDS
    return np.asarray(read / last, dtype=np.float64)
