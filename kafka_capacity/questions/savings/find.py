"""Which actions there are for a cluster: what is known well enough to say that it could be done.

What is not known is never a saving: a topic keeps its retention where nobody can say how far back it is read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from kafka_capacity.demand.changed import ClusterChange, compacted_today
from kafka_capacity.demand.workload import HIGH
from kafka_capacity.hardware.rack_traffic import rack_aware_of
from kafka_capacity.inventory.topic_use import LEAST_HOURS, TopicUse
from kafka_capacity.kafka.arrays import Floats, Ints
from kafka_capacity.questions.question import SizedCluster
from kafka_capacity.questions.savings.actions import Action, ActionKind, time_words, topics_words
from kafka_capacity.questions.savings.even_racks import evened, replaced_words
from kafka_capacity.questions.savings.parameters import SavingsParameters
from kafka_capacity.questions.savings.quotas import find_quotas
from kafka_capacity.questions.savings.topic_facts import Chosen, Configs, TopicFacts
from kafka_capacity.text import format_rate, plural, whole_percent
from kafka_capacity.text.wording import few_names

_NAMED = 3
_FAR_TOO_MANY = 4  # times as many partitions as are needed
_LEAST_SKEW = 0.1  # less, of the mean of a topic, is not worth a word
_MAX_SINGLE_TOPICS = 50  # retention is cut of so many topics alone, those that free most


def find_actions(
    cluster: SizedCluster, use: TopicUse, configs: Configs, settings: SavingsParameters
) -> tuple[tuple[Action, ...], tuple[str, ...]]:
    """List the actions, and sentences about what was not looked at, and why.

    First are those about racks, then those that free most, single topics after all others.
    """
    facts = TopicFacts(cluster, use, configs, settings)
    wide = [
        *_retention_of_classes(facts),
        *_removals(facts),
        *_fewer_replicas(facts),
        *_compressions(facts),
        *_compactions(facts),
        *_tiering(facts),
        *_fewer_partitions(facts),
        *_quotas(facts),
        *_hardware(facts),
    ]
    narrow = _retention_of_topics(facts, [one for one in wide if one.kind is ActionKind.RETENTION])
    actions = [
        *_follower_fetching(facts),
        *_rack_aware_producers(facts),
        *_even_racks(facts),
        *sorted(wide, key=_most_freed),
        *sorted(narrow, key=_most_freed)[:_MAX_SINGLE_TOPICS],
    ]
    return tuple(actions), tuple(_notes(facts))


def _most_freed(action: Action) -> tuple[float, str]:
    return -action.freed_bytes, action.action_id


def _retention_of_classes(facts: TopicFacts) -> Iterator[Action]:
    """Yield a cut of each class of topics, to what the topic of it that needs most needs."""
    target, can = _cuts(facts)
    for number in np.unique(facts.class_of[can]).tolist():
        alike = can & (facts.class_of == number)
        longest = float(target[alike].max())
        yield from _cut(facts, alike & (facts.retention > longest), longest)


def _retention_of_topics(facts: TopicFacts, of_classes: Iterable[Action]) -> Iterator[Action]:
    """Yield a cut of each topic to what it needs itself, where its class is not cut to that."""
    target, can = _cuts(facts)
    kept = np.full(len(facts.topics), np.inf)
    for action in of_classes:
        np.minimum.at(kept, facts.topic, action.change.kept_seconds)
    for place in np.flatnonzero(can).tolist():
        if target[place] < kept[place]:
            yield from _cut(facts, np.arange(len(facts.topics)) == place, float(target[place]))


def _removals(facts: TopicFacts) -> Iterator[Action]:
    """Yield the removal of idle topics, and of those that are never read; by their names, since it is for good."""
    for kind, chosen, which in (
        (ActionKind.IDLE, facts.is_unused, "which nobody uses"),
        (ActionKind.WRITE_ONLY, facts.is_unread, "which nobody reads, and stop producing to"),
    ):
        names = facts.names(chosen)
        named = f" ({few_names(names, _NAMED)})" if len(names) > 1 else ""
        to = "" if kind is ActionKind.IDLE else " them" if named else " it"
        text = f"remove {{}}{named}, {which}{to}"
        yield from _action(facts, kind, text, chosen, facts.size_bytes(), is_removed=chosen[facts.topic])


def _fewer_replicas(facts: TopicFacts) -> Iterator[Action]:
    """Yield two replicas of what is not critical, where failures must be tolerated still."""
    named = facts.matching(facts.settings.uncritical_topics)
    chosen = (named | facts.cluster.snapshot.topics.allows_unclean_election) & ~facts.use.is_own
    has_more = np.zeros(len(facts.topics), dtype=np.bool_)
    has_more[facts.topic[facts.factors > 2]] = True
    chosen &= has_more
    kept = np.where(chosen[facts.topic], 2, np.iinfo(np.int32).max).astype(np.int32)
    freed = facts.cluster.workload.size_bytes * np.maximum(facts.factors - 2, 0)
    text = "keep two replicas of {}"
    yield from _action(facts, ActionKind.REPLICATION_FACTOR, text, chosen, freed, max_replicas=kept)


def _compressions(facts: TopicFacts) -> Iterator[Action]:
    """Yield compression of the topics of each pattern of which it is not known that they are compressed."""
    for pattern, ratio in facts.settings.compression_ratios():
        chosen = facts.matching([pattern]) & ~facts.is_compressed
        written, freed = np.where(chosen[facts.topic], ratio, 1.0), facts.size_bytes() * (1.0 - ratio)
        text = f"compress {{}} at the producers to {whole_percent(ratio)}"
        yield from _action(facts, ActionKind.COMPRESSION, text, chosen, freed, about=pattern, written_ratio=written)


def _compactions(facts: TopicFacts) -> Iterator[Action]:
    """Yield compaction of the topics of each pattern; Kafka compacts no tiered topic (KIP-405)."""
    for pattern, ratio in facts.settings.compaction_ratios():
        chosen = (
            facts.matching([pattern]) & ~facts.is_compacted & ~facts.is_state & ~facts.is_tiered & ~facts.use.is_own
        )
        left, workload = np.where(chosen[facts.topic], ratio, 1.0), facts.cluster.workload
        freed = (workload.size_bytes - compacted_today(workload, left)) * facts.factors
        text = f"compact {{}} (cleanup.policy=compact,delete) to {whole_percent(ratio)}"
        yield from _action(facts, ActionKind.COMPACTION, text, chosen, freed, about=pattern, compacted_ratio=left)


def _tiering(facts: TopicFacts) -> Iterator[Action]:
    """Yield tiered storage of all topics that brokers could keep for a shorter time."""
    target = facts.must_keep_seconds(facts.settings.local_retention_seconds)
    chosen = facts.is_shortened & (target < facts.retention) & ~facts.is_tiered
    rows = chosen[facts.topic]
    kept = np.where(rows, target[facts.topic], np.inf)
    longest = time_words(float(target[chosen].max(initial=0.0)))
    text, freed = f"put {{}} into tiered storage with at most {longest} on the brokers", facts.freed(kept)
    yield from _action(facts, ActionKind.TIERED_STORAGE, text, chosen, freed, local_seconds=kept, is_tiered=rows)


def _fewer_partitions(facts: TopicFacts) -> Iterator[Action]:
    """Yield fewer partitions of topics whose new ones carry and hold no more than the fullest do today.

    Nor do they get more at the horizon than sizing lets one have. None of topics that had better be removed.
    """
    workload, partitions = facts.cluster.workload, facts.cluster.workload.partitions
    load = workload.load
    peak = load.bytes_in_peak_bytes_per_second
    later = peak * workload.rate_ratios()[workload.outlook.class_of, HIGH].max(axis=1)
    values = np.stack([peak, load.bytes_out_peak_bytes_per_second, workload.size_bytes, later]).astype(np.float64)
    most, readers = values.max(axis=1, initial=0.0), facts.readers()
    most[-1] = facts.cluster.partition_limit_bytes_per_second
    into = np.arange(len(facts.topic))
    is_left = facts.use.is_own | facts.is_tiered | facts.is_compacted | facts.is_unused | facts.is_unread
    chosen = np.zeros(len(facts.topics), dtype=np.bool_)
    for place, rows in enumerate(partitions.topic_slices()):
        count = rows.stop - rows.start
        least = readers.get(facts.topics[place], 1)
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
    before = int(chosen[facts.topic].sum())
    after = before - int((into != np.arange(len(into))).sum())
    text = f"recreate {{}} with {after:,} instead of {before:,} partitions"
    yield from _action(facts, ActionKind.PARTITIONS, text, chosen, merged_into=into)


def _quotas(facts: TopicFacts) -> Iterator[Action]:
    """Yield quotas on who reads, and on who writes, the few topics that make the cluster's peak."""
    for found in find_quotas(facts.cluster, ~facts.use.is_own, facts.needed, facts.settings.quota_delay_seconds):
        done, who = ("reads of", "consumers") if found.is_on_reads else ("writes to", "producers")
        text = (
            f"limit {done} {{}} to {format_rate(found.total, 1)} by quotas on {who}, which cuts the peak of all "
            f"{done.split()[0]} by {whole_percent(found.cut_ratio)}"
        )
        quotas = {"in_quota": found.in_quota, "out_quota": found.out_quota}
        yield from _action(facts, ActionKind.QUOTAS, text, found.topics, about=who, affected=found.affected, **quotas)


