"""What is worth knowing about rates that came from a server of metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from kafka_capacity.health.problem import Problem, counted, info, serious, some, warning
from kafka_capacity.inventory.prometheus_hours import Hours, Places
from kafka_capacity.inventory.prometheus_series import Server
from kafka_capacity.inventory.topic_sharing import PartitionRates
from kafka_capacity.kafka.arrays import Flags
from kafka_capacity.text import plural, whole_percent

LEAST_COUNTED_RATIO = 0.95
"""Of what brokers take in, topics' counters must explain so much; the rest is scrapes at other moments."""


@dataclass(slots=True)
class Noticed:
    """What was noticed, day by day; flags are bool[N] by topic."""

    is_even: Flags
    is_from_records: Flags
    is_known: Flags
    names: set[str] = field(default_factory=set)
    ids: dict[str, int] = field(default_factory=dict)
    counted_in: float = 0.0
    brokers_in: float = 0.0

    def add(self, hours: Hours, rates: PartitionRates, ids: Mapping[str, int]) -> None:
        """Take note of a day."""
        self.is_even |= rates.is_even
        self.is_from_records |= rates.is_from_records
        self.is_known |= rates.is_known
        self.names |= {name for of in hours.brokers.values() for name in of}
        self.ids |= ids
        self.counted_in += hours.counted_in
        self.brokers_in += hours.brokers_in


def remarks(noticed: Noticed, places: Places, server: Server, brokers: set[int]) -> Iterator[Problem]:
    """Describe what a reader of the rates must know."""
    if not server.found:
        labels = ", ".join(f'{name}="{value}"' for name, value in sorted(server.settings.labels.items())) or "none"
        message = (
            f"prometheus has no metric of {', '.join(server.settings.dialects)} with the requested labels ({labels}); "
            "fix dialects, labels or names, or check whether the exporters are scraped"
        )
        yield warning("prometheus_has_nothing", "metrics", message)
        return
    yield from _about_topics(noticed, places)
    yield from _about_brokers(noticed, brokers)


def _about_topics(noticed: Noticed, places: Places) -> Iterator[Problem]:
    def topics(flags: Flags) -> str:
        return counted([places.topics[topic] for topic in np.flatnonzero(flags)], "topic")

    if noticed.is_even.any():
        message = (
            f"{topics(noticed.is_even)} with bytes by topic but no offsets by partition in some hours: their traffic "
            "is split evenly over the partitions, so hot ones do not show; scrape kminion, kafka_exporter, or "
            "kafka.log of the JMX exporter"
        )
        yield warning("metrics_shared_evenly", "metrics", message)
    if noticed.is_from_records.any():
        message = (
            f"bytes of {topics(noticed.is_from_records)} in some hours are estimated as records times bytes per "
            "record, because there is no byte counter; what consumers read is what their groups commit"
        )
        yield info("metrics_from_records", "metrics", message)
    if not noticed.is_known.all():
        message = (
            f"the traffic of {topics(~noticed.is_known)} is unknown: compacted or empty logs need byte counters, which "
            "the JMX exporter has"
        )
        yield warning("metrics_unknown_topics", "metrics", message)
    if noticed.brokers_in > 0 and noticed.counted_in < LEAST_COUNTED_RATIO * noticed.brokers_in:
        message = (
            f"topic counters explain only {whole_percent(noticed.counted_in / noticed.brokers_in)} of what the "
            "brokers receive; let Prometheus keep the counters of every topic"
        )
        yield warning("topic_counters_incomplete", "metrics", message)


def _about_brokers(noticed: Noticed, brokers: set[int]) -> Iterator[Problem]:
    if unclear := [repr(name) for name in sorted(noticed.names - set(noticed.ids))]:
        one = len(unclear) == 1
        lead = (
            f"{plural(len(unclear), 'label value')} that {'matches' if one else 'match'} no broker of the inventory "
            f"({some(unclear)})"
        )
        if noticed.ids:
            # They may be brokers that are gone, or were called otherwise: what those received is rightly counted.
            message = (
                f"{lead} beside {len(noticed.ids):,} that {'does' if len(noticed.ids) == 1 else 'do'}: what "
                f"{'it counts' if one else 'they count'} of topics of the same name is in the rates; where "
                f"{'it is' if one else 'they are'} of another cluster, the rates are too high: give a label that only "
                "this cluster has, with --label NAME=VALUE or in labels"
            )
            yield serious("metrics_of_unknown_broker", "metrics", message)
        else:
            message = (
                f"{lead}: {'its' if one else 'their'} CPU is left out; name the label with the id, the host or the pod "
                "in broker_label"
            )
            yield warning("metrics_of_unknown_broker", "broker_metrics", message)
    silent = sorted(brokers - set(noticed.ids.values()))
    if silent and noticed.ids:
        message = (
            f"{plural(len(silent), 'broker')} without counters in prometheus ({some(silent)}); their traffic is "
            "missing from the topic rates, scrape them"
        )
        yield warning("broker_without_metrics", "broker_metrics", message)
