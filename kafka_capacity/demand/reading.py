"""How far back records are read: from what was produced to each partition and read of it, hour by hour.

In the long run each record is read so many times, f = read ÷ produced. What is read at once keeps f times what was
produced minus what was read level. A reader that stops lets that balance rise, and when it catches up, or reads again
what others have read before, the balance falls by what it reads late. The deepest fall, over what is produced in a
second, is how far back somebody reached: a nightly job that reads its day at once falls by a day.

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

_MAX_CELLS = 1 << 22  # hourly figures that are looked at at once


def late_read_seconds(bytes_in: Float32s, bytes_out: Float32s) -> Floats:
    """Return float64[P], how far back each partition was read at most, one hour at least, since hours tell no more.

    Both arrays are float32[P, H], bytes per second in the same consecutive hours.
    """
    count, hours = bytes_in.shape
    found = np.empty(count)
    at_once = max(1, _MAX_CELLS // max(1, hours))
    for start in range(0, count, at_once):
        rows = slice(start, start + at_once)
        produced, read = bytes_in[rows].astype(np.float64), bytes_out[rows].astype(np.float64)
        total, mean = produced.sum(axis=1), produced.mean(axis=1)
        times = np.divide(read.sum(axis=1), total, out=np.zeros(len(total)), where=total > 0)
        balance = np.cumsum(times[:, None] * produced - read, axis=1)
        balance = np.concatenate([np.zeros((len(balance), 1)), balance], axis=1)
        fall = (np.maximum.accumulate(balance, axis=1) - balance).max(axis=1)
        late = np.divide(fall, mean, out=np.zeros(len(mean)), where=mean > 0)
        found[rows] = HOUR_SECONDS * (late + 1.0)
    return found
