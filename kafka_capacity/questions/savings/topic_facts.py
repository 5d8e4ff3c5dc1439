"""What is known of the topics of a cluster that decides what could be saved on them."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from kafka_capacity.demand.calendar_days import DAY_SECONDS, HOUR_SECONDS
from kafka_capacity.demand.changed import kept_today
from kafka_capacity.inventory.topic_use import TopicUse, named_topics
from kafka_capacity.kafka.arrays import Flags, Floats
from kafka_capacity.kafka.cluster.assignment import replication_factors
from kafka_capacity.kafka.cluster.snapshot import STREAMS_TOPICS
from kafka_capacity.questions.question import SizedCluster
from kafka_capacity.questions.savings.parameters import SavingsParameters
from kafka_capacity.questions.savings.reach import needed_seconds, reach_seconds

NOT_COMPRESSED = frozenset({"uncompressed", "producer"})
"""Values of ``compression.type`` that do not say that records are compressed; producers may compress nevertheless."""

CONFIGS = ("compression_type", "remote_storage_enable")  # columns of the table `topics` that are looked at

Chosen = Flags  # bool[T], some topics
Configs = Mapping[str, Mapping[str, Any]]  # `CONFIGS` by topic, `None` or nothing for what is not known


class TopicFacts:
    """Facts and settings that all kinds of actions look up, computed once."""

    def __init__(self, cluster: SizedCluster, use: TopicUse, configs: Configs, settings: SavingsParameters) -> None:
        self.cluster, self.use, self.settings = cluster, use, settings
        workload, partitions = cluster.workload, cluster.workload.partitions
        self.topics, self.topic = partitions.topics, partitions.topic
        of_topics = [configs.get(name, {}) for name in self.topics]
        is_raw = {None, *NOT_COMPRESSED}
        self.is_compressed = self._flags(one.get("compression_type") not in is_raw for one in of_topics)
        self.is_tiered = self._flags(bool(one.get("remote_storage_enable")) for one in of_topics)
        self.factors = replication_factors(cluster.snapshot.replicas)
        first = np.searchsorted(self.topic, np.arange(len(self.topics)))
        self.class_of = workload.outlook.class_of[first]
        self.retention = reach_seconds(workload)
        is_planned = (workload.outlook.retention_ratio != 1.0).any(axis=1)[self.class_of]
        rate = np.bincount(self.topic, weights=workload.load.bytes_in_mean_bytes_per_second, minlength=len(self.topics))
        self.is_compacted = workload.limits.is_compacted[first]
        self.is_state = self._kept_by_streams()
        self.is_shortened = ~self.is_compacted & ~self.is_state & ~use.is_own & ~is_planned & (rate > 0)
        self.is_limited = self.is_shortened & np.isfinite(self.retention)
        self.needed, self.unknown_groups = needed_seconds(cluster, use)
        # However long nobody reads it, what is compacted and the state of Kafka Streams are read when something starts,
        # such as schemas, and a group may come back.
        named = {name for group in cluster.snapshot.groups for name in named_topics(group)}
        is_needed = self.is_compacted | self.is_state | self._flags(name in named for name in self.topics)
        self.is_kept = (use.is_idle | use.is_write_only) & is_needed
        self.is_unused, self.is_unread = use.is_idle & ~is_needed, use.is_write_only & ~is_needed

    def _kept_by_streams(self) -> Chosen:
        """Return which topics Kafka Streams makes, fills and empties itself, by their names or by what groups tell."""
        changelogs = {
            name for group in self.cluster.snapshot.groups for one in group.subtopologies for name in one.changelogs
        }
        return self._flags(name in changelogs or name.endswith(STREAMS_TOPICS) for name in self.topics)

    def readers(self) -> dict[str, int | None]:
        """Return how many members the largest group of each topic has; ``None`` where partitions are tied to state."""
        # What Kafka Streams keeps for a group begins with its name.
        kept = self.names(self.is_state)
        found: dict[str, int | None] = dict.fromkeys(kept)
        for group in self.cluster.snapshot.groups:
            is_tied = group.group_type == "streams" or any(name.startswith(f"{group.group_id}-") for name in kept)
            members = 1 if group.group_type == "share" else max(len(group.members), 1)
            for name in named_topics(group):
                most = found.get(name, 1)
                found[name] = None if is_tied or most is None else max(most, members)
        return found

    def matching(self, patterns: Sequence[str]) -> Chosen:
        """Return bool[T], which topics one of the shell patterns matches."""
        return self._flags(any(fnmatch.fnmatchcase(name, one) for one in patterns) for name in self.topics)

    def _flags(self, values: Iterable[bool]) -> Chosen:
        return np.fromiter(values, dtype=np.bool_, count=len(self.topics))

    def must_keep_seconds(self, least_seconds: float) -> Floats:
        """Return float64[T], how long records must be kept: whole hours up to a day, else whole days; NaN unknown."""
        wanted = np.maximum(self.needed * self.settings.lag_margin, least_seconds)
        step = np.where(wanted > DAY_SECONDS, DAY_SECONDS, HOUR_SECONDS)
        return np.asarray(np.ceil(wanted / step) * step, dtype=np.float64)

    def freed(self, kept_seconds: Floats) -> Floats:
        """Return float64[P], the bytes that are freed on all brokers by keeping partitions only so long."""
        workload = self.cluster.workload
        return (workload.size_bytes - kept_today(workload, kept_seconds)) * self.factors

    def size_bytes(self) -> Floats:
        """Return float64[P], the bytes of partitions on all brokers."""
        return np.asarray(self.cluster.workload.size_bytes * self.factors, dtype=np.float64)

    def names(self, chosen: Chosen) -> tuple[str, ...]:
        """Return the names of some topics."""
        return tuple(self.topics[place] for place in np.flatnonzero(chosen).tolist())

    def is_rack_traffic_paid(self) -> bool:
        """Return whether bytes between racks are paid for."""
        return self.cluster.today.usd_per_gib_between_racks > 0 and len(self.cluster.snapshot.brokers.rack_names()) > 1
