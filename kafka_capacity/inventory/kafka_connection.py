"""How to reach a Kafka cluster, and what people write into an Airflow connection to say so.

The keys are those of librdkafka, which the ``extra`` of an Airflow Kafka connection is written in. A key that nobody
knows is refused, since a typing error in ``security.protocol`` would otherwise mean "without security".
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from kafka_capacity.errors import RequestError, SourceError
from kafka_capacity.text.validation_errors import hiding_values

log = logging.getLogger(__name__)

SecurityProtocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
SaslMechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]

_DEFAULT_PORT = 9092  # where a server names none
_FIELD_OF_KEY = {
    "bootstrap.servers": "bootstrap_servers",
    "metadata.broker.list": "bootstrap_servers",
    "client.id": "client_id",
    "security.protocol": "security_protocol",
    "sasl.mechanism": "sasl_mechanism",
    "sasl.mechanisms": "sasl_mechanism",
    "sasl.username": "username",
    "sasl.password": "password",
    "ssl.ca.location": "ssl_ca_location",
    "ssl.certificate.location": "ssl_certificate_location",
    "ssl.key.location": "ssl_key_location",
    "ssl.key.password": "ssl_key_password",
    "ssl.endpoint.identification.algorithm": "ssl_check_hostname",
    "request.timeout.ms": "request_timeout_seconds",
    "socket.timeout.ms": "request_timeout_seconds",
}
_FOR_READERS_AND_WRITERS = """
    acks allow.auto.create.topics api.version.request auto.commit.interval.ms auto.offset.reset batch.size
    broker.address.family check.crcs client.dns.lookup client.rack compression.type connections.max.idle.ms debug
    delivery.timeout.ms enable.auto.commit enable.auto.offset.store enable.idempotence enable.partition.eof error_cb
    fetch.max.bytes fetch.message.max.bytes fetch.min.bytes fetch.wait.max.ms group.id group.instance.id group.protocol
    heartbeat.interval.ms isolation.level linger.ms log.connection.close log_level max.in.flight
    max.in.flight.requests.per.connection max.partition.fetch.bytes max.poll.interval.ms max.poll.records
    message.max.bytes message.timeout.ms metadata.max.age.ms partition.assignment.strategy partitioner
    queue.buffering.max.kbytes queue.buffering.max.messages queue.buffering.max.ms queued.max.messages.kbytes
    queued.min.messages reconnect.backoff.max.ms reconnect.backoff.ms retries retry.backoff.ms session.timeout.ms
    socket.connection.setup.timeout.ms socket.keepalive.enable statistics.interval.ms transactional.id
