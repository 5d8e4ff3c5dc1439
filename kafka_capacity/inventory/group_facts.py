"""What the simulation of a consumer group needs to know, taken out of an inventory.

What the inventory does not tell is filled in:

* subscriptions, see :mod:`kafka_capacity.inventory.group_subscriptions`;
* a group whose assignor is not told (Kafka has none to tell during a rebalance) has Kafka's default one;
* where nothing tells the size of a record, it is :data:`UNKNOWN_RECORD_BYTES`; a compacted topic does not tell it,
  since its offsets have holes;
* a partition on which nothing is committed has no lag;
* what is behind the start of a log waits no longer: it is lost to the group;
* an id of a topic is made up from its name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest

import numpy as np
import pyarrow as pa

from kafka_capacity.demand.reading import backlog_seconds
from kafka_capacity.inventory.column_values import column_map, encode, floats, ints, known, partition_of_rows
from kafka_capacity.inventory.group_subscriptions import SkippedGroup, SubscribedGroup, subscribed_group
from kafka_capacity.inventory.group_traffic import KEEPS_UP_SECONDS, group_traffic
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.snapshot import HourlyRates, hourly_rates, partition_load
from kafka_capacity.kafka.arrays import Flags, Float32s, Floats, Int32s, Ints
from kafka_capacity.kafka.cluster.snapshot import OFFSETS_TOPIC, PartitionLoad, Snapshot, made_up_topic_id
from kafka_capacity.kafka.controller.partition_states import states_of
from kafka_capacity.kafka.groups.coordinator import coordinator_partitions
from kafka_capacity.kafka.groups.model import Member, StreamsTopology, Topic, TopicPartitions, known_rows
from kafka_capacity.kafka.groups.registry import GroupProtocol
from kafka_capacity.kafka.rebalance.model import NOBODY, GroupFacts
from kafka_capacity.kafka.storage.page_cache import HEAP_BYTES, peak_windows

UNKNOWN_RECORD_BYTES = 1000.0  # a usual size; only lags in bytes and duplicates in records rest on it

DEFAULT_ASSIGNORS = {
    GroupProtocol.CLASSIC: "range",
    GroupProtocol.CONSUMER: "uniform",
    GroupProtocol.SHARE: "simple",
    GroupProtocol.STREAMS: "sticky",
}
"""The first of ``partition.assignment.strategy`` and of ``group.consumer.assignors``; the ones of other groups."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupLag:
    """What waits for one group."""

    group_id: str  # its name
    rows: Ints  # int64[N], the partitions, by their rows in the snapshot
    lag_seconds: Floats  # float64[N], how long ago what it reads of each now was produced
    is_known: bool  # whether it is known how far behind it is: something is committed, and no end of a log is missing
    lost_records: float  # how many were deleted before it read them, in all


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFactsFound:
    """The groups of an inventory, each in one of three lists, sorted by group id."""

    facts: tuple[GroupFacts, ...]
    skipped: tuple[SkippedGroup, ...]
    shared: tuple[GroupFacts, ...] = ()  # share groups; who owns a partition is one of those that read it
    lags: tuple[GroupLag, ...] = ()  # of all of them: of those that are skipped of every partition they committed to

    def with_heap(self, snapshot: Snapshot, load: PartitionLoad, heap_bytes: float) -> GroupFactsFound:
        """Return the same where the JVM of every broker takes ``heap_bytes`` of its memory from the page cache."""
        windows = _cache_windows(snapshot, load, heap_bytes)
        rows = {one.group_id: one.rows for one in self.lags}

        def cached(facts: GroupFacts) -> GroupFacts:
            return dataclasses.replace(facts, cache_window_seconds=windows[rows[facts.group_id]])

        return dataclasses.replace(self, facts=tuple(map(cached, self.facts)), shared=tuple(map(cached, self.shared)))


def group_facts(raw: RawInventory, snapshot: Snapshot, load: PartitionLoad | None = None) -> GroupFactsFound:
    """Return what is known of every group that can be simulated, and why the others cannot.

    ``load`` is what :func:`partition_load` gives, where the caller has it already. The page cache is what the default
    heap leaves; :meth:`GroupFactsFound.with_heap` takes another one.
    """
    found = [subscribed_group(group, snapshot) for group in snapshot.groups]
    chosen = [one for one in found if isinstance(one, SubscribedGroup)]
    skipped = [one for one in found if isinstance(one, SkippedGroup)]
    cluster = _Cluster(raw, snapshot, load or partition_load(raw, snapshot), chosen)
    offsets = cluster.offsets
    rows = {each.group.group_id: each.rows for each in chosen}
    rows |= {each.group_id: offsets.place[offsets.rows_of(each.group_id)] for each in skipped}
    records = {group_id: _Records.of(group_id, place, cluster) for group_id, place in rows.items()}
    facts = sorted(
        (_facts(each, cluster, records[each.group.group_id]) for each in chosen), key=lambda each: each.group_id
    )
    return GroupFactsFound(
        lags=tuple(
            GroupLag(
                group_id=group_id,
                rows=rows[group_id],
                lag_seconds=records[group_id].waiting_seconds,
                is_known=group_id in offsets.bounds and not records[group_id].unknown,
                lost_records=float(records[group_id].lost.sum()),
            )
            for group_id in sorted(rows)
        ),
        facts=tuple(each for each in facts if each.protocol is not GroupProtocol.SHARE),
        shared=tuple(each for each in facts if each.protocol is GroupProtocol.SHARE),
        skipped=tuple(sorted(skipped, key=lambda each: each.group_id)),
    )


