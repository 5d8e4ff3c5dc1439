"""Some hours of an inventory's metrics, in place of all of them, where those are more than a process had better hold.

A row of the table of metrics takes 38 bytes and some more while it is looked up, so that a million partitions over 90
days take 82 GB. Up to :data:`MOST_ROWS` rows a plan reads them all. Beyond, it reads the files one after another and
keeps :data:`HOURS_CHOSEN` hours of every partition, 8 bytes each: those at even steps of rank by the traffic of the
whole cluster, the quietest and the busiest among them, so that means and percentiles of what many partitions carry
together stay about what they are. What must not be missed in any hour is counted over all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from kafka_capacity.inventory.column_values import PartitionIndex, flags, ints
from kafka_capacity.kafka.arrays import Flags, Float32s, Ints

METRICS = "metrics"
MOST_ROWS = 20_000_000
HOURS_CHOSEN = 336

CELLS, COUNTS = "cells", "counts"
RATES = ("bytes_in_bytes_per_second", "bytes_out_bytes_per_second")
MAX_PARTITION_RATE = 1e11  # bytes per second on one partition: no line of one broker carries 800 Gbit/s


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChosenHours:
    """The hours that were chosen, and what is known of all."""

    seconds: Ints  # int64[H], when each begins, since 1970, ascending
    rates: Mapping[str, Float32s]  # by column of the metrics, float32[P, H], NaN where it is not known
    known_hours: Ints  # int64[P], of all hours those of which both ways are known
    has_traffic: Flags  # bool[P], whether any of all hours has some


def usable_rates(table: pa.Table, column: str) -> Float32s:
    """Return a column of metrics, NaN where it is not known: what is negative or too much for any line is no rate."""
    rate = np.asarray(table.column(column).to_numpy(), dtype=np.float32)
    return np.where((rate >= 0) & (rate <= MAX_PARTITION_RATE), rate, np.float32(np.nan))


def thousandths(rates: Float32s) -> Ints:
    """Return rates in whole thousandths of a byte per second, which add up alike in any order; NaN is 0."""
    return np.floor(np.nan_to_num(rates).astype(np.float64) * 1000.0 + 0.5).astype(np.int64)


def hour_seconds(table: pa.Table) -> Ints:
    """Return when the hours of metrics begin, since 1970: Parquet has milliseconds, and Spark microseconds."""
    return ints(table.column("hour").cast(pa.timestamp("s", tz="UTC")).cast("int64"))


def hourly_totals(parts: Iterable[pa.Table]) -> dict[int, int]:
    """Add up what goes in and out in each hour, in thousandths of a byte per second: no order of the parts shows."""
    totals: Counter[int] = Counter()
    for part in parts:
        milli = sum(thousandths(usable_rates(part, column)) for column in RATES)
        found = (
            pa.table({"second": hour_seconds(part), "milli": milli}).group_by("second").aggregate([("milli", "sum")])
        )
        totals.update(dict(zip(found["second"].to_pylist(), found["milli_sum"].to_pylist(), strict=True)))
    return dict(totals)


def choose_hours(totals: Mapping[int, int], *, count: int = HOURS_CHOSEN) -> Ints:
    """Return the hours at even steps of rank by their totals, ascending by time; all where there are no more."""
    ranked = np.array(sorted(totals, key=lambda second: (totals[second], second)), dtype=np.int64)
    if len(ranked) > count:
        ranked = ranked[np.round(np.linspace(0, len(ranked) - 1, count)).astype(np.int64)]
    return np.sort(ranked)


def hours_of_part(part: pa.Table, index: PartitionIndex, seconds: Ints) -> dict[str, pa.Table]:
    """Take the chosen hours, ascending, out of some rows of metrics in any order, and count over all of them."""
    place, hour = index.find(part.column("topic"), part.column("partition")), hour_seconds(part)
    rates = {column: usable_rates(part, column) for column in RATES}
    column_of = np.minimum(np.searchsorted(seconds, hour), len(seconds) - 1)
    is_ours = place >= 0
    is_chosen = is_ours & (seconds[column_of] == hour)
    places, row = np.unique(place[is_ours], return_inverse=True)
    is_known = np.logical_and.reduce([~np.isnan(rate) for rate in rates.values()])[is_ours]
    has_traffic = np.logical_or.reduce([rate > 0 for rate in rates.values()])[is_ours]
    return {
        CELLS: pa.table(
            {
                "place": pa.array(place[is_chosen], pa.int32()),
                "hour": pa.array(column_of[is_chosen], pa.int32()),
                **{column: pa.array(rate[is_chosen]) for column, rate in rates.items()},
            }
        ),
        COUNTS: pa.table(
            {
                "place": pa.array(places, pa.int32()),
                "known_hours": np.bincount(row[is_known], minlength=len(places)),
                "has_traffic": np.bincount(row[has_traffic], minlength=len(places)) > 0,
            }
        ),
    }


def assembled(found: Iterable[tuple[str, pa.Table]], seconds: Ints, count: int) -> ChosenHours:
    """Put together what :func:`hours_of_part` found of all parts, in any order, of so many partitions."""
    rates = {column: np.full((count, len(seconds)), np.nan, dtype=np.float32) for column in RATES}
    known_hours = np.zeros(count, dtype=np.int64)
    has_traffic = np.zeros(count, dtype=np.bool_)
    for name, table in found:
        place = ints(table.column("place"))
        if name == CELLS:
            hour = ints(table.column("hour"))
            for column, cells in rates.items():
                cells[place, hour] = table.column(column).to_numpy()
        else:
            known_hours[place] += ints(table.column("known_hours"))
            has_traffic[place] |= flags(table.column("has_traffic"))
    return ChosenHours(seconds=seconds, rates=rates, known_hours=known_hours, has_traffic=has_traffic)


def gather_hours(read_parts: Callable[[], Iterable[pa.Table]], index: PartitionIndex) -> ChosenHours:
    """Choose hours and read them in this process: of the partitions of an index, in its order.

    ``read_parts`` reads the table of metrics, a part after another; it is called twice.
    """
    seconds = choose_hours(hourly_totals(read_parts()))
    found = (one for part in read_parts() for one in hours_of_part(part, index, seconds).items())
    return assembled(found, seconds, len(index.keys))
