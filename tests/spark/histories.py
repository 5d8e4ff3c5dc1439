"""A small cluster and the hours of nine days, as two inventories tell them."""

from __future__ import annotations

import datetime

import numpy as np

from kafka_capacity.inventory.history import keep_history
from kafka_capacity.inventory.staging import stage
from tests.builders import cluster, topic, with_rows

DAYS, DS = 9, "2026-03-10"
HOURS = DAYS * 24
START = datetime.datetime(2026, 3, 1, tzinfo=datetime.UTC)
PLACES = [("orders", 0), ("orders", 1), ("orders", 2), ("payments", 0)]


def made_up_hours():
    """Noise with gaps: hours that nobody knows, a long one, a partition that comes late and one that ends early."""
    rng = np.random.default_rng(7)
    hours = np.round(rng.lognormal(10, 1, (len(PLACES), HOURS))).astype(np.float32)
    hours[rng.random(hours.shape) < 0.05] = np.nan
    hours[1, 48:80] = np.nan
    hours[3, :100] = np.nan
    hours[3, -5:] = np.nan
    hours[0, -1] = 5.0
    return hours


def rows_of(hours, first, last):
    return [
        {
            "topic": name,
            "partition": partition,
            "hour": START + datetime.timedelta(hours=hour),
            "bytes_in_bytes_per_second": float(hours[row, hour]),
            "bytes_out_bytes_per_second": float(2 * hours[row, hour]),
        }
        for row, (name, partition) in enumerate(PLACES)
        for hour in range(first, last)
        if not np.isnan(hours[row, hour])
    ]


def stage_history(store):
    """Keep the hours of two inventories that overlap, and stage the later one; returns that and all hours."""
    hours = made_up_hours()
    base = cluster(topics=[topic("orders", partitions=3), topic("payments", partitions=1)], ds=DS, hours=0)
    base = with_rows(base, "lags", [{"group_id": "billing", "topic": "payments", "partition": 0}])
    for first, last, day in ((0, 150, "2026-03-07"), (100, HOURS, DS)):
        raw = with_rows(base, "metrics", rows_of(hours, first, last))
        keep_history(store, raw.cluster, raw.table("metrics"), captured=day)
    stage(raw, store)
    return raw, hours
