from __future__ import annotations

import datetime
import json
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_capacity.errors import InventoryError
from kafka_capacity.health.problem import warning
from kafka_capacity.inventory.files import read_snapshot_files, write_snapshot_files
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.tables import TABLES
from kafka_capacity.objects.store import open_store
from tests.builders import cluster

UTC = datetime.UTC
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def values(kind):
    """Any value that a column of this type can hold."""
    if pa.types.is_string(kind):
        return texts
    if pa.types.is_boolean(kind):
        return st.booleans()
    if pa.types.is_integer(kind):
        limit = 2 ** (kind.bit_width - 1)
        return st.integers(-limit, limit - 1)
    if pa.types.is_floating(kind):
        return st.floats(allow_nan=False, allow_infinity=False, width=kind.bit_width)
    if pa.types.is_timestamp(kind):
        return st.datetimes(datetime.datetime(1990, 1, 1), datetime.datetime(2100, 1, 1)).map(  # noqa: DTZ001 - hypothesis wants bounds without a zone
            lambda moment: moment.replace(microsecond=0, tzinfo=UTC)
        )
    if pa.types.is_list(kind):
        return st.lists(values(kind.value_type), max_size=3)
    return st.fixed_dictionaries({kind.field(i).name: values(kind.field(i).type) for i in range(kind.num_fields)})


@st.composite
def tables(draw, name):
    schema = TABLES[name].schema
    row = {f.name: values(f.type) if not f.nullable else st.none() | values(f.type) for f in schema}
    return pa.Table.from_pylist(draw(st.lists(st.fixed_dictionaries(row), max_size=3)), schema=schema)


inventories = st.builds(
    RawInventory,
    cluster=texts.filter(bool),
    ds=st.dates().map(str),
    captured_at=st.none() | st.just("2026-11-20T03:00:00+00:00"),
    source=st.just("files"),
    kafka_version=st.none() | texts,
    tables=st.fixed_dictionaries({name: tables(name) for name in TABLES}),
    remarks=st.sampled_from([(), (warning("odd", "replicas", "something odd; look at it"),)]),
)


def same(one, other):
    facts = ("cluster", "ds", "captured_at", "source", "kafka_version", "remarks")
    return all(getattr(one, fact) == getattr(other, fact) for fact in facts) and all(
        one.table(name).equals(other.table(name)) for name in TABLES
    )


@given(raw=inventories)
@settings(max_examples=40, deadline=None)
def test_json_and_parquet_give_back_what_was_written(tmp_path_factory, raw):
    folder = tmp_path_factory.mktemp("snapshot")
    for file_format in ("json", "parquet", "json"):
        write_snapshot_files(raw, folder, file_format=file_format)
        assert same(read_snapshot_files(folder), raw)


@pytest.fixture
def folder(tmp_path):
    write_snapshot_files(cluster(), tmp_path, file_format="json")
    return tmp_path


def fails(folder):
    with pytest.raises(InventoryError) as caught:
        read_snapshot_files(folder)
    return str(caught.value).replace(f"{folder}/", "")


