"""From what topics take in and send, and offsets, to the rates of partitions.

Brokers count bytes by topic. What each partition has of them:

1. in an hour of which every partition's growth of the log end offset is known: shares by records, which assumes that
   the records of a topic are of one size in all its partitions;
2. else by the records of the whole day, where those are known;
3. else evenly.

What is read is shared by what consumer groups committed, where they do; else as what is produced.

Where bytes are not counted (no JMX exporter, or a gap in it), they are records times bytes a record: of the counted
hours of the same day, else of what lies on disk, the size of the logs over the records in them. On disk is what is
sent, compressed as the producer did it. A compacted log has holes, so that its records are not counted by its offsets:
then the bytes are not known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_capacity.inventory.prometheus_hours import Hours, Places
from kafka_capacity.kafka.arrays import Flags, Floats, Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PartitionRates:
    """What came of it."""

    bytes_in: Floats  # float64[P, H], bytes per second
    bytes_out: Floats  # float64[P, H], likewise
    is_even: Flags  # bool[N], topics of several partitions that were shared evenly in some hour with traffic
    is_from_records: Flags  # bool[N], topics some hours of which are records times bytes a record
    is_known: Flags  # bool[N], topics of which some hour is known


def partition_rates(places: Places, flows: Hours, stored_record_bytes: Floats) -> PartitionRates:
    """Share out what topics take in and send; ``stored_record_bytes`` is float64[N], what a record takes on disk."""
    shares, is_even_hour = _shares(places, flows.produced)
    even = np.logical_and(is_even_hour, flows.topic_in > 0)
    read_shares, is_even_read = _shares(places, flows.consumed)
    read_shares = np.where(is_even_read[places.topic], shares, read_shares)
    even |= is_even_read & is_even_hour & (flows.topic_out > 0)
    record_bytes = _record_bytes(places, flows, stored_record_bytes)
    bytes_in, in_by_records = _rates(places, flows.topic_in, shares, flows.produced, record_bytes)
    bytes_out, out_by_records = _rates(places, flows.topic_out, read_shares, flows.consumed, record_bytes)
    is_single = np.diff(places.starts, append=len(places.topic)) == 1
    return PartitionRates(
        bytes_in=bytes_in,
        bytes_out=bytes_out,
        is_even=even.any(axis=1) & ~is_single,
        is_from_records=in_by_records | out_by_records,
        is_known=np.logical_or.reduceat(np.isfinite(bytes_in).any(axis=1), places.starts),
    )


def _shares(places: Places, records: Floats) -> tuple[Floats, Flags]:
    """Return float64[P, H], each partition's share of its topic, and bool[N, H], where it is an even one."""
    counts = np.diff(places.starts, append=len(places.topic))
    shares = np.repeat((1.0 / counts)[places.topic][:, None], records.shape[1], axis=1)
    is_even = np.ones((len(counts), records.shape[1]), dtype=np.bool_)
    known = np.isfinite(records)
    with_any = np.maximum(known.sum(axis=1), 1)
    daily = np.where(known.any(axis=1), np.where(known, records, 0.0).sum(axis=1) / with_any, np.nan)
    for amounts in (np.repeat(daily[:, None], records.shape[1], axis=1), records):
        total = _sums(amounts, places.starts)
        is_usable = total > 0
        part = np.divide(amounts, total[places.topic], out=np.zeros_like(amounts), where=is_usable[places.topic])
        shares = np.where(is_usable[places.topic], part, shares)
        is_even &= ~is_usable
    return shares, is_even


def _record_bytes(places: Places, flows: Hours, stored: Floats) -> Floats:
    """Return float64[N], the bytes of a record: as counted, else as stored."""
    produced = _sums(flows.produced, places.starts)
    is_known = np.isfinite(produced) & np.isfinite(flows.topic_in)
    records = np.where(is_known, produced, 0.0).sum(axis=1)
    counted = np.where(is_known, flows.topic_in, 0.0).sum(axis=1)
    measured = np.divide(counted, records, out=np.full(len(records), np.nan), where=(records > 0) & (counted > 0))
    return np.where(np.isfinite(measured), measured, stored)


def _rates(
    places: Places, of_topic: Floats, shares: Floats, records: Floats, record_bytes: Floats
) -> tuple[Floats, Flags]:
    is_counted = np.isfinite(of_topic)
    # No records are no bytes, whatever their size.
    by_records = np.where(records == 0, 0.0, records * record_bytes[places.topic][:, None])
    is_used = ~is_counted[places.topic] & np.isfinite(by_records)
    rates = np.where(is_counted[places.topic], of_topic[places.topic] * shares, by_records)
    used = np.zeros(len(places.starts), dtype=np.bool_)
    np.logical_or.at(used, places.topic, (is_used & (by_records > 0)).any(axis=1))
    return rates, used


def _sums(values: Floats, starts: Ints) -> Floats:
    return np.asarray(np.add.reduceat(values, starts, axis=0), dtype=np.float64)
