"""What is sent to a server of metrics, and what is said when it does not answer as it should."""

import json
import ssl

import numpy as np
import pyarrow as pa
import pytest

from kafka_capacity.errors import RequestError, SourceError
from kafka_capacity.inventory import prometheus_client
from kafka_capacity.inventory.metrics_files import merged
from kafka_capacity.inventory.prometheus_client import PrometheusClient, Span
from kafka_capacity.inventory.prometheus_connection import PrometheusConnection, PrometheusSettings
from kafka_capacity.inventory.prometheus_dialects import DIALECTS, Quantity, selector
from kafka_capacity.inventory.prometheus_series import broker_ids
from tests.builders import table
from tests.live.certificates import make_certificates, make_stranger
from tests.prometheus_stand_in import StandIn
from tests.unit.inventory.broken import hour

SPAN = Span(start=1_000_000, end=1_000_000 + 99 * 60, step=60)
SAMPLES = [({"__name__": "m", "a": "1"}, np.arange(100) * 60 + 1_000_000, np.arange(100.0))]


def client(server, slept=None, **given):
    return PrometheusClient(
        PrometheusConnection.of(url=server.url, **given), sleep=lambda s: slept.append(s) if slept is not None else None
    )


def test_an_answer_is_values_at_places_of_the_grid():
    with StandIn(SAMPLES) as server, client(server) as asking:
        (series,) = asking.query_range("m{}", SPAN)
    assert (series.label("a"), series.label("b")) == ("1", "")
    np.testing.assert_array_equal(series.place, np.arange(100))
    np.testing.assert_array_equal(series.value, np.arange(100.0))


def test_long_spans_are_cut_at_the_points_that_servers_take():
    span = Span(start=0, end=24_999, step=1)
    with StandIn([({"__name__": "m"}, np.arange(25_000), np.arange(25_000.0))]) as server, client(server) as asking:
        (series,) = asking.query_range("m{}", span)
        assert len(server.asked) == 3
    np.testing.assert_array_equal(series.value, np.arange(25_000.0))


def test_what_a_server_refuses_as_too_much_is_halved():
    with StandIn(SAMPLES) as server, client(server) as asking:
        server.refuse_points = 30
        (series,) = asking.query_range("m{}", SPAN)
    np.testing.assert_array_equal(series.place, np.arange(100))


def test_a_query_that_takes_the_server_too_long_is_halved():
    said = {"status": "error", "errorType": "timeout", "error": "query timed out in expression evaluation"}
    slept = []
    with StandIn(SAMPLES) as server, client(server, slept) as asking:
        server.first_answers = [(503, json.dumps(said).encode())]
        (series,) = asking.query_range("m{}", SPAN)
        assert len(server.asked) == 3
    assert not slept
    np.testing.assert_array_equal(series.place, np.arange(100))


def test_what_was_too_much_once_is_asked_for_in_pieces_at_once():
    with StandIn(SAMPLES) as server, client(server) as asking:
        server.refuse_points = 30
        asking.query_range("m{}", SPAN)
        server.asked.clear()
        (series,) = asking.query_range("m{}", SPAN)
        assert len(server.asked) == 4
    np.testing.assert_array_equal(series.place, np.arange(100))


def test_too_long_an_answer_is_halved(monkeypatch):
    monkeypatch.setattr(prometheus_client, "MAX_ANSWER_BYTES", 1000)
    with StandIn(SAMPLES) as server, client(server) as asking:
        (series,) = asking.query_range("m{}", SPAN)
        assert len(server.asked) > 2
    np.testing.assert_array_equal(series.value, np.arange(100.0))


def test_tls_is_checked_against_the_given_ca(tmp_path):
    files = make_certificates(tmp_path / "tls")
    with StandIn(SAMPLES, certificate=files.broker) as server:
        with client(server, ca_file=files.ca) as asking:
            assert len(asking.query_range("m{}", SPAN)) == 1
        for wrong in ({}, {"ca_file": make_stranger(tmp_path / "other.pem")}):
            with client(server, **wrong) as asking, pytest.raises(SourceError, match="certificate verify failed"):
                asking.query_range("m{}", SPAN)


def test_a_server_that_refuses_one_moment_is_an_error():
    with StandIn(SAMPLES) as server, client(server) as asking:
        server.refuse_points = 0.5
        with pytest.raises(
            SourceError, match=r"rejects the query even for a single point in time .*; restrict it with labels"
        ):
            asking.query_range("m{}", SPAN)