def test_the_same_inventory_gives_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        write_snapshot_files(cluster(), tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == [
        "brokers.parquet",
        "cluster.json",
        "log_dirs.parquet",
        "metrics.parquet",
        "replicas.parquet",
        "topics.parquet",
    ]
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_store_is_read_like_a_folder(folder):
    assert same(read_snapshot_files(open_store(str(folder))), read_snapshot_files(str(folder)))


def test_json_is_one_row_a_line_without_nulls(folder):
    assert (folder / "topics.json").read_text() == (
        '[\n{"topic": "orders", "is_internal": false, "min_insync_replicas": 2, "retention_bytes": -1, '
        '"retention_ms": 604800000, "segment_bytes": 1073741824, "cleanup_policy": "delete", '
        '"unclean_leader_election_enable": false}\n]\n'
    )


def test_a_rate_that_is_not_a_number_is_null_in_json_and_an_infinite_one_refused(tmp_path):
    raw = cluster(hours=2)
    rows = raw.table("metrics").to_pylist()
    rows[0]["bytes_in_bytes_per_second"] = float("nan")
    raw = replace(raw, tables={**raw.tables, "metrics": pa.Table.from_pylist(rows, schema=TABLES["metrics"].schema)})
    write_snapshot_files(raw, tmp_path, file_format="json")
    assert read_snapshot_files(tmp_path).table("metrics").to_pylist()[0]["bytes_in_bytes_per_second"] is None
    rows[1]["bytes_out_bytes_per_second"] = float("inf")
    raw = replace(raw, tables={**raw.tables, "metrics": pa.Table.from_pylist(rows, schema=TABLES["metrics"].schema)})
    with pytest.raises(InventoryError) as caught:
        write_snapshot_files(raw, tmp_path, file_format="json")
    assert str(caught.value) == (
        "table 'metrics', row 2, bytes_out_bytes_per_second: inf cannot be written as JSON; write Parquet"
    )
    assert read_snapshot_files(tmp_path).table("metrics").num_rows == len(rows)


def test_a_folder_without_cluster_json_is_no_snapshot(folder):
    (folder / "cluster.json").unlink()
    assert fails(folder) == "cluster.json is missing; a snapshot is a folder with cluster.json and its tables"


def test_a_newer_version_is_refused_by_its_number(folder):
    (folder / "cluster.json").write_text('{"schema_version": 2, "who_knows": true}')
    assert fails(folder) == "cluster.json: schema_version is 2, this release reads 1; use a newer kafka-capacity"


def test_an_unknown_old_version_is_refused(folder):
    (folder / "cluster.json").write_text('{"schema_version": 0}')
    assert fails(folder) == "cluster.json: schema_version is 0, this release reads 1; export the snapshot again"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cluster.json: invalid JSON: EOF while parsing an object at line 1 column 1; fix the JSON"),
        ("[]", "cluster.json: the document is []: write an object, {…}"),
        ('{"schema_version": "1"}', "cluster.json: schema_version is '1': write a whole number"),
        (
            '{"schema_version": 1, "ds": "today", "captured_at": "2026-11-20T03:00:00+02:00", "colour": 1}',
            "cluster.json: cluster is missing; add it\ncluster.json: ds is 'today': write the day as "
            "YYYY-MM-DD\ncluster.json: captured_at is '2026-11-20T03:00:00+02:00': write the time as ISO 8601 in "
            "UTC, such as 2026-11-20T03:00:00Z\ncluster.json: colour is 1: no such field; remove it or correct its "
            "name",
        ),
        (
            '{"schema_version": 1, "cluster": "c", "ds": "2026-11-20", "remarks": [{"code": "x"}]}',
            "cluster.json: remarks is [{'code': 'x'}]: a problem has severity, code, where and message",
        ),
    ],
)
def test_a_wrong_cluster_json_is_refused(folder, text, message):
    (folder / "cluster.json").write_text(text)
    assert fails(folder) == message


