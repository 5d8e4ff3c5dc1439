"""How large each partition is at each date.

A log holds what was written since its oldest segment. What is asked of it may change: traffic grows, and a planned
change of retention moves the line behind which segments go. With today's traffic w, its ratio r(t) to come (1 today,
straight between two dates, and that of the first over a single day, since planned events begin and end with days) and
today's size S0:

* What a log holds was written at a mean rate p: that of the hours that its retention R covers, where all of them are
  known and explain it, else w. A burst of three weeks ago is in w and not in the log.
* The log of today reaches back A0: as far as its retention lets it where it holds p·R or more, else as far as its size
  is worth, A0 = S0 / p: then it fills up, be it young or its traffic higher than it was.
* At t it reaches back to the latest of: where it begins today, and every t' - R(t') until t. What was deleted does not
  come back when retention is made longer; it fills up again. The day of a change within a step between two dates is
  not told: a longer retention is taken to hold from the start of the step, a shorter one from its end, so that the log
  is rather too large.
* Its size is (S0 / (p·A0)) × ∫ of w·r since then, and of p before today. So what the log takes beyond its records, an
  index, half an active segment, is in today's size and grows with it.
* What holds more than twice what p and two segments explain is left of higher traffic: the rest does not grow, and is
  taken to stay until as much has come in its place.
* A log that is still filling, of less than :data:`FULL_RATIO` of p·R, may hold one more segment than its retention
  says once that begins to bite, since Kafka deletes whole segments.
* ``retention.bytes`` caps it, likewise with one more segment.
* A log without any limit reaches back to where it begins and grows by all that is written.
* A compacted log is taken to grow as its traffic does, whatever its retention: as many more keys as records.
* A partition without traffic, or whose traffic is not known, keeps its size.

A log that fills or whose retention is changed is no straight line between two dates months apart: :mod:`full_logs`
names the days on which much of the cluster turns.
"""

from __future__ import annotations

import datetime

import numpy as np

from kafka_capacity.demand.calendar_days import DAY_SECONDS, HOUR_SECONDS
from kafka_capacity.demand.workload import Workload
from kafka_capacity.kafka.arrays import Floats, Int32s

FULL_RATIO = 0.8  # of what its mean rate would fill a full log has at least: rates are no exact history
EXPLAINED_RATIO = 2.0  # times what its mean rate fills, and two segments, a log that is full may hold for ever

DEFAULT_SEGMENT_BYTES = 1024.0**3  # Kafka's own default of `log.segment.bytes`


def date_seconds(dates: tuple[str, ...]) -> Floats:
    """Return float64[D], seconds from the first date on.

    >>> date_seconds(("2026-11-20", "2026-11-22")).tolist()
    [0.0, 172800.0]
    """
    days = [datetime.date.fromisoformat(date).toordinal() for date in dates]
    return (np.array(days, dtype=np.float64) - days[0]) * DAY_SECONDS


def time_shares(dates: tuple[str, ...]) -> Floats:
    """Return float64[D], the weight of each date in an average over the time between them, on straight lines.

    >>> time_shares(("2026-11-20", "2026-11-22", "2026-11-30")).tolist()
    [0.1, 0.5, 0.4]
    """
    if len(dates) < 2:
        return np.ones(len(dates))
    half = np.diff(date_seconds(dates)) / 2
    weights = np.concatenate([[0.0], half]) + np.concatenate([half, [0.0]])
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def partition_sizes(workload: Workload) -> Floats:
    """Return float64[P, 2, D], the bytes of one replica of each partition, by estimate and date."""
    times = date_seconds(workload.outlook.dates)
    ratios, row_class = workload.rate_ratios(), workload.outlook.class_of
    rate, written = workload.load.bytes_in_mean_bytes_per_second, _written_rate(workload)
    size = workload.size_bytes.astype(np.float64)
    retention = workload.limits.age_seconds()
    # Brokers keep what is tiered as long as they do, if the topic keeps it as long.
    whole = np.where(workload.limits.is_compacted, np.inf, workload.limits.whole_retention_seconds)
    local = np.where(retention < whole, retention, np.inf)
    kept_for = np.minimum(local[:, None], whole[:, None] * workload.outlook.retention_ratio[row_class])
    reach = _reach(size, written, retention)
    # By a retention of 0 people purge a topic: it keeps its last segments.
    can_grow = np.isfinite(reach) & (reach > 0) & (rate > 0)
    asked = log_bytes(written, retention)
    explained = np.where(np.isfinite(asked), EXPLAINED_RATIO * (asked + workload.limits.segment_bytes), np.inf)
    core = np.minimum(size, explained)
    # What the log takes for each second at today's traffic, and what was written before today over that.
    past = np.divide(written, rate, out=np.ones(len(size)), where=(rate > 0) & (written > 0))
    density = np.divide(core, reach * past, out=rate.copy(), where=(reach > 0) & np.isfinite(reach))
    allowance = segment_allowance(size, asked, workload.limits.segment_bytes)
    begins = np.where(can_grow, -reach, 0.0)
    found = np.empty((len(size), 2, len(times)))
    for estimate in range(2):
        ratio = ratios[:, estimate, :]
        before = _integral(ratio, times, begins, row_class, past)
        start = begins
        for place, now in enumerate(times.tolist()):
            start = np.maximum(start, now - kept_for[:, place])
            until = _integral(ratio, times, now, row_class, past)
            kept = density * (until - _integral(ratio, times, start, row_class, past)) + allowance
            found[:, estimate, place] = np.minimum(kept, density * (until - before))
    is_cut = np.isfinite(kept_for) & (retention > 0)[:, None]
    cut = np.divide(kept_for, retention[:, None], out=np.ones_like(kept_for), where=is_cut)
    older = (size - core)[:, None] * np.minimum(cut, 1.0)
    found = np.maximum(found, np.minimum(found + older[:, None, :], size[:, None, None]))
    found = np.where(can_grow[:, None, None], found, size[:, None, None])
    cap = np.maximum(workload.limits.retention_bytes + workload.limits.segment_bytes, size)
    compacted = size[:, None, None] * ratios[row_class]
    return np.where(workload.limits.is_compacted[:, None, None], compacted, np.minimum(found, cap[:, None, None]))