def test_a_busy_server_is_asked_again_with_longer_pauses(monkeypatch):
    monkeypatch.setattr("kafka_capacity.inventory.prometheus_client.FIRST_PAUSE_SECONDS", 0.5)
    slept = []
    with StandIn(SAMPLES) as server, client(server, slept) as asking:
        server.first_answers = [(503, b"busy"), (429, b"slow down")]
        assert len(asking.query_range("m{}", SPAN)) == 1
    assert slept == [0.5, 1.0]


def test_a_server_that_stays_busy_is_an_error_with_its_words():
    with StandIn(SAMPLES) as server, client(server) as asking:
        server.first_answers = [(503, b"busy")] * 4
        with pytest.raises(SourceError) as found:
            asking.query_range("m{}", SPAN)
    assert str(found.value) == (
        f"prometheus {server.url}/api/v1/query_range answers 503: busy (tried 4 times); check whether it is up, or "
        "raise timeout_seconds [query: m{}]"
    )


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (401, b"Unauthorized", "answers 401 without an API document; give the user and password, or the token"),
        (403, b"no", "answers 403 without an API document; the user is not allowed to query; grant it"),
        (404, b"404", "answers 404 without an API document; check that the address is that of the API"),
        (200, b"<html>login</html>", "answers 200 without an API document; check that the address is that of the API"),
        (302, b"", "answers 302, a redirect; give the address that it redirects to"),
        (
            400,
            json.dumps({"status": "error", "errorType": "bad_data", "error": "parse error: unexpected }"}).encode(),
            "answers 400 bad_data: parse error: unexpected }; fix the labels or the names of the metrics",
        ),
        (
            200,
            json.dumps({"status": "success", "data": {"resultType": "vector", "result": []}}).encode(),
            "returns a result that is not a matrix of numbers (data.resultType is 'vector': choose 'matrix')",
        ),
    ],
)
def test_other_answers_are_errors_with_a_mend(status, body, said):
    with StandIn(SAMPLES) as server, client(server) as asking:
        server.first_answers = [(status, body)]
        with pytest.raises(SourceError) as found:
            asking.query_range("m{}", SPAN)
    assert said in str(found.value)


def test_warnings_beside_an_answer_are_kept():
    with StandIn(SAMPLES) as server, client(server) as asking:
        server.warnings = ["one store could not be read"]
        asking.query_range("m{}", SPAN)
        assert asking.warnings == {"one store could not be read"}


@pytest.mark.parametrize(
    ("given", "header"),
    [
        ({"username": "me", "password": "secret"}, ("Authorization", "Basic bWU6c2VjcmV0")),
        ({"token": "secret"}, ("Authorization", "Bearer secret")),
        ({"headers": {"X-Scope-OrgID": "secret"}}, ("X-Scope-OrgID", "secret")),
    ],
)
def test_secrets_are_sent_and_never_shown(given, header):
    with StandIn(SAMPLES) as server, client(server, **given) as asking:
        asking.query_range("m{}", SPAN)
        assert server.headers[0][header[0].lower()] == header[1]
        server.first_answers = [(401, b"Unauthorized")]
        with pytest.raises(SourceError) as found:
            asking.query_range("m{}", SPAN)
    said = "it refuses the user and password, or the token, that it was given; correct them"
    assert (said in str(found.value)) == (header[0] == "Authorization")
    assert "secret" not in str(found.value)
    assert "secret" not in repr(PrometheusConnection.of(url=server.url, **given))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"url": "prometheus:9090"}, "url: write http://host:port or https://host:port"),
        ({"url": "http://me:hush@p:9090"}, "url: remove the user and password from it and give them separately"),
        ({"url": "http://p/?a=1"}, "url: write it without ? and #; use labels to tell clusters apart"),
        ({"url": "http://p", "token": "hush", "username": "me"}, "it has a token and a user; keep one of them"),
        ({"url": "http://p", "password": "hush"}, "it has a password but no user; add the user"),
        ({"url": "http://p", "ca_file": "/ca.pem"}, "it has a ca_file but no https:// address; fix one of them"),
        ({"url": "http://p", "timeout_seconds": 0}, "timeout_seconds: give more than 0"),
    ],
)
def test_wrong_connections_name_the_field_and_no_secret(given, said):
    with pytest.raises(RequestError) as found:
        PrometheusConnection.of(**given)
    assert said in str(found.value)
    assert "hush" not in str(found.value)


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ({"host": "prom", "port": 9090}, "http://prom:9090"),
        ({"host": "prom", "schema": "https"}, "https://prom"),
        ({"host": "https://prom:9443", "port": 9090}, "https://prom:9443"),
        ({"host": "https://mimir/prometheus", "port": 8080}, "https://mimir:8080/prometheus"),
        ({"host": "mimir", "extra": {"path_prefix": "/prometheus/"}}, "http://mimir/prometheus"),
        ({"host": "http://prom/api/v1/"}, "http://prom"),
    ],
)
def test_airflow_connections_give_the_address(given, url):
    empty = {"host": None, "schema": None, "port": None, "login": None, "password": None, "extra": {}}
    assert PrometheusConnection.from_airflow(**empty | given).url == url