def test_wrong_files_are_all_named_at_once(folder):
    (folder / "brokers.json").unlink()
    (folder / "replica.json").write_text("[]")
    (folder / "topics.parquet").write_bytes(b"no")
    (folder / "README.md").write_text("kept apart")
    assert fails(folder) == (
        "replica.json: is not a table of a snapshot; the tables are brokers, log_dirs, topics, replicas, groups, "
        "members, lags, metrics, broker_metrics, producers, quorum_replicas, history\n"
        "topics.parquet: the table is given by "
        "topics.json too; remove one of the two\nbrokers.parquet, .json or .csv is missing; every snapshot has the "
        "table 'brokers'"
    )


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"broker_id": 1}, "brokers.json: holds an object; write a list of rows, [{…}, …]"),
        (
            [{"broker_id": 1, "rac": "a"}, 7],
            "brokers.json, row 1: there is no column 'rac'; remove it or correct its name, the columns are "
            "broker_id, rack, host, port, is_fenced, is_controller, disk_capacity_bytes, "
            "network_in_bytes_per_second, network_out_bytes_per_second, cpu_cores, memory_bytes\nbrokers.json, row "
            "2: is a number; write an object of columns",
        ),
        (
            [{"broker_id": "1"}, {"broker_id": 2**31}, {"rack": "a"}, {"broker_id": 4, "rack": 5, "is_fenced": 1}],
            "brokers.json, row 1, broker_id: '1' is not a whole number from -2147483648 to 2147483647\n"
            "brokers.json, row 2, broker_id: 2147483648 is not a whole number from -2147483648 to 2147483647\n"
            "brokers.json, row 3, broker_id: null; give it a value, every row needs one\n"
            "brokers.json, row 4, rack: 5 is not a string\n"
            "brokers.json, row 4, is_fenced: 1 is not true or false",
        ),
        (
            [{"broker_id": 1, "rack": "\ud800", "cpu_cores": True, "disk_capacity_bytes": 10**400}],
            "brokers.json, row 1, rack: '\\ud800' is not a string\n"
            f"brokers.json, row 1, disk_capacity_bytes: {10**400} is not a number\n"
            "brokers.json, row 1, cpu_cores: True is not a number",
        ),
    ],
)
def test_a_wrong_json_table_is_refused_row_by_row(folder, rows, message):
    (folder / "brokers.json").write_text(json.dumps(rows))
    assert fails(folder) == message


def test_json_that_is_none_is_refused(folder):
    (folder / "brokers.json").write_text('[{"broker_id": NaN}]')
    assert fails(folder) == "brokers.json: is not JSON (NaN is not a JSON number); fix it or write Parquet"


def test_nested_and_time_columns_are_checked_too(folder):
    (folder / "members.json").write_text(
        '[{"group_id": "g", "member_id": "m", "subscribed": [1], "assigned": [{"topic": "t"}]}]'
    )
    (folder / "metrics.json").write_text('[{"topic": "t", "partition": 0, "hour": "2026-11-20T03:00:00"}]')
    assert fails(folder) == (
        "members.json, row 1, subscribed: [1] is not a list of strings\nmembers.json, row 1, assigned: [{'topic': "
        '\'t\'}] is not a list of {"topic": text, "partition": number}\nmetrics.json, row 1, hour: '
        "'2026-11-20T03:00:00' is not a whole second in UTC, such as 2026-11-20T03:00:00Z"
    )


def write_parquet(folder, name, columns):
    (folder / f"{name}.json").unlink()
    pq.write_table(pa.table(columns), folder / f"{name}.parquet")


@pytest.mark.parametrize("file_format", ["parquet", "json"])
def test_a_snapshot_from_before_a_column_was_added_has_nulls_there(tmp_path, file_format):
    old = cluster(
        groups=[{"group_id": "g"}],
        lags=[{"group_id": "g", "topic": "orders", "partition": 0, "lag_records": 4}],
    )
    for name, column in (("brokers", "memory_bytes"), ("lags", "log_start_offset")):
        rows = [{key: value for key, value in row.items() if key != column} for row in old.table(name).to_pylist()]
        old = replace(old, tables=dict(old.tables) | {name: pa.Table.from_pylist(rows, schema=TABLES[name].schema)})
    write_snapshot_files(old, tmp_path, file_format=file_format)
    if file_format == "parquet":
        for name, column in (("brokers", "memory_bytes"), ("lags", "log_start_offset")):
            table = pq.read_table(tmp_path / f"{name}.parquet")
            assert column in table.column_names
            pq.write_table(table.drop_columns([column]), tmp_path / f"{name}.parquet")

    back = read_snapshot_files(tmp_path)

    assert same(back, old)
    assert back.table("brokers").column("memory_bytes").null_count == 6
    assert back.table("lags").column("log_start_offset").null_count == 1


