"""How far back records are read: from what was produced to each partition and read of it, hour by hour.

How old the last so many bytes are is told by the hours in which they were produced: what waits on a Sunday for a topic
that is written on working days is from Friday.

In the long run each record is read so many times, f = read ÷ produced. What is read at once keeps f times what was
produced minus what was read level. A reader that stops lets that balance rise, and when it catches up, or reads again
what others have read before, the balance falls by what it reads late. How old the bytes of a fall were when it began is
how far back somebody reached: a nightly job that reads its day at once falls by a day.

>>> backlog_seconds(np.array([[7.0, 0.0, 2.0]]), np.array([3.0]), np.array([10_800.0])).tolist()  # two hours, 1/7 more
[7714.285714285715]
>>> produced = np.full((1, 48), 100.0, dtype=np.float32)
>>> read = produced.copy()  # one that reads at once, and one that reads every twelve hours what came since
>>> read[0, 11::12] += 1200.0
>>> (late_read_seconds(produced, read) / 3600).tolist()
[12.0]
"""

from __future__ import annotations

import numpy as np

from kafka_capacity.demand.calendar_days import HOUR_SECONDS
from kafka_capacity.kafka.arrays import Float32s, Floats

_LEAST_FALL_RATIO = 0.01  # of the busiest hour's reads: falls of less are of how hours are cut, or of rounding
_MAX_CELLS = 1 << 22  # hourly figures that are looked at at once


def backlog_seconds(produced: Float32s | Floats, mean: Floats, backlog_bytes: Floats) -> Floats:
    """Return float64[N], how long ago the oldest of the last so many bytes were produced to each partition.

    ``produced``, [N, H], are bytes per second in consecutive hours up to now. Those that are not known, NaN, and all
    before count as the ``mean``; where that is 0, they are of no length, since nobody knows that nothing was produced.
    """
    found, hours = np.zeros(len(mean)), produced.shape[1]
    behind = np.flatnonzero(backlog_bytes > 0)
    at_once = max(1, _MAX_CELLS // max(1, hours))
    for start in range(0, len(behind), at_once):
        rows = behind[start : start + at_once]
        rates, backlog = produced[rows, ::-1].astype(np.float64), backlog_bytes[rows]
        counts = ~np.isnan(rates) | (mean[rows, None] > 0)
        rates = np.column_stack([np.where(np.isnan(rates), mean[rows, None], rates), mean[rows]])
        back = np.column_stack([np.zeros(len(rows)), HOUR_SECONDS * np.cumsum(rates[:, :hours], axis=1)])
        is_whole = back[:, 1:] <= backlog[:, None]
        whole, counted = is_whole.sum(axis=1), (is_whole & counts).sum(axis=1)
        row = np.arange(len(rows))
        rate, left = rates[row, whole], backlog - back[row, whole]
        found[rows] = HOUR_SECONDS * counted + np.divide(left, rate, out=np.zeros(len(rows)), where=rate > 0)
    return found


def late_read_seconds(bytes_in: Float32s, bytes_out: Float32s) -> Floats:
    """Return float64[P], how far back each partition was read at most, one hour at least, since hours tell no more.

    Both arrays are float32[P, H], bytes per second in the same consecutive hours.
    """
    count, hours = bytes_in.shape
    found = np.full(count, float(HOUR_SECONDS))
    at_once = max(1, _MAX_CELLS // max(1, hours))
    for start in range(0, count, at_once):
        rows = slice(start, start + at_once)
        produced, read = bytes_in[rows].astype(np.float64), bytes_out[rows].astype(np.float64)
        total = produced.sum(axis=1)
        times = np.divide(read.sum(axis=1), total, out=np.zeros(len(total)), where=total > 0)
        balance, sums = (
            np.concatenate([np.zeros((1, len(part))), np.cumsum(part.T, axis=0)])
            for part in (times[:, None] * produced - read, produced)
        )
        falls = _falls(balance)
        falls[falls < _LEAST_FALL_RATIO * np.maximum(times, 1.0) * produced.max(axis=1)] = 0.0
        since = sums - falls  # how much was produced up to the oldest record that is read in a fall
        moments = np.arange(hours + 1.0)
        for row in np.flatnonzero(total > 0):
            before = np.minimum(since[:, row], 0.0) / (total[row] / hours)  # the history begins, at its mean
            begun = np.interp(since[:, row], sums[:, row], moments) + before
            found[start + row] = HOUR_SECONDS * ((moments - begun).max() + 1.0)
    return found


def _falls(balance: Floats) -> Floats:
    """Return float64[H, P], by how much each balance, [H, P], falls from then on, before it is higher than it was."""
    lowest, count, partitions = balance.copy(), len(balance), balance.shape[1]
    higher = np.empty(balance.shape, dtype=np.int32)  # the next moment at which the balance is higher, H for none
    for moment in range(count - 1, -1, -1):
        following, row = np.full(partitions, moment + 1, dtype=np.int32), np.arange(partitions)
        while len(row):
            row = row[following[row] < count]
            row = row[balance[following[row], row] <= balance[moment, row]]
            after = following[row]
            lowest[moment, row] = np.minimum(lowest[moment, row], lowest[after, row])
            following[row] = higher[after, row]
        higher[moment] = following
    return np.asarray(balance - lowest)
