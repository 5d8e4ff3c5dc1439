"""What a server knows of some hours: bytes of topics and brokers, records of partitions, processors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kafka_capacity.inventory.counters import HOUR, Fall
from kafka_capacity.inventory.prometheus_client import Series, Span
from kafka_capacity.inventory.prometheus_dialects import Quantity
from kafka_capacity.inventory.prometheus_series import Server, partition_of, put_together, totals
from kafka_capacity.kafka.arrays import Flags, Floats, Int32s, Ints

LEAD_SECONDS = 900
"""Asked for before and after the hours, so that steps across their ends are whole: the longest step that counts."""

_BROKER_QUANTITIES = {
    "cpu_cores_used": (Quantity.BROKER_CPU_SECONDS,),
    "leader_in_bytes_per_second": (Quantity.BROKER_BYTES_IN,),
    "follower_in_bytes_per_second": (Quantity.BROKER_REPLICATION_IN,),
    "out_bytes_per_second": (Quantity.BROKER_BYTES_OUT, Quantity.BROKER_REPLICATION_OUT),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Places:
    """The partitions of an inventory, sorted by topic and number."""

    topics: tuple[str, ...]  # N names, sorted
    topic: Int32s  # int32[P], place among them
    number: Int32s  # int32[P], the number of each partition in its topic
    starts: Ints  # int64[N], the first partition of each topic
    of: Mapping[tuple[str, int], int]  # place of each (topic, number)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hours:
    """What was found for N topics, P partitions sorted by topic and H hours; NaN where it is not known."""

    topic_in: Floats  # float64[N, H], bytes per second produced
    topic_out: Floats  # float64[N, H], bytes per second sent to consumers
    produced: Floats  # float64[P, H], records per second
    consumed: Floats  # float64[P, H], records per second, of all groups together
    brokers: Mapping[str, Mapping[str, Floats]]  # float64[H] by what is measured and the text that names the broker
    counted_in: float  # bytes that topics took in, all hours together, of those hours in which brokers' are known too
    brokers_in: float  # bytes that brokers took in, of the same hours


def read_hours(server: Server, places: Places, *, start: int, end: int) -> Hours:
    """Ask a server for the whole hours between two moments since 1970.

    Raises:
        SourceError: the server does not answer as it should.
    """
    counters, offsets = (
        Span(start=start - LEAD_SECONDS, end=end + LEAD_SECONDS, step=step)
        for step in (server.settings.counter_step_seconds, server.settings.offset_step_seconds)
    )
    topic_in, has_series, of_topics = _topics(server, places, Quantity.TOPIC_BYTES_IN, counters)
    topic_out, _, _ = _topics(server, places, Quantity.TOPIC_BYTES_OUT, counters)
    produced = _produced(server, places, offsets)
    brokers = _brokers(server, counters)
    of_brokers = list(brokers["leader_in_bytes_per_second"].values())
    both = np.sum(of_brokers, axis=0) if of_brokers else np.full(len(of_topics), np.nan)
    is_known = np.isfinite(both) & np.isfinite(of_topics)
    # Traffic without a counter: the server does not keep the counters of this topic.
    moves = np.add.reduceat(np.where(produced > 0, 1.0, 0.0), places.starts, axis=0) > 0
    return Hours(
        topic_in=np.where(~has_series[:, None] & moves, np.nan, topic_in),
        topic_out=np.where(~has_series[:, None] & moves, np.nan, topic_out),
        produced=produced,
        consumed=_consumed(server, places, offsets, produced),
        brokers=brokers,
        counted_in=float(of_topics[is_known].sum() * HOUR),
        brokers_in=float(both[is_known].sum() * HOUR),
    )


def _unknown(rows: int, span: Span) -> Floats:
    return np.full((rows, (span.end - span.start - 2 * LEAD_SECONDS) // HOUR), np.nan)


def _topics(server: Server, places: Places, quantity: Quantity, span: Span) -> tuple[Floats, Flags, Floats]:
    """Return bytes per second by topic, the topics that have counters, and float64[H], all topics together."""
    count = len(places.topics)
    series, metric = server.ask(quantity, span)
    if not series:
        return _unknown(count, span), np.zeros(count, dtype=np.bool_), _unknown(1, span)[0]
    label = server.broker_label(series)
    counted = put_together(series, lambda one: (one.label(label) if label else "", one.label(metric.topic)), span)
    names = sorted({broker for broker, _ in counted.keys})
    row = {name: place for place, name in enumerate(names)}
    broker = np.array([row[name] for name, _ in counted.keys], dtype=np.int64)
    is_up = np.zeros((len(names), span.points), dtype=np.bool_)
    np.logical_or.at(is_up, broker, np.isfinite(counted.values).any(axis=1))
    rates = counted.rates(is_up=is_up[broker])
    place = {name: code for code, name in enumerate(places.topics)}
    topic = np.array([place.get(name, -1) for _, name in counted.keys], dtype=np.int64)
    found = totals(rates[topic >= 0], topic[topic >= 0], count)
    has_series = np.zeros(count, dtype=np.bool_)
    has_series[topic[topic >= 0]] = True
    # A topic without a counter had no traffic, as far as every broker is known.
    everyone = np.isfinite(totals(rates, np.zeros(len(rates), dtype=np.int64), 1)[0])
    found[~has_series] = np.where(everyone, 0.0, np.nan)
    return found, has_series, rates.sum(axis=0)


def _produced(server: Server, places: Places, span: Span) -> Floats:
    series, metric = server.ask(Quantity.LOG_END_OFFSET, span)
    counted = put_together(series, lambda one: partition_of(one, metric, places.of), span)
    found = _unknown(len(places.topic), span)
    if counted.keys:
        # A log that was cut back, or made again, must not count as if all its records were new.
        found[list(counted.keys)] = counted.rates(fall=Fall.REWIND)
    return found


def _consumed(server: Server, places: Places, span: Span, produced: Floats) -> Floats:
    """Return the records that groups read, 0 where none commits; all unknown where the server knows no groups."""
    count = len(places.topic)
    series, metric = server.ask(Quantity.GROUP_OFFSET, span)
    is_offset = bool(series)
    if not series:
        series, metric = server.ask(Quantity.GROUP_LAG, span)
    if not series:
        return _unknown(count, span)

    def group_and_partition(one: Series) -> tuple[int, str] | None:
        place = partition_of(one, metric, places.of)
        return None if place is None else (place, one.label(metric.group))

    counted = put_together(series, group_and_partition, span)
    place = np.array([partition for partition, _ in counted.keys], dtype=np.int64)
    rates = counted.rates(fall=Fall.REWIND) if is_offset else _read_by_lag(counted.values, span, produced[place])
    consumed = totals(np.where(np.isfinite(rates), rates, 0.0), place, count)
    has_group = np.zeros(count, dtype=np.bool_)
    has_group[place] = True
    is_known = totals(np.isfinite(rates).astype(np.float64), place, count) > 0
    return np.where(has_group[:, None] & ~is_known, np.nan, consumed)


def _read_by_lag(values: Floats, span: Span, produced: Floats) -> Floats:
    """Return what was read: what was produced, less what the lag grew by from hour to hour."""
    at_edges = values[:, :, (np.arange(produced.shape[1] + 1) * HOUR + LEAD_SECONDS) // span.step]
    first = np.isfinite(at_edges).argmax(axis=1)
    lag = np.take_along_axis(at_edges, first[:, None, :], axis=1)[:, 0, :]
    return np.maximum(produced - np.diff(lag, axis=1) / HOUR, 0.0)


def _brokers(server: Server, span: Span) -> dict[str, dict[str, Floats]]:
    found: dict[str, dict[str, Floats]] = {}
    for measure, quantities in _BROKER_QUANTITIES.items():
        parts = [_by_broker(server, quantity, span) for quantity in quantities]
        common = set(parts[0]).intersection(*parts[1:])
        found[measure] = {name: np.sum([part[name] for part in parts], axis=0) for name in sorted(common)}
    return found


def _by_broker(server: Server, quantity: Quantity, span: Span) -> dict[str, Floats]:
    series, _ = server.ask(quantity, span)
    label = server.broker_label(series)
    if label is None:
        return {}
    counted = put_together(series, lambda one: one.label(label) or None, span)
    return dict(zip(counted.keys, counted.rates(), strict=True)) if counted.keys else {}
