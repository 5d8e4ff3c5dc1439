"""The timeouts and habits of a group's members, by Kafka's names where Kafka has one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSettings:
    """What decides how long a rebalance takes; the defaults are those of Kafka 4.3.1 where Kafka has the setting.

    Attributes:
        heartbeat_interval_seconds: ``heartbeat.interval.ms`` of the clients, classic groups.
        session_timeout_seconds: ``session.timeout.ms`` of the clients, classic groups.
        server_heartbeat_interval_seconds: ``group.consumer.heartbeat.interval.ms`` of the brokers, KIP-848 groups.
        server_session_timeout_seconds: ``group.consumer.session.timeout.ms`` of the brokers, KIP-848 groups.
        initial_rebalance_delay_seconds: ``group.initial.rebalance.delay.ms`` of the brokers: how long the first member
            of an empty classic group waits for others.
        assignment_interval_seconds: ``group.consumer.assignment.interval.ms`` of the brokers: a KIP-848 group makes its
            target assignment at most that often.
        max_poll_interval_seconds: ``max.poll.interval.ms``: also how long a classic rebalance waits for a member.
        max_poll_records: ``max.poll.records``.
        auto_commit_interval_seconds: ``auto.commit.interval.ms``, or how often the application commits.
        metadata_max_age_seconds: ``metadata.max.age.ms``: how late a client sees new partitions.
        poll_seconds: the longest that a member takes between two polls when it is well.
        round_trip_seconds: from the last member's join to records flowing again: JoinGroup, assignment, SyncGroup,
            committed offsets and the first fetch.
        restart_seconds: how long a member is away while it is restarted.
        settle_seconds: how long a rolling restart waits, after a member is back, before it stops the next.
        slow_seconds: how long a slow member takes over one batch; only above ``max_poll_interval_seconds`` it matters.
    """

    heartbeat_interval_seconds: float = 3.0
    session_timeout_seconds: float = 45.0
    server_heartbeat_interval_seconds: float = 5.0
    server_session_timeout_seconds: float = 45.0
    initial_rebalance_delay_seconds: float = 3.0
    assignment_interval_seconds: float = 1.0
    max_poll_interval_seconds: float = 300.0
    max_poll_records: int = 500
    auto_commit_interval_seconds: float = 5.0
    metadata_max_age_seconds: float = 300.0
    poll_seconds: float = 0.5
    round_trip_seconds: float = 0.2
    restart_seconds: float = 20.0
    settle_seconds: float = 10.0
    slow_seconds: float = 360.0
