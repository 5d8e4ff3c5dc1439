"""How many members a group needs with an assignor and protocol, and which counts are pointless.

Rules:
    * At peak: the busiest member's rate in the group's peak hour is within a member's capacity. The smallest such
      count is found by assigning to every count from ⌈total ÷ capacity⌉ on, so that skew is part of it.
    * After failures: the same once the members that may fail have gone, and the lag stays within the objective while
      the coordinator misses them. Where nobody has been seen at the limit, those that are left may have to do what they
      would have to do in the group of today, but no more: fewer members than today must be proven to be enough.
    * While restarting: the lag stays within the objective during a rolling restart.
    * In every other event that is simulated the lag stays within the objective, too.
    * Behind today: a group that is behind by more than the objective catches up in the time allowed, at mean rates.

Where rates are not known, or only some of them, there is no count that is known to be enough.

Counts are pointless where the fullest member has as many partitions as with fewer: for one topic, where ⌈P ÷ n⌉ stays.
"""

from __future__ import annotations

import bisect
import dataclasses
import math
from collections.abc import Callable

import numpy as np

from kafka_capacity.kafka.groups.sticky_tasks import placed_standbys
from kafka_capacity.kafka.rebalance.lag import lag_over_time
from kafka_capacity.kafka.rebalance.model import Event, EventTrace, GroupFacts, Interruptions
from kafka_capacity.kafka.rebalance.simulate import Rest, member_loads
from kafka_capacity.kafka.rebalance.tasks import state_bytes
from kafka_capacity.questions.consumers.events import (
    Capacity,
    Simulations,
    lag_of,
    loads_after,
    rates_of,
    unknown_rates,
)
from kafka_capacity.questions.consumers.names import caught_up_phrase, event_phrase, part_name
from kafka_capacity.questions.consumers.scenario import SmallestCounts
from kafka_capacity.text import format_duration, format_rate
from kafka_capacity.text.wording import told_apart

_NO_EVENT = Interruptions(
    partition=np.empty(0, np.int64),
    stop_seconds=np.empty(0),
    start_seconds=np.empty(0),
    before=np.empty(0, np.int64),
    after=np.empty(0, np.int64),
    left_seconds=np.empty(0),
)


_TRIED_WITH_STATE = 32
"""So many counts are tried one by one for a group whose members restore state."""
_SCALING = frozenset({Event.SCALE, Event.SCALE_ONE_BY_ONE})


def partition_counts(rest: Rest) -> np.ndarray:
    """Count the partitions of each member: int64[M], as :attr:`Rest.numbers` lists them."""
    return member_loads(rest, np.ones(len(rest.owner))).astype(np.int64)


def catch_up_now_seconds(facts: GroupFacts, rest: Rest, capacity: float) -> float:
    """Return when what waits today is gone at mean rates; infinite for never, NaN where capacity is not known."""
    if not facts.start_lag_bytes.any():
        return 0.0
    return lag_over_time(
        rate=facts.mean_bytes_per_second,
        start_lag_bytes=facts.start_lag_bytes,
        capacity=capacity,
        first_owner=rest.owner,
        last_owner=rest.owner,
        interruptions=_NO_EVENT,
    ).catch_up_seconds


