"""What is to be sized of an inventory, what is expected of it, and what was asked."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import pyarrow as pa

from kafka_capacity.demand.expectation import DemandExpectation, expect_demand
from kafka_capacity.hardware.cpu import CpuCalibration
from kafka_capacity.hardware.shape_catalogue import shapes_beside
from kafka_capacity.inventory.broker_costs import observed_costs, observed_vcpu
from kafka_capacity.inventory.daily_history import topic_history
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.sizing_workload import sizing_workload
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.plan.pinned import OWN_SHAPES
from kafka_capacity.plan.request import PlanRequest
from kafka_capacity.questions.capacity.options import SizingRequest
from kafka_capacity.questions.capacity.simulate import SizingInputs, sizing_inputs


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FoundSizing:
    """What is to be sized, what is expected of it, what was asked, and what came of samples of processors, if any."""

    inputs: SizingInputs
    expectation: DemandExpectation
    asked: PlanRequest
    cpu: CpuCalibration | None = None


def find_sizing(
    raw: RawInventory,
    snapshot: Snapshot,
    traffic: PartitionLoad,
    asked: PlanRequest,
    *,
    own_shapes: str = "",
    own_shapes_name: str = OWN_SHAPES,
    cpu: CpuCalibration | None = None,
    profile_days: pa.Table | None = None,
) -> FoundSizing:
    """Put together what sizing needs.

    Args:
        raw: the inventory.
        snapshot: the same as arrays.
        traffic: of its partitions.
        asked: the parameters.
        own_shapes: the deployment's own shapes and prices, as they were pinned.
        own_shapes_name: of where they are from, for messages.
        cpu: what came of samples of processors that were given; else the inventory's own count, where it has any.
        profile_days: the table of that name of the load profile, where there is one.

    Raises:
        RequestError: a planned event or a shape cannot be.
    """
    expectation = expect_demand(snapshot, traffic, asked.demand_settings(), topic_history(raw, profile_days))
    request, cpu = asked_sizing(raw, snapshot, asked, own_shapes=own_shapes, own_shapes_name=own_shapes_name, cpu=cpu)
    workload = sizing_workload(raw, snapshot, traffic, expectation.outlook)
    inputs = sizing_inputs(snapshot, workload, request)
    return FoundSizing(inputs=inputs, expectation=expectation, asked=asked, cpu=cpu)


def asked_sizing(
    raw: RawInventory,
    snapshot: Snapshot,
    asked: PlanRequest,
    *,
    own_shapes: str = "",
    own_shapes_name: str = OWN_SHAPES,
    cpu: CpuCalibration | None = None,
) -> tuple[SizingRequest, CpuCalibration | None]:
    """Return what sizing is asked of an inventory, and what its processors are taken to do; see :func:`find_sizing`."""
    request = asked.sizing_request(
        snapshot.brokers,
        shapes_beside(own_shapes, own_shapes_name),
        observed_vcpu=observed_vcpu(raw),
        throttle_bytes_per_second=asked.throttle_bytes_per_second,
        disk_limit_ratio=asked.disk_limit_ratio,
        rack_rule=asked.rack_rule,
        balance=asked.balance,
        seed=asked.seed,
        heap_bytes=float(asked.broker_heap_bytes),
    )
    cpu = observed_costs(raw) if cpu is None else cpu
    if cpu is not None:
        request = dataclasses.replace(request, loads=dataclasses.replace(request.loads, cpu=cpu.costs))
    return request, cpu
