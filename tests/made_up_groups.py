"""Consumer groups and results in a few words: ``facts(members=4)``, ``result("orders-etl", 6, pauses=12)``."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_capacity.kafka.groups.model import Member, Topic, TopicPartitions
from kafka_capacity.kafka.groups.registry import GroupProtocol
from kafka_capacity.kafka.rebalance.lag import LagOverTime
from kafka_capacity.kafka.rebalance.model import Event, GroupFacts, GroupScenario, GroupSettings
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.questions.consumers.scenario import (
    EventOutcome,
    GroupMetrics,
    GroupResult,
    MemberChange,
    SmallestCounts,
)


def facts(
    group_id="orders-etl",
    *,
    members=2,
    partitions=6,
    protocol=GroupProtocol.CLASSIC,
    assignor="range",
    static=0,
    rate=1e6,
    lag=0.0,
):
    """Return a group that reads one topic, partitions dealt out in turn; the first ``static`` members are static."""
    owner = np.arange(partitions, dtype=np.int32) % members if members else np.full(partitions, -1, dtype=np.int32)
    return GroupFacts(
        group_id=group_id,
        protocol=protocol,
        assignor=assignor,
        members=tuple(
            Member(
                member_id=f"{group_id}-{i}",
                topics=("orders",),
                instance_id=f"i{i}" if i < static else None,
                owned=TopicPartitions.of([("orders", int(p)) for p in np.nonzero(owner == i)[0]]),
            )
            for i in range(members)
        ),
        topics=(Topic(name="orders", partitions=partitions),),
        topic_ids=("AAAAAAAAAAAAAAAAAAAAAQ",),
        topic=np.zeros(partitions, dtype=np.int32),
        partition=np.arange(partitions, dtype=np.int32),
        owner=owner,
        mean_bytes_per_second=np.full(partitions, rate / 2),
        peak_bytes_per_second=np.full(partitions, rate),
        is_rate_known=np.ones(partitions, dtype=np.bool_),
        is_offline=np.zeros(partitions, dtype=np.bool_),
        start_lag_bytes=np.full(partitions, lag),
        start_lag_seconds=2 * lag / rate if rate else 0.0,
        lost_records=np.zeros(partitions),
        cache_window_seconds=np.full(partitions, np.nan),
        record_bytes=1000.0,
        is_record_size_known=True,
        estimated_capacity_bytes_per_second=4e6 if members else None,
        is_estimate_a_limit=False,
        history_hours=168,
    )


def scenario(
    group_id="orders-etl",
    count=2,
    *,
    protocol=GroupProtocol.CLASSIC,
    assignor="range",
    is_static=False,
    events=(Event.SCALE, Event.ROLLING_RESTART),
):
    """Ask for so many members."""
    return GroupScenario(
        scenario_id=f"{group_id}.{count:03d}.{protocol}-{assignor}.{'static' if is_static else 'dynamic'}",
        group_id=group_id,
        member_count=count,
        protocol=protocol,
        assignor=assignor,
        is_static=is_static,
        events=events,
        member_capacity_bytes_per_second=None,
        lag_slo_seconds=120.0,
        catch_up_limit_seconds=4 * 3600.0,
        failure_count=1,
        partitions_factor=2,
        settings=GroupSettings(),
        seed=0,
    )


def outcome(event, *, pauses=0, lag=12.0, pause=3.0, points=3):
    """Describe how an event went."""
    return EventOutcome(
        event=event,
        members_before=2,
        members_after=2,
        rebalances=2,
        partition_pauses=pauses,
        paused_partitions=min(pauses, 6),
        paused_partition_seconds=pauses * pause,
        revoked=pauses // 2,
        moved=1,
        returned=2,
        pause_median_seconds=1.0,
        pause_p95_seconds=2.0,
        pause_max_seconds=pause,
        first_record_seconds=pause,
        duplicate_records=5.0,
        duplicate_records_high=10.0,
        lag_max_seconds=lag,
        lag_max_partition="orders-0",
        lag_max_bytes=None if lag is None else 1e6,
        catch_up_seconds=lag,
        keeps_up=True,
        catch_up_partition="orders-0",
        disk_read_bytes=None,
        duration_seconds=40.0,
        is_settled=True,
        curve=LagOverTime(
            time_seconds=np.arange(points, dtype=np.float64),
            lag_bytes=np.array([0.0, *[1e6] * (points - 2), np.inf]),
            lag_seconds=np.arange(points, dtype=np.float64),
            paused_partitions=np.zeros(points, dtype=np.int64),
            max_lag_seconds=1.0,
            max_lag_row=0,
            peak_lag_bytes=np.empty(0),
            catch_up_seconds=1.0,
            catch_up_row=0,
        ),
    )


def result(group_id="orders-etl", count=2, *, fits=True, is_today=False, pauses=0, lag=12.0, smallest=2, **asked):
    """Return a result with one made-up figure for everything."""
    excuse = Excuse(
        reason=f"{group_id} falls 300 s behind, more than 120 s",
        constraint="lag_slo",
        where=group_id,
        needed=300.0,
        available=120.0,
        unit="seconds",
    )
    made = scenario(group_id, count, **asked)
    return GroupResult(
        scenario=made,
        is_today=is_today,
        excuses=() if fits else (excuse,),
        not_judged=None,
        metrics=GroupMetrics(
            partition_count=6,
            idle_members=(),
            min_partitions=3,
            max_partitions=3,
            busiest_member_id=f"{group_id}-0",
            busiest_member_bytes_per_second=3e6,
            mean_member_bytes_per_second=3e6,
            group_peak_bytes_per_second=6e6,
            group_mean_bytes_per_second=3e6,
            capacity_bytes_per_second=4e6,
            is_capacity_given=False,
            is_capacity_limit=False,
            load_ratio=0.75,
            same_as_count=count,
            skew_topics=(),
            start_lag_bytes=0.0,
            start_lag_seconds=0.0,
            catch_up_now_seconds=0.0,
        ),
        smallest=SmallestCounts(
            at_peak=smallest,
            after_failures=smallest,
            while_restarting=smallest,
            for_all=smallest,
            why_none=None if smallest else "no count will do: orders-0 alone needs 9 MB/s of 4 MB/s",
        ),
        events=tuple(outcome(event, pauses=pauses, lag=lag) for event in made.events),
        members=(
            MemberChange(
                member_id=f"{group_id}-0",
                is_new=False,
                is_gone=False,
                partitions_before=("orders-0", "orders-2"),
                partitions_after=("orders-0",),
                peak_before_bytes_per_second=2e6,
                peak_after_bytes_per_second=1e6,
            ),
        ),
    )


def refused(group_id="orders-etl", count=2, **asked):
    """Return the result of a scenario in which Kafka would throw."""
    excuse = Excuse(
        reason="Kafka would throw", constraint="assignment", where=group_id, needed=1.0, available=0.0, unit="members"
    )
    made = result(group_id, count, fits=False, **asked)
    return replace(made, excuses=(excuse,), metrics=None, smallest=None, events=(), members=())