def same_as_count(simulations: Simulations, count: int) -> int:
    """Find the smallest count whose fullest member has as few partitions as with this one.

    What was observed may be less even than an assignment from scratch, as when a member has just joined: there it is
    one as even as can be that counts.

    Raises:
        AssignmentError: Kafka would throw.
    """

    def fullest(count: int) -> int:
        return int(partition_counts(simulations.of(count).proposed).max(initial=0))

    wanted, simulation = fullest(count), simulations.of(count)
    if simulation.proposed is simulation.observed:
        wanted = min(wanted, -(-len(simulation.facts) // count))
    return 1 + bisect.bisect_left(range(1, count), True, key=lambda fewer: fullest(fewer) <= wanted)


def smallest_counts(simulations: Simulations) -> SmallestCounts:
    """Find the smallest counts that will do; the scenario's own count plays no part.

    Raises:
        AssignmentError: Kafka would throw.
        RequestError: there is no such assignor.
    """
    return _Search(simulations).result()


@dataclasses.dataclass(frozen=True, slots=True)
class _Shortfall:
    """Why a count will not do; ``is_beyond_help`` where more members would not, either."""

    reason: str
    is_beyond_help: bool = False


class _Search:
    def __init__(self, simulations: Simulations) -> None:
        self._simulations = simulations
        self._facts, self._scenario = facts, scenario = simulations.facts, simulations.scenario
        self._part = part_name(scenario.protocol)
        self._tasks_with_state = int(np.count_nonzero(state_bytes(facts)))
        self._failures = max(0, scenario.failure_count)
        self._found: dict[tuple[int, Event], _Shortfall | None] = {}
        capacity = Capacity.of(facts, scenario)
        self._capacity = capacity.proven
        self._limit = capacity.limit
        self._tolerated = capacity.limit if math.isfinite(capacity.limit) else self._as_today(capacity.proven)

    def result(self) -> SmallestCounts:
        at_peak, why = self._at_peak()
        if at_peak is None:
            return SmallestCounts(why_none=why)
        restarting, why_restarting = None, None
        if Event.ROLLING_RESTART in self._scenario.events:
            restarting, why_restarting = self._first(at_peak, lambda count: self._lags(count, Event.ROLLING_RESTART))
        # Where members are known to do no more, it takes as many more as may fail to carry the load without them.
        spare = self._failures if math.isfinite(self._limit) else 0
        failing, why_failing = self._first(max(at_peak + spare, self._failures + 1), self._survives)
        for_all, why = None, why_failing or why_restarting
        if why is None:
            for_all, why = self._first(max(restarting or 1, failing or 1), self._does_all)
        return SmallestCounts(
            at_peak=at_peak, after_failures=failing, while_restarting=restarting, for_all=for_all, why_none=why
        )

    def _as_today(self, proven: float) -> float:
        """Return what members may have to do once some have failed: what is proven, or what today's would have to."""
        left = len(self._facts.members) - self._failures
        return max(proven, self._busiest(left)) if left > 0 and math.isfinite(proven) else proven

    def _busy_members(self) -> int:
        """Return how many members can have something to do: a partition each, or a task or a standby."""
        standbys = placed_standbys(self._scenario.standby_replicas or 0, len(self._facts))
        return len(self._facts) + standbys * self._tasks_with_state

    def _busiest(self, count: int) -> float:
        rest = self._simulations.of(count).proposed
        return float(member_loads(rest, self._facts.peak_bytes_per_second).max(initial=0.0))

    def _at_peak(self) -> tuple[int | None, str | None]:
        """Find the first count at which every member can do what it is to do, or why there is none."""
        rates = self._facts.peak_bytes_per_second
        if math.isinf(self._capacity):
            return None, (
                "member capacity is unknown, and the inventory does not tell it; give member_capacity_bytes_per_second"
            )
        if rates.max(initial=0.0) > self._capacity:
            row = int(np.argmax(rates))
            name = f"{self._part} {self._facts.partition_name(row)}"
            shown = told_apart(format_rate, rates[row], self._capacity)
            return None, (
                f"{name} alone receives {shown(rates[row])} at peak but one member processes "
                f"{shown(self._capacity)}: more members do not help, more partitions or faster members do"
            )
        if (no_rates := unknown_rates(self._facts)) is not None:
            return None, no_rates
        least = max(1, math.ceil(float(rates.sum()) / self._capacity - 1e-9))
        most = max(1, len(self._facts))
        for count in range(least, max(least, most) + 1):
            if self._busiest(count) <= self._capacity * (1 + 1e-9):
                return count, None
        busiest = self._busiest(most)
        shown = told_apart(format_rate, busiest, self._capacity)
        return None, (
            f"even with one member per {self._part} ({len(self._facts)}) the busiest gets {shown(busiest)} at peak "
            f"with {self._scenario.assignor}, and one member processes {shown(self._capacity)}"
        )

    def _first(self, start: int, falls_short: Callable[[int], _Shortfall | None]) -> tuple[int | None, str | None]:
        """Find the first count from a start on that will do, or why there is none.

        Counts are tried in doubling steps, and then between the last that failed and the first that did not: each
        takes a whole simulation, and more members do not make an event worse but for the luck of skew. With state they
        may, since it moves to where it is not: there the first counts are tried one by one.
        """
        most = max(start, self._busy_members() + self._failures)
        one_by_one = start + (_TRIED_WITH_STATE if self._tasks_with_state else 0)
        failed, count, step = start - 1, start, 1
        while (shortfall := falls_short(count)) is not None:
            if shortfall.is_beyond_help or count >= most:
                return None, shortfall.reason
            failed, count = count, min(count + step, most)
            step = step if count < one_by_one else step * 2
        while count - failed > 1:
            middle = (failed + count) // 2
            if falls_short(middle) is None:
                count = middle
            else:
                failed = middle
        return count, None

    def _lags(self, count: int, event: Event) -> _Shortfall | None:
        """Return why an event makes a group of this count lag too much, ``None`` if it does not."""
        if (count, event) not in self._found:
            self._found[count, event] = self._lags_anew(count, event)
        return self._found[count, event]

    def _lags_anew(self, count: int, event: Event) -> _Shortfall | None:
        slo = self._scenario.lag_slo_seconds
        traced = self._simulations.traced(count, event)
        trace = traced.worst
        # A partition that gets more than its part of what its member does falls behind for longer than it is not read.
        lag = lag_of(trace, self._facts.peak_bytes_per_second, self._limit, has_curve=True)
        if lag.max_lag_seconds <= slo:
            return self._unproven(count, event, trace)
        longest = float(traced.pauses.max(initial=0.0))
        what = f"{event_phrase(event)} in a group of {count:,}"
        # With one member there is nobody to take over; and which members a scaling stops depends on the count, and how
        # much state they restore.
        is_help_possible = count == 1 or event in _SCALING or trace.restored_bytes != 0.0
        if longest > slo and not is_help_possible and math.isfinite(longest):
            return _Shortfall(
                f"{what} a {self._part} is not read for {format_duration(longest)}, with any number of members, but "
                f"{format_duration(slo)} of lag is allowed",
                is_beyond_help=True,
            )
        return _Shortfall(
            f"{what} {self._part} {self._facts.partition_name(lag.max_lag_row)} falls behind by "
            f"{format_duration(lag.max_lag_seconds)} at peak, but {format_duration(slo)} is allowed"
        )

    def _unproven(self, count: int, event: Event, trace: EventTrace) -> _Shortfall | None:
        """Return why fewer members than today are not known to carry what an event leaves them with.

        Who crashes leaves them with more, for a time: see :meth:`_survives`.
        """
        if event is Event.CRASH or math.isfinite(self._limit) or count >= len(self._facts.members):
            return None
        busiest = float(loads_after(trace, rates_of(trace, self._facts.peak_bytes_per_second)).max(initial=0.0))
        if busiest <= self._capacity * (1 + 1e-9):
            return None
        shown = told_apart(format_rate, busiest, self._capacity)
        return _Shortfall(
            f"{event_phrase(event)} in a group of {count:,} the busiest ends with {shown(busiest)} at peak, but one "
            f"member is only known to process {shown(self._capacity)}"
        )

    def _survives(self, count: int) -> _Shortfall | None:
        left = count - self._failures
        if left < 1:
            return _Shortfall(f"no member of {count:,} is left when {self._failures:,} fail")
        busiest = self._busiest(left)
        if busiest > self._tolerated * (1 + 1e-9):
            shown = told_apart(format_rate, busiest, self._tolerated)
            return _Shortfall(
                f"with {left:,} members left the busiest gets {shown(busiest)} at peak, but one member processes "
                f"{shown(self._tolerated)}"
            )
        return self._lags(count, Event.CRASH) if Event.CRASH in self._scenario.events else None

    def _does_all(self, count: int) -> _Shortfall | None:
        if self._busiest(count) > self._capacity * (1 + 1e-9):
            return _Shortfall(f"with {count:,} members the busiest gets {format_rate(self._busiest(count))} at peak")
        shortfall = self._survives(count)
        for event in self._scenario.events:
            shortfall = shortfall or self._lags(count, event)
        if shortfall is not None:
            return shortfall
        if self._facts.start_lag_seconds <= self._scenario.lag_slo_seconds:
            return None
        needed = catch_up_now_seconds(self._facts, self._simulations.of(count).proposed, self._capacity)
        limit = self._scenario.catch_up_limit_seconds
        if needed <= limit:
            return None
        allowed = f", but {format_duration(limit)} is allowed"
        if math.isinf(needed):
            allowed = ": at mean rates a member gets as much as it processes, or more"
        return _Shortfall(f"with {count:,} members today's backlog is {caught_up_phrase(needed)}{allowed}")