def _follower_fetching(facts: TopicFacts) -> Iterator[Action]:
    """Yield reading from the replica in the consumer's rack, where bytes between racks are paid for."""
    is_read = bool((facts.cluster.workload.load.bytes_out_mean_bytes_per_second > 0).any())
    if facts.is_rack_traffic_paid() and is_read and not facts.cluster.is_read_in_rack:
        text = "let consumers fetch from the replica in their rack"
        yield from _action(facts, ActionKind.FOLLOWER_FETCHING, text, about="all topics", is_read_in_rack=True)


def _rack_aware_producers(facts: TopicFacts) -> Iterator[Action]:
    """Yield producing to partitions led in the producer's rack, where bytes between racks are paid for."""
    snapshot, workload = facts.cluster.snapshot, facts.cluster.workload
    rate = workload.load.bytes_in_mean_bytes_per_second
    if not facts.is_rack_traffic_paid() or not (rate[~workload.limits.is_compacted] > 0).any():
        return
    aware = rack_aware_of(workload, snapshot.brokers.index_of(snapshot.replicas), snapshot.brokers)
    count = len(facts.topics)
    total = np.bincount(facts.topic, weights=rate, minlength=count)
    mean = (total / np.bincount(facts.topic, minlength=count))[facts.topic]
    after = total[facts.topic] * aware.share
    fullest = int(np.argmax(np.where(mean > 0, np.round(after - rate), -np.inf)))
    name = f"{facts.topics[facts.topic[fullest]]}-{workload.partitions.partition[fullest]}"
    then, now = (one[fullest] / mean[fullest] for one in (after, rate))
    skew = f"with today's leaders partition {name} would get {then:.1f} times the mean of its topic ({now:.1f} today)"
    yield from _action(
        facts,
        ActionKind.RACK_AWARE_PRODUCERS,
        "let producers of records without keys prefer partitions led in their rack",
        about="all topics",
        affected=skew if then - now >= _LEAST_SKEW else "",
        is_produced_in_rack=True,
    )


