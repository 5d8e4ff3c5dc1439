"""What a plan tries with consumer groups: the sections of the form about them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from kafka_capacity.kafka.groups.registry import GroupProtocol, assignor_names
from kafka_capacity.kafka.rebalance.model import Event
from kafka_capacity.kafka.rebalance.settings import GroupSettings
from kafka_capacity.kafka.storage.page_cache import HEAP_BYTES
from kafka_capacity.questions.consumers.grid import GroupGridRequest, StaticMembership

GROUPS_SECTION = "Consumer groups"
TIMEOUTS_SECTION = "Consumer timeouts"
GIB = 2**30

_KAFKA = GroupSettings()
_PROTOCOLS = (GroupProtocol.CLASSIC, GroupProtocol.CONSUMER)
ASSIGNORS = tuple(sorted({name for protocol in _PROTOCOLS for name in assignor_names(protocol)}))
SETTING_FIELDS = (
    "heartbeat_interval_seconds",
    "session_timeout_seconds",
    "server_heartbeat_interval_seconds",
    "server_session_timeout_seconds",
    "max_poll_interval_seconds",
    "auto_commit_interval_seconds",
    "metadata_max_age_seconds",
    "poll_seconds",
    "restart_seconds",
    "settle_seconds",
    "slow_seconds",
)
"""The parameters that are fields of :class:`GroupSettings`."""
USUAL_EVENTS = tuple(event for event in Event if event not in {Event.SLOW_MEMBER, Event.MORE_PARTITIONS})
"""What the lag objective is held against where nothing else is asked for: what the number of members decides."""

GroupName = Annotated[str, Field(min_length=1, max_length=1000)]
ConsumerCount = Annotated[int, Field(ge=1, le=1_000)]
Seconds = Annotated[float, Field(gt=0.0, le=86_400.0, allow_inf_nan=False)]
Beat = Annotated[float, Field(ge=0.1, le=3_600.0, allow_inf_nan=False)]
Wait = Annotated[float, Field(ge=0.0, le=86_400.0, allow_inf_nan=False)]


def _in(section: str, **more: Any) -> dict[str, Any]:
    return {"section": section, **more}


class GroupParameters(BaseModel):
    """The consumer groups, counts, assignors and events to try, and the timeouts of their members."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    groups: tuple[GroupName, ...] = Field(
        default=(),
        max_length=10_000,
        title="Groups",
        description="Names of consumer groups, one a line. Empty: all.",
        json_schema_extra=_in(GROUPS_SECTION, option="--group", repeats=True),
    )
    consumer_counts: tuple[ConsumerCount, ...] = Field(
        default=(),
        max_length=100,
        title="Member counts to try",
        description="For every group. Empty: today's count, and the smallest that will do. For example [4, 6, 8].",
        json_schema_extra=_in(GROUPS_SECTION),
    )
    group_protocols: tuple[Literal["classic", "consumer"], ...] = Field(
        default=(),
        title="Protocols to try",
        description="classic: a member assigns; consumer: the brokers assign (KIP-848). Empty: today's, and both.",
        json_schema_extra=_in(
            GROUPS_SECTION, option="--protocols", items={"type": "string", "enum": [str(p) for p in _PROTOCOLS]}
        ),
    )
    group_assignors: tuple[str, ...] = Field(
        default=(),
        title="Assignors to try",
        description="Each under every protocol that has it. Empty: today's, cooperative-sticky for classic groups and "
        "uniform for consumer ones.",
        json_schema_extra=_in(GROUPS_SECTION, option="--assignors", items={"type": "string", "enum": list(ASSIGNORS)}),
    )
    static_membership: StaticMembership = Field(
        default=StaticMembership.BOTH,
        title="Static members",
        description="Whether members have a group.instance.id: as it is today, all of them, or both to compare.",
        json_schema_extra=_in(GROUPS_SECTION, option="--static"),
    )
    group_events: tuple[Event, ...] = Field(
        default=USUAL_EVENTS,
        title="Events to simulate",
        description="What happens to the members: each is simulated on its own, at the group's peak rates, and each is "
        "held against the lag objective. How long a slow member and new partitions wait is set by "
        "max.poll.interval.ms and metadata.max.age.ms, whatever the number of members: add slow-member and "
        "more-partitions where the objective covers them.",
        json_schema_extra=_in(
            GROUPS_SECTION,
            option="--member-events --events",
            minItems=1,
            items={"type": "string", "enum": [str(event) for event in Event]},
        ),
    )
    lag_slo_seconds: float = Field(
        default=120.0,
        gt=0.0,
        le=30 * 86_400.0,
        allow_inf_nan=False,
        title="Lag objective (seconds)",
        description="How old the oldest record that waits may get.",
        json_schema_extra=_in(GROUPS_SECTION, option="--lag-slo"),
    )
    catch_up_limit_seconds: float = Field(
        default=4 * 3600.0,
        gt=0.0,
        le=30 * 86_400.0,
        allow_inf_nan=False,
        title="Time to catch up (seconds)",
        description="How soon a group that is behind by more than the objective today must have caught up.",
        json_schema_extra=_in(GROUPS_SECTION, option="--catch-up-limit"),
    )
    consumer_failures: int = Field(
        default=1,
        ge=0,
        le=100,
        title="Members that may fail",
        description="How many members of a group may fail at once, for good, without breaking the lag objective. "
        "0: nobody is lost for good.",
        json_schema_extra=_in(GROUPS_SECTION, option="--member-failures --failures"),
    )
    member_capacity_bytes_per_second: float | None = Field(
        default=None,
        gt=0.0,
        le=1e12,
        allow_inf_nan=False,
        title="Capacity of a member (bytes per second)",
        description="What one member can process. Empty: the most that any member of the group has read in an hour. "
        "That is a lower bound, and a limit only where that member is itself behind.",
        json_schema_extra=_in(GROUPS_SECTION, option="--member-capacity"),
    )
    partitions_factor: int = Field(
        default=2,
        ge=2,
        le=100,
        title="Growth of partitions (factor)",
        description="By how much the event more-partitions multiplies partition counts.",
        json_schema_extra=_in(GROUPS_SECTION),
    )
    broker_heap_bytes: int = Field(
        default=int(HEAP_BYTES),
        ge=0,
        le=1024 * GIB,
        title="Heap of a broker (bytes)",
        description="-Xmx of the brokers: what it leaves of their memory is page cache, from which readers catch up.",
        json_schema_extra=_in(GROUPS_SECTION, option="--broker-heap"),
    )
    heartbeat_interval_seconds: Beat = Field(
        default=_KAFKA.heartbeat_interval_seconds,
        title="Heartbeat interval (seconds)",
        description="heartbeat.interval.ms of members of classic groups.",
        json_schema_extra=_in(TIMEOUTS_SECTION, option="--heartbeat-interval"),
    )
    session_timeout_seconds: Seconds = Field(
        default=_KAFKA.session_timeout_seconds,
        validate_default=True,
        title="Session timeout (seconds)",
        description="session.timeout.ms of members of classic groups.",
        json_schema_extra=_in(TIMEOUTS_SECTION, option="--session-timeout"),
    )
    server_heartbeat_interval_seconds: Beat = Field(
        default=_KAFKA.server_heartbeat_interval_seconds,
        title="Heartbeat interval, consumer protocol (seconds)",
        description="group.consumer.heartbeat.interval.ms of the brokers.",
        json_schema_extra=_in(TIMEOUTS_SECTION, option="--server-heartbeat-interval"),
    )
    server_session_timeout_seconds: Seconds = Field(
        default=_KAFKA.server_session_timeout_seconds,
        validate_default=True,
        title="Session timeout, consumer protocol (seconds)",
        description="group.consumer.session.timeout.ms of the brokers.",
        json_schema_extra=_in(TIMEOUTS_SECTION, option="--server-session-timeout"),
    )
    max_poll_interval_seconds: Seconds = Field(
        default=_KAFKA.max_poll_interval_seconds,
        title="Longest time between polls (seconds)",
        description="max.poll.interval.ms: who takes longer is put out of the group.",
        json_schema_extra=_in(TIMEOUTS_SECTION, option="--max-poll-interval"),
    )
    auto_commit_interval_seconds: Seconds = Field(
        default=_KAFKA.auto_commit_interval_seconds,
        title="Commit interval (seconds)",
        description="auto.commit.interval.ms, or how often the application commits.",
        json_schema_extra=_in(TIMEOUTS_SECTION, option="--commit-interval"),
    )
    metadata_max_age_seconds: Seconds = Field(
        default=_KAFKA.metadata_max_age_seconds,
        title="Metadata age (seconds)",
        description="metadata.max.age.ms: how late a member may see new partitions.",
        json_schema_extra=_in(TIMEOUTS_SECTION, option="--metadata-max-age"),
    )
    poll_seconds: Seconds = Field(
        default=_KAFKA.poll_seconds,
        title="Time between polls (seconds)",
        description="The longest that a member which is well takes between two polls.",
        json_schema_extra=_in(TIMEOUTS_SECTION, option="--poll-time"),
    )
    restart_seconds: Wait = Field(
        default=_KAFKA.restart_seconds,
        title="Restart of a member (seconds)",
        description="How long a member is away while it is restarted.",
        json_schema_extra=_in(TIMEOUTS_SECTION, option="--restart-time"),
    )
    settle_seconds: Wait = Field(
        default=_KAFKA.settle_seconds,
        title="Pause between restarts (seconds)",
        description="How long a rolling restart waits, after a member is back, before it stops the next.",
        json_schema_extra=_in(TIMEOUTS_SECTION, option="--settle-time"),
    )
    slow_seconds: Seconds = Field(
        default=_KAFKA.slow_seconds,
        title="Time of a slow member (seconds)",
        description="How long the slow member of the event slow-member takes over one batch.",
        json_schema_extra=_in(TIMEOUTS_SECTION, option="--slow-time"),
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
                msg = f"{name!r} is no assignor of {kind}; choose from {', '.join(known)}"
                raise ValueError(msg)
        for protocol in asked if value else ():
            if not set(value) & set(valid[protocol]):
                msg = f"none of them is for {protocol} groups; add one of {', '.join(valid[protocol])}"
                raise ValueError(msg)
        return value

    @field_validator("group_events")
    @classmethod
    def _is_any(cls, value: tuple[Event, ...]) -> tuple[Event, ...]:
        if not value:
            msg = "nothing would be simulated; choose at least one event"
            raise ValueError(msg)
        return value

    @field_validator("session_timeout_seconds", "server_session_timeout_seconds")
    @classmethod
    def _is_above_the_heartbeat(cls, value: float, info: ValidationInfo) -> float:
        heartbeat = str(info.field_name).replace("session_timeout", "heartbeat_interval")
        given = info.data.get(heartbeat)
        if given is not None and value <= given:
            msg = f"it must be above {heartbeat}, which is {given:g}, or Kafka refuses it; change one"
            raise ValueError(msg)
        return value

    def group_grid(self, *, seed: int) -> GroupGridRequest:
        """Return what spans the grid of group scenarios.

        Args:
            seed: of every random draw.
        """
        return GroupGridRequest(
            groups=self.groups,
            member_counts=self.consumer_counts,
            assignors=self.group_assignors,
            protocols=tuple(GroupProtocol(name) for name in self.group_protocols),
            static_membership=self.static_membership,
            events=tuple(dict.fromkeys(self.group_events)),
            lag_slo_seconds=self.lag_slo_seconds,
            catch_up_limit_seconds=self.catch_up_limit_seconds,
            failure_count=self.consumer_failures,
            member_capacity_bytes_per_second=self.member_capacity_bytes_per_second,
            partitions_factor=self.partitions_factor,
            broker_heap_bytes=float(self.broker_heap_bytes),
            settings=GroupSettings(**{name: getattr(self, name) for name in SETTING_FIELDS}),
            seed=seed,
        )
