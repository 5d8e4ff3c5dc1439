"""What traffic costs brokers, fitted to what an inventory knows of their processors."""

from __future__ import annotations

import numpy as np

from kafka_capacity.inventory.column_values import floats
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.sizing.capacity.cpu import CpuCalibration, calibrate

MEASURES = ("cpu_cores_used", "leader_in_bytes_per_second", "follower_in_bytes_per_second", "out_bytes_per_second")


def observed_costs(raw: RawInventory) -> CpuCalibration | None:
    """Fit the costs of traffic to the hours of brokers of which everything is known.

    Returns:
        What came of it; ``None`` where the inventory has no such hour.
    """
    columns = [floats(raw.table("broker_metrics").column(name)) for name in MEASURES]
    samples = np.stack(columns)
    samples = samples[:, (np.isfinite(samples) & (samples >= 0)).all(axis=0)]
    return calibrate(samples[0], samples[1], samples[2], samples[3]) if samples.shape[1] else None
