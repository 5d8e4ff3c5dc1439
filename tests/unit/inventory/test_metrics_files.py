"""Histories of metrics as files: which count, and what is said of wrong ones."""

import gzip
import re

import pyarrow.parquet as pq
import pytest

from kafka_capacity.errors import InventoryError, StorageError
from kafka_capacity.inventory.metrics_files import split_address, with_metrics_files
from kafka_capacity.objects.store import LocalStore
from tests.builders import cluster, rows_of
from tests.made_up_metrics import END

HEAD = "topic,partition,hour,bytes_in_bytes_per_second,bytes_out_bytes_per_second\n"
LINE = "orders,{},2026-11-20T{:02}:00:00Z,{},{}\n"


def read(folder, *, name="", days=14, raw=None):
    return with_metrics_files(raw or cluster(hours=0), LocalStore(folder), name=name, end=END, days=days)


def rates(raw):
    return {(row["partition"], row["hour"].hour): row["bytes_in_bytes_per_second"] for row in rows_of(raw, "metrics")}


def test_csv_gzip_and_parquet_are_read_in_the_order_of_their_names(tmp_path):
    (tmp_path / "day=1").mkdir()
    (tmp_path / "a.csv").write_text(HEAD + LINE.format(0, 1, 10, 20) + LINE.format(0, 2, 11, 21))
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress((HEAD + LINE.format(0, 2, 12, 22)).encode()))
    pq.write_table(cluster(hours=1).table("metrics"), tmp_path / "day=1" / "part.parquet")
    (tmp_path / "_SUCCESS").write_text("")
    found = read(tmp_path)
    assert rates(found) == {(0, 1): 10.0, (0, 2): 12.0, **{(p, h): 1000.0 for p, h in rates(cluster(hours=1))}}
    assert not found.remarks


def test_files_count_before_the_snapshot_itself(tmp_path):
    (tmp_path / "a.csv").write_text(HEAD + LINE.format(0, 2, 12, 22))
    pq.write_table(cluster(hours=24).table("metrics"), tmp_path / "0.parquet")
    raw = read(tmp_path, raw=cluster(hours=24))
    assert len(raw.table("metrics")) >= 24 * 6
    assert rates(raw)[0, 2] == 12.0


def test_metrics_of_brokers_are_told_by_the_name(tmp_path):
    (tmp_path / "broker_metrics.csv").write_text("broker_id,hour,cpu_cores_used\n1,2026-11-20T01:00:00Z,2.5\n")
    (row,) = rows_of(read(tmp_path), "broker_metrics")
    assert (row["broker_id"], row["cpu_cores_used"], row["out_bytes_per_second"]) == (1, 2.5, None)


def test_hours_outside_of_the_days_are_left_out_and_that_is_said(tmp_path):
    (tmp_path / "a.csv").write_text(
        HEAD + LINE.format(0, 1, 10, 20) + "orders,0,2026-11-18T01:00:00Z,1,1\n" + "orders,0,2026-11-21T00:00:00Z,1,1\n"
    )
    raw = read(tmp_path, days=2)
    assert rates(raw) == {(0, 1): 10.0}
    (remark,) = raw.remarks
    assert remark.message.startswith("2 rows of the files at ")


def test_a_folder_without_metrics_is_a_warning(tmp_path):
    (remark,) = read(tmp_path).remarks
    assert (remark.code, remark.severity) == ("no_metrics_in_files", "warning")


def test_every_mistake_is_named_with_its_file(tmp_path):
    (tmp_path / "a.csv").write_text("topic,partition,hour,rate\norders,0,2026-11-20T01:00:00Z,1\n")
    (tmp_path / "b.csv").write_text(HEAD + "orders,x,2026-11-20T01:00:00Z,1,1\n")
    (tmp_path / "c.parquet").write_text("no")
    (tmp_path / "d.csv.gz").write_text("no")
    with pytest.raises(InventoryError) as found:
        read(tmp_path)
    lines = str(found.value).splitlines()
    assert [re.split("[:,] ", line)[0].rpartition("/")[2] for line in lines] == [
        "a.csv",
        "b.csv",
        "c.parquet",
        "d.csv.gz",
    ]
    assert (
        "there is no column 'rate'; remove it or correct its name, the columns are topic, partition, hour" in lines[0]
    )
    assert ", row 1, partition: 'x' is no number; write it as int32" in lines[1]


@pytest.mark.parametrize(
    ("name", "text", "mistake"),
    [
        (
            "a.csv",
            HEAD + LINE.format(0, 1, 10, 20) + LINE.format(1, 1, 11, 21) + LINE.format(0, 1, 12, 22) * 2,
            "a.csv, row 3, hour: 2026-11-20T01:00:00Z is there already in this file; keep one row for each hour "
            "(and 1 more row)",
        ),
        (
            "a.csv",
            HEAD + LINE.format(0, 1, 10, 20) + "orders,0,2026-11-20T01:30:00Z,1,1\n",
            "a.csv, row 2, hour: 2026-11-20T01:30:00Z is not the start of an hour; write a row for each whole hour",
        ),
        (
            "a.csv",
            HEAD + LINE.format(0, 1, 10, 20) + "orders,0,2026-13-20T01:00:00Z,1,1\n",
            "a.csv, row 2, hour: '2026-13-20T01:00:00Z' is no day or time; write it as 2026-11-20, or as "
            "2026-11-20T13:00:00Z",
        ),
        (
            "broker_metrics.csv",
            "broker_id,hour,cpu_cores_used\n1,2026-11-20T01:00:00Z,2\n2,2026-11-20T01:00:00Z,2\n"
            "1,2026-11-20T01:00:00Z,3\n",
            "broker_metrics.csv, row 3, hour: 2026-11-20T01:00:00Z is there already in this file; keep one row for "
            "each hour",
        ),
    ],
)
def test_an_hour_that_is_no_hour_or_twice_in_one_file_is_named_with_its_row(tmp_path, name, text, mistake):
    (tmp_path / name).write_text(text)
    with pytest.raises(InventoryError) as found:
        read(tmp_path)
    (line,) = str(found.value).splitlines()
    assert line.endswith(f"/{mistake}")


def test_one_file_by_its_address(tmp_path):
    (tmp_path / "a.csv").write_text(HEAD + LINE.format(0, 1, 10, 20))
    (tmp_path / "b.csv").write_text(HEAD + LINE.format(0, 1, 11, 21))
    assert rates(read(tmp_path, name="a.csv")) == {(0, 1): 10.0}
    with pytest.raises(StorageError, match="there is no file"):
        read(tmp_path, name="c.csv")


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("s3://b/p/m.csv", ("s3://b/p", "m.csv")),
        ("s3://b/p", ("s3://b/p", "")),
        ("m.parquet", (".", "m.parquet")),
        ("/m.csv.gz", ("/", "m.csv.gz")),
    ],
)
def test_addresses_of_files_and_folders(address, parts):
    assert split_address(address) == parts
