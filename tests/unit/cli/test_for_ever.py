"""Kafka's "for ever", 2^63 - 1, and capacities beyond 2^53 are ordinary values, whatever is asked."""

import dataclasses
import json

import numpy as np
import pyarrow as pa
import pytest

from kafka_capacity.inventory.files import read_snapshot_files, write_snapshot_files
from kafka_capacity.inventory.snapshot import build_snapshot
from kafka_capacity.inventory.tables import TABLES
from kafka_capacity.inventory.validation import validate
from tests.builders import cluster, rows_of, topic, with_rows

LONG_MAX = 2**63 - 1
GROUP = {"group_id": "g", "state": "Stable", "group_type": "consumer", "protocol_type": "consumer"}
LAG = {"group_id": "g", "topic": "orders", "committed_offset": 0, "log_end_offset": 10}


def with_values(raw, value):
    """Return the inventory with this in every column of whole numbers that is no name, position or size of a log."""
    tables = dict(raw.tables)
    for name, spec in TABLES.items():
        for field in spec.schema:
            if field.type == pa.int64() and field.name != "size_bytes":
                column = pa.chunked_array([pa.array([value] * len(tables[name]), pa.int64())])
                tables[name] = tables[name].set_column(spec.schema.get_field_index(field.name), field, column)
    return dataclasses.replace(raw, tables=tables)


def made(value):
    topics = [topic("audit", partitions=4, rf=2), topic("orders", partitions=12)]
    lags = [LAG | {"partition": number} for number in range(12)]
    raw = cluster(topics=topics, hours=24, disk_capacity_bytes=None, groups=[GROUP], lags=lags)
    return with_values(raw, value)


def test_no_limit_is_no_limit_however_it_is_written():
    raw = cluster(hours=0, topics=[topic(name) for name in "abcd"])
    rows = rows_of(raw, "topics")
    for row, value in zip(rows, (-1, LONG_MAX, 2**53 + 1, None), strict=True):
        row |= {"retention_ms": value, "retention_bytes": value}
    topics = build_snapshot(with_rows(raw, "topics", rows)).topics
    np.testing.assert_array_equal(topics.retention_bytes, [np.nan, np.nan, 2.0**53, np.nan])
    # What is not known is Kafka's default: none of bytes, seven days of time.
    np.testing.assert_array_equal(topics.retention_seconds, [np.nan, np.nan, 2.0**53 / 1000, 604_800.0])


@pytest.mark.parametrize("value", [LONG_MAX, LONG_MAX - 1, 2**53 + 1])
def test_every_table_takes_them(value, tmp_path):
    raw = made(value)
    assert not validate(raw).fatal
    snapshot = build_snapshot(raw)
    assert snapshot.log_dirs.total_bytes.tolist() == snapshot.brokers.disk_capacity_bytes.tolist() == [float(value)] * 6
    for file_format in ("parquet", "json"):
        write_snapshot_files(raw, tmp_path / file_format, file_format=file_format)
        read = read_snapshot_files(tmp_path / file_format)
        assert all(read.table(name).equals(raw.table(name)) for name in TABLES)


COMMANDS = {
    "check": ("inventory", "check", "--json"),
    "plan": ("plan", "--broker-counts", "9", "--placer", "fewest-bytes", "--json"),
    "size": ("size", "--json"),
    "doctor": ("doctor", "--json"),
    "failures": ("failures", "--json"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_them_and_writes_json(run, tmp_path, command):
    write_snapshot_files(made(LONG_MAX), tmp_path / "snapshot")
    done = run(*COMMANDS[command], "--snapshot", tmp_path / "snapshot")
    assert done.exit_code == 0, done.output

    def refuse(constant):
        raise AssertionError(constant)

    json.loads(done.stdout, parse_constant=refuse)
