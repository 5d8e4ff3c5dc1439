"""A cluster that asks who is there: TLS with client certificates, SCRAM, PLAIN; and what is said when it refuses."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_capacity.errors import SourceError
from kafka_capacity.inventory.kafka_admin import read_cluster
from kafka_capacity.inventory.kafka_connection import KafkaConnection
from tests.live.certificates import KEY_PASSWORD, make_stranger
from tests.live.clients import make_topics
from tests.live.cluster import KafkaCluster
from tests.live.settings import PLAIN_PASSWORD, SCRAM_PASSWORD, SCRAM_USER
from tests.ports import free_ports

pytestmark = pytest.mark.live

SECRETS = (SCRAM_PASSWORD, PLAIN_PASSWORD, KEY_PASSWORD, "wrong-secret-17")


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    protocols = ("SSL", "SASL_PLAINTEXT", "SASL_SSL")
    with KafkaCluster(tmp_path_factory.mktemp("kafka"), {1: None}, protocols) as cluster:
        make_topics(cluster, {"orders": (2, 1)})
        yield cluster


@pytest.fixture(autouse=True)
def _no_secret_is_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    caplog.set_level(logging.DEBUG)
    yield
    assert [secret for secret in SECRETS if secret in caplog.text] == []


def extra(cluster: KafkaCluster, protocol: str, **changes: Any) -> dict[str, Any]:
    """What a user would write into the Airflow connection, with changes (underscores for dots; None removes)."""
    assert cluster.certificates is not None
    files = cluster.certificates
    tls = {"ssl.ca.location": str(files.ca)}
    own = {
        "ssl.certificate.location": str(files.client),
        "ssl.key.location": str(files.client_key),
        "ssl.key.password": KEY_PASSWORD,
    }
    user = {"sasl.mechanism": "SCRAM-SHA-512", "sasl.username": SCRAM_USER, "sasl.password": SCRAM_PASSWORD}
    keys = {"SSL": tls | own, "SASL_PLAINTEXT": user, "SASL_SSL": tls | user}[protocol]
    address = {"bootstrap.servers": cluster.bootstrap_servers(protocol), "security.protocol": protocol}
    given = address | keys | {name.replace("_", "."): value for name, value in changes.items()}
    return {name: value for name, value in given.items() if value is not None}


PATIENCE_SECONDS = 240
"""So long that what is refused at once is, on a busy machine too, refused well before."""
IN_VAIN_SECONDS = (2, 20, 120)
"""How long to try what is tried again until time is up: longer where the broker was too busy to say a word."""


def refusal(extra: dict[str, Any]) -> str:
    """Read the cluster in vain, and give the message."""
    message = ""
    for seconds in IN_VAIN_SECONDS:
        message = refusal_within(seconds, extra)
        if "did not answer within" not in message:
            break
    return message


def refusal_within(seconds: int, extra: dict[str, Any]) -> str:
    """Do the same with a timeout."""
    threads = set(threading.enumerate())
    with pytest.raises(SourceError) as raised:
        read_cluster(
            KafkaConnection.from_airflow_extra(extra | {"request.timeout.ms": seconds * 1000}),
            cluster="live",
            ds="2026-11-20",
        )
    message = str(raised.value)
    assert not [secret for secret in SECRETS if secret in message]
    for left in set(threading.enumerate()) - threads:
        left.join(PATIENCE_SECONDS)
        assert not left.is_alive(), left
    return message


@pytest.mark.parametrize("protocol", ["SSL", "SASL_PLAINTEXT", "SASL_SSL"])
def test_the_inventory_is_read(secured: KafkaCluster, protocol: str) -> None:
    connection = KafkaConnection.from_airflow_extra(extra(secured, protocol))
    raw = read_cluster(connection, cluster="live", ds="2026-11-20")
    assert [row["port"] for row in raw.table("brokers").to_pylist()] == [secured.nodes[1].ports[protocol]]
    assert raw.table("topics").column("topic").to_pylist() == ["orders"]
    assert raw.table("replicas").column("size_bytes").to_pylist() == [0, 0]
    assert raw.remarks == ()


def test_a_password_in_the_clear_does_not_reach_the_log(secured: KafkaCluster) -> None:
    given = extra(secured, "SASL_PLAINTEXT", sasl_mechanism="PLAIN", sasl_password=PLAIN_PASSWORD)
    raw = read_cluster(KafkaConnection.from_airflow_extra(given), cluster="live", ds="2026-11-20")
    assert raw.table("topics").num_rows == 1


def test_a_wrong_password_is_refused_at_once(secured: KafkaCluster) -> None:
    began = time.monotonic()
    message = refusal_within(PATIENCE_SECONDS, extra(secured, "SASL_SSL", sasl_password="wrong-secret-17"))
    server = secured.bootstrap_servers("SASL_SSL")
    assert message == (
        f"Kafka at {server} (SASL_SSL) rejects user '{SCRAM_USER}': SaslAuthenticationFailedError: Authentication "
        "failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-512"
    )
    assert time.monotonic() - began < PATIENCE_SECONDS / 2


def test_a_stranger_as_ca_is_refused_at_once(secured: KafkaCluster, tmp_path: Path) -> None:
    stranger = make_stranger(tmp_path / "stranger.pem")
    began = time.monotonic()
    message = refusal_within(PATIENCE_SECONDS, extra(secured, "SASL_SSL", ssl_ca_location=str(stranger)))
    server = secured.bootstrap_servers("SASL_SSL")
    assert message.startswith(f"Kafka at {server} (SASL_SSL) could not be reached: ")
    assert "CERTIFICATE_VERIFY_FAILED" in message
    assert time.monotonic() - began < PATIENCE_SECONDS / 2


def test_a_certificate_for_another_host_is_refused_unless_that_is_wanted(secured: KafkaCluster) -> None:
    other_name = extra(secured, "SASL_SSL", bootstrap_servers=f"localhost:{secured.nodes[1].ports['SASL_SSL']}")
    assert "Hostname mismatch" in refusal_within(PATIENCE_SECONDS, other_name)
    unchecked = other_name | {"ssl.endpoint.identification.algorithm": "none"}
    read_cluster(KafkaConnection.from_airflow_extra(unchecked), cluster="live", ds="2026-11-20")


def test_a_client_without_a_certificate_is_refused(secured: KafkaCluster) -> None:
    nameless = {"ssl_certificate_location": None, "ssl_key_location": None, "ssl_key_password": None}
    message = refusal(extra(secured, "SSL", **nameless))
    assert message.startswith(f"Kafka at {secured.bootstrap_servers('SSL')} (SSL) could not be reached: ")


def test_a_key_that_does_not_open_is_said_before_anything_is_sent(secured: KafkaCluster) -> None:
    assert secured.certificates is not None
    files = secured.certificates
    assert refusal(extra(secured, "SSL", ssl_key_password="wrong-secret-17")) == (
        f"kafka connection: '{files.client}' and '{files.client_key}' are not a certificate and its key in PEM "
        "format, or ssl.key.password does not decrypt the key"
    )


def test_a_protocol_that_the_listener_does_not_speak_is_no_endless_wait(secured: KafkaCluster) -> None:
    server = secured.bootstrap_servers("SASL_SSL")
    message = refusal({"bootstrap.servers": server})
    assert message.startswith(f"Kafka at {server} (PLAINTEXT) could not be reached: ")


def test_nobody_there() -> None:
    (port,) = free_ports(1)
    message = refusal({"bootstrap.servers": f"127.0.0.1:{port}"})
    assert message.startswith(f"Kafka at 127.0.0.1:{port} (PLAINTEXT) could not be reached: ")
    assert "REFUSED" in message
