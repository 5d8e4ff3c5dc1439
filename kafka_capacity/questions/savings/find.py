"""Which actions there are for a cluster: what is known well enough to say that it could be done.

What is not known is never a saving: a topic keeps its retention where nobody can say how far back it is read.
"""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kafka_capacity.demand.calendar_days import DAY_SECONDS, HOUR_SECONDS
from kafka_capacity.demand.changed import ClusterChange, compacted_today, kept_today
from kafka_capacity.demand.workload import HIGH
from kafka_capacity.hardware.rack_traffic import rack_aware_of
from kafka_capacity.inventory.topic_use import LEAST_HOURS, TopicUse, named_topics
from kafka_capacity.kafka.arrays import Flags, Floats, Ints
from kafka_capacity.kafka.cluster.assignment import replication_factors
from kafka_capacity.kafka.cluster.snapshot import STREAMS_TOPICS
from kafka_capacity.questions.question import SizedCluster
from kafka_capacity.questions.savings.actions import Action, ActionKind, time_words, topics_words
from kafka_capacity.questions.savings.even_racks import evened, replaced_words
from kafka_capacity.questions.savings.parameters import SavingsParameters
from kafka_capacity.questions.savings.quotas import find_quotas
from kafka_capacity.questions.savings.reach import needed_seconds, reach_seconds
from kafka_capacity.text import format_rate, plural, whole_percent
from kafka_capacity.text.wording import few_names

_NAMED = 3
_FAR_TOO_MANY = 4  # times as many partitions as are needed
_LEAST_SKEW = 0.1  # less, of the mean of a topic, is not worth a word
_MAX_SINGLE_TOPICS = 50  # retention is cut of so many topics alone, those that free most
NOT_COMPRESSED = frozenset({"uncompressed", "producer"})
"""Values of ``compression.type`` that do not say that records are compressed; producers may compress nevertheless."""

CONFIGS = ("compression_type", "remote_storage_enable")  # columns of the table `topics` that are looked at

Chosen = Flags  # bool[T], some topics
Configs = Mapping[str, Mapping[str, Any]]  # `CONFIGS` by topic, `None` or nothing for what is not known


def find_actions(
    cluster: SizedCluster, use: TopicUse, configs: Configs, settings: SavingsParameters
) -> tuple[tuple[Action, ...], tuple[str, ...]]:
    """List the actions, and sentences about what was not looked at, and why.

    First are those about racks, then those that free most, single topics after all others.
    """
    finder = _Finder(cluster, use, configs, settings)
    wide = [
        *finder.retention_of_classes(),
        *finder.removals(),
        *finder.fewer_replicas(),
        *finder.compressions(),
        *finder.compactions(),
        *finder.tiering(),
        *finder.fewer_partitions(),
        *finder.quotas(),
        *finder.hardware(),
    ]
    narrow = finder.retention_of_topics(one for one in wide if one.kind is ActionKind.RETENTION)
    actions = [
        *finder.follower_fetching(),
        *finder.rack_aware_producers(),
        *finder.even_racks(),
        *sorted(wide, key=_most_freed),
        *sorted(narrow, key=_most_freed)[:_MAX_SINGLE_TOPICS],
    ]
    return tuple(actions), tuple(finder.notes())


def _most_freed(action: Action) -> tuple[float, str]:
    return -action.freed_bytes, action.action_id


