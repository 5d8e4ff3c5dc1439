"""What is produced to a cluster in each hour of a week: from a load profile, or from the hours of an inventory."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.demand.calendar_days import WEEK_HOURS
from kafka_capacity.inventory.chosen_hours import RATES, usable_rates
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.kafka.arrays import Floats

RATES_IN = RATES[0]
_MONDAY_HOUR = 96  # the hour of the first Monday after 1970-01-01, a Thursday, since then
_COVERED_RATIO = 0.9
"""Hours of which less than this share of the partitions is known would seem quiet, and are left out."""

Week = Floats  # float64[168], bytes per second from Monday 0:00 UTC, NaN where not known


def week_of_profile(seasons: pa.Table) -> Week:
    """Return the week of the whole cluster, which ``profile_seasons`` has under the empty name of a topic."""
    own = seasons.filter(pc.equal(seasons.column("topic"), ""))
    week = np.full(WEEK_HOURS, np.nan)
    week[own.column("hour_of_week").to_numpy()] = own.column("bytes_in_mean_bytes_per_second").to_numpy()
    return week


def week_of_metrics(raw: RawInventory) -> Week:
    """Return the mean week of an inventory's hourly rates; all NaN where there are none."""
    if raw.hours is not None:
        rates = raw.hours.rates[RATES_IN]
        hours = raw.hours.seconds // 3600
        totals = np.asarray(np.nansum(rates, axis=0, dtype=np.float64))
        known = (~np.isnan(rates)).sum(axis=0)
    else:
        table = raw.table("metrics")
        rate = usable_rates(table, RATES_IN)
        code = table.column("hour").combine_chunks().dictionary_encode()
        place = code.indices.to_numpy(zero_copy_only=False)
        times = code.dictionary.cast(pa.timestamp("s", tz="UTC")).cast("int64").to_numpy(zero_copy_only=False)
        hours, is_known = times // 3600, ~np.isnan(rate)
        totals = np.bincount(place[is_known], weights=rate[is_known], minlength=len(hours)).astype(np.float64)
        known = np.bincount(place[is_known], minlength=len(hours))
    is_covered = known >= _COVERED_RATIO * max(1, known.max(initial=0))
    of_week = (hours[is_covered] - _MONDAY_HOUR) % WEEK_HOURS
    count = np.bincount(of_week, minlength=WEEK_HOURS)
    total = np.bincount(of_week, weights=totals[is_covered], minlength=WEEK_HOURS)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def filled_week(week: Week) -> Week | None:
    """Fill hours that are not known with the mean of those of the same time of day, else of all; ``None`` for none."""
    is_known = ~np.isnan(week)
    if not is_known.any():
        return None
    days = week.reshape(-1, 24)
    count = is_known.reshape(-1, 24).sum(axis=0)
    usual = np.where(count > 0, np.nansum(days, axis=0) / np.maximum(count, 1), np.nanmean(week))
    return np.where(is_known, week, np.tile(usual, len(days)))
