"""What was produced to partitions, or read of them, hour by hour, as one matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.inventory.column_values import Flags, Ints
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.replica_columns import PartitionIndex
from kafka_capacity.kafka.cluster.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HourlyRates:
    """The history of some partitions of a snapshot."""

    row: Ints  # int64[P], the row of each partition of the snapshot in `rates`, -1 where it has none
    rates: NDArray[np.float32]  # float32[R, H], bytes per second, hours ascending, NaN where it is not known
    seconds: Ints  # int64[H], when each hour begins, since 1970

    @property
    def hours(self) -> int:
        """How many hours the history has."""
        return int(self.rates.shape[1])

    def of(self, partitions: Ints) -> NDArray[np.float32]:
        """Return float32[N, H], the rates of these partitions of the snapshot, which all have a row."""
        return self.rates[self.row[partitions]]


def hourly_rates(
    raw: RawInventory, snapshot: Snapshot, wanted: Flags, *, metric: str = "bytes_in_bytes_per_second"
) -> HourlyRates:
    """Take the history of some partitions out of the table of metrics.

    Values that cannot be a rate (negative, infinite) count as not known; hours of which nothing is known are left out.

    Args:
        raw: with the table of metrics, in any order.
        snapshot: of the same inventory.
        wanted: bool[P], of which partitions.
        metric: the column of the table.
    """
    metrics, partitions = raw.table("metrics"), snapshot.partitions
    row = np.where(wanted, np.cumsum(wanted) - 1, -1).astype(np.int64)
    index = PartitionIndex.of(
        partitions.topics, partitions.topic.astype(np.int64), partitions.partition.astype(np.int64)
    )
    place = index.find(metrics.column("topic"), metrics.column("partition"))
    rate = np.asarray(metrics.column(metric).to_numpy(), dtype=np.float32)
    is_usable = (place >= 0) & np.isfinite(rate) & (rate >= 0)
    is_usable &= wanted[place] if len(wanted) else False
    hours = metrics.column("hour").combine_chunks().dictionary_encode()
    code = hours.indices.to_numpy(zero_copy_only=False)[is_usable]
    order = np.argsort(hours.dictionary.to_numpy(zero_copy_only=False), kind="stable")
    column = np.full(len(order), -1, dtype=np.int64)
    is_used = np.bincount(code, minlength=len(order))[order] > 0
    column[order[is_used]] = np.arange(int(is_used.sum()))
    rates = np.full((int(wanted.sum()), int(is_used.sum())), np.nan, dtype=np.float32)
    rates[row[place[is_usable]], column[code]] = rate[is_usable]
    times = hours.dictionary.to_numpy(zero_copy_only=False)[order][is_used].astype("datetime64[s]").astype(np.int64)
    return HourlyRates(row=row, rates=rates, seconds=times)
