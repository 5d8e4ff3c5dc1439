"""The first sections of the form: which inventory a plan rests on, what it tries with brokers, how a move is done."""

from __future__ import annotations

import datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, field_validator

from kafka_capacity.hardware.limits import Limits
from kafka_capacity.hardware.plain import filled
from kafka_capacity.kafka.placement import Balance, RackRule, placer_names
from kafka_capacity.kafka.placement.registry import FEWEST_BYTES
from kafka_capacity.kafka.reassignment.clock import Window
from kafka_capacity.kafka.reassignment.flow import DEFAULT_THROTTLE_BYTES_PER_SECOND
from kafka_capacity.kafka.reassignment.problem import Order, WaveSettings
from kafka_capacity.proposal.constraints.registry import BROKER_MAXIMA, asked_maxima
from kafka_capacity.proposal.grid import BrokerChanges, GridRequest
from kafka_capacity.proposal.pins import RACK_PREFIX, pins_of
from kafka_capacity.questions.change.move_schedule import MoveSettings, WaveOrder
from kafka_capacity.questions.form_section import BrokerCount, FormSection, OptionalRate, Pattern, Ratio

MOVE_FORM = FormSection("The move")

ThrottleRate = Annotated[float, Field(ge=1e3, le=1e12)]
"""Bytes per second, with which a move takes years at the least: who gives less has left out a unit."""

_WAVES, _MOVE = WaveSettings(), MoveSettings()
_HOUR = 3600.0
TRIED_WAVE_HOURS = (4.0, 2.0, 1.0)
"""A wave is no longer than a shift can watch; shorter ones are taken where the move is over clearly sooner."""


