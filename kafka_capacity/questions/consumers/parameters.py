"""What a plan tries with consumer groups: the sections of the form about them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from kafka_capacity.hardware.plain import filled
from kafka_capacity.kafka.groups.registry import GroupProtocol, assignor_names
from kafka_capacity.kafka.groups.share import ShareSettings
from kafka_capacity.kafka.rebalance.model import Event, GroupSettings
from kafka_capacity.kafka.storage.page_cache import HEAP_BYTES
from kafka_capacity.questions.consumers.grid import GroupGridRequest, StaticMembership
from kafka_capacity.questions.form_section import FormSection, OptionalRate

_GROUPS, _TIMEOUTS = FormSection("Consumer groups"), FormSection("Consumer timeouts")
GIB = 2**30

_KAFKA, _SHARE = GroupSettings(), ShareSettings()
_PROTOCOLS = (GroupProtocol.CLASSIC, GroupProtocol.CONSUMER)
ASSIGNORS = tuple(sorted({name for protocol in _PROTOCOLS for name in assignor_names(protocol)}))
USUAL_EVENTS = tuple(event for event in Event if event not in {Event.SLOW_MEMBER, Event.MORE_PARTITIONS})
"""What the lag objective is held against where nothing else is asked for: what the number of members decides."""

GroupName = Annotated[str, Field(min_length=1, max_length=1000)]
ConsumerCount = Annotated[int, Field(ge=1, le=1_000)]
Seconds = Annotated[float, Field(gt=0.0, le=86_400.0, allow_inf_nan=False)]
UpToAMonth = Annotated[float, Field(gt=0.0, le=30 * 86_400.0, allow_inf_nan=False)]
Beat = Annotated[float, Field(ge=0.1, le=3_600.0, allow_inf_nan=False)]
Wait = Annotated[float, Field(ge=0.0, le=86_400.0, allow_inf_nan=False)]


class GroupParameters(BaseModel):
    """The consumer groups, counts, assignors and events to try, and the timeouts of their members."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    groups: tuple[GroupName, ...] = _GROUPS.field(
        (), "Groups", "--group", form={"repeats": True}, max_length=10_000, is_usual=True
    )("Names of consumer groups, one per line. Empty: all.")
    consumer_counts: tuple[ConsumerCount, ...] = _GROUPS.field(
        (), "Member counts to try", max_length=100, is_usual=True
    )("For every group. Empty: today's count and the smallest that is enough. For example [4, 6, 8].")
    group_protocols: tuple[Literal["classic", "consumer"], ...] = _GROUPS.field(
        (), "Protocols to try", "--protocols", form={"items": {"type": "string", "enum": [str(p) for p in _PROTOCOLS]}}
    )("classic: a member assigns; consumer: the brokers assign (KIP-848). Empty: today's, and both.")
    group_assignors: tuple[str, ...] = _GROUPS.field(
        (), "Assignors to try", "--assignors", form={"items": {"type": "string", "enum": list(ASSIGNORS)}}
    )(
        "Each is tried under every protocol that has it. Empty: today's, plus cooperative-sticky for classic "
        "groups and uniform for consumer ones."
    )
    static_membership: StaticMembership = _GROUPS.field(StaticMembership.BOTH, "Static members", "--static")(
        "Whether members have a group.instance.id: as today, all of them, or both to compare."
    )
    group_events: tuple[Event, ...] = _GROUPS.field(
        USUAL_EVENTS,
        "Events to simulate",
        "--member-events --events",
        form={"minItems": 1, "items": {"type": "string", "enum": [str(event) for event in Event]}},
        is_usual=True,
    )(
        "What happens to the members: each event is simulated separately, at the group's peak rates, and checked "
        "against the lag objective. How long a slow member and new partitions wait depends on max.poll.interval.ms "
        "and metadata.max.age.ms, whatever the number of members: add slow-member and more-partitions if the "
        "objective covers them."
    )
    lag_slo_seconds: UpToAMonth = _GROUPS.field(120.0, "Lag objective (seconds)", "--lag-slo", is_usual=True)(
        "Max age of the oldest unread record."
    )
    catch_up_limit_seconds: UpToAMonth = _GROUPS.field(4 * 3600.0, "Time to catch up (seconds)", "--catch-up-limit")(
        "How soon a group that exceeds the objective today must have caught up."
    )
    consumer_failures: int = _GROUPS.field(1, "Members that may fail", "--member-failures --failures", ge=0, le=100)(
        "How many members of a group may fail at once, for good, without breaking the lag objective. 0: none, "
        "which is also the case if crash is not among the simulated events."
    )
    member_capacity_bytes_per_second: OptionalRate = _GROUPS.field(
        None, "Member capacity (bytes per second)", "--member-capacity", is_usual=True
    )(
        "What one member can process. Empty: the highest hourly rate of any member of the group. That is a lower "
        "bound, and a limit only if that member is itself behind and its load was lower before. Give it where members "
        "were added or removed since a group fell behind."
    )
    standby_replicas: int | None = _GROUPS.field(None, "Standbys of streams groups", "--standbys", ge=0, le=10)(
        "num.standby.replicas to try with streams groups, in addition to today's. Empty: only today's."
    )
    record_processing_seconds: float | None = _GROUPS.field(
        None, "Time per record (seconds)", "--record-time", gt=0.0, le=86_400.0, allow_inf_nan=False
    )(
        "How long a member of a share group takes to process a record. Empty: derived from the mean record size "
        "and the member capacity, if that is given."
    )
    max_poll_records: int = _GROUPS.field(
        _SHARE.max_poll_records, "Records per poll, share groups", "--max-poll-records", ge=1, le=1_000_000
    )("max.poll.records of members of share groups: how many each takes at once.")
    partitions_factor: int = _GROUPS.field(2, "Growth of partitions (factor)", ge=2, le=100)(
        "Factor by which the event more-partitions multiplies partition counts."
    )
    broker_heap_bytes: int = _GROUPS.field(
        int(HEAP_BYTES), "Broker heap (bytes)", "--broker-heap", ge=0, le=1024 * GIB
    )("-Xmx of the brokers: the rest of their memory is page cache, which serves readers that catch up.")
    heartbeat_interval_seconds: Beat = _TIMEOUTS.field(
        _KAFKA.heartbeat_interval_seconds, "Heartbeat interval (seconds)", "--heartbeat-interval"
    )("heartbeat.interval.ms of members of classic groups.")
    session_timeout_seconds: Seconds = _TIMEOUTS.field(
        _KAFKA.session_timeout_seconds, "Session timeout (seconds)", "--session-timeout", validate_default=True
    )(
        "session.timeout.ms of members of classic groups. Brokers accept 6 s to 30 min by default "
        "(group.min.session.timeout.ms, group.max.session.timeout.ms)."
    )
    server_heartbeat_interval_seconds: Beat = _TIMEOUTS.field(
        _KAFKA.server_heartbeat_interval_seconds,
        "Heartbeat interval, consumer protocol (seconds)",
        "--server-heartbeat-interval",
    )("group.consumer.heartbeat.interval.ms of the brokers.")
    server_session_timeout_seconds: Seconds = _TIMEOUTS.field(
        _KAFKA.server_session_timeout_seconds,
        "Session timeout, consumer protocol (seconds)",
        "--server-session-timeout",
        validate_default=True,
    )(
        "group.consumer.session.timeout.ms of the brokers, 45 to 60 s by default "
        "(group.consumer.min.session.timeout.ms, group.consumer.max.session.timeout.ms)."
    )
    max_poll_interval_seconds: Seconds = _TIMEOUTS.field(
        _KAFKA.max_poll_interval_seconds, "Max poll interval (seconds)", "--max-poll-interval"
    )("max.poll.interval.ms: a member that takes longer is removed from the group.")
    auto_commit_interval_seconds: Seconds = _TIMEOUTS.field(
        _KAFKA.auto_commit_interval_seconds, "Commit interval (seconds)", "--commit-interval"
    )("auto.commit.interval.ms, or how often the application commits.")
    share_lock_seconds: Seconds = _TIMEOUTS.field(_SHARE.lock_seconds, "Record lock (seconds)", "--share-lock")(
        "group.share.record.lock.duration.ms: how long a member of a share group holds a record exclusively."
    )
    share_record_locks: int = _TIMEOUTS.field(
        _SHARE.max_record_locks, "Record locks per partition", "--share-locks", ge=1, le=1_000_000
    )("group.share.partition.max.record.locks: max records of a partition in flight.")
    share_delivery_limit: int = _TIMEOUTS.field(
        _SHARE.delivery_limit, "Deliveries per record", "--share-deliveries", ge=1, le=1_000
    )("group.share.delivery.count.limit: delivery attempts before a record of a share group is dropped.")
    metadata_max_age_seconds: Seconds = _TIMEOUTS.field(
        _KAFKA.metadata_max_age_seconds, "Metadata age (seconds)", "--metadata-max-age"
    )("metadata.max.age.ms: how long it may take a member to see new partitions.")
    poll_seconds: Seconds = _TIMEOUTS.field(
        _KAFKA.poll_seconds, "Time between polls (seconds)", "--poll-time", validate_default=True
    )("The longest time that a healthy member takes between two polls.")
    restart_seconds: Wait = _TIMEOUTS.field(_KAFKA.restart_seconds, "Member restart (seconds)", "--restart-time")(
        "How long a member is away during a restart."
    )
    settle_seconds: Wait = _TIMEOUTS.field(_KAFKA.settle_seconds, "Pause between restarts (seconds)", "--settle-time")(
        "How long a rolling restart waits, after a member is back, before it stops the next."
    )
    slow_seconds: Seconds = _TIMEOUTS.field(_KAFKA.slow_seconds, "Slow member (seconds)", "--slow-time")(
        "How long the slow member takes to process a batch in the event slow-member."
    )
    restore_bytes_per_second: OptionalRate = _TIMEOUTS.field(None, "Restore rate (bytes per second)", "--restore-rate")(
        "How fast a member of a streams group restores state from changelogs before it runs a task that is new to "
        "its process. Empty: unknown, and pauses exclude it."
    )

    @field_validator("group_assignors")
    @classmethod
    def _are_of_the_protocols(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        asked = tuple(GroupProtocol(name) for name in info.data.get("group_protocols") or ())
        valid = {protocol: assignor_names(protocol) for protocol in asked or _PROTOCOLS}
        known = sorted({name for names in valid.values() for name in names})
        kind = f"{asked[0]} groups" if len(asked) == 1 else "consumer groups"
        for name in value:
            if name not in known:
                raise ValueError(f"{name!r} is not an assignor for {kind}; choose from {', '.join(known)}")
        for protocol in asked if value else ():
            if not set(value) & set(valid[protocol]):
                raise ValueError(f"none of them is for {protocol} groups; add one of {', '.join(valid[protocol])}")
        return value

    @field_validator("group_events")
    @classmethod
    def _is_any(cls, value: tuple[Event, ...]) -> tuple[Event, ...]:
        if not value:
            raise ValueError("nothing would be simulated; choose at least one event")
        return value

    @field_validator("session_timeout_seconds", "server_session_timeout_seconds")
    @classmethod
    def _is_above_the_heartbeat(cls, value: float, info: ValidationInfo) -> float:
        heartbeat = str(info.field_name).replace("session_timeout", "heartbeat_interval")
        given = info.data.get(heartbeat)
        if given is not None and value <= given:
            msg = f"it must be above {heartbeat}, which is {given:g}, or Kafka rejects it; change one of them"
            raise ValueError(msg)
        return value

    @field_validator("poll_seconds")
    @classmethod
    def _is_within_the_poll_interval(cls, value: float, info: ValidationInfo) -> float:
        longest = info.data.get("max_poll_interval_seconds")
        if longest is not None and value >= longest:
            msg = (
                f"it must be below max_poll_interval_seconds, which is {longest:g}, or healthy members are removed "
                "from the group again and again; change one of them"
            )
            raise ValueError(msg)
        return value

    def group_grid(self, *, seed: int) -> GroupGridRequest:
        """Return what spans the grid of group scenarios."""
        return filled(
            GroupGridRequest,
            self,
            member_counts=self.consumer_counts,
            assignors=self.group_assignors,
            protocols=tuple(GroupProtocol(name) for name in self.group_protocols),
            events=tuple(dict.fromkeys(self.group_events)),
            failure_count=self.consumer_failures,
            broker_heap_bytes=float(self.broker_heap_bytes),
            settings=filled(GroupSettings, self),
            share=ShareSettings(
                lock_seconds=self.share_lock_seconds,
                max_record_locks=self.share_record_locks,
                delivery_limit=self.share_delivery_limit,
                max_poll_records=self.max_poll_records,
            ),
            seed=seed,
        )
