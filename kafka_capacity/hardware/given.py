"""What the brokers of a cluster run on, and how far it may be used."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_capacity.hardware.cpu import CpuCosts
from kafka_capacity.hardware.limits import Limits
from kafka_capacity.hardware.shapes import Shape


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GivenHardware:
    """What a plan takes today's brokers to be, and how far each resource may be used."""

    shape: Shape
    costs: CpuCosts
    limits: Limits
    is_read_in_rack: bool
