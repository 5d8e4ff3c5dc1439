"""How many brokers of what kind: the section of the form about hardware, limits, failures and prices."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from kafka_capacity.demand.workload import HIGH, MIDDLE
from kafka_capacity.errors import RequestError
from kafka_capacity.hardware.limits import FailureTolerance, Limits
from kafka_capacity.hardware.shape_catalogue import chosen_shapes
from kafka_capacity.hardware.shapes import TODAY, Shape, observed_shape
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.placement import Balance, RackRule
from kafka_capacity.kafka.storage.page_cache import HEAP_BYTES
from kafka_capacity.questions.capacity.loads import LoadSettings
from kafka_capacity.questions.capacity.options import SizingRequest
from kafka_capacity.questions.capacity.partition_advice import PartitionRules

SIZING_SECTION = "Sizing"

_LIMITS, _LOADS, _RULES = Limits(), LoadSettings(), PartitionRules()

ShapeName = Annotated[str, Field(min_length=1, max_length=100)]
BrokerCount = Annotated[int, Field(ge=1, le=2_000)]
Rate = Annotated[float, Field(gt=0.0, le=1e12, allow_inf_nan=False)]
Price = Annotated[float, Field(ge=0.0, le=1e9, allow_inf_nan=False)]


def _here(**more: Any) -> dict[str, Any]:
    return {"section": SIZING_SECTION, **more}


def _ratio(default: float, title: str, description: str, option: str) -> Any:
    return Field(
        default=default,
        gt=0.0,
        le=1.0,
        allow_inf_nan=False,
        title=title,
        description=description,
        json_schema_extra=_here(option=option),
    )


class SizingParameters(BaseModel):
    """What hardware to try, what it must stand, and what today's costs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    shapes: tuple[ShapeName, ...] = Field(
        default=(),
        max_length=200,
        description="Of the catalogue, besides today's hardware: m7g.2xlarge, or m7g.* for the whole family.",
        title="Shapes to try",
        json_schema_extra=_here(),
    )
    sizing_broker_counts: tuple[BrokerCount, ...] = Field(
        default=(),
        max_length=50,
        description="Empty: steps of one broker a rack, up to twice as many as today. Scaling in is always tried.",
        title="Broker counts to size",
        json_schema_extra=_here(option="--size-broker-counts"),
    )
    extra_racks: tuple[Annotated[int, Field(ge=0, le=20)], ...] = Field(
        default=(0,),
        min_length=1,
        max_length=5,
        description="How many racks more than today's to try; new brokers go to them.",
        title="More racks",
        json_schema_extra=_here(),
    )
    sizing_replication_factors: tuple[Annotated[int, Field(ge=1, le=10)], ...] = Field(
        default=(),
        max_length=5,
        description="To try for all topics. Empty: each topic keeps its own. Fewer replicas always cost less: compare "
        "what they survive as well.",
        title="Replication factors to size",
        json_schema_extra=_here(option="--replication-factors"),
    )
    failure_tolerance: FailureTolerance = Field(
        default=_LIMITS.tolerance,
        description="What may fail at peak while everything still fits: none, one-broker or one-rack.",
        title="Failures to stand",
        json_schema_extra=_here(option="--tolerate"),
    )
    is_move_sized: bool = Field(
        default=_LIMITS.is_move_included,
        description="Everything must also fit while a reassignment uses its whole throttle at peak.",
        title="Size for moves",
        json_schema_extra=_here(option="--while-moving"),
    )
    is_catch_up_sized: bool = Field(
        default=_LIMITS.is_catch_up_included,
        description="Everything must also fit while a broker catches up, or everything is read once more, at peak.",
        title="Size for catching up",
        json_schema_extra=_here(option="--while-catching-up"),
    )
    sized_estimate: Literal["high", "middle"] = Field(
        default="high",
        description="Which estimate of growth must fit.",
        title="Size for the estimate",
        json_schema_extra=_here(option="--estimate"),
    )
    network_limit_ratio: float = _ratio(
        _LIMITS.network_ratio,
        "Network limit",
        "How far a network may be used at peak: 0.7 is 70 %.",
        option="--network-limit",
    )
    cpu_limit_ratio: float = _ratio(
        _LIMITS.cpu_ratio, "CPU limit", "How far processors may be used at peak.", option="--cpu-limit"
    )
    disk_io_limit_ratio: float = _ratio(
        _LIMITS.disk_io_ratio,
        "Disk throughput limit",
        "How far the throughput of disks may be used at peak.",
        option="--disk-io-limit",
    )
    client_limit_ratio: float = _ratio(
        _LIMITS.client_ratio,
        "Client limit",
        "How far what a provider names as client throughput may be used.",
        option="--client-limit",
    )
    lost_limit_ratio: float = _ratio(
        _LIMITS.lost_ratio,
        "Limit after a loss",
        "How far all of these may be used after a loss, or while catching up.",
        option="--lost-limit",
    )
    is_follower_fetching: bool = Field(
        default=_LOADS.is_read_in_rack,
        description="Consumers read from the follower in their own rack (KIP-392), and are spread over the racks.",
        title="Follower fetching",
        json_schema_extra=_here(option="--follower-fetching"),
    )
    reread_ratio: float = Field(
        default=_LOADS.reread_ratio,
        ge=0.0,
        le=100.0,
        allow_inf_nan=False,
        description="When catching up, everything is read so many times more, at once.",
        title="Read once more",
        json_schema_extra=_here(option="--reread"),
    )
    current_shape: ShapeName = Field(
        default=TODAY,
        description="What the brokers run on, by its name in the catalogue. today: the figures of the inventory.",
        title="Today's shape",
        json_schema_extra=_here(),
    )
    broker_vcpu: Rate | None = Field(
        default=None,
        description="Processor cores of today's brokers. Empty: those of the inventory.",
        title="Cores of a broker",
        json_schema_extra=_here(option="--broker-vcpu", metavar="CORES"),
    )
    broker_disk_bytes_per_second: Rate | None = Field(
        default=None,
        description="Throughput of the disks of one of today's brokers. Empty: not known; more than one hard "
        "disk takes, 100 MB/s, is not judged.",
        title="Disk throughput of a broker",
        json_schema_extra=_here(option="--broker-disk-rate"),
    )
    broker_replica_limit: int = Field(
        default=4_000,
        ge=1,
        le=1_000_000,
        description="How many replicas one of today's brokers should hold. Shapes of the catalogue have their own.",
        title="Replicas of a broker",
        json_schema_extra=_here(option="--broker-replicas"),
    )
    broker_usd_per_hour: Price | None = Field(
        default=None,
        # For nothing, any number of brokers would cost the same.
        gt=0,
        description="Of one of today's brokers with its disks. Empty: not known, and so is what it costs.",
        title="Price of a broker",
        json_schema_extra=_here(option="--broker-price", metavar="USD/H"),
    )
    usd_per_gib_between_racks: Price = Field(
        default=0.0,
        description="Of today's hardware; those of the catalogue have their own.",
        title="Price of traffic between racks",
        json_schema_extra=_here(option="--rack-traffic-price", metavar="USD/GIB"),
    )
    partition_in_bytes_per_second: Rate = Field(
        default=_RULES.in_bytes_per_second,
        description="What one partition may get at peak.",
        title="Produced to a partition",
        json_schema_extra=_here(option="--partition-in"),
    )
    partition_out_bytes_per_second: Rate = Field(
        default=_RULES.out_bytes_per_second,
        description="What one member of a group reads of one partition.",
        title="Read from a partition",
        json_schema_extra=_here(option="--partition-out"),
    )

    def partition_rules(self) -> PartitionRules:
        """Return what partitions are advised by."""
        return PartitionRules(
            in_bytes_per_second=self.partition_in_bytes_per_second,
            out_bytes_per_second=self.partition_out_bytes_per_second,
        )

    def sizing_request(
        self,
        observed: Brokers,
        catalogue: Mapping[str, Shape],
        *,
        observed_vcpu: float,
        throttle_bytes_per_second: float,
        disk_limit_ratio: float,
        rack_rule: RackRule,
        balance: Balance,
        seed: int,
        heap_bytes: float = HEAP_BYTES,
    ) -> SizingRequest:
        """Return what sizing is asked; what other sections of the form say comes as arguments.

        Args:
            observed: today's brokers.
            catalogue: shapes by name.
            observed_vcpu: cores of one broker as the inventory knows them, NaN for not known.
            throttle_bytes_per_second: of moves.
            disk_limit_ratio: how full a disk may be.
            rack_rule: how far replicas are spread.
            balance: what placements make even.
            seed: of every random draw.
            heap_bytes: of the JVM on every broker.

        Raises:
            RequestError: a shape is not in the catalogue.
        """
        return SizingRequest(
            today=self._today(observed, catalogue, observed_vcpu),
            shapes=tuple(
                shape for shape in chosen_shapes(dict(catalogue), self.shapes) if shape.name != self.current_shape
            ),
            broker_counts=self.sizing_broker_counts,
            extra_racks=self.extra_racks,
            replication_factors=self.sizing_replication_factors or (None,),
            limits=Limits(
                network_ratio=self.network_limit_ratio,
                cpu_ratio=self.cpu_limit_ratio,
                disk_ratio=disk_limit_ratio,
                disk_io_ratio=self.disk_io_limit_ratio,
                client_ratio=self.client_limit_ratio,
                lost_ratio=self.lost_limit_ratio,
                tolerance=self.failure_tolerance,
                is_move_included=self.is_move_sized,
                is_catch_up_included=self.is_catch_up_sized,
            ),
            loads=LoadSettings(
                is_read_in_rack=self.is_follower_fetching,
                throttle_bytes_per_second=throttle_bytes_per_second,
                reread_ratio=self.reread_ratio,
                heap_bytes=heap_bytes,
            ),
            estimate=HIGH if self.sized_estimate == "high" else MIDDLE,
            rack_rule=rack_rule,
            balance=balance,
            seed=seed,
        )

    def _today(self, observed: Brokers, catalogue: Mapping[str, Shape], observed_vcpu: float) -> Shape:
        if self.current_shape == TODAY:
            return observed_shape(
                observed,
                vcpu=observed_vcpu if self.broker_vcpu is None else self.broker_vcpu,
                disk_bytes_per_second=math.nan
                if self.broker_disk_bytes_per_second is None
                else self.broker_disk_bytes_per_second,
                usd_per_hour=math.nan if self.broker_usd_per_hour is None else self.broker_usd_per_hour,
                usd_per_gib_between_racks=self.usd_per_gib_between_racks,
                replica_limit=float(self.broker_replica_limit),
            )
        given = {
            "broker_vcpu": "has its own",
            "broker_disk_bytes_per_second": "has its own",
            "broker_usd_per_hour": "has its own",
            "usd_per_gib_between_racks": "has its own",
            "broker_replica_limit": "has its own, or none",
        }
        for name, why in given.items():
            if getattr(self, name) != type(self).model_fields[name].default:
                raise RequestError(
                    f"{name}: {getattr(self, name)!r} is refused: the shape {self.current_shape!r} {why}; "
                    f"leave it out, or list a shape of your own in a file"
                )
        found = chosen_shapes(dict(catalogue), [self.current_shape], field="current_shape", others=(TODAY,))
        if len(found) > 1:
            raise RequestError(
                f"current_shape: {self.current_shape!r} is refused: it stands for {len(found)} sizes, and the brokers "
                f"run on one; name it, such as {found[0].name}"
            )
        return found[0]
