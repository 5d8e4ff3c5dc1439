"""What others would say: the rules of Amazon's sizing script for MSK, and a plain calculator with headroom.

Neither knows partitions, placement, growth or today's cluster: all they take is a few totals. They are here so that
their answers can be set beside ours (:mod:`kafka_capacity.questions.capacity.reconcile`).

Amazon's rules, as in ``managing-amazon-msk/scripts/msk_sizing.py`` of github.com/aws/agent-toolkit-for-aws
(Apache-2.0), without its provisioned and tiered storage:

* A Standard broker takes in half of ``min(EBS / 6.5, NIC / (1.5 × fan-out + 5.7))``; an Express broker three quarters
  of its ingress. The replication factor plays no part in either.
* Disks are filled to a half, 16 TiB a broker; a broker holds the recommended number of replicas.
* Brokers come in threes, one a zone.

The plain calculator: network in of ``RF × in`` and out of ``(fan-out + RF - 1) × in``, with 40 % headroom, over the
network of a broker; the headroom is that of Netflix's Kafka model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from kafka_capacity.hardware.limits import GIB
from kafka_capacity.hardware.rack_traffic import HOURS_A_MONTH
from kafka_capacity.hardware.shapes import DiskKind, Shape

_ZONES = 3
_EBS_COST, _NETWORK_COST, _FAN_OUT_COST = 6.5, 5.7, 1.5
STANDARD_RATIO, EXPRESS_RATIO = 0.5, 0.75  # how much of a broker's throughput the script uses
SPACE_RATIO = 0.5  # how far it fills disks
_LARGEST_DISK_BYTES = 16_384 * GIB
PLAIN_HEADROOM_RATIO = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """All that such calculators take; replication and retention are those of a produced byte, on average."""

    mean_in_bytes_per_second: float
    peak_in_bytes_per_second: float
    fan_out: float
    replication_factor: float
    retention_seconds: float
    replicas: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CalculatorAnswer:
    """What a calculator says: brokers, those that each constraint asks for before rounding, dollars (NaN for none)."""

    brokers: int
    by_constraint: dict[str, float]
    usd_per_month: float


def msk_answer(shape: Shape, totals: Totals) -> CalculatorAnswer | None:
    """Return what Amazon's script says; ``None`` where it knows nothing of such a shape."""
    if shape.disk_kind is DiskKind.MANAGED:
        ingress = shape.client_in_bytes_per_second * EXPRESS_RATIO
    else:
        line = min(
            shape.disk_bytes_per_second / _EBS_COST,
            shape.network_bytes_per_second / (totals.fan_out * _FAN_OUT_COST + _NETWORK_COST),
        )
        ingress = line * STANDARD_RATIO
    if math.isnan(ingress) or math.isnan(shape.replica_limit) or shape.disk_kind is DiskKind.OWN:
        return None
    stored = totals.mean_in_bytes_per_second * totals.retention_seconds
    held = stored * totals.replication_factor / SPACE_RATIO
    needs = {"throughput": totals.peak_in_bytes_per_second / ingress, "replicas": totals.replicas / shape.replica_limit}
    if shape.disk_kind is DiskKind.ATTACHED:
        needs["disk"] = held / _LARGEST_DISK_BYTES
    brokers = whole_racks(max(needs.values()), _ZONES)
    month = totals.mean_in_bytes_per_second * HOURS_A_MONTH * 3600 / GIB
    usd = brokers * shape.usd_per_hour * HOURS_A_MONTH + month * shape.usd_per_gib_between_racks * 2 / 3
    if shape.volume is not None:
        usd += held / GIB * shape.volume.usd_per_gib_month
    else:
        usd += stored / GIB * shape.usd_per_gib_month + month * shape.usd_per_gib_in
    return CalculatorAnswer(brokers=brokers, by_constraint=needs, usd_per_month=usd)


def plain_answer(shape: Shape, totals: Totals) -> CalculatorAnswer | None:
    """Return what the plain calculator says; ``None`` where the network is not known."""
    if math.isnan(shape.network_bytes_per_second):
        return None
    times = max(totals.replication_factor, totals.fan_out + totals.replication_factor - 1)
    need = totals.peak_in_bytes_per_second * times * (1 + PLAIN_HEADROOM_RATIO) / shape.network_bytes_per_second
    return CalculatorAnswer(
        brokers=max(1, math.ceil(need - 1e-9)), by_constraint={"network": need}, usd_per_month=math.nan
    )


def whole_racks(brokers: float, racks: int) -> int:
    """Round up to the same number in every rack, at least one.

    >>> whole_racks(38.25, 3), whole_racks(39.0, 3), whole_racks(0.2, 3)
    (39, 39, 3)
    """
    return max(1, math.ceil(brokers / racks - 1e-9)) * racks