def test_airflow_connections_with_mistakes():
    empty = {"host": None, "schema": None, "port": None, "login": None, "password": None, "extra": {}}
    with pytest.raises(RequestError, match="has no host; write the address of the server"):
        PrometheusConnection.from_airflow(**empty)
    with pytest.raises(RequestError, match="extra 'tokn' is unknown; the keys are token, ca_file, headers"):
        PrometheusConnection.from_airflow(**empty | {"host": "p", "extra": {"tokn": "x"}})


def test_a_ca_file_without_a_ca_is_said(tmp_path):
    file = tmp_path / "ca.pem"
    file.write_text("nothing")
    connection = PrometheusConnection.of(url="https://p", ca_file=file)
    with pytest.raises(SourceError, match="contains no CA in PEM format"):
        connection.ssl_context()
    assert isinstance(PrometheusConnection.of(url="https://p").ssl_context(), ssl.SSLContext)


def test_selectors_quote_labels_and_tell_topics_from_totals():
    of_topics, _ = DIALECTS["jmx"][Quantity.TOPIC_BYTES_IN]
    query = selector(Quantity.TOPIC_BYTES_IN, of_topics, {"cluster": 'a"b\\c'})
    assert query.endswith(',topic!="",cluster="a\\"b\\\\c"}')
    assert query.startswith('{__name__=~"kafka_server_brokertopicmetrics_bytesin_total|')
    assert ',topic=""' in selector(Quantity.BROKER_BYTES_IN, of_topics, {})


@pytest.mark.parametrize(
    "given",
    [
        {"dialects": []},
        {"dialects": ["burrow"]},
        {"labels": {"a-b": "c"}},
        {"days": 0},
        {"counter_step_seconds": 70},
        {"names": {"topic_bytes_in": "sum(x)"}},
        {"names": {"topic_bytes": "x"}},
        {"broker_label": "a b"},
        {"dialect": "jmx"},
    ],
)
def test_wrong_settings_are_refused(given):
    with pytest.raises(ValueError, match="validation error"):
        PrometheusSettings(**given)


BROKERS = table(
    "brokers",
    [{"broker_id": 0, "host": "Kafka-0.local"}, {"broker_id": 1, "host": "kafka-1.local"}, {"broker_id": 2}],
)


@pytest.mark.parametrize(
    ("names", "ids"),
    [
        (["0", "2", "7", "x"], {"0": 0, "2": 2}),
        (["kafka-0.local:7071", "kafka-1.local"], {"kafka-0.local:7071": 0, "kafka-1.local": 1}),
        (["prod-kafka-0", "prod-kafka-1", "prod-kafka-2"], {f"prod-kafka-{i}": i for i in range(3)}),
        (["a-kafka-0", "b-kafka-0"], {}),
        (["10.0.0.1:7071", "10.0.0.2:7071"], {}),
        (["kafka-0.local", "10.0.0.2"], {"kafka-0.local": 0}),
    ],
)
def test_brokers_are_known_by_id_host_or_pod(names, ids):
    assert broker_ids(names, BROKERS) == ids


def test_brokers_on_one_host_are_not_told_apart_by_it():
    shared = table("brokers", [{"broker_id": 0, "host": "h"}, {"broker_id": 1, "host": "h"}])
    assert broker_ids(["h:7071", "h:7072"], shared) == {}


def test_of_two_readings_of_an_hour_the_later_counts():
    def rows(*found):
        return table(
            "metrics",
            [
                {"topic": t, "partition": p, "hour": hour("2026-11-20", f"{h:02}:00"), "bytes_in_bytes_per_second": v}
                for t, p, h, v in found
            ],
        )

    older = rows(("b", 0, 1, 1.0), ("b", 0, 2, 2.0), ("a", 1, 1, 3.0))
    newer = rows(("b", 0, 2, 20.0), ("a", 0, 1, 30.0))
    found = merged("metrics", [older, newer]).sort_by([("topic", "ascending"), ("hour", "ascending")])
    assert sorted(found.column("bytes_in_bytes_per_second").to_pylist()) == [1.0, 3.0, 20.0, 30.0]
    assert isinstance(found, pa.Table)
    assert merged("metrics", []).num_rows == 0
    twice = rows(("a", 0, 1, 1.0), ("a", 0, 1, 2.0))
    assert merged("metrics", [older, twice]).num_rows == 5
