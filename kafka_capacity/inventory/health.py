"""The health of a cluster as its inventory shows it, before anybody plans with limits or hardware of their own."""

from __future__ import annotations

from kafka_capacity.hardware.cpu import STATED
from kafka_capacity.hardware.shapes import hardware, observed_shape
from kafka_capacity.health.check import check_health
from kafka_capacity.health.cluster_view import ClusterView
from kafka_capacity.health.problem import Problems
from kafka_capacity.inventory.broker_costs import observed_costs, observed_vcpu
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.sizing_workload import group_lags, hourly_traffic
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.inventory.validation import validate


def inventory_problems(raw: RawInventory) -> Problems:
    """Return what is wrong with an inventory and, where it is sound enough to tell, with its cluster.

    Limits are the defaults; processors are judged by their own hours where the inventory has them. What the loss of
    a rack would do, and controllers, take more than an inventory: ``doctor`` and a plan look at them.
    """
    found = validate(raw)
    if found.fatal:
        return found
    snapshot = build_snapshot(raw)
    load = partition_load(raw, snapshot)
    measured = observed_costs(raw)
    shape = observed_shape(snapshot.brokers, vcpu=observed_vcpu(raw))
    view = ClusterView.of(
        snapshot,
        load,
        traffic=hourly_traffic(raw, snapshot, load),
        has=hardware(shape, snapshot.brokers),
        costs=STATED if measured is None else measured.costs,
        lags=group_lags(raw, snapshot, load),
    )
    return check_health(view, found)
