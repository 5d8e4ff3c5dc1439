"""Damaged input is an error with its file, its place, its value and what to do; nothing of it vanishes in silence."""

import io
import json

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafka_capacity.errors import DamagedInputError, RequestError, SourceError
from kafka_capacity.hardware.cpu import read_cpu_samples
from kafka_capacity.inventory.brokers_file import parse_brokers_file
from kafka_capacity.inventory.files import read_snapshot_files, write_snapshot_files
from kafka_capacity.inventory.kafka_tools import read_kafka_tools
from kafka_capacity.inventory.prometheus_client import PrometheusClient, Span
from kafka_capacity.inventory.prometheus_connection import PrometheusConnection
from kafka_capacity.inventory.validation import validate
from kafka_capacity.plan.request import parse_plan_request
from tests.builders import cluster

SPAN = Span(start=1_000_000, end=1_000_000 + 3600, step=900)


@pytest.fixture
def refusal(tmp_path):
    """Read a snapshot with this file in place of the table's own; returns what is said."""

    def read(name, data):
        write_snapshot_files(cluster(hours=1), tmp_path)
        (tmp_path / f"{name.partition('.')[0]}.parquet").unlink(missing_ok=True)
        (tmp_path / name).write_bytes(data)
        with pytest.raises(DamagedInputError) as caught:
            read_snapshot_files(tmp_path)
        return str(caught.value).replace(f"{tmp_path}/", "")

    return read


def parquet(table):
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def test_a_column_that_is_there_twice(refusal):
    said = refusal("topics.csv", b"topic,topic,is_internal\norders,orders,false\n")
    assert said == "topics.csv: column 'topic' appears twice; keep one"


def test_names_of_columns_that_are_no_text(refusal):
    said = refusal("topics.csv", b"topic,is_\xffinternal\norders,false\n")
    assert said.startswith("topics.csv: is not CSV that can be read ('utf-8' codec can't decode byte 0xff")
    data = parquet(pa.table({"topic": ["orders"], "is_internal": [False]}))
    said = refusal("topics.parquet", data.replace(b"is_internal", b"is_\xffnternal"))
    assert said.startswith("topics.parquet: is not a Parquet file that can be read ('utf-8' codec can't decode")


@pytest.mark.parametrize("moment", [2**62, -(2**62)])
def test_dates_that_no_calendar_has(refusal, moment):
    hour = pa.array([0, moment], pa.timestamp("us", tz="UTC"))
    data = parquet(pa.table({"topic": ["orders"] * 2, "partition": pa.array([0, 1], pa.int32()), "hour": hour}))
    said = refusal("metrics.parquet", data)
    assert said == f"metrics.parquet, row 2, hour: {moment} does not fit timestamp[s, tz=UTC]; fix the value"


def test_amounts_that_are_no_long_of_java():
    capacity = {"DISK": {"/data": "1e13"}, "CPU": "100", "NW_IN": "1", "NW_OUT": "1"}
    text = json.dumps({"brokerCapacities": [{"brokerId": "1", "capacity": capacity}]})
    with pytest.raises(DamagedInputError) as caught:
        parse_brokers_file(text, "capacity.json")
    assert str(caught.value) == (
        "capacity.json: brokerCapacities.0.capacity.DISK is {'/data': '1e13'}: give at most 8796093022207"
    )


def test_a_partition_without_replicas_is_found(tmp_path):
    document = {"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [1]}]}
    document["partitions"].append({"topic": "t", "partition": 1, "replicas": []})
    assignment, brokers = tmp_path / "A.json", tmp_path / "B.json"
    assignment.write_text(json.dumps(document))
    brokers.write_text('[{"id": 1}]')
    raw = read_kafka_tools(cluster="c", ds="2026-11-20", assignment=assignment, brokers=brokers)
    (found,) = validate(raw).fatal
    assert found.code == "partition_without_replicas"
    assert found.message == (
        "the assignment names no broker for 1 partition (t-1), which is impossible in Kafka; save the tool's output "
        "again"
    )


def test_samples_of_processors_with_stray_carriage_returns(tmp_path):
    head = "cores_used,leader_in_bytes_per_second,follower_in_bytes_per_second,out_bytes_per_second"
    file = tmp_path / "samples.csv"
    file.write_bytes(f"{head}\r3,1,2,3\r\n4,1,2,3\n".encode())
    assert "2 samples are too few" in read_cpu_samples(file).reason
    file.write_bytes(f"{head}\n3\r,1,2,3\n".encode())
    with pytest.raises(RequestError, match=r"samples\.csv: line 2: .* is None; write a number of zero or more"):
        read_cpu_samples(file)
    file.write_bytes(f'{head}\n"{"1" * 200_000}",1,2,3\n'.encode())
    with pytest.raises(RequestError, match=r"samples\.csv: line 2: is not CSV that can be read \(field larger than"):
        read_cpu_samples(file)


def asked(body):
    """Ask a server that answers so; returns its series."""
    client = PrometheusClient(PrometheusConnection.of(url="http://prometheus:9090"), sleep=lambda _: None)
    client._client = httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(200, content=body)))
    with client:
        return client.query_range("m{}", SPAN)


def matrix(*values, metric=None):
    result = [{"metric": metric or {"topic": "orders"}, "values": list(values)}]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}}).encode()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (matrix([SPAN.end + 1000, "1"]), "a sample at 1004600, outside the requested 1000000 to 1003600"),
        (matrix([SPAN.start - 1000, "1"]), "a sample at 999000, outside the requested 1000000 to 1003600"),
        (matrix(metric="orders"), "data.result.0.metric is 'orders': write an object"),
        (matrix(metric={"topic": {"a": 1}}), "data.result.0.metric.topic is {'a': 1}: write a string"),
        (matrix(metric={"topic": "\ud800"}), "it contains half of a surrogate pair"),
        (matrix([SPAN.start]), "data.result.0.values.0.1 is missing"),
        (matrix([SPAN.start, "much"]), "could not convert string to float: 'much'"),
        (b'{"status": "success", "warnings": 7, "data": {"resultType": "matrix", "result": []}}', "warnings is 7"),
        (b'{"status":' + b"[" * 100_000, "answers 200 without an API document"),
    ],
)
def test_answers_of_a_server_that_are_no_answers(body, message):
    with pytest.raises(SourceError) as caught:
        asked(body)
    assert message in str(caught.value)
    assert str(caught.value).startswith("prometheus http://prometheus:9090/api/v1/query_range ")


def test_a_server_may_move_the_ends_to_steps_of_its_own():
    (series,) = asked(matrix(*([SPAN.start + 900 * step, "1"] for step in range(-1, 6))))
    assert series.place.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"topic_classes": ["pay\ud800=pay*"]}, "topic_classes"),
        ({"rack_names": {"a": "\udfff"}}, "rack_names"),
        (
            {"planned_events": [{"kind": "launch", "topics": "\ud800", "from_date": "2027-01-01", "factor": 2}]},
            "planned",
        ),
    ],
)
def test_parameters_with_halves_of_characters(given, field):
    with pytest.raises(
        RequestError, match=rf"^{field}.* it contains half of a surrogate pair, which is not valid text; fix it$"
    ):
        parse_plan_request({"cluster": "c", **given})