def _cache_windows(snapshot: Snapshot, load: PartitionLoad, heap_bytes: float) -> Floats:
    """Return float64[P], how many seconds back the page cache of each leader reaches, NaN where that is not known."""
    window = peak_windows(snapshot.brokers, snapshot.replicas, load, heap_bytes=heap_bytes)
    leader = snapshot.brokers.index_of(snapshot.leader)
    return np.where(leader >= 0, np.append(window, np.nan)[leader], np.nan)


class _Cluster:
    """What groups look up, each thing sorted and computed once."""

    def __init__(
        self,
        raw: RawInventory,
        snapshot: Snapshot,
        load: PartitionLoad,
        groups: Sequence[SubscribedGroup],
    ) -> None:
        self.snapshot = snapshot
        self.load = load
        self.has_racks = any(rack is not None for rack in snapshot.brokers.racks)
        self.size_bytes = snapshot.partition_size_bytes()
        self.is_compacted = snapshot.topics.is_compacted[snapshot.partitions.topic]
        wanted = np.zeros(len(snapshot.partitions), dtype=np.bool_)
        for group in groups:
            wanted[group.rows] = True
        self.offsets = _Offsets.of(raw, snapshot)
        wanted[self.offsets.place] = True
        self.rates: HourlyRates = hourly_rates(raw, snapshot, wanted)
        self._raw, self._is_late = raw, self._late_partitions()
        self.cache_window_seconds = _cache_windows(snapshot, load, HEAP_BYTES)
        self.is_offline = states_of(snapshot).is_offline
        self._rows = dict(zip(snapshot.partitions.topics, snapshot.partitions.topic_slices(), strict=True))
        self._are_offsets_offline = self.is_offline[self._rows.get(OFFSETS_TOPIC, slice(0))]
        self.topic_ids = column_map(raw.table("topics"), "topic", "topic_id")
        self._topics: dict[tuple[str, bool], Topic] = {}

    def tells_record_size(self, place: Ints, kept_records: Floats) -> Flags:
        """Return bool[N], which of some partitions tell how large their records are, of which so many are kept."""
        return ~self.is_compacted[place] & (kept_records > 0) & (self.size_bytes[place] > 0)

    def _late_partitions(self) -> Flags:
        """Return bool[P], of which partitions any group is so far behind that it matters whether anybody reads them."""
        offsets, late = self.offsets, np.zeros(len(self.snapshot.partitions), dtype=np.bool_)
        place, kept, usual = offsets.place, offsets.kept_records, np.full(len(offsets.place), UNKNOWN_RECORD_BYTES)
        record_bytes = np.divide(self.size_bytes[place], kept, out=usual, where=self.tells_record_size(place, kept))
        waiting = offsets.lag_records * record_bytes
        late[place[waiting > KEEPS_UP_SECONDS * self.load.bytes_in_mean_bytes_per_second[place]]] = True
        return late

    @cached_property
    def _reads(self) -> HourlyRates:
        """What all read of the partitions that are late, looked up once a group has any."""
        return hourly_rates(self._raw, self.snapshot, self._is_late, metric="bytes_out_bytes_per_second")

    def reads_of(self, rows: Ints) -> Float32s | None:
        """Return float32[N, H], what all read in the hours of ``rates``, NaN for not known; ``None`` for none late."""
        if not self._is_late[rows].any():
            return None
        found = np.full((len(rows), self.rates.hours), np.nan, dtype=np.float32)
        place = np.flatnonzero(self._reads.row[rows] >= 0)
        _, there, here = np.intersect1d(self._reads.seconds, self.rates.seconds, return_indices=True)
        found[np.ix_(place, here)] = self._reads.of(rows[place])[:, there]
        return found

    def offline_coordinator(self, group_id: str) -> int | None:
        """Return the partition of ``__consumer_offsets`` of a group where nobody leads it; else ``None``."""
        offline = self._are_offsets_offline
        number = int(coordinator_partitions([group_id], len(offline))[0])
        return number if len(offline) and offline[number] else None

    def topic_bytes(self, name: str) -> list[float]:
        """Return the size of each partition of a topic; nothing where it is not in the inventory."""
        sizes: list[float] = self.size_bytes[self._rows.get(name, slice(0))].astype(np.float64).tolist()
        return sizes

    def topic(self, name: str, *, with_racks: bool) -> Topic:
        """Return a topic of the snapshot as assignors see it."""
        key = (name, with_racks)
        if key not in self._topics:
            rows = self._rows[name]
            racks = self._racks(rows) if with_racks else None
            self._topics[key] = Topic(name=name, partitions=rows.stop - rows.start, racks=racks)
        return self._topics[key]

    def _racks(self, rows: slice) -> tuple[tuple[str | None, ...], ...]:
        brokers = self.snapshot.brokers
        racks = [*brokers.racks, None]
        replicas = self.snapshot.replicas[rows]
        index = brokers.index_of(replicas)
        return tuple(
            tuple(racks[place] for place, broker in zip(places, row, strict=True) if broker >= 0)
            for places, row in zip(index.tolist(), replicas.tolist(), strict=True)
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Offsets:
    """The table of lags, sorted by group, without rows of partitions that do not exist."""

    bounds: dict[str, slice]  # the rows of each group
    place: Ints  # int64[L], the partition's row in the snapshot
    lag_records: Floats  # float64[L], NaN where it is not known
    kept_records: Floats  # float64[L], from the start of the log to its end, NaN where it is not known

    @classmethod
    def of(cls, raw: RawInventory, snapshot: Snapshot) -> _Offsets:
        lags = raw.table("lags")
        place, told = partition_of_rows(snapshot.partitions, lags), floats(lags.column("lag_records"))
        names, group = encode(lags.column("group_id"))
        order = np.lexsort((place, group))
        order = order[place[order] >= 0]
        bounds = np.searchsorted(group[order], np.arange(len(names) + 1)).tolist()
        return cls(
            bounds={name: slice(bounds[i], bounds[i + 1]) for i, name in enumerate(names)},
            place=place[order],
            lag_records=np.maximum(np.where(np.isnan(told), _up_to_end(lags, "committed_offset"), told), 0.0)[order],
            kept_records=_up_to_end(lags, "log_start_offset")[order],
        )

    def rows_of(self, group_id: str) -> slice:
        return self.bounds.get(group_id, slice(0, 0))


def _up_to_end(lags: pa.Table, start: str) -> Floats:
    """Subtract offsets as whole numbers: they may be larger than a float holds exactly."""
    end, since = lags.column("log_end_offset"), lags.column(start)
    return np.where(known(end) & known(since), (ints(end) - ints(since)).astype(np.float64), np.nan)


def _facts(found: SubscribedGroup, cluster: _Cluster, records: _Records) -> GroupFacts:
    group, rows = found.group, found.rows
    members = _members(found, cluster)
    owner = _owners(found, members, cluster)
    mean = cluster.load.bytes_in_mean_bytes_per_second[rows]
    # What is lost was not read either.
    unread_bytes = (records.waiting + records.lost) * records.record_bytes
    # Who reads what in the middle of a rebalance, or of two who are told to, tells nothing of the hours before; nor do
    # rates where nobody knows what waits.
    is_shared = sum(len(member.owned) for member in members) > np.count_nonzero(owner != NOBODY)
    tells = group.is_stable and not is_shared and group.group_id in cluster.offsets.bounds
    reader = owner if tells else np.full(len(owner), NOBODY, dtype=owner.dtype)
    traffic = group_traffic(cluster.rates.of(rows), mean, reader, unread_bytes, cluster.reads_of(rows))
    # Assignors look at racks only where members have one too.
    with_racks = cluster.has_racks and any(member.rack for member in members)
    names = cluster.snapshot.partitions.topics
    topics = tuple(cluster.topic(names[index], with_racks=with_racks) for index in found.topics.tolist())
    return GroupFacts(
        group_id=group.group_id,
        protocol=found.protocol,
        assignor=group.assignor or DEFAULT_ASSIGNORS[found.protocol],
        members=members,
        topics=topics,
        topic_ids=tuple(cluster.topic_ids.get(topic.name) or made_up_topic_id(topic.name) for topic in topics),
        topic=found.topic,
        partition=cluster.snapshot.partitions.partition[rows],
        owner=owner,
        mean_bytes_per_second=mean,
        peak_bytes_per_second=traffic.peak_bytes_per_second,
        is_rate_known=traffic.is_known,
        is_offline=cluster.is_offline[rows],
        offline_coordinator=cluster.offline_coordinator(group.group_id),
        start_lag_bytes=records.waiting * records.record_bytes,
        start_lag_seconds=float(records.waiting_seconds.max(initial=0.0)),
        unknown_lag_partitions=records.unknown,
        lost_records=records.lost,
        cache_window_seconds=cluster.cache_window_seconds[rows],
        record_bytes=records.record_bytes,
        is_record_size_known=records.is_size_known,
        estimated_capacity_bytes_per_second=traffic.best_read_bytes_per_second,
        is_estimate_a_limit=traffic.is_at_its_limit,
        history_hours=traffic.hours,
        streams=_streams(found, topics, cluster) if found.protocol is GroupProtocol.STREAMS else None,
    )


def _streams(found: SubscribedGroup, topics: Sequence[Topic], cluster: _Cluster) -> StreamsTopology:
    """Return what a streams group runs, as far as its topics are there; what is kept of its changelogs is its state."""
    existing = {topic.name for topic in topics}
    return StreamsTopology(
        sources={one.name: tuple(name for name in one.topics if name in existing) for one in found.group.subtopologies},
        state_bytes={
            one.name: _summed([cluster.topic_bytes(name) for name in one.changelogs])
            for one in found.group.subtopologies
            if one.changelogs
        },
        standby_replicas=found.group.num_standby_replicas or 0,
        release=cluster.snapshot.release,
    )


def _summed(sizes: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Add topics up partition by partition; nothing is known where one of them is not there."""
    return tuple(map(sum, zip_longest(*sizes, fillvalue=0.0))) if all(sizes) else ()


def _members(found: SubscribedGroup, cluster: _Cluster) -> tuple[Member, ...]:
    """Return the members; what they are assigned of topics that nobody subscribes to any more is left out."""
    names = {cluster.snapshot.partitions.topics[index] for index in found.topics.tolist()}
    return tuple(
        Member(
            member_id=member.member_id,
            topics=subscription,
            instance_id=member.instance_id or None,
            rack=member.rack or None,
            process_id=member.process_id,
            standby=member.standby,
            owned=TopicPartitions.of(pair for pair in member.assigned if pair[0] in names),
        )
        for member, subscription in zip(found.group.members, found.subscriptions, strict=True)
    )


def _owners(found: SubscribedGroup, members: Sequence[Member], cluster: _Cluster) -> Int32s:
    """Return int32[N], who reads each partition; of two that were told to, the first."""
    names = cluster.snapshot.partitions.topics
    table = {names[index]: number for number, index in enumerate(found.topics.tolist())}
    reader, topic, partition = known_rows([member.owned for member in members], table)
    row = np.searchsorted(found.topic, topic) + partition
    owner = np.full(len(found.rows), NOBODY, dtype=np.int32)
    owner[row[::-1]] = reader[::-1]
    return owner


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Records:
    """The records of a group's partitions."""

    record_bytes: float  # the mean size of one
    is_size_known: bool  # whether that was measured
    waiting: Floats  # float64[N], how many wait to be read, 0 where that is not known
    waiting_seconds: Floats  # float64[N], how long ago the oldest of them was produced
    unknown: int  # of how many partitions something is committed, and not known how many wait
    lost: Floats  # float64[N], how many were deleted unread; 0 where it is not known what the log holds

    @classmethod
    def of(cls, group_id: str, rows: Ints, cluster: _Cluster) -> _Records:
        offsets = cluster.offsets
        mine = offsets.rows_of(group_id)
        place, kept = offsets.place[mine], offsets.kept_records[mine]
        number = np.searchsorted(rows, place).clip(max=len(rows) - 1)
        is_ours = rows[number] == place
        told = offsets.lag_records[mine]
        behind = np.nan_to_num(told, nan=0.0)
        waiting, lost = np.zeros(len(rows)), np.zeros(len(rows))
        waiting[number[is_ours]] = np.where(kept >= 0, np.minimum(behind, kept), behind)[is_ours]
        lost[number[is_ours]] = np.where(kept >= 0, np.maximum(behind - kept, 0.0), 0.0)[is_ours]
        tells = is_ours & cluster.tells_record_size(place, kept)
        size = float(cluster.size_bytes[place][tells].sum() / kept[tells].sum()) if tells.any() else None
        record_bytes = UNKNOWN_RECORD_BYTES if size is None else size
        mean, rates = cluster.load.bytes_in_mean_bytes_per_second[rows], cluster.rates
        return cls(
            record_bytes=record_bytes,
            is_size_known=size is not None,
            waiting=waiting,
            waiting_seconds=backlog_seconds(rates.of(rows)[:, rates.last_hours], mean, waiting * record_bytes),
            unknown=int(np.isnan(told[is_ours]).sum()),
            lost=lost,
        )
