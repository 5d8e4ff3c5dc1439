"""What tasks of the profile hand to each other; the job itself is in tests/spark."""

from __future__ import annotations

import pyarrow as pa

from kafka_capacity.inventory.history import by_day
from kafka_capacity.plan.packing import unpack_table
from kafka_capacity.plan.profile_rows import profile_tables
from kafka_capacity.plan.traffic_profile import PARTITIONS, TOTALS, Carriers, describe_batch
from spark_jobs.load_profile import _add, _describe
from tests.builders import cluster, topic


def test_a_cluster_without_groups_has_a_profile():
    raw = cluster(topics=[topic("orders", partitions=3)], hours=48)
    carriers = Carriers(
        replicas=raw.table("replicas").select(["topic", "partition", "broker_id", "is_leader"]),
        reads=raw.table("lags").select(["topic", "partition", "group_id"]).slice(0, 0),
        end=1,
    )
    history = pa.concat_tables(by_day(raw.table("metrics")).values())
    rows = pa.Table.from_batches(_add(_describe(carriers, history.to_batches()))).to_pylist()
    found = {row["table_name"]: unpack_table(row["data"]) for row in rows}
    assert set(found) == {PARTITIONS, *TOTALS}
    assert len(found["groups"]) == 0
    expected = profile_tables("made-up", **describe_batch(carriers, history))
    assert profile_tables("made-up", **found) == expected
