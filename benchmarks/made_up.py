"""Clusters of any size as inventories, and rates of theirs for as many days as one likes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pyarrow as pa

from benchmarks.placement_cases import Case
from kafka_capacity.inventory.chosen_hours import METRICS
from kafka_capacity.inventory.history import keep_history
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.tables import TABLES, empty_table, table_of
from kafka_capacity.kafka.placement import Balance
from kafka_capacity.objects.dataset import PART_ROWS
from kafka_capacity.objects.store import ObjectStore

_DS = datetime(2026, 11, 1, tzinfo=UTC)


def usual_case(partitions: int, brokers: int, *, racks: int) -> Case:
    """Describe a cluster of which no broker comes or goes."""
    return Case(
        partitions=partitions, brokers=brokers, change=0, racks=racks, balance=Balance.BYTES, tolerance_ratio=0.02
    )


def made_up_inventory(case: Case, hours: int) -> RawInventory:
    """Put a case as an inventory, each broker with one disk."""
    problem = case.problem()
    topics = pa.array(problem.partitions.topics, pa.string())
    partition_count, factor = problem.before.shape
    names = pa.DictionaryArray.from_arrays(pa.array(problem.partitions.topic), topics).cast(pa.string())
    of_replica = pa.array(np.repeat(np.arange(partition_count), factor))
    of_hour = pa.array(np.repeat(np.arange(partition_count), hours))
    rng = np.random.default_rng(11)
    mean = np.repeat(problem.bytes_in_bytes_per_second, hours)
    rate = (mean * rng.uniform(0.5, 1.5, len(mean))).astype(np.float32)
    first = _DS - timedelta(hours=hours)
    columns = {
        "brokers": {
            "broker_id": np.arange(case.brokers, dtype=np.int32),
            "rack": [f"rack{broker % case.racks}" for broker in range(case.brokers)],
            "disk_capacity_bytes": np.full(case.brokers, 2.0 * problem.size_bytes.sum() * factor / case.brokers),
            "network_in_bytes_per_second": np.full(case.brokers, 3.0 * mean.sum() / hours * factor / case.brokers),
            "network_out_bytes_per_second": np.full(case.brokers, 6.0 * mean.sum() / hours * factor / case.brokers),
        },
        "topics": {"topic": topics},
        "replicas": {
            "topic": names.take(of_replica),
            "partition": np.repeat(problem.partitions.partition, factor),
            "position": np.tile(np.arange(factor, dtype=np.int32), partition_count),
            "broker_id": problem.before.ravel(),
            "is_leader": np.tile(np.arange(factor) == 0, partition_count),
            "is_in_sync": np.ones(partition_count * factor, dtype=np.bool_),
            "size_bytes": np.repeat(problem.size_bytes, factor),
        },
        "metrics": {
            "topic": names.take(of_hour),
            "partition": np.repeat(problem.partitions.partition, hours),
            "hour": [first + timedelta(hours=hour) for hour in range(hours)] * partition_count,
            "bytes_in_bytes_per_second": rate,
            "bytes_out_bytes_per_second": 2 * rate,
        },
    }
    return RawInventory(
        cluster="made-up",
        ds=_DS.date().isoformat(),
        source="files",
        tables={name: table_of(name, columns_of) for name, columns_of in columns.items()},
    )


def without_metrics(raw: RawInventory) -> RawInventory:
    """Return the inventory with no rates, which are kept elsewhere."""
    return dataclasses.replace(raw, tables={**raw.tables, METRICS: empty_table(METRICS)})


def keep_days(store: ObjectStore, raw: RawInventory, days: int) -> None:
    """Write the history that a profile is made of, a day after another."""
    for number in range(days):
        day = date.fromisoformat(raw.ds) - timedelta(days=number)
        for table in hourly_rates(raw.table(METRICS), (day + timedelta(days=1)).isoformat(), 1):
            keep_history(store, raw.cluster, table, captured=day.isoformat())


def hourly_rates(means: pa.Table, ds: str, days: int) -> Iterator[pa.Table]:
    """Yield the rates of some partitions after others; ``means`` has a row for each."""
    hours = 24 * days
    first = int(datetime.fromisoformat(f"{ds}T00:00+00:00").timestamp()) - 3600 * hours
    rng = np.random.default_rng(3)
    mean = means.column("bytes_in_bytes_per_second").to_numpy()
    phase = rng.uniform(0, 24, len(means))
    at_once = PART_ROWS // hours
    for start in range(0, len(means), at_once):
        some = means.slice(start, at_once).combine_chunks()
        row = np.repeat(np.arange(len(some)), hours)
        hour = np.tile(np.arange(hours), len(some))
        course = 1 + 0.6 * np.sin((hour + phase[start + row // 50 * 50]) * (2 * np.pi / 24))
        rate = (mean[start + row] * course * rng.uniform(0.7, 1.3, len(row))).astype(np.float32)
        of_row = some.select(["topic", "partition"]).take(pa.array(row)).columns
        hours_of_row = pa.array(first + 3600 * hour).cast(TABLES[METRICS].schema.field("hour").type)
        yield pa.Table.from_arrays([*of_row, hours_of_row, rate, 2 * rate], schema=TABLES[METRICS].schema)
