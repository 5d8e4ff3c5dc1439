"""The timeouts and habits of a group's members, by Kafka's names where Kafka has one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSettings:
    """What decides how long a rebalance takes; the defaults are those of Kafka 4.3.1 where Kafka has the setting."""

    heartbeat_interval_seconds: float = 3.0  # `heartbeat.interval.ms` of the clients, classic groups
    session_timeout_seconds: float = 45.0  # `session.timeout.ms` of the clients, classic groups
    # `group.consumer.heartbeat.interval.ms` of the brokers, KIP-848 groups
    server_heartbeat_interval_seconds: float = 5.0
    server_session_timeout_seconds: float = 45.0  # `group.consumer.session.timeout.ms` of the brokers, KIP-848 groups
    # `group.initial.rebalance.delay.ms` of the brokers: how long the first member of an empty classic group waits for
    # others
    initial_rebalance_delay_seconds: float = 3.0
    # `group.consumer.assignment.interval.ms` of the brokers: a KIP-848 group makes its target assignment at most that
    # often
    assignment_interval_seconds: float = 1.0
    # `max.poll.interval.ms`: also how long a classic rebalance waits for a member
    max_poll_interval_seconds: float = 300.0
    max_poll_records: int = 500  # `max.poll.records`
    auto_commit_interval_seconds: float = 5.0  # `auto.commit.interval.ms`, or how often the application commits
    metadata_max_age_seconds: float = 300.0  # `metadata.max.age.ms`: how late a client sees new partitions
    poll_seconds: float = 0.5  # the longest that a member takes between two polls when it is well
    # from the last member's join to records flowing again: JoinGroup, assignment, SyncGroup, committed offsets and the
    # first fetch
    round_trip_seconds: float = 0.2
    restart_seconds: float = 20.0  # how long a member is away while it is restarted
    settle_seconds: float = 10.0  # how long a rolling restart waits, after a member is back, before it stops the next
    # how long a slow member takes over one batch; only above `max_poll_interval_seconds` it matters
    slow_seconds: float = 360.0
