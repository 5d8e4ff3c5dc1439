"""How a move shall be carried out: the section of the form about throttles and waves."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from kafka_capacity.kafka.reassignment.problem import Order, WaveSettings
from kafka_capacity.questions.change.move_schedule import MoveSettings, WaveOrder

MOVE_SECTION = "The move"

_WAVES, _MOVE = WaveSettings(), MoveSettings()


def _here(**more: Any) -> dict[str, Any]:
    return {"section": MOVE_SECTION, **more}


class MoveParameters(BaseModel):
    """How fast replicas are copied, and how the move is cut into waves; the throttle itself is the scenario's."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    is_throttle_automatic: bool = Field(
        default=_MOVE.is_throttle_automatic,
        title="Automatic throttle",
        description="Take the largest throttle of every broker and direction that leaves the headroom at its peak. "
        "The throttle above then holds only for brokers whose network is not known.",
        json_schema_extra=_here(option="--throttle-auto"),
    )
    headroom_ratio: float = Field(
        default=_MOVE.headroom_ratio,
        ge=0.0,
        lt=1.0,
        allow_inf_nan=False,
        title="Headroom",
        description="The share of network and disk that an automatic throttle leaves free: 0.2 is 20 %.",
        json_schema_extra=_here(option="--headroom"),
    )
    disk_bytes_per_second: float | None = Field(
        default=_MOVE.disk_bytes_per_second,
        gt=0.0,
        le=1e12,
        allow_inf_nan=False,
        title="Disk throughput (bytes per second)",
        description="What the disks of each broker write and read together: an automatic throttle leaves headroom of "
        "it. Empty: not known, so that the network alone decides.",
        json_schema_extra=_here(option="--disk-rate"),
    )
    max_concurrent_moves_per_broker: int | None = Field(
        default=_WAVES.max_concurrent_moves_per_broker,
        ge=1,
        le=1_000_000,
        title="Copies at once",
        description="How many replicas a broker may receive in one wave, and how many it may send. Empty: any.",
        json_schema_extra=_here(option="--moves-per-broker"),
    )
    max_wave_hours: float | None = Field(
        default=None if _WAVES.max_wave_seconds is None else _WAVES.max_wave_seconds / 3600.0,
        gt=0.0,
        le=24.0 * 365,
        allow_inf_nan=False,
        title="Longest wave (hours)",
        description="A wave takes at most this long at mean traffic; a partition that takes longer by itself is the "
        "longest of its wave. Empty: any.",
        json_schema_extra=_here(option="--wave-hours"),
    )
    max_traffic_ratio: float = Field(
        default=1.0 if _WAVES.max_traffic_ratio is None else _WAVES.max_traffic_ratio,
        gt=0.0,
        le=1.0,
        allow_inf_nan=False,
        title="Most traffic in a wave",
        description="The share of a throttle that what is produced to the moving partitions may take, since it is what "
        "the copies lose: 0.5 is half. 1 is no limit: fewer waves, which take longer, or never end at a peak.",
        json_schema_extra=_here(option="--max-traffic --most-traffic"),
    )
    pause_seconds: float = Field(
        default=_WAVES.pause_seconds,
        ge=0.0,
        le=86_400.0,
        allow_inf_nan=False,
        title="Pause between waves (seconds)",
        description="Until the disk space of replicas that went is free: file.delete.delay.ms of the brokers.",
        json_schema_extra=_here(option="--pause"),
    )
    fetchers: int = Field(
        default=_WAVES.fetchers,
        ge=1,
        le=1_000,
        description="num.replica.fetchers of the brokers: connections from one follower to one leader. They limit the "
        "move where it is known what one brings.",
        json_schema_extra=_here(),
    )
    fetcher_bytes_per_second: float | None = Field(
        default=_WAVES.fetcher_bytes_per_second,
        gt=0.0,
        le=1e12,
        allow_inf_nan=False,
        title="Rate of a fetcher (bytes per second)",
        description="The most that one fetcher brings: replica.fetch.max.bytes a round trip. Empty: not known, and no "
        "limit.",
        json_schema_extra=_here(option="--fetcher-rate"),
    )
    wave_order: WaveOrder = Field(
        default=WaveOrder.AUTO,
        title="Order",
        description="Which partitions move first. auto: all are tried, and the one that relieves the worst broker "
        "soonest is taken.",
        json_schema_extra=_here(),
    )
    is_leadership_first_tried: bool = Field(
        default=_WAVES.tries_leadership_first,
        title="Try leadership first",
        description="Where brokers are drained, compare with moving their leaders off first, and take what is faster.",
        json_schema_extra=_here(option="--leadership-first"),
    )

    are_detours_allowed: bool = Field(
        default=_WAVES.allows_detours,
        title="Allow detours",
        description="Where full disks wait for each other a partition may go by way of a third broker, and is copied "
        "twice. Without it such partitions stay where they are.",
        json_schema_extra=_here(option="--detours"),
    )

    def move_settings(self) -> MoveSettings:
        """Return what schedules are made with."""
        hours = self.max_wave_hours
        return MoveSettings(
            is_throttle_automatic=self.is_throttle_automatic,
            headroom_ratio=self.headroom_ratio,
            disk_bytes_per_second=self.disk_bytes_per_second,
            waves=WaveSettings(
                max_concurrent_moves_per_broker=self.max_concurrent_moves_per_broker,
                max_wave_seconds=None if hours is None else hours * 3600.0,
                max_traffic_ratio=None if self.max_traffic_ratio == 1.0 else self.max_traffic_ratio,
                pause_seconds=self.pause_seconds,
                fetchers=self.fetchers,
                fetcher_bytes_per_second=self.fetcher_bytes_per_second,
                orders=_WAVES.orders if self.wave_order is WaveOrder.AUTO else (Order(self.wave_order),),
                tries_leadership_first=self.is_leadership_first_tried,
                allows_detours=self.are_detours_allowed,
            ),
        )