class MoveParameters(BaseModel):
    """How fast replicas are copied, and how the move is cut into waves; the throttle itself is the scenario's."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    is_throttle_automatic: bool = MOVE_FORM.field(
        _MOVE.is_throttle_automatic, "Automatic throttle", "--throttle-auto", is_usual=True
    )(
        "Use the largest throttle, per broker and direction, that leaves the headroom at its peak. The throttle "
        "above then applies only to brokers whose network capacity is unknown."
    )
    headroom_ratio: float = MOVE_FORM.field(
        _MOVE.headroom_ratio, "Headroom", "--headroom", ge=0.0, lt=1.0, allow_inf_nan=False
    )("The share of network and disk that an automatic throttle leaves free: 0.2 is 20 %.")
    disk_bytes_per_second: OptionalRate = MOVE_FORM.field(
        _MOVE.disk_bytes_per_second, "Disk throughput (bytes per second)", "--disk-rate"
    )(
        "Combined read and write throughput of each broker's disks; an automatic throttle leaves headroom of it. "
        "Empty: unknown, so only the network limits the throttle."
    )
    max_concurrent_moves_per_broker: int | None = MOVE_FORM.field(
        _WAVES.max_concurrent_moves_per_broker, "Concurrent copies", "--moves-per-broker", ge=1, le=1_000_000
    )(
        "How many replicas a broker may receive in one wave, and how many it may send; new replicas of one partition "
        "go together. Empty: no limit."
    )
    max_wave_hours: float | None = MOVE_FORM.field(
        None if _WAVES.max_wave_seconds is None else _WAVES.max_wave_seconds / _HOUR,
        "Max wave length (hours)",
        "--wave-hours",
        gt=0.0,
        le=24.0 * 365,
        allow_inf_nan=False,
        is_usual=True,
    )(
        "A wave takes at most this long at mean traffic; a single partition that takes longer determines the length "
        f"of its wave. Empty: {' or '.join(f'{hours:g}' for hours in TRIED_WAVE_HOURS)}, whichever finishes soonest "
        "and relieves the worst broker soonest."
    )
    window: str | None = MOVE_FORM.field(
        None, "Window (UTC)", form={"metavar": "HH:MM-HH:MM"}, is_usual=True, examples=["22:00-06:00"]
    )(
        "Run waves only between these times of day, such as 22:00-06:00, starting on the day of the inventory. A "
        "running wave cannot be paused, so none is longer than the window. Empty, or a whole day: any time."
    )
    max_traffic_ratio: Ratio = MOVE_FORM.field(
        1.0 if _WAVES.max_traffic_ratio is None else _WAVES.max_traffic_ratio,
        "Max traffic in a wave",
        "--max-traffic --most-traffic",
    )(
        "The share of a throttle that new data for the moving partitions may use up, since the copies lose it: 0.5 "
        "is half. 1 means no limit: fewer waves, which take longer or never finish at a peak."
    )
    pause_seconds: float = MOVE_FORM.field(
        _WAVES.pause_seconds, "Pause between waves (seconds)", "--pause", ge=0.0, le=86_400.0, allow_inf_nan=False
    )("Time until the disk space of deleted replicas is free: file.delete.delay.ms of the brokers.")
    fetchers: int = MOVE_FORM.field(_WAVES.fetchers, ge=1, le=1_000)(
        "num.replica.fetchers of the brokers: connections from one follower to one leader. They limit the move if "
        "the rate of a fetcher is given."
    )
    fetcher_bytes_per_second: OptionalRate = MOVE_FORM.field(
        _WAVES.fetcher_bytes_per_second, "Fetcher rate (bytes per second)", "--fetcher-rate"
    )("Max throughput of one fetcher: replica.fetch.max.bytes per round trip. Empty: unknown, no limit.")
    wave_order: WaveOrder = MOVE_FORM.field(WaveOrder.AUTO, "Order")(
        "Which partitions move first. auto: try all orders and use the one that relieves the worst broker soonest."
    )
    is_leadership_first_tried: bool = MOVE_FORM.field(
        _WAVES.tries_leadership_first, "Try leadership first", "--leadership-first"
    )("When draining brokers, also try moving their leaders off first, and use whichever is faster.")

    are_detours_allowed: bool = MOVE_FORM.field(_WAVES.allows_detours, "Allow detours", "--detours")(
        "If full disks block each other, a partition may move by way of a third broker, and is then copied twice. "
        "Without detours such partitions stay where they are."
    )

    @field_validator("window")
    @classmethod
    def _is_a_window(cls, value: str | None) -> str | None:
        """Write a window as it is shown; a whole day is none."""
        found = Window.of(value) if value else None
        return None if found is None else found.text

    def move_settings(self) -> MoveSettings:
        """Return what schedules are made with."""
        hours = self.max_wave_hours
        return filled(
            MoveSettings,
            self,
            waves=filled(
                WaveSettings,
                self,
                max_wave_seconds=None if hours is None else hours * _HOUR,
                tried_wave_seconds=tuple(hours * _HOUR for hours in TRIED_WAVE_HOURS),
                max_traffic_ratio=None if self.max_traffic_ratio == 1.0 else self.max_traffic_ratio,
                orders=_WAVES.orders if self.wave_order is WaveOrder.AUTO else (Order(self.wave_order),),
                tries_leadership_first=self.is_leadership_first_tried,
                allows_detours=self.are_detours_allowed,
                window=None if self.window is None else Window.of(self.window),
            ),
        )


PLACERS = placer_names()
_INVENTORY, _TRY, _RULES = FormSection("Inventory"), FormSection("What to try"), FormSection("Rules")

RackName = Annotated[str, Field(min_length=1, max_length=255)]
BrokerId = Annotated[int, Field(ge=0, le=2**31 - 1)]
TopicName = Annotated[str, Field(min_length=1, max_length=249)]
PartitionCount = Annotated[int, Field(ge=2, le=5_000)]  # below the 10,000 additions that Kafka 4.4 takes in a request


def _broker_or_rack(value: Any) -> int | str:
    """Read a broker id, or ``rack:NAME``."""
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        value = int(value)
    is_id = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
    is_rack = isinstance(value, str) and value.startswith(RACK_PREFIX) and len(value) > len(RACK_PREFIX)
    if not is_id and not is_rack:
        raise ValueError(f"write a broker id such as 3, or a rack as {RACK_PREFIX}NAME")
    return value  # type: ignore[no-any-return]  # one of the two, as was just looked at


PinnedTo = Annotated[Any, BeforeValidator(_broker_or_rack), WithJsonSchema({"type": ["integer", "string"]})]
"""A broker id, or a rack."""


class PlacementParameters(BaseModel):
    """The inventory, and the brokers, placers and rules to try."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cluster: str = _INVENTORY.field(..., min_length=1, max_length=255)(
        "The name under which the cluster's inventory is staged."
    )
    ds: datetime.date | None = _INVENTORY.field(None, "Inventory date")(
        "Day of the inventory (UTC). Empty: the newest complete one up to the run's date."
    )
    broker_counts: tuple[BrokerCount, ...] = _TRY.field((), "Broker counts to try", max_length=50, is_usual=True)(
        "Empty: today's count and the one that sizing says is needed now (or else next); without sizing, one more "
        "broker per rack. New brokers get the median hardware of the existing ones. For example 12, 15, 18."
    )
    new_broker_racks: tuple[RackName, ...] = _TRY.field((), "Racks of new brokers", max_length=1000)(
        "One per line, used in turn. Empty: each new broker goes to the rack with the fewest brokers."
    )
    removed_brokers: tuple[BrokerId, ...] = _TRY.field(
        (), "Brokers to remove", "--remove-brokers", max_length=2_000, is_usual=True
    )("Ids of brokers to drain. Broker counts refer to the cluster without them, including new brokers.")
    replaced_brokers: dict[BrokerId, BrokerId] = _TRY.field(
        {}, "Brokers to replace", "--replace-broker", max_length=2_000, is_usual=True
    )(
        'Old id and new id, 3=13 (in JSON {"3": 13}): the new broker gets the rack and hardware of the old one, '
        "which is drained."
    )
    rack_names: dict[RackName, RackName] = _TRY.field({}, "Racks to rename", "--rename-rack", max_length=1_000)(
        'Old name and new name, {"a": "zone-a"}: changes broker.rack of all brokers in it. Two racks renamed to '
        "the same name become one."
    )
    placers: tuple[str, ...] = _TRY.field(
        (FEWEST_BYTES, "generate"),
        "Placers to compare",
        "--placer",
        form={"items": {"type": "string", "enum": list(PLACERS)}},
        min_length=1,
        is_usual=True,
    )(
        "fewest-bytes keeps replicas where they fit; generate is what kafka-reassign-partitions --generate "
        "proposes; striped, zk and modulo place everything from scratch."
    )
    replication_factor: int | None = _TRY.field(None, "Replication factor", ge=1, le=100, is_usual=True)(
        "For all topics. Empty: each topic keeps its own."
    )
    partition_counts: dict[TopicName, PartitionCount] = _TRY.field(
        {}, "Partition counts", "--partitions", form={"metavar": "TOPIC=N"}, max_length=1_000
    )(
        'Topics that get more partitions, {"orders": 24}. The new ones are empty and are created before anything '
        "moves. This cannot be undone, and records with keys change partition."
    )
    rack_rule: RackRule = _RULES.field(RackRule.STRICT, "Rack rule")(
        "strict: as many racks as the replication factor allows; two-racks: at least two; off."
    )
    balance: Balance = _RULES.field(Balance.BYTES, is_usual=True)(
        "What fewest-bytes balances: the bytes on disk, or the number of replicas."
    )
    tolerance_ratio: float | None = _RULES.field(None, "Tolerance", "--tolerance", is_usual=True, ge=0.0, le=1.0)(
        "How far a broker may be from its fair share: 0.02 is 2 %. Empty: 0.02 for bytes, one replica for counts."
    )
    disk_limit_ratio: float = _RULES.field(Limits().disk_ratio, "Disk limit", "--disk-limit", gt=0.0, le=1.0)(
        "How full a disk may be after the change: 0.85 is 85 %."
    )
    pinned_topics: dict[Pattern, Annotated[tuple[PinnedTo, ...], Field(min_length=1)]] = _RULES.field(
        {}, "Pinned topics", "--pin", form={"metavar": "TOPIC=ID,rack:NAME"}, max_length=1_000
    )(
        'Topics or topic patterns, with the brokers and racks that their replicas may be on: {"audit": [1, 2, '
        '3], "payments.*": ["rack:a", "rack:b"]}. A topic\'s own name takes precedence over a pattern.'
    )
    max_replicas_per_broker: int | None = _RULES.field(
        None, "Max replicas per broker", "--max-replicas --most-replicas", ge=1, le=10_000_000
    )("No broker may hold more than this. Empty: no limit.")
    max_leaders_per_broker: int | None = _RULES.field(
        None, "Max leaders per broker", "--max-leaders", ge=1, le=10_000_000
    )("No broker may be the preferred leader of more partitions than this. Empty: no limit.")
    seed: int = _RULES.field(0, ge=0, le=2**31 - 1)(
        "Seed for random draws: the same request with the same seed gives the same plan."
    )
    throttle_bytes_per_second: ThrottleRate = MOVE_FORM.field(
        DEFAULT_THROTTLE_BYTES_PER_SECOND, "Throttle (bytes per second)", "--throttle", is_usual=True
    )("Per broker and direction, as passed to kafka-reassign-partitions --throttle.")

    throttles_bytes_per_second: tuple[ThrottleRate, ...] = MOVE_FORM.field(
        (), "Throttles to compare (bytes per second)", "--throttles", max_length=20
    )("Several instead of the one above: every option is scheduled with each. For example [50000000, 100000000].")

    @field_validator("placers")
    @classmethod
    def _are_known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if name not in PLACERS:
                raise ValueError(f"{name!r} is not a placer; choose from {', '.join(PLACERS)}")
        return value

    def grid(self) -> GridRequest:
        """Return what spans the grid of scenarios."""
        return filled(
            GridRequest,
            self,
            broker_changes=BrokerChanges(
                removed=tuple(sorted(set(self.removed_brokers))),
                replaced=tuple(sorted(self.replaced_brokers.items())),
                rack_names=tuple(sorted(self.rack_names.items())),
            ),
            partition_counts=tuple(sorted(self.partition_counts.items())),
            pins=pins_of(self.pinned_topics),
            broker_maxima=asked_maxima(self.model_dump(include=set(BROKER_MAXIMA))),
        )