def _even_racks(facts: TopicFacts) -> Iterator[Action]:
    """Yield as many brokers in every rack: else replicas that all racks must have fill the brokers of the small."""
    if replaced := evened(facts.cluster.snapshot.brokers):
        text = f"replace {replaced_words(replaced)}"
        yield from _action(facts, ActionKind.RACKS, text, about="even", racks=tuple(sorted(replaced.items())))


def _hardware(facts: TopicFacts) -> Iterator[Action]:
    """Yield smaller volumes, and the next sizes of today's shape."""
    today = facts.cluster.today
    if today.volume is not None:
        text = "replace the volumes with smaller ones"
        yield from _action(facts, ActionKind.VOLUMES, text, about=today.volume.name, is_volume_shrunk=True)
    for shape in facts.cluster.others:
        text = f"run the brokers on {shape.name} instead of {today.name}"
        yield from _action(facts, ActionKind.SHAPE, text, about=shape.name, shapes=(shape.name,))


def _notes(facts: TopicFacts) -> Iterator[str]:
    """Yield sentences about what was left out."""
    if not facts.cluster.snapshot.groups and (facts.is_limited & np.isfinite(facts.needed)).any():
        yield "The inventory has no consumer groups: how far back topics are read is seen in read rates alone."
    unknown = facts.is_limited & np.isnan(facts.needed)
    if unknown.any():
        why = (
            f"fewer than {LEAST_HOURS} consecutive hours of reads and writes are known"
            if not facts.unknown_groups
            else "some groups that read them have an unknown lag or cannot be simulated, such as "
            f"{few_names(facts.unknown_groups, _NAMED)}"
        )
        count = int(unknown.sum())
        are = "it is" if count == 1 else "they are"
        yield (
            f"The retention of {plural(count, 'topic')} is not cut: how far back {are} read is unknown, because {why}."
        )
    if facts.is_kept.any():
        yield (
            "Not read but not removed, since compacted, kept by Kafka Streams, or named by consumer groups: "
            f"{few_names(facts.names(facts.is_kept), _NAMED)}."
        )
    named = {
        "being uncritical": facts.settings.uncritical_topics,
        "compression": [pattern for pattern, _ in facts.settings.compression_ratios()],
        "compaction": [pattern for pattern, _ in facts.settings.compaction_ratios()],
    }
    for what, patterns in named.items():
        if unmatched := [one for one in patterns if not facts.matching([one]).any()]:
            yield f"No topic matches what is given for {what}: {few_names(unmatched, _NAMED)}."
    left = facts.matching([pattern for pattern, _ in facts.settings.compression_ratios()]) & facts.is_compressed
    if left.any():
        yield f"Already compressed and left out: {few_names(facts.names(left), _NAMED)}."
    if facts.settings.compressions:
        yield (
            "Producers may already compress even if the topic does not say so: kafka-capacity inventory "
            "compression measures how well each codec compresses the existing records."
        )


