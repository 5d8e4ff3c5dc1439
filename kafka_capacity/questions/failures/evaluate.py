"""Lose every set of a scenario, and say what is left."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from kafka_capacity.demand.workload import Traffic
from kafka_capacity.hardware.cpu import STATED, CpuCosts
from kafka_capacity.hardware.flows import percentile
from kafka_capacity.hardware.limits import Resource
from kafka_capacity.kafka.arrays import Floats
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.kafka.controller.failing import ElectionRules, Losses, losses
from kafka_capacity.questions.failures.baseline import FLAGS, TRAFFIC_OF, BaselineState, Cluster
from kafka_capacity.questions.failures.broker_sums import broker_sums
from kafka_capacity.questions.failures.scenario import CoordinatorState, FailureResult, FailureScenario, FailureSet
from kafka_capacity.questions.failures.sets import failure_sets

_MAX_CELLS = 1 << 23  # how many hourly figures of brokers are held at once: 32 MiB of each flow


def evaluate_failures(
    snapshot: Snapshot,
    load: PartitionLoad,
    scenario: FailureScenario,
    *,
    traffic: Traffic | None = None,
    has: Mapping[Resource, Floats] | None = None,
    costs: CpuCosts = STATED,
    has_majority: Callable[[FailureSet], bool | None] = lambda _: None,
    voter_racks: Collection[str] = (),
    unknown_traffic: str | None = None,
) -> FailureResult:
    """Lose each set of brokers by itself.

    ``has_majority`` says whether a majority of the controllers is left after a set, ``None`` where that is not known:
    without one no leader is elected, and nobody leaves an ISR. ``voter_racks`` are racks that controllers are in,
    which are lost like those of brokers.

    Without the hours of ``traffic`` every partition is at its own percentile at once, an upper estimate. ``has`` is
    what brokers can do; without it, what the snapshot says of their networks. ``costs`` is what traffic takes of
    processors. ``unknown_traffic`` names what is not known of it, where that may be much.

    Raises:
        RequestError: a set names a broker that is not there.
    """
    sets, left_out = failure_sets(snapshot.brokers, snapshot.replicas, scenario, voter_racks)
    capacity = capacities(snapshot.brokers, has)
    cluster = Cluster.of(snapshot, load, traffic, scenario.rules, costs if Resource.CPU in capacity else None)
    networks = np.stack([capacity[Resource.NETWORK_IN], capacity[Resource.NETWORK_OUT]])
    table = _Table(cluster, len(sets), scenario.throttle_bytes_per_second, networks)
    today = BaselineState.of(cluster, ())
    majorities = tuple(map(has_majority, sets))
    alike: dict[tuple[tuple[int, ...], ElectionRules | None], list[int]] = {}
    for number, (one, majority) in enumerate(zip(sets, majorities, strict=True)):
        key = ((), None) if majority is False else (one.first, scenario.rules)
        alike.setdefault(key, []).append(number)
    for (first, rules), numbers in alike.items():
        baseline = today if not first else BaselineState.of(cluster, _positions(snapshot, first))
        others = (sorted(set(sets[number].brokers) - set(first)) for number in numbers)
        rest = [_positions(snapshot, ids) for ids in others]
        at_once = max(1, _MAX_CELLS // (len(snapshot.brokers) * cluster.rates.traffic.bytes_in.shape[1] or 1))
        for part in losses(baseline.states, rest, rules, rows=cluster.rows, max_sets=at_once):
            table.fill(np.array(numbers[part.first : part.first + part.count]), part, baseline)
    for number, one in enumerate(sets):
        table.mark_dead(number, [*_positions(snapshot, one.brokers), *np.flatnonzero(snapshot.brokers.is_fenced)])
    # Without a majority no broker can take the place of a lost one, and nobody gets a new leader to copy from.
    table.columns["rebuild_seconds"][[majority is False for majority in majorities]] = np.inf
    peak_in, peak_out, peak_cores = (
        percentile(found)[0] for found in (today.sums.written, today.sums.sent, today.sums.cores)
    )
    return FailureResult(
        scenario=scenario,
        sets=sets,
        left_out=left_out,
        brokers=snapshot.brokers,
        partition_count=len(snapshot.partitions),
        offline_today=today.counts["offline"],
        under_min_isr_today=today.counts["under_min_isr"],
        assumed_min_isr_topics=int(snapshot.topics.is_min_isr_assumed.sum()),
        stopped_today_bytes_per_second=today.produced["stopped_bytes_per_second"],
        peak_in_today_bytes_per_second=peak_in,
        peak_out_today_bytes_per_second=peak_out,
        peak_cores_today=peak_cores,
        capacity=capacity,
        peak_basis=cluster.rates.traffic.basis,
        unknown_traffic=unknown_traffic,
        groups=cluster.reads.groups,
        group_partitions=cluster.reads.partitions,
        has_majority=majorities,
        **table.columns,
    )


def _positions(snapshot: Snapshot, ids: Sequence[int]) -> list[int]:
    return [int(place) for place in snapshot.brokers.index_of(np.array(ids, dtype=np.int32))]


_PEAK_OF = {"peak_in_bytes_per_second": "written", "peak_out_bytes_per_second": "sent", "peak_cores": "cores"}
"""The columns of peaks: what of :class:`BrokerSums` each is the peak of."""


class _Table:
    """The columns of the result, filled some sets at a time."""

    def __init__(self, cluster: Cluster, sets: int, throttle: float, networks: Floats) -> None:
        self._cluster = cluster
        self._throttle, self._networks = throttle, networks
        brokers, groups = len(cluster.today.is_live), len(cluster.reads.groups)
        whole = {name: np.zeros(sets, dtype=np.int64) for name in (*FLAGS, "offline_topics")}
        figures = (*TRAFFIC_OF, "rebuild_bytes", "rebuild_seconds")
        self.columns: dict[str, Any] = {
            **whole,
            **{name: np.zeros(sets) for name in figures},
            "leaders": np.zeros((sets, brokers), dtype=np.int64),
            **{name: np.zeros((sets, brokers)) for name in _PEAK_OF},
            "group_offline": np.zeros((sets, groups), dtype=np.int64),
            "coordinator": np.full((sets, groups), CoordinatorState.UNKNOWN, dtype=np.int8),
        }

    def fill(self, at: Any, part: Losses, baseline: BaselineState) -> None:
        """Enter what some sets do, which have these numbers."""
        self._fill_partitions(at, part, baseline)
        self._fill_groups(at, part, baseline)
        self._fill_brokers(at, part, baseline)

    def mark_dead(self, number: int, brokers: Sequence[int]) -> None:
        """Take out the figures of brokers that are dead."""
        for name in _PEAK_OF:
            self.columns[name][number, brokers] = np.nan

    def _fill_partitions(self, at: Any, part: Losses, baseline: BaselineState) -> None:
        cluster, columns = self._cluster, self.columns
        before = cluster.flags(part.before, part.before.live_replicas(), part.row)
        after = cluster.flags(part.after, part.is_live, part.row)
        mean = cluster.rates.mean_bytes_per_second[part.row]
        for name in FLAGS:
            change = after[name].astype(np.float64) - before[name]
            columns[name][at] = baseline.counts[name] + np.rint(_by_set(part, change)).astype(np.int64)
        for name, flag in TRAFFIC_OF.items():
            change = (after[flag].astype(np.float64) - before[flag]) * mean
            # What was added and taken away again may leave a rounding error below zero.
            columns[name][at] = np.maximum(baseline.produced[name] + _by_set(part, change), 0.0)
        # A loss may let partitions elect again that nobody led: topics with as many go as come.
        turned = after["offline"].astype(np.int64) - before["offline"]
        place, topic = part.of[turned != 0], cluster.topic[part.row[turned != 0]].astype(np.int64)
        key, which = np.unique(place * cluster.topic_count + topic, return_inverse=True)
        place, topic = np.divmod(key, max(1, cluster.topic_count))
        was = baseline.topic_offline[topic]
        now = was + np.bincount(which, weights=turned[turned != 0], minlength=len(key))
        more = np.bincount(place, weights=(now > 0.5).astype(np.int64) - (was > 0), minlength=part.count)
        columns["offline_topics"][at] = int((baseline.topic_offline > 0).sum()) + np.rint(more).astype(np.int64)

    def _fill_groups(self, at: Any, part: Losses, baseline: BaselineState) -> None:
        cluster, reads = self._cluster, self._cluster.reads
        if not reads.groups:
            return
        after, before = part.after.is_offline, part.before.is_offline
        gone, back = (
            reads.count(part.of[one], part.row[one], part.count) for one in (after & ~before, before & ~after)
        )
        self.columns["group_offline"][at] = baseline.group_offline + gone - back
        first, end = reads.offsets.start, reads.offsets.stop
        if first == end:
            return
        states = np.tile(baseline.coordinator, (part.count, 1))
        is_there = np.flatnonzero((part.row >= first) & (part.row < end))
        every = cluster.flags(part.after, part.is_live, part.row)
        flags = {name: found[is_there] for name, found in every.items()}
        states[part.of[is_there], part.row[is_there] - first] = cluster.coordinator_states(flags)
        self.columns["coordinator"][at] = states[:, reads.coordinator]

    def _fill_brokers(self, at: Any, part: Losses, baseline: BaselineState) -> None:
        cluster, columns = self._cluster, self.columns
        sums = []
        for states, live in ((part.after, part.is_live), (part.before, part.before.live_replicas())):
            lost = cluster.lost_now(live, part.row)
            sums.append(broker_sums(states, live, lost, cluster.rates, row=part.row, of=part.of, sets=part.count))
        found = baseline.sums.changed_by(*sums)
        columns["leaders"][at] = np.rint(found.leaders).astype(np.int64)
        for name, hours in _PEAK_OF.items():
            columns[name][at] = np.maximum(percentile(getattr(found, hours)), 0.0)
        columns["rebuild_bytes"][at] = found.copied_in.sum(axis=1)
        columns["rebuild_seconds"][at] = found.rebuild_seconds(self._throttle, self._networks)


def _by_set(part: Losses, amount: Any) -> Any:
    return np.bincount(part.of, weights=amount, minlength=part.count)


SURVIVOR_RESOURCES = (Resource.NETWORK_IN, Resource.NETWORK_OUT, Resource.CPU, Resource.DISK_IO)
"""What a loss changes on those that are left: space on disk and replicas stay as they are until somebody moves them."""


def capacities(brokers: Brokers, has: Mapping[Resource, Floats] | None) -> Mapping[Resource, Floats]:
    """Return float64[B] of each resource that is known of any broker, NaN for those of which it is not.

    Networks are those of the brokers where ``has`` says nothing, or is not known.
    """
    networks = {
        Resource.NETWORK_IN: brokers.network_in_bytes_per_second,
        Resource.NETWORK_OUT: brokers.network_out_bytes_per_second,
    }
    found = networks if has is None else has
    return {
        resource: found[resource]
        for resource in SURVIVOR_RESOURCES
        if resource in networks or (resource in found and np.isfinite(found[resource]).any())
    }
