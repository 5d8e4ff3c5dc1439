"""How many brokers of what kind: the section of the form about hardware, limits, failures and prices."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationInfo, field_validator

from kafka_capacity.demand.workload import HIGH, MIDDLE
from kafka_capacity.errors import RequestError
from kafka_capacity.hardware.limits import FailureTolerance, Limits
from kafka_capacity.hardware.plain import filled, or_nan
from kafka_capacity.hardware.shape_catalogue import (
    Name,
    Price,
    chosen_shapes,
    estimated_prices,
    shapes_beside,
    with_estimated_rack_traffic,
)
from kafka_capacity.hardware.shapes import TODAY, Shape, observed_shape
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.questions.capacity.loads import LoadSettings
from kafka_capacity.questions.capacity.options import SizingRequest
from kafka_capacity.questions.form_section import BrokerCount, FormSection, Rate, Ratio, named_number, readable

_FORM = FormSection("Sizing")

_NORMAL_LIMITS = ("network_limit_ratio", "cpu_limit_ratio", "disk_io_limit_ratio", "client_limit_ratio")
_LIMITS, _LOADS = Limits(), LoadSettings()

_CORE_SPEED = TypeAdapter[float](Annotated[float, Field(ge=0.1, le=10.0, allow_inf_nan=False)])


def _core_speed(item: str) -> tuple[str, float]:
    """Return the name of a shape or family and the speed of its cores from shape=ratio."""
    return named_number(item, _CORE_SPEED, "is not a core speed; write shape=ratio, such as m7g.*=1.2, from 0.1 to 10")


class SizingParameters(BaseModel):
    """What hardware to try, what it must stand, and what today's costs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    shapes: tuple[Name, ...] = _FORM.field((), "Shapes to try", max_length=200, is_usual=True)(
        "Shapes of the catalogue to try besides today's hardware: m7g.2xlarge, or m7g.* for the whole family."
    )
    sizing_broker_counts: tuple[BrokerCount, ...] = _FORM.field(
        (), "Broker counts to size", "--size-broker-counts", max_length=50, is_usual=True
    )(
        "Empty: down to the fewest, in steps of one broker per rack, and of one in the smallest rack until racks are "
        "even; up to twice today's count, more where none lasts. Scaling in and the counts that the move is planned "
        "to are always tried."
    )
    extra_racks: tuple[Annotated[int, Field(ge=0, le=20)], ...] = _FORM.field(
        (0,), "Additional racks", min_length=1, max_length=5
    )("How many racks to add; new brokers go to them.")
    sizing_replication_factors: tuple[Annotated[int, Field(ge=1, le=10)], ...] = _FORM.field(
        (), "Replication factors to size", "--replication-factors", max_length=5
    )(
        "Replication factors to try for all topics. Empty: each topic keeps its own. Fewer replicas always cost "
        "less, so compare what they survive as well."
    )
    failure_tolerance: FailureTolerance = _FORM.field(
        _LIMITS.tolerance, "Failures to tolerate", "--tolerate", is_usual=True
    )("What may fail at peak with everything still fitting: none, one-broker or one-rack.")
    is_move_sized: bool = _FORM.field(_LIMITS.is_move_included, "Size for moves", "--while-moving")(
        "Everything must also fit while a reassignment uses its full throttle at peak."
    )
    is_catch_up_sized: bool = _FORM.field(_LIMITS.is_catch_up_included, "Size for catching up", "--while-catching-up")(
        "Everything must also fit while a broker catches up, or while everything is re-read, at peak."
    )
    sized_estimate: Literal["high", "middle"] = _FORM.field("high", "Growth estimate to size for", "--estimate")(
        "Which growth estimate must fit."
    )
    network_limit_ratio: Ratio = _FORM.field(_LIMITS.network_ratio, "Network limit", "--network-limit")(
        "Max network utilization at peak: 0.7 is 70 %."
    )
    cpu_limit_ratio: Ratio = _FORM.field(_LIMITS.cpu_ratio, "CPU limit", "--cpu-limit")("Max CPU utilization at peak.")
    disk_io_limit_ratio: Ratio = _FORM.field(_LIMITS.disk_io_ratio, "Disk throughput limit", "--disk-io-limit")(
        "Max utilization of disk throughput at peak."
    )
    client_limit_ratio: Ratio = _FORM.field(_LIMITS.client_ratio, "Client limit", "--client-limit")(
        "Max utilization of the client throughput that a provider states."
    )
    lost_limit_ratio: Ratio = _FORM.field(_LIMITS.lost_ratio, "Limit after a loss", "--lost-limit")(
        "Max utilization for all of these after a loss, or while catching up; no less than any of them."
    )
    is_follower_fetching: bool = _FORM.field(_LOADS.is_read_in_rack, "Follower fetching", "--follower-fetching")(
        "Consumers read from the replica in their own rack (KIP-392), and are spread over the racks."
    )
    reread_ratio: float = _FORM.field(
        _LOADS.reread_ratio, "Re-reading", "--reread", ge=0.0, le=100.0, allow_inf_nan=False
    )("While catching up, everything is read this many additional times at once.")
    current_shape: Name = _FORM.field(TODAY, "Today's shape", is_usual=True)(
        "What the brokers run on, by its name in the catalogue. today: use the inventory's figures."
    )
    broker_vcpu: Rate | None = _FORM.field(None, "Cores per broker", "--broker-vcpu", form={"metavar": "CORES"})(
        "CPU cores of today's brokers. Empty: those in the inventory."
    )
    core_speeds: tuple[str, ...] = _FORM.lines("Core speeds", "--core-speed", "SHAPE=RATIO", max_length=100)(
        "Core speed relative to an m5, one shape or family per line as shape=ratio, such as m7g.*=1.2, instead of "
        "the catalogue's figure; today=1.2 applies to today's brokers."
    )
    broker_disk_bytes_per_second: Rate | None = _FORM.field(None, "Disk throughput per broker", "--broker-disk-rate")(
        "Disk throughput of one of today's brokers. Empty: unknown; loads above what one hard disk sustains, 100 "
        "MB/s, are not judged."
    )
    broker_replica_limit: int = _FORM.field(4_000, "Replicas per broker", "--broker-replicas", ge=1, le=1_000_000)(
        "How many replicas one of today's brokers should hold; replica lists keep to it where they can. Shapes in "
        "the catalogue have their own figure."
    )
    # For nothing, any number of brokers would cost the same.
    broker_usd_per_hour: Price | None = _FORM.field(
        None, "Price per broker", "--broker-price", form={"metavar": "USD/H"}, gt=0, is_usual=True
    )(
        "Price of one of today's brokers with its disks, without traffic between racks. Empty: estimated, of each "
        "broker from the catalogue's nearest shape in cores, memory and network."
    )
    usd_per_gib_between_racks: Price | None = _FORM.field(
        None, "Price of traffic between racks", "--rack-traffic-price", form={"metavar": "USD/GIB"}
    )(
        "Price for today's hardware; shapes in the catalogue have their own. 0: free. Empty: the catalogue's nearest "
        "shape's, an estimate."
    )
    commitment_discount_ratio: float = _FORM.field(
        0.0, "Commitment discount", "--commitment-discount", ge=0.0, lt=1.0, allow_inf_nan=False
    )(
        "Discount on the catalogue's machine prices through reserved instances or a savings plan: 0.62 is 62 % "
        "off. It does not apply to a price given above, nor to MSK, which has no such discount."
    )
    budget_usd_per_month: Price | None = _FORM.field(
        None, "Budget", "--budget", form={"metavar": "USD/MONTH"}, gt=0, is_usual=True
    )("Max dollars per month for brokers, including disks and traffic. Empty: no limit.")
    recovery_hours: Rate | None = _FORM.field(None, "Recovery time", "--recovery-hours", form={"metavar": "HOURS"})(
        "Max hours to re-replicate a lost broker's data under the throttle. Empty: no limit."
    )
    volume_recovery_hours: Rate | None = _FORM.field(
        None, "Recovery time of a disk", "--volume-recovery-hours", form={"metavar": "HOURS"}
    )("The same for one disk of a broker, sized like the fullest of today's log directories. Empty: no limit.")
    # Jun Rao's article has "10s of MB/sec" of a producer, taken low.
    partition_in_bytes_per_second: Rate = _FORM.field(10e6, "Max produce rate per partition", "--partition-in")(
        "What one partition may receive at peak."
    )
    # Consumers do work, so this is the one to measure.
    partition_out_bytes_per_second: Rate = _FORM.field(20e6, "Max read rate per partition", "--partition-out")(
        "What one group member can read from one partition."
    )

    @field_validator("lost_limit_ratio")
    @classmethod
    def _is_no_less_than_the_normal_limits(cls, value: float, info: ValidationInfo) -> float:
        normal = {name: info.data[name] for name in _NORMAL_LIMITS if name in info.data}
        highest = max(normal, key=normal.__getitem__, default=None)
        # Pinned requests have the default, too, and a normal limit may be above that: it holds after a loss as well.
        if highest is not None and value < normal[highest] and value != _LIMITS.lost_ratio:
            msg = f"it must be at least {highest}, which is {normal[highest]:g}; change one of them"
            raise ValueError(msg)
        return value

    @property
    def partition_limit_bytes_per_second(self) -> float:
        """What is produced to one partition at peak at most; one member of each group reads it."""
        return min(self.partition_in_bytes_per_second, self.partition_out_bytes_per_second)

    def sizing_request(self, observed: Brokers, catalogue: Mapping[str, Shape]) -> SizingRequest:
        """Return what sizing is asked, of a whole form: it rests on its other sections, too.

        Raises:
            RequestError: a shape is not in the catalogue.
        """
        plan: Any = self
        catalogue = self._with_core_speeds({name: self._discounted(shape) for name, shape in catalogue.items()})
        racks = {*observed.rack_names(), *plan.new_broker_racks}
        is_over_racks = len(racks) + max(self.extra_racks, default=0) > 1
        today, estimates = self._today(observed, catalogue, is_over_racks=is_over_racks)
        grid = plan.grid()
        return filled(
            SizingRequest,
            plan,
            today=today,
            estimates=estimates,
            shapes=tuple(one for one in chosen_shapes(dict(catalogue), self.shapes) if one.name != self.current_shape),
            broker_counts=self.sizing_broker_counts,
            moved_broker_counts=plan.broker_counts,
            replication_factors=self.sizing_replication_factors or (plan.replication_factor,),
            moved_replication_factor=plan.replication_factor,
            limits=Limits(
                network_ratio=self.network_limit_ratio,
                cpu_ratio=self.cpu_limit_ratio,
                disk_ratio=plan.disk_limit_ratio,
                disk_io_ratio=self.disk_io_limit_ratio,
                client_ratio=self.client_limit_ratio,
                lost_ratio=self.lost_limit_ratio,
                tolerance=self.failure_tolerance,
                is_move_included=self.is_move_sized,
                is_catch_up_included=self.is_catch_up_sized,
            ),
            loads=filled(
                LoadSettings,
                plan,
                is_read_in_rack=self.is_follower_fetching,
                heap_bytes=float(plan.broker_heap_bytes),
                recovery_seconds=(self.recovery_hours or math.inf) * 3600,
                volume_recovery_seconds=(self.volume_recovery_hours or math.inf) * 3600,
            ),
            estimate=HIGH if self.sized_estimate == "high" else MIDDLE,
            tolerance_ratio=grid.balanced_within_ratio,
            pins=grid.pins,
            broker_maxima=grid.broker_maxima,
        )

    def _with_core_speeds(self, catalogue: Mapping[str, Shape]) -> dict[str, Shape]:
        found = dict(catalogue)
        for name, ratio in map(_core_speed, self.core_speeds):
            named = self.current_shape if name == TODAY else name
            if named != TODAY:
                for shape in chosen_shapes(found, [named], field="core_speeds", others=(TODAY,)):
                    found[shape.name] = dataclasses.replace(shape, core_speed_ratio=ratio)
        return found

    _are_core_speeds = readable("core_speeds", _core_speed)

    def _discounted(self, shape: Shape) -> Shape:
        factor = 1.0 - self.commitment_discount_ratio if shape.is_discounted else 1.0
        return dataclasses.replace(shape, usd_per_hour=shape.usd_per_hour * factor)

    def replica_goal(self) -> int | None:
        """Return how many replicas one of today's brokers should hold; ``None`` where its shape does not say."""
        if self.current_shape == TODAY:
            return self.broker_replica_limit
        shape = shapes_beside("", "").get(self.current_shape)
        return None if shape is None or math.isnan(shape.replica_limit) else int(shape.replica_limit)

    def _today(
        self, observed: Brokers, catalogue: Mapping[str, Shape], *, is_over_racks: bool
    ) -> tuple[Shape, tuple[Shape, ...]]:
        """Return today's shape and whose prices stand in for those of machines; one rack needs none of traffic."""
        if self.current_shape == TODAY:
            is_priced = self.broker_usd_per_hour is not None
            rack_price = or_nan(self.usd_per_gib_between_racks)
            if is_priced and not is_over_racks and math.isnan(rack_price):
                rack_price = 0.0
            today = observed_shape(
                observed,
                vcpu=or_nan(self.broker_vcpu),
                core_speed_ratio=dict(map(_core_speed, self.core_speeds)).get(TODAY, math.nan),
                disk_bytes_per_second=or_nan(self.broker_disk_bytes_per_second),
                usd_per_hour=or_nan(self.broker_usd_per_hour),
                usd_per_gib_between_racks=rack_price,
                replica_limit=float(self.broker_replica_limit),
            )
            if not is_priced:
                return estimated_prices(today, observed, catalogue.values())
            return today if not math.isnan(rack_price) else with_estimated_rack_traffic(today, catalogue.values()), ()
        own = ("broker_vcpu", "broker_disk_bytes_per_second", "broker_usd_per_hour", "usd_per_gib_between_racks")
        for name in (*own, "broker_replica_limit"):
            if getattr(self, name) != type(self).model_fields[name].default:
                why = "has its own" if name in own else "has its own, or none"
                raise RequestError(
                    f"{name}: {getattr(self, name)!r} is invalid: the shape {self.current_shape!r} {why}; "
                    f"leave it out, or list a shape of your own in a file"
                )
        found = chosen_shapes(dict(catalogue), [self.current_shape], field="current_shape", others=(TODAY,))
        if len(found) > 1:
            raise RequestError(
                f"current_shape: {self.current_shape!r} is invalid: it matches {len(found)} sizes, but brokers run "
                f"on one; name it, such as {found[0].name}"
            )
        return found[0], ()