def test_parquet_as_pandas_and_spark_write_it_is_taken(folder):
    write_parquet(
        folder,
        "topics",
        {
            "topic": pa.array(["orders", "orders2"]).dictionary_encode(),
            "min_insync_replicas": pa.array([2.0, None]),
            "retention_ms": pa.array([1, 2], pa.int32()),
            "cleanup_policy": pa.array(["delete", None], pa.large_string()),
        },
    )
    write_parquet(
        folder,
        "metrics",
        {
            "topic": ["orders"],
            "partition": [0],
            "hour": pa.array([datetime.datetime(2026, 11, 20, 3, tzinfo=UTC)], pa.timestamp("us", tz="UTC")),
            "bytes_in_bytes_per_second": [1.5],
        },
    )
    raw = read_snapshot_files(folder)
    assert raw.table("topics").column("min_insync_replicas").to_pylist() == [2, None]
    assert raw.table("topics").schema == TABLES["topics"].schema
    assert raw.table("metrics").column("bytes_out_bytes_per_second").to_pylist() == [None]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"topic": ["t"], "colour": ["red"]},
            "topics.parquet: there is no column 'colour'; remove it or correct its name, the columns are topic, "
            "topic_id, is_internal, min_insync_replicas, retention_bytes, retention_ms, segment_bytes, "
            "cleanup_policy, unclean_leader_election_enable, compression_type, remote_storage_enable, "
            "local_retention_ms, remote_copy_lag_ms, remote_copy_lag_bytes, remote_bytes",
        ),
        ({"topic_id": ["x"]}, "topics.parquet: column 'topic' is missing; add it as string"),
        (
            {"topic": ["t"], "min_insync_replicas": ["2"], "is_internal": [0]},
            "topics.parquet: column 'is_internal' is int64; write it as bool\n"
            "topics.parquet: column 'min_insync_replicas' is string; write it as int32",
        ),
        ({"topic": ["t", None]}, "topics.parquet, row 2, topic: null; give it a value, every row needs one"),
        (
            {"topic": ["a", "b", "c", "d"], "min_insync_replicas": [1, 2, 5_000_000_000, 6_000_000_000]},
            "topics.parquet, row 3, min_insync_replicas: 5000000000 does not fit int32; fix the value",
        ),
        (
            {"topic": ["a", "b"], "retention_ms": [1.0, 1.5]},
            "topics.parquet, row 2, retention_ms: 1.5 does not fit int64; fix the value",
        ),
    ],
)
def test_a_wrong_parquet_table_is_refused(folder, columns, message):
    write_parquet(folder, "topics", columns)
    assert fails(folder) == message


def test_a_damaged_parquet_file_is_named(folder):
    (folder / "topics.json").unlink()
    (folder / "topics.parquet").write_bytes(b"PAR1 and no more")
    assert fails(folder).startswith("topics.parquet: is not a Parquet file that can be read (")


def test_a_csv_leaves_out_lists_and_names_them_where_it_has_them(tmp_path):
    write_snapshot_files(cluster(), tmp_path, file_format="json")
    (tmp_path / "groups.json").unlink(missing_ok=True)
    (tmp_path / "groups.csv").write_text("group_id,state\ng,Stable\n")
    (row,) = read_snapshot_files(tmp_path).table("groups").to_pylist()
    assert (row["group_id"], row["subtopologies"]) == ("g", None)
    (tmp_path / "groups.csv").write_text("group_id,subtopologies\ng,[]\n")
    with pytest.raises(InventoryError, match=r"groups.csv: subtopologies holds lists, which CSV cannot represent"):
        read_snapshot_files(tmp_path)


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_csv_with_another_separator_is_named(tmp_path, separator):
    write_snapshot_files(cluster(), tmp_path)
    (tmp_path / "brokers.parquet").unlink()
    (tmp_path / "brokers.csv").write_text(f"broker_id{separator}rack\n1{separator}a\n")
    assert fails(tmp_path) == f"brokers.csv: its columns are separated by {separator!r}; separate them by commas"


def test_a_document_a_line_is_no_list(tmp_path):
    write_snapshot_files(cluster(), tmp_path)
    (tmp_path / "brokers.parquet").unlink()
    (tmp_path / "brokers.json").write_text('{"broker_id": 1}\n{"broker_id": 2}\n')
    assert fails(tmp_path).endswith("write one list of all rows, [{…}, …], not one document a line")