def _written_rate(workload: Workload) -> Floats:
    """Return float64[P], the mean rate at which what each log holds was written: that of the hours that it covers.

    It is the mean rate of all hours where these do not reach back so far, or where the log holds far more than them.
    """
    rate, size = workload.load.bytes_in_mean_bytes_per_second, workload.size_bytes
    found, hours, retention = rate.copy(), workload.traffic.bytes_in, workload.limits.age_seconds()
    covered = np.ceil(np.where(rate > 0, retention, np.inf) / HOUR_SECONDS)
    if not workload.traffic.is_unbroken:
        return found
    for count in np.unique(covered[(covered > 0) & (covered <= hours.shape[1])]).astype(int).tolist():
        rows = np.flatnonzero(covered == count)
        recent = hours[rows, -count:].mean(axis=1, dtype=np.float64)
        is_told = size[rows] <= EXPLAINED_RATIO * log_bytes(recent, retention[rows])
        found[rows] = np.where(is_told, recent, rate[rows])
    return found


def reach_today(workload: Workload) -> Floats:
    """Return float64[P], how many seconds back each log reaches, infinite where nothing can be said."""
    return _reach(workload.size_bytes.astype(np.float64), _written_rate(workload), workload.limits.age_seconds())


def _reach(size: Floats, written: Floats, retention_seconds: Floats) -> Floats:
    filled = np.divide(size, written, out=np.full_like(size, np.inf), where=written > 0)
    # Sizes are whole bytes.
    return np.where(size + 1.0 > log_bytes(written, retention_seconds), retention_seconds, filled)


def log_bytes(rate: Floats, retention_seconds: Floats) -> Floats:
    """Return float64[P], what a log of so many seconds holds; infinite without a limit, 0 without a rate."""
    return np.multiply(rate, retention_seconds, out=np.zeros_like(rate), where=rate > 0)


def segment_allowance(size: Floats, asked: Floats, segment_bytes: Floats) -> Floats:
    """Return float64[P], what a log may hold beyond its retention once that bites, and does not hold already."""
    return np.where(size >= FULL_RATIO * asked, 0.0, segment_bytes)


def _integral(ratio: Floats, times: Floats, until: Floats | float, row_class: Int32s, past: Floats) -> Floats:
    """Return float64[P], the integral of the ratio of a partition's class from the first date; negative before it.

    Before it the ratio of that date counts, times the partition's own ``past``, float64[P].
    """
    step = np.diff(times)
    ends = np.where(step > DAY_SECONDS, ratio[:, 1:], ratio[:, :-1])
    pieces = (ratio[:, :-1] + ends) / 2 * step
    whole = np.concatenate([np.zeros((len(ratio), 1)), np.cumsum(pieces, axis=1)], axis=1)
    at = np.broadcast_to(np.asarray(until, dtype=np.float64), row_class.shape)
    at = np.where(np.isfinite(at), at, 0.0)
    place = np.clip(np.searchsorted(times, at, side="right") - 1, 0, max(0, len(times) - 2))
    inside = at - times[place]
    if len(times) > 1:
        slope = (ends[row_class, place] - ratio[row_class, place]) / step[place]
    else:
        slope = np.zeros(len(row_class))
    after = whole[row_class, place] + inside * (ratio[row_class, place] + slope * inside / 2)
    return np.asarray(np.where(at < 0, at * past * ratio[row_class, 0], after), dtype=np.float64)
