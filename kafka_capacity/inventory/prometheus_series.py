"""Series of a server, put in order: one row for each thing that is counted, one place for each copy of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa

from kafka_capacity.inventory.column_values import values
from kafka_capacity.inventory.counters import Fall, hourly_rates
from kafka_capacity.inventory.prometheus_client import PrometheusClient, Series, Span
from kafka_capacity.inventory.prometheus_connection import PrometheusSettings
from kafka_capacity.inventory.prometheus_dialects import DIALECTS, Metric, Quantity, selector
from kafka_capacity.kafka.arrays import Flags, Floats, Ints

Key = TypeVar("Key")

BROKER_LABELS = ("broker_id", "broker", "node_id", "kafka_broker_id", "pod", "kubernetes_pod_name", "instance")
"""Labels that may tell brokers apart, the most telling first."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counted(Generic[Key]):
    """Samples of several things."""

    keys: tuple[Key, ...]  # what is counted, sorted
    values: Floats  # float64[G, R, T], copies of each at the moments of a span; NaN where there is no sample
    span: Span  # the moments

    def rates(self, *, is_up: Flags | None = None, fall: Fall = Fall.RESTART) -> Floats:
        """Return float64[G, H], the rate of each in each whole hour of the span."""
        return hourly_rates(self.values, self.span.moments(), is_up=is_up, fall=fall)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server of metrics, and what one cluster's are on it."""

    client: PrometheusClient
    settings: PrometheusSettings
    found: set[Quantity] = field(default_factory=set)  # quantities that it had series of so far

    def ways(self, quantity: Quantity) -> list[Metric]:
        """Return the metrics that may tell a quantity, in the order in which to look for them."""
        names, dialects = self.settings.names, [DIALECTS[one] for one in self.settings.dialects]
        if quantity in names:
            known = (one[quantity][0] for one in dialects if quantity in one)
            return [replace(next(known, Metric(names=())), names=(names[quantity],), attribute=None)]
        return [metric for one in dialects for metric in one.get(quantity, ())]

    def ask(self, quantity: Quantity, span: Span) -> tuple[list[Series], Metric]:
        """Ask for a quantity by each of its names until one has series; return these, none where none has, and it."""
        for metric in self.ways(quantity):
            query = selector(quantity, metric, self.settings.labels)
            if quantity is Quantity.BROKER_CPU_SECONDS and quantity not in self.settings.names:
                # Every process has this metric: take those that have counters of a broker too.
                counters = " or ".join(
                    f"group by (job, instance) ({selector(Quantity.BROKER_BYTES_IN, one, self.settings.labels)})"
                    for one in self.ways(Quantity.BROKER_BYTES_IN)
                )
                query = f"{query} and on (job, instance) ({counters})"
            if series := self.client.query_range(query, span):
                self.found.add(quantity)
                return series, metric
        return [], Metric(names=())

    def broker_label(self, series: Sequence[Series]) -> str | None:
        """Choose the label that tells brokers apart: the first that every series has.

        One with the same value on all of them (a name of the cluster, say) would make copies of different brokers: it
        counts only where no other label has more.
        """
        if self.settings.broker_label is not None:
            return self.settings.broker_label
        complete = [name for name in BROKER_LABELS if series and all(one.label(name) for one in series)]
        telling = [name for name in complete if len({one.label(name) for one in series}) > 1]
        return next(iter(telling or complete), None)


def put_together(series: Iterable[Series], key_of: Callable[[Series], Key | None], span: Span) -> Counted[Key]:
    """Put series with the same key beside each other as copies; a key of ``None`` leaves a series out."""
    by_key: dict[Key, list[Series]] = {}
    for one in series:
        key = key_of(one)
        if key is not None:
            by_key.setdefault(key, []).append(one)
    keys = tuple(sorted(by_key))  # type: ignore[type-var]  # texts and tuples of texts and numbers
    copies = max((len(found) for found in by_key.values()), default=1)
    values = np.full((len(keys), copies, span.points), np.nan)
    for row, key in enumerate(keys):
        for copy, one in enumerate(by_key[key]):
            values[row, copy, one.place] = one.value
    return Counted(keys=keys, values=values, span=span)


def partition_of(series: Series, metric: Metric, places: Mapping[tuple[str, int], int]) -> int | None:
    """Return the place of the partition that a series is of; ``None`` where the inventory has no such partition."""
    number = series.label(metric.partition)
    if not (number.isascii() and number.isdecimal()):
        return None
    return places.get((series.label(metric.topic), int(number)))


def totals(values: Floats, places: Ints, count: int) -> Floats:
    """Return float64[count, H], the sums of the rows of each place: NaN where a row of it is, 0 where it has none."""
    total = np.zeros((count, values.shape[1]))
    np.add.at(total, places, values)
    return total


# A letter before it, since an IP address ends in a number as well.
_TRAILING_NUMBER = re.compile(r"[A-Za-z].*-(\d{1,9})$")


def broker_ids(names: Collection[str], brokers: pa.Table) -> dict[str, int]:
    """Return the ids of the brokers that values of a label stand for; names that stand for none are left out.

    A name is an id; or a host of the inventory, with any port (that of an exporter is another than the broker's); or
    ends in a number, as pods do, where every name then stands for a broker of its own.
    """
    ids = set(values(brokers.column("broker_id")))
    by_host: dict[str, int | None] = {}
    for broker, host in zip(values(brokers.column("broker_id")), values(brokers.column("host")), strict=True):
        if host:
            # Several brokers on one host cannot be told apart by it.
            by_host[host.lower()] = None if host.lower() in by_host else broker
    found = {name: int(name) for name in names if name.isascii() and name.isdecimal() and int(name) in ids}
    for name in names:
        host = re.sub(r":\d+$", "", name).strip("[]").lower()
        broker = by_host.get(host)
        if name not in found and broker is not None:
            found[name] = broker
    others = [name for name in names if name not in found]
    numbers = {name: _TRAILING_NUMBER.search(name) for name in others}
    numbered = {name: int(number[1]) for name, number in numbers.items() if number is not None}
    is_one_each = len(set(numbered.values())) == len(others) and set(numbered.values()) <= ids - set(found.values())
    return found | numbered if len(numbered) == len(others) and is_one_each else found
