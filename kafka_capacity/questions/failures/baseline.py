"""What losses are measured against: the cluster as it is or as a placement leaves it, its state and its sums.

The baseline of most sets is the whole cluster. That of a rack with one broker more is the cluster without the rack: so
each such set costs no more than one broker does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.workload import Traffic
from kafka_capacity.errors import RequestError
from kafka_capacity.hardware.cpu import CpuCosts
from kafka_capacity.kafka.arrays import Flags, Int32s, Ints
from kafka_capacity.kafka.cluster.snapshot import OFFSETS_TOPIC, Group, PartitionLoad, Snapshot
from kafka_capacity.kafka.controller.failing import BrokerRows, ElectionRules, fail_brokers
from kafka_capacity.kafka.controller.partition_states import (
    PartitionStates,
    led_by_the_living,
    live_on,
    states_of,
)
from kafka_capacity.kafka.groups.coordinator import coordinator_partitions
from kafka_capacity.proposal.expansion import shared_traffic
from kafka_capacity.proposal.scenario import PlacementResult
from kafka_capacity.questions.failures.broker_sums import BrokerSums, PartitionRates, broker_sums
from kafka_capacity.questions.failures.scenario import CoordinatorState


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupReads:
    """What the groups of a snapshot read.

    A group reads what its members subscribe to and are assigned, and what it has committed offsets of.
    """

    groups: tuple[str, ...]  # the names
    partitions: Ints  # int64[G], how many partitions each reads
    group: Int32s  # int32[N], groups by partition
    starts: Ints  # int64[P + 1], where those of each partition begin in `group`
    offsets: slice  # the rows of `__consumer_offsets`; none where it is not there
    coordinator: Ints  # int64[G], the partition of that topic; 0 where it is not there

    @classmethod
    def of(cls, snapshot: Snapshot) -> GroupReads:
        """Look up the groups of a snapshot."""
        slices = dict(zip(snapshot.partitions.topics, snapshot.partitions.topic_slices(), strict=True))
        parts = [_rows(group, slices) for group in snapshot.groups]
        row = np.concatenate([np.empty(0, dtype=np.int64), *parts])
        group = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part) for part in parts])
        order = np.argsort(row, kind="stable")
        offsets = slices.get(OFFSETS_TOPIC, slice(0, 0))
        names = tuple(group.group_id for group in snapshot.groups)
        return cls(
            groups=names,
            partitions=np.array([len(part) for part in parts], dtype=np.int64),
            group=group[order],
            starts=np.searchsorted(row[order], np.arange(len(snapshot.partitions) + 1)).astype(np.int64),
            offsets=offsets,
            coordinator=coordinator_partitions(names, offsets.stop - offsets.start),
        )

    def count(self, of: Ints, row: Ints, sets: int) -> Ints:
        """Count, for each set, how many of some partitions each group reads: int64[S, G].

        ``of`` is int64[N], the set of each, and ``row`` int64[N], the partition.
        """
        groups = len(self.groups)
        counts = self.starts[row + 1] - self.starts[row]
        total = int(counts.sum())
        begin = np.repeat(self.starts[row] - np.concatenate([[0], np.cumsum(counts)[:-1]])[: len(row)], counts)
        reader = self.group[begin + np.arange(total)]
        found = np.bincount(np.repeat(of, counts) * groups + reader, minlength=sets * groups)
        return found.astype(np.int64).reshape(sets, groups)


def _rows(group: Group, slices: dict[str, slice]) -> Ints:
    topics = {topic for member in group.members for topic in member.subscribed if topic in slices}
    parts = [np.arange(slices[topic].start, slices[topic].stop) for topic in sorted(topics)]
    single = [pair for member in group.members for pair in member.assigned if pair[0] in slices]
    single += [(lag.topic, lag.partition) for lag in group.lags if lag.topic in slices]
    rows = [slices[topic].start + partition for topic, partition in single if topic not in topics]
    return np.unique(np.concatenate([np.array(rows, dtype=np.int64), *parts]))


FLAGS = ("offline", "under_min_isr", "newly_under_min_isr", "at_min_isr", "new_leaders", "unclean_leaders")
TRAFFIC_OF = {
    "stopped_bytes_per_second": "offline",
    "refused_bytes_per_second": "under_min_isr",
    "newly_refused_bytes_per_second": "newly_under_min_isr",
}
"""What is produced on average to the partitions that a flag is true of, by its name."""


def placed_snapshot(snapshot: Snapshot, placed: PlacementResult) -> Snapshot:
    """Return the cluster as it is once a placement is done: all replicas in sync, led by the preferred leaders.

    Brokers that are fenced stay so: what is on them is not in sync while another replica lives, and leads nothing.

    Raises:
        RequestError: Kafka refuses the placement, so that there is none.
    """
    if placed.diff is None:
        raise RequestError(
            f"placement {placed.scenario.scenario_id!r} does not exist because Kafka rejects it; choose another one"
        )
    start, target = with_replicas(placed.start(snapshot), placed.diff.after), placed.scenario.target
    live = live_on(target.index_of(start.replicas), ~target.is_fenced)
    leader, in_sync = led_by_the_living(start.replicas, live, start.in_sync, start.leader)
    return dataclasses.replace(start, brokers=target, in_sync=in_sync, leader=leader)


def with_replicas(snapshot: Snapshot, replicas: Int32s) -> Snapshot:
    """Return the cluster with other replica lists, int32[P, W]: all replicas whole and in sync, the first one leads."""
    held = replicas >= 0
    return dataclasses.replace(
        snapshot,
        replicas=replicas,
        in_sync=held,
        size_bytes=np.where(held, snapshot.partition_size_bytes()[:, None], 0),
        log_dir=np.full(replicas.shape, -1, dtype=np.int32),
        leader=replicas[:, 0] if replicas.shape[1] else snapshot.leader,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cluster:
    """What stays the same whatever is lost."""

    today: PartitionStates  # the partitions before any loss
    is_under_min_isr_today: Flags  # bool[P], of these
    rows: BrokerRows  # which partitions each broker holds
    rates: PartitionRates  # of the partitions
    topic: Int32s  # int32[P]
    topic_count: int  # how many topics there are
    reads: GroupReads  # what the consumer groups read
    rules: ElectionRules  # of the controller

    @classmethod
    def of(
        cls,
        snapshot: Snapshot,
        load: PartitionLoad,
        traffic: Traffic | None,
        rules: ElectionRules,
        costs: CpuCosts | None = None,
    ) -> Cluster:
        """Look up everything once."""
        today = states_of(snapshot)
        return cls(
            today=today,
            is_under_min_isr_today=today.refuses(today.live_replicas()),
            rows=BrokerRows.of(today.replicas, len(today.is_live)),
            rates=PartitionRates(
                traffic=Traffic.of_peaks(load) if traffic is None else traffic,
                size_bytes=snapshot.partition_size_bytes().astype(np.float64),
                mean_bytes_per_second=load.bytes_in_mean_bytes_per_second,
                read_bytes_per_second=load.bytes_out_mean_bytes_per_second,
                costs=costs,
            ),
            topic=snapshot.partitions.topic,
            topic_count=len(snapshot.partitions.topics),
            reads=GroupReads.of(snapshot),
            rules=rules,
        )

    def flags(self, states: PartitionStates, live: Flags, row: Ints | slice) -> dict[str, Flags]:
        """Return what is the matter with some partitions: bool[N] for each of :data:`FLAGS`.

        ``live`` is bool[N, W], which replicas live.
        """
        is_led = states.leader >= 0
        size = states.isr_size()
        under = states.refuses(live)
        return {
            "offline": ~is_led,
            "under_min_isr": under,
            "newly_under_min_isr": under & ~self.is_under_min_isr_today[row],
            "at_min_isr": is_led & (size == states.min_isr) & ~under,
            "new_leaders": is_led & (states.leader != self.today.leader[row]),
            "unclean_leaders": is_led & states.is_unclean,
        }

    def lost_now(self, live: Flags, row: Ints | slice) -> Flags:
        """Return which replicas of some partitions were on live brokers today and no longer are: bool[N, W]."""
        return np.append(self.today.is_live, False)[self.today.replicas[row]] & ~live

    def coordinator_states(self, flags: dict[str, Flags]) -> NDArray[np.int8]:
        """Describe how a coordinator fares on each partition: int8[N], of :class:`CoordinatorState`."""
        found = np.full(len(flags["offline"]), CoordinatorState.STAYS, dtype=np.int8)
        found[flags["new_leaders"]] = CoordinatorState.MOVES
        found[flags["under_min_isr"]] = CoordinatorState.REFUSES
        found[flags["offline"]] = CoordinatorState.OFFLINE
        return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BaselineState:
    """A state of the cluster, and its sums."""

    states: PartitionStates  # of all partitions
    counts: dict[str, int]  # how many partitions each of `FLAGS` is true of
    produced: dict[str, float]  # bytes per second on average to these, by the names of `TRAFFIC_OF`
    topic_offline: Ints  # int64[T], how many of its partitions nobody leads
    group_offline: Ints  # int64[G]
    coordinator: NDArray[np.int8]  # int8[K], for each partition of `__consumer_offsets`
    sums: BrokerSums  # of the brokers, S = 1

    @classmethod
    def of(cls, cluster: Cluster, first: Sequence[int]) -> BaselineState:
        """Return the state of the cluster without some brokers, given by position."""
        states = fail_brokers(cluster.today, first, cluster.rules) if first else cluster.today
        everything = slice(None)
        live = states.live_replicas()
        flags = cluster.flags(states, live, everything)
        count = len(states)
        offline, mean = flags["offline"], cluster.rates.mean_bytes_per_second
        return cls(
            states=states,
            counts={name: int(found.sum()) for name, found in flags.items()},
            produced={name: float(mean[flags[flag]].sum()) for name, flag in TRAFFIC_OF.items()},
            topic_offline=np.bincount(cluster.topic[offline], minlength=cluster.topic_count),
            group_offline=cluster.reads.count(np.zeros(int(offline.sum()), np.int64), np.flatnonzero(offline), 1)[0],
            coordinator=cluster.coordinator_states(flags)[cluster.reads.offsets],
            sums=broker_sums(
                states,
                live,
                cluster.lost_now(live, everything),
                cluster.rates,
                row=np.arange(count),
                of=np.zeros(count, dtype=np.int64),
                sets=1,
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Baseline:
    """The cluster that losses happen to: as it is today, or as a placement leaves it."""

    snapshot: Snapshot
    load: PartitionLoad
    traffic: Traffic

    def after(self, placed: PlacementResult) -> Baseline:
        """Return the baseline once a placement of this cluster is done.

        Raises:
            RequestError: Kafka refuses the placement, so that there is none.
        """
        snapshot = placed_snapshot(self.snapshot, placed)
        expanded = placed.expanded
        if expanded is None:
            return dataclasses.replace(self, snapshot=snapshot)
        return Baseline(snapshot=snapshot, load=expanded.load, traffic=shared_traffic(self.traffic, expanded))
