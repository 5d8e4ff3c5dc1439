"""The hours of brokers: whole hours, each once, of brokers that are there, values that can be."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from kafka_capacity.health.problem import Problem
from kafka_capacity.inventory.column_values import floats, ints
from kafka_capacity.inventory.findings import counted, fatal, some, warning

ABSURD_CORES = 4096.0  # no broker has so many cores


def check_broker_metrics(metrics: pa.Table, brokers: pa.Table) -> Iterator[Problem]:
    """Check the table of broker metrics against the brokers of the inventory."""
    if not len(metrics):
        return
    broker, seconds = ints(metrics.column("broker_id")), ints(metrics.column("hour").cast("int64"))
    odd = int((seconds % 3600 != 0).sum())
    if odd:
        yield fatal(
            "broker_hour_not_whole",
            "broker_metrics.hour",
            f"{counted(odd, 'row')} whose hour is not the start of an hour; give one row for each hour of a broker",
        )
    order = np.lexsort((seconds, broker))
    is_repeated = (np.diff(broker[order]) == 0) & (np.diff(seconds[order]) == 0)
    if is_repeated.any():
        twice = np.unique(broker[order][1:][is_repeated])
        yield fatal(
            "duplicate_broker_hour",
            "broker_metrics.hour",
            f"{counted(int(is_repeated.sum()), 'row')} for an hour that is there already, of "
            f"{counted(len(twice), 'broker')} ({some(twice, len(twice))}); give one row for each hour",
        )
    unknown = np.setdiff1d(broker, ints(brokers.column("broker_id")))
    if len(unknown):
        yield warning(
            "metrics_of_unlisted_broker",
            "broker_metrics.broker_id",
            f"metrics of {counted(len(unknown), 'broker')} that the inventory lacks ({some(unknown, len(unknown))}); "
            "they still count as samples of processors",
        )
    yield from _check_values(metrics)


def _check_values(metrics: pa.Table) -> Iterator[Problem]:
    for name in metrics.schema.names[2:]:
        column = metrics.column(name)
        value = floats(column)
        unusable = int(((value < 0) | ~np.isfinite(value)).sum()) - column.null_count
        if unusable:
            yield warning(
                "unusable_broker_metric",
                f"broker_metrics.{name}",
                f"{counted(unusable, 'value')} of {name} negative, infinite or not a number; they are left out",
            )
    cores = floats(metrics.column("cpu_cores_used"))
    absurd = int((np.isfinite(cores) & (cores > ABSURD_CORES)).sum())
    if absurd:
        yield warning(
            "absurd_cores",
            "broker_metrics.cpu_cores_used",
            f"{counted(absurd, 'value')} of cpu_cores_used above {ABSURD_CORES:g}; it is cores, not percent",
        )
