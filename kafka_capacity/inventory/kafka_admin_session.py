"""One open admin connection to a cluster: errors in our words, retries, and no secret in any log.

kafka-python logs its configuration and every byte it sends at DEBUG, the password of SASL/PLAIN among them. While a
session is open those lines are held back, whatever level the user's logging is at.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from kafka.admin import KafkaAdminClient
from kafka.errors import AuthorizationError, KafkaError, SaslAuthenticationFailedError, UnsupportedSaslMechanismError
from kafka.net.compat import KafkaNetClient

from kafka_capacity.errors import SourceError
from kafka_capacity.inventory.kafka_connection import KafkaConnection

T = TypeVar("T")

_WIRE_LOGGERS = ("kafka.admin.client", "kafka.net.connection", "kafka.protocol.parser")
_CONNECT_LOGGER = "kafka.net.manager"
_ATTEMPTS = 6
_FIRST_PAUSE_SECONDS = 0.05  # doubled each time: 3 s in all, what a coordinator takes to move
_CREDENTIALS_REFUSED = (AuthorizationError, SaslAuthenticationFailedError, UnsupportedSaslMechanismError)


class AdminSession:
    """An admin client that raises :class:`SourceError`, naming the bootstrap servers and what was asked."""

    def __init__(self, connection: KafkaConnection, client: KafkaAdminClient) -> None:
        self._connection = connection
        self.client = client

    def ask(self, what: str, question: Callable[..., T], *args: Any, **options: Any) -> T:
        """Ask the cluster something, again where it is busy with an election or a coordinator's move.

        Raises:
            SourceError: there is no answer.
        """
        try:
            return self.try_to_ask(question, *args, **options)
        except KafkaError as error:
            msg = f"Kafka at {self._connection.servers}: {what}: {explain(error, self._connection)}"
            raise SourceError(msg) from error

    def try_to_ask(self, question: Callable[..., T], *args: Any, **options: Any) -> T:
        """Do the same, and let Kafka's own error through.

        Raises:
            KafkaError: there is no answer.
        """
        deadline = time.monotonic() + self._connection.request_timeout_seconds
        attempt = 0
        while True:
            try:
                return question(*args, **options)
            except KafkaError as error:
                attempt += 1
                # Who was silent for a whole timeout is not asked again.
                if not error.retriable or attempt == _ATTEMPTS or time.monotonic() > deadline:
                    raise
            time.sleep(_FIRST_PAUSE_SECONDS * 2**attempt)


@contextmanager
def open_session(connection: KafkaConnection) -> Iterator[AdminSession]:
    """Connect to a cluster.

    Raises:
        SourceError: it cannot be reached, or refuses us; the message names the bootstrap servers, never a secret.
    """
    context = connection.ssl_context()
    with _wire_kept_out_of_logs(), _watch_connecting() as failures:
        client = _connect(connection, context, failures)
        try:
            yield AdminSession(connection, client)
        finally:
            client.close()


def explain(error: BaseException, connection: KafkaConnection) -> str:
    """Say an error in one line, without a secret even if a broker should echo one."""
    text = " ".join(str(error).split()) or type(error).__name__
    for secret in (connection.password, connection.ssl_key_password):
        if secret is not None and secret.get_secret_value():
            text = text.replace(secret.get_secret_value(), "***")
    return text


def _connect(connection: KafkaConnection, context: Any, failures: list[str]) -> KafkaAdminClient:
    opened: list[KafkaNetClient] = []

    def open_network(**config: Any) -> KafkaNetClient:
        opened.append(KafkaNetClient(**config))
        return opened[0]

    timeout_ms = round(connection.request_timeout_seconds * 1000)
    try:
        return KafkaAdminClient(
            bootstrap_servers=list(connection.bootstrap_servers),
            client_id=connection.client_id,
            security_protocol=connection.security_protocol,
            ssl_context=context,
            ssl_check_hostname=connection.ssl_check_hostname,
            sasl_mechanism=connection.sasl_mechanism,
            sasl_plain_username=connection.username,
            sasl_plain_password=_Hidden(connection.password.get_secret_value()) if connection.password else None,
            request_timeout_ms=timeout_ms,
            bootstrap_timeout_ms=timeout_ms,
            reconnect_backoff_max_ms=1000,
            kafka_client=open_network,
        )
    except (KafkaError, OSError, ValueError) as error:
        # A client that fails to connect leaves its thread and its sockets behind.
        for network in opened:
            network.close()
            network._net.stop()
        raise SourceError(_why_not_connected(error, connection, failures)) from error


def _why_not_connected(error: Exception, connection: KafkaConnection, failures: list[str]) -> str:
    head = f"Kafka at {connection.servers} ({connection.security_protocol})"
    if isinstance(error, _CREDENTIALS_REFUSED):
        who = f"user {connection.username!r}" if connection.username else "this client"
        return f"{head} refuses {who}: {explain(error, connection)}"
    last = failures[-1] if failures else explain(error, connection)
    text = explain(Exception(last), connection)
    return f"{head} could not be reached within {connection.request_timeout_seconds:g} s: {text}"


class _Hidden(str):
    """A secret that a log line with its ``repr`` does not show."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'"


class _NoDebug(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno > logging.DEBUG


@contextmanager
def _wire_kept_out_of_logs() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in _WIRE_LOGGERS]
    no_debug = _NoDebug()
    for logger in loggers:
        logger.addFilter(no_debug)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(no_debug)


class _Failures(logging.Handler):
    """Keeps why connections fail: the client tries again until its time is up, and then says no more than that."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        cause = next((arg for arg in record.args or () if isinstance(arg, BaseException)), None)
        if cause is not None:
            self.messages.append(str(cause))


@contextmanager
def _watch_connecting() -> Iterator[list[str]]:
    handler = _Failures()
    logger = logging.getLogger(_CONNECT_LOGGER)
    logger.addHandler(handler)
    try:
        yield handler.messages
    finally:
        logger.removeHandler(handler)