"""
"""Keys that an inventory has no use for; people keep one connection for all their clients."""
_KEYS_OF_READERS_AND_WRITERS = frozenset(_FOR_READERS_AND_WRITERS.split())


class KafkaConnection(BaseModel):
    """How to reach a cluster. Secrets show as asterisks wherever this is printed."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    bootstrap_servers: tuple[str, ...] = Field(min_length=1, description="host:port of one or more brokers")
    security_protocol: SecurityProtocol = Field(default="PLAINTEXT", description="security protocol of the listener")
    sasl_mechanism: SaslMechanism | None = Field(default=None, description="for the SASL protocols")
    username: str | None = Field(default=None, description="for the SASL protocols")
    password: SecretStr | None = Field(default=None, description="for the SASL protocols")
    ssl_ca_location: Path | None = Field(default=None, description="PEM file of the CAs; default: the system's")
    ssl_certificate_location: Path | None = Field(default=None, description="PEM file of the client's certificate")
    ssl_key_location: Path | None = Field(default=None, description="PEM file of its key, if separate")
    ssl_key_password: SecretStr | None = Field(default=None, description="of the key")
    ssl_check_hostname: bool = Field(default=True, description="whether the certificate must name the broker")
    client_id: str = Field(default="kafka-capacity", min_length=1, description="client id shown in broker logs")
    request_timeout_seconds: float = Field(
        default=30.0, gt=0, le=3600, description="timeout for a request, and for connecting"
    )

    @field_validator("bootstrap_servers", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        if isinstance(value, str):
            return tuple(server.strip() for server in value.split(",") if server.strip())
        return value

    @field_validator("security_protocol", "sasl_mechanism", mode="before")
    @classmethod
    def _in_capitals(cls, value: Any) -> Any:
        return value.upper() if isinstance(value, str) else value

    @model_validator(mode="after")
    def _has_what_its_protocol_needs(self) -> KafkaConnection:
        if self.security_protocol.startswith("SASL_"):
            given = {
                "sasl.mechanism": self.sasl_mechanism,
                "sasl.username": self.username,
                "sasl.password": self.password,
            }
            missing = [key for key, value in given.items() if not value]
            if missing:
                raise ValueError(f"security.protocol {self.security_protocol} needs {', '.join(missing)}")
        if self.ssl_key_location is not None and self.ssl_certificate_location is None:
            raise ValueError("ssl.key.location needs ssl.certificate.location")
        return self

    @classmethod
    def from_airflow_extra(cls, extra: Mapping[str, Any]) -> KafkaConnection:
        """Read the ``extra`` of an Airflow Kafka connection.

        Keys for consumers and producers are left aside, with a line in the log.

        Raises:
            RequestError: a key is not known, is given twice under two names, or its value does not do. The message
                names the key and never a secret.
        """
        fields: dict[str, Any] = {}
        for key, value in extra.items():
            if key in _KEYS_OF_READERS_AND_WRITERS:
                log.info("the Kafka connection's %r is for consumers and producers; it is ignored here", key)
                continue
            field = _FIELD_OF_KEY.get(key)
            if field is None:
                known = ", ".join(sorted(_FIELD_OF_KEY))
                raise RequestError(f"kafka connection: {key!r} is unknown; correct or remove it. The keys are {known}")
            if field in fields:
                raise RequestError(f"kafka connection: {key!r} duplicates another key; keep one of them")
            fields[field] = _translate(key, value)
        with hiding_values("kafka connection", {field: key for key, field in reversed(_FIELD_OF_KEY.items())}):
            return cls(**fields)

    @property
    def servers(self) -> str:
        """The bootstrap servers in one line, for messages."""
        return ",".join(one if ":" in one else f"{one}:{_DEFAULT_PORT}" for one in self.bootstrap_servers)

    def ssl_context(self) -> ssl.SSLContext | None:
        """Load the certificates, where the protocol asks for TLS.

        Raises:
            SourceError: a file is missing or does not hold what it should.
        """
        if not self.security_protocol.endswith("SSL"):
            return None
        for key in ("ssl_ca_location", "ssl_certificate_location", "ssl_key_location"):
            path = getattr(self, key)
            if path is not None and not path.is_file():
                raise SourceError(
                    f"kafka connection: {key.replace('_', '.')} {str(path)!r} is not a file; correct the path"
                )
        context = context_of_cas(self.ssl_ca_location, "kafka connection: ssl.ca.location")
        context.check_hostname = self.ssl_check_hostname
        if self.ssl_certificate_location is not None:
            self._load_own_certificate(context, self.ssl_certificate_location)
        return context

    def _load_own_certificate(self, context: ssl.SSLContext, certificate: Path) -> None:
        secret = self.ssl_key_password.get_secret_value() if self.ssl_key_password else ""
        try:
            # A function, since OpenSSL would ask at the terminal for a password that it is not given.
            context.load_cert_chain(certificate, self.ssl_key_location, password=lambda: secret)
        except (ssl.SSLError, OSError) as error:
            key = self.ssl_key_location or certificate
            raise SourceError(
                f"kafka connection: {str(certificate)!r} and {str(key)!r} are not a certificate and its key in PEM "
                "format, or ssl.key.password does not decrypt the key"
            ) from error


def context_of_cas(file: Path | None, what: str) -> ssl.SSLContext:
    """Load CAs, the system's where there is no file, or raise :class:`SourceError`, which says ``what`` is wrong."""
    try:
        return ssl.create_default_context(cafile=file)
    except (ssl.SSLError, OSError) as error:
        raise SourceError(f"{what} {str(file)!r} contains no CA in PEM format") from error


def _translate(key: str, value: Any) -> Any:
    if key == "ssl.endpoint.identification.algorithm":
        algorithm = "none" if value is None else str(value).strip().lower()
        if algorithm not in ("https", "none", ""):
            raise RequestError(f"kafka connection: {key} is neither 'https' nor 'none'; write one of them")
        return algorithm == "https"
    if key.endswith("timeout.ms"):
        try:
            return float(value) / 1000
        except (TypeError, ValueError):
            raise RequestError(f"kafka connection: {key} is not a number; write milliseconds") from None
    return value
