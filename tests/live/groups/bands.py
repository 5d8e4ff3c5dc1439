"""Between which times the longest pause of an event lies, by the simulation of groups in time.

An event is simulated with the member counts, heartbeats and sessions of the live group under many draws of the clocks;
the band reaches from the shortest to the longest of the longest pauses. How long a restarted member is away is taken
from the event: how fast a JVM starts is no matter of the group. Two things widen the band:

* Soon after a rebalance the heartbeats of a classic group fall together. Unless they were scattered before the event,
  traces with heartbeats in phase count as well.
* The second round of a cooperative join may find its members on their way already, and then takes no heartbeat: a
  joining member that asks for its part just then is sent to join again at once.
"""

from __future__ import annotations

import dataclasses

from kafka_capacity.kafka.groups import GroupProtocol
from kafka_capacity.kafka.rebalance.model import Event, GroupFacts, GroupScenario
from kafka_capacity.kafka.rebalance.model import GroupSettings as Timings
from kafka_capacity.kafka.rebalance.simulate import GroupSimulation
from tests.live.groups.live_group import GroupEvent
from tests.plain_groups import plain_group, plain_scenario

DRAWS = 200
NOISE_SECONDS = 0.75
"""What a busy machine adds or takes: timers of JVMs that share two cores with brokers, and cold code."""


@dataclasses.dataclass(frozen=True, slots=True)
class Band:
    """Seconds between which the longest pause of an event is said to lie, and the rebalances it is said to take."""

    low: float
    high: float
    rebalances: frozenset[int]

    def holds(self, seconds: float, *, noise_seconds: float = NOISE_SECONDS) -> bool:
        """Return whether a measured time is within the band, or off it by no more than noise."""
        return self.low - noise_seconds <= seconds <= self.high + noise_seconds


def band_of(event: GroupEvent, partitions: int) -> Band | None:
    """Return the band of an event; ``None`` for the first member of a group, which takes nothing from anybody."""
    before, after = len(event.members_before), len(event.members_after)
    if not before:
        return None
    protocol = GroupProtocol(event.protocol)
    facts = plain_group({"orders": partitions}, members=before, assignor=event.assignor, protocol=protocol)
    kind = {"join": Event.SCALE, "leave": Event.SCALE, "crash": Event.CRASH, "restart": Event.ROLLING_RESTART}
    scenario = plain_scenario(
        facts,
        member_count=after if event.event in ("join", "leave") else before,
        is_static=event.is_static,
        settings=_timings(event),
    )
    longest, rebalances = _courses(facts, scenario, kind[event.event], event)
    is_cooperative_join = event.event == "join" and event.assignor == "cooperative-sticky"
    return Band(0.0 if is_cooperative_join else min(longest), max(longest), frozenset(rebalances))


def _timings(event: GroupEvent) -> Timings:
    return Timings(
        heartbeat_interval_seconds=event.heartbeat_seconds,
        session_timeout_seconds=event.session_seconds,
        server_heartbeat_interval_seconds=event.heartbeat_seconds,
        server_session_timeout_seconds=event.session_seconds,
        initial_rebalance_delay_seconds=0.0,
        # The verifiable consumer does nothing but poll.
        poll_seconds=0.02,
        round_trip_seconds=0.03,
        restart_seconds=event.arrived_seconds or 0.0,
        settle_seconds=120.0,
    )


def _courses(
    facts: GroupFacts, scenario: GroupScenario, kind: Event, event: GroupEvent
) -> tuple[list[float], set[int]]:
    simulation = GroupSimulation(facts, scenario)
    is_classic = scenario.protocol is GroupProtocol.CLASSIC
    phases = (False, True) if is_classic and not event.is_scattered else (False,)
    longest, rebalances = [], set()
    # A rolling restart is one of every member: what one of them takes is counted, a restart at a time.
    spell = scenario.settings.restart_seconds + scenario.settings.settle_seconds
    for is_in_phase in phases:
        for draw in range(DRAWS):
            trace = simulation.trace(kind, draw=draw, is_in_phase=is_in_phase)
            found = trace.interruptions
            if kind is not Event.ROLLING_RESTART:
                longest.append(float(found.pause_seconds.max(initial=0.0)))
                rebalances.add(trace.rebalances)
                continue
            for number in range(len(facts.members)):
                is_now = (found.stop_seconds >= number * spell) & (found.stop_seconds < (number + 1) * spell)
                sums: dict[int, float] = {}
                for row, seconds in zip(
                    found.partition[is_now].tolist(), found.pause_seconds[is_now].tolist(), strict=True
                ):
                    sums[row] = sums.get(row, 0.0) + seconds
                longest.append(max(sums.values(), default=0.0))
    return longest, rebalances