class _Finder:
    """What all kinds of actions look up, computed once."""

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

    def retention_of_classes(self) -> Iterator[Action]:
        """Yield a cut of each class of topics, to what the topic of it that needs most needs."""
        target, can = self._cuts()
        for number in np.unique(self.class_of[can]).tolist():
            alike = can & (self.class_of == number)
            longest = float(target[alike].max())
            yield from self._cut(alike & (self.retention > longest), longest)

    def retention_of_topics(self, of_classes: Iterable[Action]) -> Iterator[Action]:
        """Yield a cut of each topic to what it needs itself, where its class is not cut to that."""
        target, can = self._cuts()
        kept = np.full(len(self.topics), np.inf)
        for action in of_classes:
            np.minimum.at(kept, self.topic, action.change.kept_seconds)
        for place in np.flatnonzero(can).tolist():
            if target[place] < kept[place]:
                yield from self._cut(np.arange(len(self.topics)) == place, float(target[place]))

    def removals(self) -> Iterator[Action]:
        """Yield the removal of idle topics, and of those that are never read; by their names, since it is for good."""
        for kind, chosen, which in (
            (ActionKind.IDLE, self.is_unused, "which nobody uses"),
            (ActionKind.WRITE_ONLY, self.is_unread, "which nobody reads, and stop producing to"),
        ):
            names = self._names(chosen)
            named = f" ({few_names(names, _NAMED)})" if len(names) > 1 else ""
            to = "" if kind is ActionKind.IDLE else " them" if named else " it"
            text = f"remove {{}}{named}, {which}{to}"
            yield from self._action(kind, text, chosen, self._size(), is_removed=chosen[self.topic])

    def fewer_replicas(self) -> Iterator[Action]:
        """Yield two replicas of what is not critical, where failures must be tolerated still."""
        named = self._matching(self.settings.uncritical_topics)
        chosen = (named | self.cluster.snapshot.topics.allows_unclean_election) & ~self.use.is_own
        has_more = np.zeros(len(self.topics), dtype=np.bool_)
        has_more[self.topic[self.factors > 2]] = True
        chosen &= has_more
        kept = np.where(chosen[self.topic], 2, np.iinfo(np.int32).max).astype(np.int32)
        freed = self.cluster.workload.size_bytes * np.maximum(self.factors - 2, 0)
        text = "keep two replicas of {}"
        yield from self._action(ActionKind.REPLICATION_FACTOR, text, chosen, freed, max_replicas=kept)

    def compressions(self) -> Iterator[Action]:
        """Yield compression of the topics of each pattern of which it is not known that they are compressed."""
        for pattern, ratio in self.settings.compression_ratios():
            chosen = self._matching([pattern]) & ~self.is_compressed
            written, freed = np.where(chosen[self.topic], ratio, 1.0), self._size() * (1.0 - ratio)
            text = f"compress {{}} at the producers to {whole_percent(ratio)}"
            yield from self._action(ActionKind.COMPRESSION, text, chosen, freed, about=pattern, written_ratio=written)

    def compactions(self) -> Iterator[Action]:
        """Yield compaction of the topics of each pattern; Kafka compacts no tiered topic (KIP-405)."""
        for pattern, ratio in self.settings.compaction_ratios():
            chosen = (
                self._matching([pattern]) & ~self.is_compacted & ~self.is_state & ~self.is_tiered & ~self.use.is_own
            )
            left, workload = np.where(chosen[self.topic], ratio, 1.0), self.cluster.workload
            freed = (workload.size_bytes - compacted_today(workload, left)) * self.factors
            text = f"compact {{}} (cleanup.policy=compact,delete) to {whole_percent(ratio)}"
            yield from self._action(ActionKind.COMPACTION, text, chosen, freed, about=pattern, compacted_ratio=left)

    def tiering(self) -> Iterator[Action]:
        """Yield tiered storage of all topics that brokers could keep for a shorter time."""
        target = self._target(self.settings.local_retention_seconds)
        chosen = self.is_shortened & (target < self.retention) & ~self.is_tiered
        rows = chosen[self.topic]
        kept = np.where(rows, target[self.topic], np.inf)
        longest = time_words(float(target[chosen].max(initial=0.0)))
        text, freed = f"put {{}} into tiered storage with at most {longest} on the brokers", self._freed(kept)
        yield from self._action(ActionKind.TIERED_STORAGE, text, chosen, freed, local_seconds=kept, is_tiered=rows)

    def fewer_partitions(self) -> Iterator[Action]:
        """Yield fewer partitions of topics whose new ones carry and hold no more than the fullest do today.

        Nor do they get more at the horizon than sizing lets one have. None of topics that had better be removed.
        """
        workload, partitions = self.cluster.workload, self.cluster.workload.partitions
        load = workload.load
        peak = load.bytes_in_peak_bytes_per_second
        later = peak * workload.rate_ratios()[workload.outlook.class_of, HIGH].max(axis=1)
        values = np.stack([peak, load.bytes_out_peak_bytes_per_second, workload.size_bytes, later]).astype(np.float64)
        most, readers = values.max(axis=1, initial=0.0), self._readers()
        most[-1] = self.cluster.partition_limit_bytes_per_second
        into = np.arange(len(self.topic))
        is_left = self.use.is_own | self.is_tiered | self.is_compacted | self.is_unused | self.is_unread
        chosen = np.zeros(len(self.topics), dtype=np.bool_)
        for place, rows in enumerate(partitions.topic_slices()):
            count = rows.stop - rows.start
            least = readers.get(self.topics[place], 1)
            if is_left[place] or least is None:
                continue
            fewer = next(
                (
                    few
                    for few in range(least, count // _FAR_TOO_MANY + 1)
                    if count % few == 0
                    and (values[:, rows].reshape(len(values), -1, few).sum(axis=1) <= most[:, None]).all()
                ),
                None,
            )
            if fewer is not None and (partitions.partition[rows] == np.arange(count)).all():
                chosen[place] = True
                into[rows] = rows.start + np.arange(count) % fewer
        before = int(chosen[self.topic].sum())
        after = before - int((into != np.arange(len(into))).sum())
        text = f"recreate {{}} with {after:,} instead of {before:,} partitions"
        yield from self._action(ActionKind.PARTITIONS, text, chosen, merged_into=into)

    def _readers(self) -> dict[str, int | None]:
        """Return how many members the largest group of each topic has; ``None`` where partitions are tied to state."""
        # What Kafka Streams keeps for a group begins with its name.
        kept = self._names(self.is_state)
        found: dict[str, int | None] = dict.fromkeys(kept)
        for group in self.cluster.snapshot.groups:
            is_tied = group.group_type == "streams" or any(name.startswith(f"{group.group_id}-") for name in kept)
            members = 1 if group.group_type == "share" else max(len(group.members), 1)
            for name in named_topics(group):
                most = found.get(name, 1)
                found[name] = None if is_tied or most is None else max(most, members)
        return found

    def _kept_by_streams(self) -> Chosen:
        """Return which topics Kafka Streams makes, fills and empties itself, by their names or by what groups tell."""
        changelogs = {
            name for group in self.cluster.snapshot.groups for one in group.subtopologies for name in one.changelogs
        }
        return self._flags(name in changelogs or name.endswith(STREAMS_TOPICS) for name in self.topics)

    def quotas(self) -> Iterator[Action]:
        """Yield quotas on who reads, and on who writes, the few topics that make the cluster's peak."""
        for found in find_quotas(self.cluster, ~self.use.is_own, self.needed, self.settings.quota_delay_seconds):
            done, who = ("reads of", "consumers") if found.is_on_reads else ("writes to", "producers")
            text = (
                f"limit {done} {{}} to {format_rate(found.total, 1)} by quotas on {who}, which cuts the peak of all "
                f"{done.split()[0]} by {whole_percent(found.cut_ratio)}"
            )
            quotas = {"in_quota": found.in_quota, "out_quota": found.out_quota}
            yield from self._action(ActionKind.QUOTAS, text, found.topics, about=who, affected=found.affected, **quotas)

    def follower_fetching(self) -> Iterator[Action]:
        """Yield reading from the replica in the consumer's rack, where bytes between racks are paid for."""
        is_read = bool((self.cluster.workload.load.bytes_out_mean_bytes_per_second > 0).any())
        if self._is_rack_traffic_paid() and is_read and not self.cluster.is_read_in_rack:
            text = "let consumers fetch from the replica in their rack"
            yield from self._action(ActionKind.FOLLOWER_FETCHING, text, about="all topics", is_read_in_rack=True)

    def rack_aware_producers(self) -> Iterator[Action]:
        """Yield producing to partitions led in the producer's rack, where bytes between racks are paid for."""
        snapshot, workload = self.cluster.snapshot, self.cluster.workload
        rate = workload.load.bytes_in_mean_bytes_per_second
        if not self._is_rack_traffic_paid() or not (rate[~workload.limits.is_compacted] > 0).any():
            return
        aware = rack_aware_of(workload, snapshot.brokers.index_of(snapshot.replicas), snapshot.brokers)
        count = len(self.topics)
        total = np.bincount(self.topic, weights=rate, minlength=count)
        mean = (total / np.bincount(self.topic, minlength=count))[self.topic]
        after = total[self.topic] * aware.share
        fullest = int(np.argmax(np.where(mean > 0, np.round(after - rate), -np.inf)))
        name = f"{self.topics[self.topic[fullest]]}-{workload.partitions.partition[fullest]}"
        then, now = (one[fullest] / mean[fullest] for one in (after, rate))
        skew = (
            f"with today's leaders partition {name} would get {then:.1f} times the mean of its topic ({now:.1f} today)"
        )
        yield from self._action(
            ActionKind.RACK_AWARE_PRODUCERS,
            "let producers of records without keys prefer partitions led in their rack",
            about="all topics",
            affected=skew if then - now >= _LEAST_SKEW else "",
            is_produced_in_rack=True,
        )

    def even_racks(self) -> Iterator[Action]:
        """Yield as many brokers in every rack: else replicas that all racks must have fill the brokers of the small."""
        if replaced := evened(self.cluster.snapshot.brokers):
            text = f"replace {replaced_words(replaced)}"
            yield from self._action(ActionKind.RACKS, text, about="even", racks=tuple(sorted(replaced.items())))

    def _is_rack_traffic_paid(self) -> bool:
        return self.cluster.today.usd_per_gib_between_racks > 0 and len(self.cluster.snapshot.brokers.rack_names()) > 1

    def hardware(self) -> Iterator[Action]:
        """Yield smaller volumes, and the next sizes of today's shape."""
        today = self.cluster.today
        if today.volume is not None:
            text = "replace the volumes with smaller ones"
            yield from self._action(ActionKind.VOLUMES, text, about=today.volume.name, is_volume_shrunk=True)
        for shape in self.cluster.others:
            text = f"run the brokers on {shape.name} instead of {today.name}"
            yield from self._action(ActionKind.SHAPE, text, about=shape.name, shapes=(shape.name,))

    def notes(self) -> Iterator[str]:
        """Yield sentences about what was left out."""
        if not self.cluster.snapshot.groups and (self.is_limited & np.isfinite(self.needed)).any():
            yield "The inventory has no consumer groups: how far back topics are read is seen in read rates alone."
        unknown = self.is_limited & np.isnan(self.needed)
        if unknown.any():
            why = (
                f"fewer than {LEAST_HOURS} consecutive hours of reads and writes are known"
                if not self.unknown_groups
                else f"some groups that read them cannot be simulated, such as {few_names(self.unknown_groups, _NAMED)}"
            )
            count = int(unknown.sum())
            are = "it is" if count == 1 else "they are"
            yield (
                f"The retention of {plural(count, 'topic')} is not cut: how far back {are} read is unknown, "
                f"because {why}."
            )
        if self.is_kept.any():
            yield (
                "Not read but not removed, since compacted, kept by Kafka Streams, or named by consumer groups: "
                f"{few_names(self._names(self.is_kept), _NAMED)}."
            )
        named = {
            "being uncritical": self.settings.uncritical_topics,
            "compression": [pattern for pattern, _ in self.settings.compression_ratios()],
            "compaction": [pattern for pattern, _ in self.settings.compaction_ratios()],
        }
        for what, patterns in named.items():
            if unmatched := [one for one in patterns if not self._matching([one]).any()]:
                yield f"No topic matches what is given for {what}: {few_names(unmatched, _NAMED)}."
        left = self._matching([pattern for pattern, _ in self.settings.compression_ratios()]) & self.is_compressed
        if left.any():
            yield f"Already compressed and left out: {few_names(self._names(left), _NAMED)}."
        if self.settings.compressions:
            yield (
                "Producers may already compress even if the topic does not say so: kafka-capacity inventory "
                "compression measures how well each codec compresses the existing records."
            )

    def _matching(self, patterns: Sequence[str]) -> Chosen:
        return self._flags(any(fnmatch.fnmatchcase(name, one) for one in patterns) for name in self.topics)

    def _flags(self, values: Iterable[bool]) -> Chosen:
        return np.fromiter(values, dtype=np.bool_, count=len(self.topics))

    def _target(self, least_seconds: float) -> Floats:
        """Return float64[T], how long records must be kept: whole hours up to a day, else whole days; NaN unknown."""
        wanted = np.maximum(self.needed * self.settings.lag_margin, least_seconds)
        step = np.where(wanted > DAY_SECONDS, DAY_SECONDS, HOUR_SECONDS)
        return np.asarray(np.ceil(wanted / step) * step, dtype=np.float64)

    def _cuts(self) -> tuple[Floats, Chosen]:
        """Return float64[T], to what retention may be cut, and of which topics that is less than they have."""
        target = self._target(self.settings.least_retention_seconds)
        return target, self.is_limited & (target < self.retention)

    def _cut(self, chosen: Chosen, seconds: float) -> Iterator[Action]:
        if not chosen.any():
            return
        kept = np.where(chosen[self.topic], seconds, np.inf)
        of_class = self.cluster.workload.outlook.classes[self.class_of[chosen][0]].name
        text = f"cut the retention of {{}} to {time_words(seconds)}"
        about = "{}" if chosen.sum() == 1 else f"{{}}@{of_class}"
        yield from self._action(ActionKind.RETENTION, text, chosen, self._freed(kept), about=about, kept_seconds=kept)

    def _freed(self, kept_seconds: Floats) -> Floats:
        workload = self.cluster.workload
        return (workload.size_bytes - kept_today(workload, kept_seconds)) * self.factors

    def _size(self) -> Floats:
        return np.asarray(self.cluster.workload.size_bytes * self.factors, dtype=np.float64)

    def _names(self, chosen: Chosen) -> tuple[str, ...]:
        return tuple(self.topics[place] for place in np.flatnonzero(chosen).tolist())

    def _action(
        self,
        kind: ActionKind,
        text: str,
        chosen: Chosen | None = None,
        freed: Floats | Ints | None = None,
        *,
        about: str = "{}",
        affected: str = "",
        **change: Any,
    ) -> Iterator[Action]:
        """Yield an action on some topics, where there are any, or one on none (``None``).

        ``{}`` in what it is and what it is about stands for the topics; ``freed``, [P], counts of their partitions.
        ``change`` are fields of a :class:`ClusterChange`.
        """
        topics = () if chosen is None else self._names(chosen)
        if chosen is not None and not topics:
            return
        subject = topics_words(topics, self.topics) if topics else ""
        yield Action(
            kind=kind,
            about=about.replace("{}", subject, 1),
            text=text.replace("{}", subject, 1),
            subject=subject,
            topics=topics,
            change=dataclasses.replace(ClusterChange.nothing(len(self.topic)), **change),
            freed_bytes=0.0 if chosen is None or freed is None else float(freed[chosen[self.topic]].sum()),
            affected=affected,
        )