def _cuts(facts: TopicFacts) -> tuple[Floats, Chosen]:
    """Return float64[T], to what retention may be cut, and of which topics that is less than they have."""
    target = facts.must_keep_seconds(facts.settings.least_retention_seconds)
    return target, facts.is_limited & (target < facts.retention)


def _cut(facts: TopicFacts, chosen: Chosen, seconds: float) -> Iterator[Action]:
    if not chosen.any():
        return
    kept = np.where(chosen[facts.topic], seconds, np.inf)
    of_class = facts.cluster.workload.outlook.classes[facts.class_of[chosen][0]].name
    text = f"cut the retention of {{}} to {time_words(seconds)}"
    about = "{}" if chosen.sum() == 1 else f"{{}}@{of_class}"
    yield from _action(facts, ActionKind.RETENTION, text, chosen, facts.freed(kept), about=about, kept_seconds=kept)


def _action(
    facts: TopicFacts,
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
    topics = () if chosen is None else facts.names(chosen)
    if chosen is not None and not topics:
        return
    subject = topics_words(topics, facts.topics) if topics else ""
    yield Action(
        kind=kind,
        about=about.replace("{}", subject, 1),
        text=text.replace("{}", subject, 1),
        subject=subject,
        topics=topics,
        change=dataclasses.replace(ClusterChange.nothing(len(facts.topic)), **change),
        freed_bytes=0.0 if chosen is None or freed is None else float(freed[chosen[facts.topic]].sum()),
        affected=affected,
    )
