"""One event of a group scenario, from its trace under several draws of the clocks to its figures."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from kafka_capacity.hardware.plain import plain_number
from kafka_capacity.kafka.arrays import Floats
from kafka_capacity.kafka.cluster.snapshot import OFFSETS_TOPIC
from kafka_capacity.kafka.rebalance.lag import LagOverTime, lag_over_time
from kafka_capacity.kafka.rebalance.model import NOBODY, Event, EventTrace, GroupFacts, GroupScenario, Interruptions
from kafka_capacity.kafka.rebalance.simulate import GroupSimulation
from kafka_capacity.kafka.rebalance.table import KeptAssignor
from kafka_capacity.questions.consumers.names import part_name
from kafka_capacity.questions.consumers.scenario import EventOutcome
from kafka_capacity.text import plural

DRAWS = 5
"""How often the clocks are drawn: pauses are pooled over all draws, all else is of the one that pauses longest."""
DRAWS_OF_MANY_REBALANCES = 2
"""The same for events of a rebalance or more a member, which draw the clocks again and again by themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What one member can process."""

    proven: float  # bytes per second that it certainly can: given, or seen; infinite where nothing is known
    # bytes per second that it certainly cannot exceed: given, or read by a member that was behind, and so did all it
    # could; infinite where nobody has been seen at the limit
    limit: float

    @classmethod
    def of(cls, facts: GroupFacts, scenario: GroupScenario) -> Capacity:
        """Find out for a group."""
        given, seen = scenario.member_capacity_bytes_per_second, facts.estimated_capacity_bytes_per_second
        if given is not None:
            return cls(proven=given, limit=given)
        if seen is None:
            return cls(proven=math.inf, limit=math.inf)
        return cls(proven=seen, limit=seen if facts.is_estimate_a_limit else math.inf)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TracedEvent:
    """What several draws of the clocks made of an event."""

    worst: EventTrace  # the one with the longest pause, the first of several
    pauses: Floats  # of all draws, in seconds
    first_record_seconds: float  # the longest of all draws, see :func:`first_record_seconds`

    @classmethod
    def of(cls, simulation: GroupSimulation, event: Event) -> TracedEvent:
        """Let an event happen under several draws of the clocks, and pool them.

        Raises:
            AssignmentError: Kafka would throw.
        """
        has_many = event in {Event.ROLLING_RESTART, Event.SCALE_ONE_BY_ONE}
        draws = range(DRAWS_OF_MANY_REBALANCES if has_many else DRAWS)
        traces = [simulation.trace(event, draw=draw) for draw in draws]
        pauses = [trace.interruptions.pause_seconds for trace in traces]
        worst = max(range(len(traces)), key=lambda draw: (float(pauses[draw].max(initial=0.0)), -draw))
        return cls(
            worst=traces[worst],
            pauses=np.concatenate(pauses),
            first_record_seconds=max(first_record_seconds(one.interruptions) for one in traces),
        )


class Simulations:
    """A group by its member count: each count is simulated once, and each event of it traced once.

    What searches for counts and what evaluates them look at the same ones.
    """

    def __init__(self, facts: GroupFacts, scenario: GroupScenario) -> None:
        self.facts = facts
        self.scenario = scenario  # its member count plays no part
        self._by_count: dict[int, GroupSimulation] = {}
        self._traced: dict[tuple[int, Event], TracedEvent] = {}
        self._kept: KeptAssignor | None = None

    def of(self, count: int) -> GroupSimulation:
        """Return the group with so many members.

        Raises:
            AssignmentError: Kafka would throw.
            RequestError: there is no such assignor.
        """
        if count not in self._by_count:
            found = GroupSimulation(self.facts, dataclasses.replace(self.scenario, member_count=count), self._kept)
            self._by_count[count], self._kept = found, found.assignor
        return self._by_count[count]

    def traced(self, count: int, event: Event) -> TracedEvent:
        """Let an event happen to it; raises as :meth:`of` does."""
        if (count, event) not in self._traced:
            self._traced[count, event] = TracedEvent.of(self.of(count), event)
        return self._traced[count, event]


def has_rates(facts: GroupFacts) -> bool:
    """Return whether anything is known of what is produced for a group."""
    return bool(facts.peak_bytes_per_second.any())


def unknown_rates(facts: GroupFacts) -> str | None:
    """Return why loads and lags of a group cannot be judged for want of rates; ``None`` where they can.

    Rates that are known in part are least rates: what they break is broken, what they keep may not be kept.
    """
    if not facts.history_hours:
        return "the produce rate of its partitions is unknown: there is no rate history"
    if unknown := int((~facts.is_rate_known).sum()):
        parts = plural(len(facts), part_name(facts.protocol))
        return f"the produce rate of {unknown:,} of its {parts} is unknown: the inventory has no metrics of them"
    if not has_rates(facts):
        return f"nothing was produced to its partitions in {plural(facts.history_hours, 'hour')} of history"
    return None


def offline_partitions(facts: GroupFacts) -> str | None:
    """Return that a group cannot read all of its partitions, whoever its members are; ``None`` where it can."""
    if facts.offline_coordinator is not None:
        where = f"partition {facts.offline_coordinator} of {OFFSETS_TOPIC} has no leader"
        return f"it has no coordinator, because {where}: its members cannot join, stay or commit"
    count, part = int(facts.is_offline.sum()), part_name(facts.protocol)
    if not count:
        return None
    is_task, is_one = part == "task", count == 1
    what = ("waits" if is_one else "wait") if is_task else ("has" if is_one else "have")
    what += " for a partition without a leader" if is_task else " no leader"
    return (
        f"{count:,} of its {plural(len(facts), part)} {what}: nobody can {'run' if is_task else 'read'} "
        f"{'it' if is_one else 'them'}"
    )


def rates_of(trace: EventTrace, bytes_per_second: Floats) -> Floats:
    """Return the rate of every partition, float64[P']: one that was split shares it with those that came of it."""
    pieces = np.bincount(trace.sibling, minlength=len(bytes_per_second))
    return np.asarray((bytes_per_second / np.maximum(pieces, 1))[trace.sibling], dtype=np.float64)


def lag_of(trace: EventTrace, bytes_per_second: Floats, capacity: float, *, has_curve: bool = False) -> LagOverTime:
    """Follow the lag through a trace, of a group that has caught up before: what waits today is a matter of its own.

    Rates, float64[P], are of what is produced; where none is known a partition is behind by as long as it is not read,
    and bytes mean nothing. ``capacity`` is of a member, bytes per second; ``has_curve`` follows the lag to the end.
    """
    rate = rates_of(trace, bytes_per_second)
    return lag_over_time(
        rate=rate if rate.any() else np.ones(len(rate)),
        start_lag_bytes=np.zeros(len(trace.sibling)),
        capacity=capacity,
        first_owner=trace.first_owner,
        last_owner=trace.last_owner,
        interruptions=trace.interruptions,
        has_tail=has_curve,
    )


def evaluate_event(simulation: GroupSimulation, event: Event, traced: TracedEvent) -> EventOutcome:
    """Work out the figures of one event of a simulated group."""
    facts, scenario = simulation.facts, simulation.scenario
    trace, pauses = traced.worst, traced.pauses
    capacity = Capacity.of(facts, scenario)
    peak = lag_of(trace, facts.peak_bytes_per_second, capacity.limit, has_curve=True)
    catch_up = (
        peak if capacity.limit == capacity.proven else lag_of(trace, facts.peak_bytes_per_second, capacity.proven)
    )
    found = trace.interruptions
    rate = rates_of(trace, facts.peak_bytes_per_second)
    duplicates, duplicates_high = _duplicates(trace, event, facts, scenario, rate)
    moved, returned = _moved_and_returned(trace)
    is_scale = event in {Event.SCALE, Event.SCALE_ONE_BY_ONE}
    before = len(facts.members) if is_scale else scenario.member_count
    gone = min(scenario.failure_count, before) if event is Event.CRASH else 0
    return EventOutcome(
        event=event,
        members_before=before,
        members_after=scenario.member_count if is_scale else before - gone,
        rebalances=trace.rebalances,
        partition_pauses=len(found),
        paused_partitions=len(np.unique(found.partition)),
        revoked=int(found.is_revoked.sum()),
        paused_partition_seconds=plain_number(float(found.pause_seconds.sum())),
        moved=moved,
        returned=returned,
        pause_median_seconds=plain_number(_quantile(pauses, 0.5)),
        pause_p95_seconds=plain_number(_quantile(pauses, 0.95)),
        pause_max_seconds=plain_number(float(pauses.max(initial=0.0))),
        first_record_seconds=plain_number(traced.first_record_seconds),
        duplicate_records=duplicates,
        duplicate_records_high=duplicates_high,
        lag_max_seconds=plain_number(peak.max_lag_seconds),
        lag_max_partition=_name(trace, facts, peak.max_lag_row),
        lag_max_bytes=plain_number(float(peak.lag_bytes.max())) if has_rates(facts) else None,
        catch_up_seconds=plain_number(catch_up.catch_up_seconds) if has_rates(facts) else None,
        keeps_up=_keeps_up(trace, rate, capacity),
        catch_up_partition=_name(trace, facts, catch_up.catch_up_row),
        disk_read_bytes=_disk_reads(trace, facts, rate, peak, capacity.proven),
        duration_seconds=trace.end_seconds,
        is_settled=trace.is_settled,
        restored_bytes=None if facts.streams is None else plain_number(trace.restored_bytes),
        restore_seconds=trace.restore_seconds if _is_restore_known(trace, facts, scenario) else None,
        curve=peak if has_rates(facts) else dataclasses.replace(peak, lag_bytes=np.full(len(peak.lag_bytes), np.nan)),
    )


def _is_restore_known(trace: EventTrace, facts: GroupFacts, scenario: GroupScenario) -> bool:
    if facts.streams is None or not math.isfinite(trace.restored_bytes):
        return False
    return not trace.restored_bytes or scenario.settings.restore_bytes_per_second is not None


def loads_after(trace: EventTrace, rate: Floats) -> Floats:
    """Sum what everybody reads in the end, by number: float64[M]."""
    is_read = trace.last_owner != NOBODY
    sums = np.bincount(trace.last_owner[is_read], weights=rate[is_read], minlength=len(trace.member_ids))
    return sums.astype(np.float64)


def _keeps_up(trace: EventTrace, rate: Floats, capacity: Capacity) -> bool | None:
    """Return whether the members that are left can do what they are to do, ``None`` for not known."""
    busiest = loads_after(trace, rate).max(initial=0.0)
    if (rate[trace.last_owner == NOBODY] > 0).any() or busiest > capacity.limit * (1 + 1e-9):
        return False
    return True if busiest <= capacity.proven * (1 + 1e-9) and math.isfinite(capacity.proven) else None


def _quantile(pauses: Floats, q: float) -> float:
    """Return a quantile that was really seen: of pauses that never end there is nothing in between."""
    return float(np.quantile(pauses, q, method="lower")) if len(pauses) else 0.0


def _moved_and_returned(trace: EventTrace) -> tuple[int, int]:
    identity = np.concatenate([trace.identity, [NOBODY]])
    first, last = identity[trace.first_owner], identity[trace.last_owner]
    stopped = np.zeros(len(first), dtype=np.bool_)
    stopped[trace.interruptions.partition] = True
    return int((first != last).sum()), int((stopped & (first == last) & (first != NOBODY)).sum())


def first_record_seconds(found: Interruptions) -> float:
    """Return the longest time from when the member that reads a partition goes away until it is read again.

    Who is stopped on its way to start has read nothing: interruptions that touch are one.
    """
    if not len(found):
        return 0.0
    order = np.lexsort((found.stop_seconds, found.partition))
    partition, stop, start = (one[order] for one in (found.partition, found.stop_seconds, found.start_seconds))
    is_first = np.concatenate([[True], (partition[1:] != partition[:-1]) | (stop[1:] > start[:-1])])
    last_of_each = np.concatenate([np.flatnonzero(is_first)[1:], [len(order)]]) - 1
    read_again = start[last_of_each][np.cumsum(is_first) - 1]
    waits = read_again - found.left_seconds[order]
    return float(waits[~np.isnan(waits)].max(initial=0.0))


def _duplicates(
    trace: EventTrace, event: Event, facts: GroupFacts, scenario: GroupScenario, rate: Floats
) -> tuple[float, float]:
    """Return how many records are read twice: on average, and at most."""
    settings = scenario.settings
    if event is Event.SLOW_MEMBER:
        # Whoever is thrown out over a batch cannot commit it: all of it is read again.
        batch = float(settings.max_poll_records) if trace.rebalances else 0.0
        return batch, batch
    most = float(rate[trace.unclean].sum()) * settings.auto_commit_interval_seconds / facts.record_bytes
    return most / 2, most


def _disk_reads(trace: EventTrace, facts: GroupFacts, rate: Floats, lag: LagOverTime, capacity: float) -> float | None:
    """Return how much of the catch-up is no longer in the page cache.

    What waits beyond the window is read from disk, and so is what comes while the reader is still that far behind: it
    closes in on the window with what its reader has to spare.
    """
    has_lag = lag.peak_lag_bytes > 0
    window = facts.cache_window_seconds[trace.sibling]
    if np.isnan(window[has_lag]).any():
        return None
    beyond = np.where(has_lag, np.maximum(lag.peak_lag_bytes - rate * np.nan_to_num(window), 0.0), 0.0)
    rows = np.flatnonzero(beyond)
    if not len(rows):
        return 0.0
    owner = trace.last_owner
    if math.isinf(capacity) or (owner[rows] == NOBODY).any():
        return None
    load = loads_after(trace, rate)[owner[rows]]
    if (load >= capacity).any():
        return None
    return float((beyond[rows] * capacity / (capacity - load)).sum())


def _name(trace: EventTrace, facts: GroupFacts, row: int) -> str | None:
    if row == NOBODY:
        return None
    if row < len(facts):
        return facts.partition_name(row)
    origin = int(trace.sibling[row])
    return f"{facts.topics[int(facts.topic[origin])].name}-new (from {int(facts.partition[origin])})"
