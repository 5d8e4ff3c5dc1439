"""How a move shall be carried out: the section of the form about throttles and waves."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, field_validator

from kafka_capacity.hardware.plain import filled
from kafka_capacity.kafka.reassignment.clock import Window
from kafka_capacity.kafka.reassignment.problem import Order, WaveSettings
from kafka_capacity.questions.change.move_schedule import MoveSettings, WaveOrder
from kafka_capacity.questions.form_section import FormSection

MOVE_FORM = FormSection("The move")

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
    disk_bytes_per_second: float | None = MOVE_FORM.field(
        _MOVE.disk_bytes_per_second,
        "Disk throughput (bytes per second)",
        "--disk-rate",
        gt=0.0,
        le=1e12,
        allow_inf_nan=False,
    )(
        "Combined read and write throughput of each broker's disks; an automatic throttle leaves headroom of it. "
        "Empty: unknown, so only the network limits the throttle."
    )
    max_concurrent_moves_per_broker: int | None = MOVE_FORM.field(
        _WAVES.max_concurrent_moves_per_broker, "Concurrent copies", "--moves-per-broker", ge=1, le=1_000_000
    )("How many replicas a broker may receive in one wave, and how many it may send. Empty: no limit.")
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
    max_traffic_ratio: float = MOVE_FORM.field(
        1.0 if _WAVES.max_traffic_ratio is None else _WAVES.max_traffic_ratio,
        "Max traffic in a wave",
        "--max-traffic --most-traffic",
        gt=0.0,
        le=1.0,
        allow_inf_nan=False,
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
    fetcher_bytes_per_second: float | None = MOVE_FORM.field(
        _WAVES.fetcher_bytes_per_second,
        "Fetcher rate (bytes per second)",
        "--fetcher-rate",
        gt=0.0,
        le=1e12,
        allow_inf_nan=False,
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
