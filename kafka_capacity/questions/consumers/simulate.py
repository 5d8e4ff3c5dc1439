"""A group scenario in, its result out: pure, deterministic, and the same on a laptop and on an executor."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from kafka_capacity.errors import AssignmentError
from kafka_capacity.hardware.plain import filled, plain_number
from kafka_capacity.kafka.groups.model import TopicPartitions
from kafka_capacity.kafka.rebalance.model import Event, GroupFacts, GroupScenario
from kafka_capacity.kafka.rebalance.simulate import GroupSimulation, Rest, member_loads
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.questions.consumers.counts import (
    catch_up_now_seconds,
    partition_counts,
    same_as_count,
    smallest_counts,
)
from kafka_capacity.questions.consumers.events import (
    Capacity,
    Simulations,
    evaluate_event,
    has_rates,
    offline_partitions,
    unknown_rates,
)
from kafka_capacity.questions.consumers.grid import GroupVariant, todays_variant
from kafka_capacity.questions.consumers.names import caught_up_phrase, event_phrase, part_name
from kafka_capacity.questions.consumers.scenario import (
    EventOutcome,
    GroupMetrics,
    GroupResult,
    MemberChange,
    SmallestCounts,
)
from kafka_capacity.text import format_duration, format_rate, plural
from kafka_capacity.text.wording import told_apart

SKEW_BITES_FROM = 2
"""Partitions that the fullest member has more than the emptiest, from which on the skew of ``range`` is named."""


def evaluate_group(
    facts: GroupFacts,
    scenario: GroupScenario,
    smallest: SmallestCounts | None = None,
    simulations: Simulations | None = None,
) -> GroupResult:
    """Work out what a scenario does to a group, with smallest counts and simulations of its variant if there are any.

    Raises:
        RequestError: there is no such assignor.
    """
    is_same = filled(GroupVariant, scenario) == todays_variant(facts)
    is_today = is_same and scenario.member_count == len(facts.members)
    try:
        simulations = simulations or Simulations(facts, scenario)
        count = scenario.member_count
        simulation = simulations.of(count)
        metrics = _metrics(simulation, same_as_count(simulations, count))
        events = tuple(evaluate_event(simulation, event, simulations.traced(count, event)) for event in scenario.events)
        smallest = smallest if smallest is not None else smallest_counts(simulations)
    except AssignmentError as error:
        excuse = Excuse(
            reason=f"the {scenario.assignor} assignor fails: {error}",
            constraint="assignment",
            where=facts.group_id,
            needed=math.nan,
            available=math.nan,
            unit="members",
        )
        return GroupResult(scenario=scenario, is_today=is_today, excuses=(excuse,))
    return GroupResult(
        scenario=scenario,
        is_today=is_today,
        excuses=tuple(_excuses(facts, scenario, metrics, events)),
        not_judged=_not_judged(facts, scenario, metrics, events),
        metrics=metrics,
        smallest=smallest,
        events=events,
        members=_members(simulation),
    )


def _metrics(simulation: GroupSimulation, same_as: int) -> GroupMetrics:
    facts, scenario, rest = simulation.facts, simulation.scenario, simulation.proposed
    names = [simulation.members[number].member_id for number in rest.numbers]
    counts = partition_counts(rest)
    loads = member_loads(rest, facts.peak_bytes_per_second)
    # Where nothing is known of rates the fullest member is the busiest.
    busiest = int(np.lexsort((-counts, -loads))[0])
    known = Capacity.of(facts, scenario)
    capacity = known.proven
    return GroupMetrics(
        partition_count=len(facts),
        idle_members=tuple(
            name for name, count in zip(names, counts.tolist(), strict=True) if not count and not rest.standby.get(name)
        ),
        min_partitions=int(counts.min()),
        max_partitions=int(counts.max()),
        busiest_member_id=names[busiest],
        busiest_member_bytes_per_second=float(loads[busiest]),
        mean_member_bytes_per_second=float(loads.mean()),
        group_peak_bytes_per_second=float(facts.peak_bytes_per_second.sum()),
        group_mean_bytes_per_second=float(facts.mean_bytes_per_second.sum()),
        capacity_bytes_per_second=plain_number(capacity),
        is_capacity_given=scenario.member_capacity_bytes_per_second is not None,
        is_capacity_limit=math.isfinite(known.limit),
        load_ratio=float(loads[busiest]) / capacity if 0 < capacity < math.inf else None,
        same_as_count=same_as,
        skew_topics=_skew_topics(facts, scenario, counts),
        start_lag_bytes=float(facts.start_lag_bytes.sum()),
        start_lag_seconds=facts.start_lag_seconds,
        catch_up_now_seconds=plain_number(catch_up_now_seconds(facts, rest, capacity)),
    )


def _skew_topics(facts: GroupFacts, scenario: GroupScenario, counts: np.ndarray) -> tuple[str, ...]:
    """Name the topics that pile up on the first members: each gives them one partition more."""
    if scenario.assignor != "range" or counts.max() - counts.min() < SKEW_BITES_FROM:
        return ()
    return tuple(topic.name for topic in facts.topics if topic.partitions % scenario.member_count)


def _excuses(
    facts: GroupFacts, scenario: GroupScenario, metrics: GroupMetrics, events: tuple[EventOutcome, ...]
) -> Iterator[Excuse]:
    yield from _offline(facts)
    busiest, capacity = metrics.busiest_member_bytes_per_second, metrics.capacity_bytes_per_second
    if capacity is not None and busiest > capacity * (1 + 1e-9):
        if metrics.is_capacity_given:
            basis = ""
        elif metrics.is_capacity_limit:
            basis = (
                ", the highest rate of any member, which is itself behind; give the member capacity if members were "
                "added since it fell behind"
            )
        else:
            basis = " for certain, the highest rate seen so far; give the member capacity if it is higher"
        shown = told_apart(format_rate, busiest, capacity)
        yield Excuse(
            reason=f"member {metrics.busiest_member_id} gets {shown(busiest)} at peak, but a member processes "
            f"{shown(capacity)}{basis}",
            constraint="member_capacity",
            where=metrics.busiest_member_id,
            needed=busiest,
            available=capacity,
            unit="bytes per second",
        )
    yield from _lag_now(facts, scenario, metrics)
    yield from _stopped_by_expansion(facts, scenario)
    for outcome in events:
        # Without any rate nothing is known to fall behind without limit; those that are known are least ones.
        if outcome.lag_max_seconds is not None or has_rates(facts):
            yield from _event_excuses(scenario, metrics, outcome)


def _not_judged(
    facts: GroupFacts, scenario: GroupScenario, metrics: GroupMetrics, events: tuple[EventOutcome, ...]
) -> str | None:
    """Return what must be known to call a scenario fitting, and is not."""
    if (no_rates := unknown_rates(facts)) is not None:
        return no_rates
    behind = f"the group is {format_duration(metrics.start_lag_seconds)} behind today, and "
    capacity = metrics.capacity_bytes_per_second
    if capacity is None:
        is_behind = metrics.start_lag_seconds > scenario.lag_slo_seconds
        return f"{behind if is_behind else ''}member capacity is unknown; give member_capacity_bytes_per_second"
    if _is_caught_up_late(scenario, metrics):
        least = format_rate(capacity)
        return f"{behind}a member is only known to process {least}; give member_capacity_bytes_per_second"
    if facts.unknown_lag_partitions:
        return f"how far it is behind is unknown for {plural(facts.unknown_lag_partitions, 'partition')}"
    if facts.streams is not None and any(outcome.restore_seconds is None for outcome in events):
        is_size_known = all(outcome.restored_bytes is not None for outcome in events)
        what = "how fast a member restores" if is_size_known else "how much it restores of"
        remedy = "give restore_bytes_per_second" if is_size_known else "the inventory lacks changelogs"
        return f"{what} moved state is unknown; {remedy}"
    return None


def _offline(facts: GroupFacts) -> Iterator[Excuse]:
    if (reason := offline_partitions(facts)) is not None:
        yield Excuse(
            reason=reason,
            constraint="offline",
            where=facts.group_id,
            needed=float(len(facts)),
            available=float((~facts.is_offline).sum()),
            unit="partitions",
        )


def _lag_now(facts: GroupFacts, scenario: GroupScenario, metrics: GroupMetrics) -> Iterator[Excuse]:
    needed, limit = metrics.catch_up_now_seconds, scenario.catch_up_limit_seconds
    # What members are only known to do at least says nothing of how long it takes at most.
    if metrics.is_capacity_limit and _is_caught_up_late(scenario, metrics):
        yield Excuse(
            reason=f"the group is {format_duration(metrics.start_lag_seconds)} behind today, "
            f"{caught_up_phrase(needed)} at mean rates; {format_duration(limit)} is allowed",
            constraint="lag_now",
            where=facts.group_id,
            needed=math.inf if needed is None else needed,
            available=limit,
            unit="seconds",
        )


def _is_caught_up_late(scenario: GroupScenario, metrics: GroupMetrics) -> bool:
    """Return whether what waits today is more than is allowed, and is not known to be gone in time."""
    needed = metrics.catch_up_now_seconds
    is_in_time = needed is not None and needed <= scenario.catch_up_limit_seconds
    return metrics.start_lag_seconds > scenario.lag_slo_seconds and not is_in_time


def _stopped_by_expansion(facts: GroupFacts, scenario: GroupScenario) -> Iterator[Excuse]:
    """Refuse more partitions for a streams group with state, whose changelogs keep the partitions they have."""
    if facts.streams is not None and facts.streams.state_bytes and Event.MORE_PARTITIONS in scenario.events:
        yield Excuse(
            reason="with more partitions it stops: it keeps state, and Kafka gives no member a task while changelogs "
            "have fewer partitions than there would be tasks",
            constraint="changelogs",
            where=str(Event.MORE_PARTITIONS),
            needed=float(len(facts) * scenario.partitions_factor),
            available=float(len(facts)),
            unit="tasks",
        )


def _event_excuses(scenario: GroupScenario, metrics: GroupMetrics, outcome: EventOutcome) -> Iterator[Excuse]:
    when = event_phrase(outcome.event)
    if not outcome.is_settled:
        yield Excuse(
            reason=f"the group does not settle {when}: the assignor keeps revoking partitions",
            constraint="settling",
            where=str(outcome.event),
            needed=math.nan,
            available=math.nan,
            unit="rebalances",
        )
    lag = math.inf if outcome.lag_max_seconds is None else outcome.lag_max_seconds
    if lag > scenario.lag_slo_seconds and not (math.isinf(lag) and _is_overloaded(metrics)):
        part = part_name(scenario.protocol)
        far = "falls behind without limit" if math.isinf(lag) else f"falls {format_duration(lag)} behind"
        yield Excuse(
            reason=f"{when} at peak {part} {outcome.lag_max_partition} {far}, but "
            f"{format_duration(scenario.lag_slo_seconds)} is allowed",
            constraint="lag_slo",
            where=str(outcome.event),
            needed=lag,
            available=scenario.lag_slo_seconds,
            unit="seconds",
        )


def _is_overloaded(metrics: GroupMetrics) -> bool:
    """Return whether a member has too much to do with no event at all, which is said once."""
    return metrics.is_capacity_limit and metrics.load_ratio is not None and metrics.load_ratio > 1 + 1e-9


def _members(simulation: GroupSimulation) -> tuple[MemberChange, ...]:
    """List members by id: those of today, then those to come."""
    # Members read today what they were seen to read, also where another assignor is tried.
    today, proposed = simulation.observed or simulation.today, simulation.proposed
    names = {
        known: topic.name
        for topic, topic_id in zip(simulation.facts.topics, simulation.facts.topic_ids, strict=True)
        for known in (topic.name, topic_id)
    }
    rates = simulation.facts.peak_bytes_per_second
    before, after = _by_number(today, rates), _by_number(proposed, rates)
    nothing = (TopicPartitions.of(()), 0.0)
    changes = []
    for number in sorted({*before, *after}):
        parts_before, rate_before = before.get(number, nothing)
        parts_after, rate_after = after.get(number, nothing)
        changes.append(
            MemberChange(
                member_id=simulation.members[number].member_id,
                is_new=number not in before,
                is_gone=number not in after,
                partitions_before=_named(parts_before, names),
                partitions_after=_named(parts_after, names),
                peak_before_bytes_per_second=rate_before,
                peak_after_bytes_per_second=rate_after,
            )
        )
    return tuple(changes)


def _by_number(rest: Rest, rates: np.ndarray) -> dict[int, tuple[TopicPartitions, float]]:
    loads = member_loads(rest, rates).tolist()
    return {number: (part, load) for number, part, load in zip(rest.numbers, rest.parts, loads, strict=True)}


def _named(parts: TopicPartitions, names: dict[str, str]) -> tuple[str, ...]:
    return tuple(f"{names.get(topic, topic)}-{partition}" for topic, partition in parts.pairs())
