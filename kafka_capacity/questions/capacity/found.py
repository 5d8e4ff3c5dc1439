"""What is to be sized of an inventory, what is expected of it, and what was asked."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from kafka_capacity.demand.expectation import DemandExpectation, expect_demand
from kafka_capacity.demand.settings import DemandSettings
from kafka_capacity.hardware.cpu import STATED, CpuCalibration, on_cores
from kafka_capacity.hardware.shape_catalogue import shapes_beside
from kafka_capacity.hardware.shapes import DiskKind
from kafka_capacity.inventory.sizing_workload import log_limits, observed_costs, sizing_workload
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.proposal.grid import BrokerChanges
from kafka_capacity.proposal.log_dirs import fullest_dir_ratio
from kafka_capacity.questions.answer import unknown_traffic
from kafka_capacity.questions.capacity.options import SizingInputs, SizingRequest
from kafka_capacity.questions.question import PlanContext


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SizingSetup:
    """What is to be sized, what is expected of it, what was asked, and what came of samples of processors, if any."""

    inputs: SizingInputs
    expectation: DemandExpectation
    asked: PlanContext
    cpu: CpuCalibration | None = None


def sizing_setup(asked: PlanContext) -> SizingSetup:
    """Put together what sizing needs.

    Raises:
        RequestError: a planned event or a shape cannot be.
    """
    basis = asked.basis
    settings: DemandSettings = asked.parameters.demand_settings()
    limits = log_limits(basis.raw, basis.snapshot)
    expectation = expect_demand(basis.snapshot, basis.load, settings, basis.history, limits)
    request, cpu = sizing_request_of(asked)
    workload = sizing_workload(basis.raw, basis.snapshot, basis.load, expectation.outlook, basis.traffic, basis.groups)
    inputs = SizingInputs.of(
        basis.snapshot,
        workload,
        request,
        named=_named_brokers(asked),
        unknown_traffic=unknown_traffic(basis.unknown_traffic),
    )
    return SizingSetup(inputs=inputs, expectation=expectation, asked=asked, cpu=cpu)


def _named_brokers(asked: PlanContext) -> Brokers | None:
    """Return the brokers that there are once those that were named have gone or been replaced; ``None`` for none."""
    if "brokers" in asked.request:
        return asked.scenarios[0].target
    changes: BrokerChanges = asked.parameters.grid().broker_changes
    return changes.apply(asked.basis.snapshot.brokers) if changes else None


def sizing_request_of(asked: PlanContext) -> tuple[SizingRequest, CpuCalibration | None]:
    """Return what sizing is asked of an inventory, and what its processors are taken to do."""
    parameters, raw = asked.parameters, asked.basis.raw
    catalogue = shapes_beside(asked.own_shapes, asked.own_shapes_name)
    request: SizingRequest = parameters.sizing_request(asked.basis.snapshot.brokers, catalogue)
    cpu = observed_costs(raw) if asked.cpu is None else asked.cpu
    share = fullest_dir_ratio(asked.basis.snapshot)
    shapes = (dataclasses.replace(request.today, fullest_volume_ratio=share), *request.shapes)
    speed = request.today.core_speed_ratio
    costs = on_cores(STATED, speed)
    if cpu is not None and cpu.is_used:
        # Measured figures of processors judge beside a provider's quotas, but with managed disks: brokers there copy
        # nothing, so that what was measured is another thing.
        shapes = tuple(
            shape if shape.disk_kind is DiskKind.MANAGED else dataclasses.replace(shape, has_quotas=False)
            for shape in shapes
        )
        # What was measured is of today's cores: where nobody says how fast these are, all cores count alike.
        costs = dataclasses.replace(cpu.costs, core_speed_ratio=speed)
    loads = dataclasses.replace(request.loads, cpu=costs)
    return dataclasses.replace(request, today=shapes[0], shapes=shapes[1:], loads=loads), cpu
