"""What traffic costs brokers, fitted to what an inventory knows of their processors."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kafka_capacity.hardware.cpu import CpuCalibration, calibrate
from kafka_capacity.inventory.column_values import floats
from kafka_capacity.inventory.raw import RawInventory

MEASURES = ("cpu_cores_used", "leader_in_bytes_per_second", "follower_in_bytes_per_second", "out_bytes_per_second")


def observed_costs(raw: RawInventory, *, after: str | None = None) -> CpuCalibration | None:
    """Fit the costs of traffic to the hours, after that day, of brokers of which all is known; ``None`` without any."""
    samples = broker_hours(raw, after=after)
    return calibrate(samples[0], samples[1], samples[2], samples[3]) if samples.shape[1] else None


def broker_hours(raw: RawInventory, *, after: str | None = None) -> NDArray[np.float64]:
    """Return float64[4, N], :data:`MEASURES` of the hours, after that day, of brokers of which all are known."""
    table = raw.table("broker_metrics")
    if after is not None:
        day = datetime.datetime.fromisoformat(after).replace(tzinfo=datetime.UTC) + datetime.timedelta(days=1)
        table = table.filter(pc.greater_equal(table.column("hour"), pa.scalar(day, table.schema.field("hour").type)))
    samples = np.stack([floats(table.column(name)) for name in MEASURES])
    return samples[:, (np.isfinite(samples) & (samples >= 0)).all(axis=0)]


def observed_vcpu(raw: RawInventory) -> float:
    """Return the median of the brokers' cores, NaN where none is known."""
    cores = raw.table("brokers").column("cpu_cores").drop_null().to_numpy()
    return float(np.median(cores)) if len(cores) else float("nan")
