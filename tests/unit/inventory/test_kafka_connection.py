"""What an Airflow connection may say, and what is refused."""

from __future__ import annotations

import logging
import pickle
from pathlib import Path
from typing import Any

import pytest

from kafka_capacity.errors import RequestError, SourceError
from kafka_capacity.inventory.kafka_connection import KafkaConnection

SECRET = "hush-55"
KNOWN = (
    "bootstrap.servers, client.id, metadata.broker.list, request.timeout.ms, sasl.mechanism, sasl.mechanisms, "
    "sasl.password, sasl.username, security.protocol, socket.timeout.ms, ssl.ca.location, ssl.certificate.location, "
    "ssl.endpoint.identification.algorithm, ssl.key.location, ssl.key.password"
)
SASL = {
    "bootstrap.servers": "a:9092, b:9092",
    "security.protocol": "sasl_ssl",
    "sasl.mechanisms": "scram-sha-512",
    "sasl.username": "planner",
    "sasl.password": SECRET,
}


def test_the_keys_of_librdkafka_are_understood() -> None:
    given = SASL | {
        "ssl.ca.location": "/ca.pem",
        "ssl.endpoint.identification.algorithm": "none",
        "socket.timeout.ms": "1500",
        "client.id": "me",
    }
    assert KafkaConnection.from_airflow_extra(given) == KafkaConnection(
        bootstrap_servers=("a:9092", "b:9092"),
        security_protocol="SASL_SSL",
        sasl_mechanism="SCRAM-SHA-512",
        username="planner",
        password=SECRET,
        ssl_ca_location=Path("/ca.pem"),
        ssl_check_hostname=False,
        request_timeout_seconds=1.5,
        client_id="me",
    )


def test_what_is_for_consumers_is_left_aside_with_a_note(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    given = {"bootstrap.servers": "a:9092", "group.id": "x", "auto.offset.reset": "earliest"}
    assert KafkaConnection.from_airflow_extra(given) == KafkaConnection(bootstrap_servers=("a:9092",))
    assert caplog.messages == [
        f"the Kafka connection's {key!r} is for consumers and producers; it is ignored here"
        for key in ("group.id", "auto.offset.reset")
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "kafka connection: bootstrap.servers: it is missing; add it"),
        (
            {"bootstrap.servers": "a", "security.protokoll": "SSL"},
            f"kafka connection: 'security.protokoll' is unknown; correct or remove it. The keys are {KNOWN}",
        ),
        (
            SASL | {"sasl.mechanism": "PLAIN"},
            "kafka connection: 'sasl.mechanism' duplicates another key; keep one of them",
        ),
        (
            {"bootstrap.servers": "a", "security.protocol": "SASL_SSL", "sasl.username": "u"},
            "kafka connection: security.protocol SASL_SSL needs sasl.mechanism, sasl.password",
        ),
        (
            SASL | {"sasl.mechanisms": "GSSAPI"},
            "kafka connection: sasl.mechanism: choose 'PLAIN', 'SCRAM-SHA-256' or 'SCRAM-SHA-512'",
        ),
        (SASL | {"sasl.password": [SECRET]}, "kafka connection: sasl.password: write a string"),
        (
            {"bootstrap.servers": "a", "ssl.key.location": "/k"},
            "kafka connection: ssl.key.location needs ssl.certificate.location",
        ),
        (
            {"bootstrap.servers": "a", "request.timeout.ms": "soon"},
            "kafka connection: request.timeout.ms is not a number; write milliseconds",
        ),
        (
            {"bootstrap.servers": "a", "ssl.endpoint.identification.algorithm": "http"},
            "kafka connection: ssl.endpoint.identification.algorithm is neither 'https' nor 'none'; write one of them",
        ),
    ],
)
def test_a_mistake_is_named_with_its_key(given: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError) as raised:
        KafkaConnection.from_airflow_extra(given)
    assert str(raised.value) == message


def test_secrets_are_not_shown_anywhere() -> None:
    connection = KafkaConnection.from_airflow_extra(SASL)
    for shown in (repr(connection), str(connection), connection.model_dump_json(), f"{connection.model_dump()}"):
        assert SECRET not in shown
    assert pickle.loads(pickle.dumps(connection)) == connection  # noqa: S301 - what was pickled in the same line


def test_a_missing_file_is_named() -> None:
    given = SASL | {"ssl.ca.location": "/nowhere/ca.pem"}
    said = r"^kafka connection: ssl\.ca\.location '/nowhere/ca\.pem' is not a file; correct the path$"
    with pytest.raises(SourceError, match=said):
        KafkaConnection.from_airflow_extra(given).ssl_context()


def test_a_file_that_is_no_certificate_is_named(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("nothing")
    given = SASL | {"ssl.ca.location": str(tmp_path / "ca.pem")}
    with pytest.raises(
        SourceError, match=r"^kafka connection: ssl\.ca\.location '.*ca\.pem' contains no CA in PEM format$"
    ):
        KafkaConnection.from_airflow_extra(given).ssl_context()


def test_without_tls_there_is_no_context() -> None:
    assert KafkaConnection(bootstrap_servers="a:9092").ssl_context() is None
