"""One open admin connection to a cluster: errors in our words, retries, and no secret in any log.

kafka-python logs its configuration and every byte it sends at DEBUG, the password of SASL/PLAIN among them. While a
session is open those lines are held back, whatever level the user's logging is at.
"""

from __future__ import annotations

import base64
import logging
import re
import ssl
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from kafka.admin import KafkaAdminClient
from kafka.errors import (
    AuthorizationError,
    KafkaError,
    KafkaTimeoutError,
    SaslAuthenticationFailedError,
    UnsupportedSaslMechanismError,
)
from kafka.net.compat import KafkaNetClient
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector

from kafka_capacity.errors import SourceError
from kafka_capacity.inventory.kafka_connection import KafkaConnection

T = TypeVar("T")

_WIRE_LOGGERS = ("kafka.admin.client", "kafka.net.connection", "kafka.protocol.parser")
_ATTEMPTS = 6
_FIRST_PAUSE_SECONDS = 0.05  # doubled each time: 3 s in all, what a coordinator takes to move
_SILENT_BROKERS = 3  # that may be met by chance before somebody answers
_NAMES_IN_FRONT = re.compile(r"^(\[Error -?\d+\] )?(\w+Error: )*")
_CERTIFICATE_REFUSED = "CERTIFICATE_VERIFY_FAILED"  # OpenSSL's word for a broker that is not who it should be
_CREDENTIALS_REFUSED = (AuthorizationError, SaslAuthenticationFailedError, UnsupportedSaslMechanismError)


class AdminSession:
    """An admin client that raises :class:`SourceError`, naming the bootstrap servers and what was asked."""

    def __init__(self, connection: KafkaConnection, client: KafkaAdminClient) -> None:
        self._connection = connection
        self.client = client

    def ask(self, what: str, question: Callable[..., T], *args: Any, **options: Any) -> T:
        """Ask any broker something; one that is silent is not the end, the next is asked.

        Raises:
            SourceError: there is no answer.
        """
        try:
            return self._repeat(_SILENT_BROKERS, lambda: question(*args, **options))
        except KafkaError as error:
            msg = f"Kafka at {self._connection.servers}: {what}: {explain(error, self._connection)}"
            raise SourceError(msg) from error

    def try_to_ask(self, question: Callable[..., T], *args: Any, **options: Any) -> T:
        """Ask something that can be done without, or that one broker alone knows: one timeout is enough.

        Raises:
            KafkaError: there is no answer.
        """
        return self._repeat(1, lambda: question(*args, **options))

    def send(self, request: Any, node_id: int) -> Any:
        """Send a node a request that kafka-python's client has no function for; return the answer."""

        async def send() -> Any:
            return await self.client._manager.send(request, node_id=node_id)

        return self.client._manager.run(send)

    def features(self) -> dict[str, Any]:
        """Return the features of the cluster by name; none where it does not tell."""
        try:
            found: dict[str, Any] = self.try_to_ask(self.client.describe_features)
        except KafkaError:
            return {}
        return found

    def ask_of_groups(
        self,
        question: Callable[[list[str]], Mapping[str, T]],
        group_ids: Sequence[str],
        at_once: int,
        failed: list[str],
        spoils: type[Exception] = KafkaError,
    ) -> dict[str, T]:
        """Ask about some groups at once, and where that fails one by one, so that one bad group spoils no other.

        Groups of which an error ``spoils`` the answer are added to ``failed``.
        """
        found: dict[str, T] = {}
        for start in range(0, len(group_ids), at_once):
            some = list(group_ids[start : start + at_once])
            try:
                found |= self.try_to_ask(question, some)
            except spoils:
                if len(some) == 1:
                    failed += some
                else:
                    found |= self.ask_of_groups(question, some, 1, failed, spoils)
        return found

    def _repeat(self, timeouts: int, question: Callable[[], T]) -> T:
        """Ask again while the cluster is busy with an election or a coordinator's move."""
        deadline = time.monotonic() + timeouts * self._connection.request_timeout_seconds
        attempt = 0
        while True:
            try:
                return question()
            except KafkaError as error:
                attempt += 1
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
    with _wire_kept_out_of_logs():
        client = _connect(connection, context)
        try:
            yield AdminSession(connection, client)
        finally:
            client.close()


def explain(error: BaseException, connection: KafkaConnection) -> str:
    """Describe an error in one line, without a secret even if a broker should echo one."""
    name = type(error).__name__
    said = _NAMES_IN_FRONT.sub("", " ".join(str(error).split()))
    text = f"{name}: {said}" if said and said != name else name
    for secret in (connection.password, connection.ssl_key_password):
        if secret is not None and secret.get_secret_value():
            text = text.replace(secret.get_secret_value(), "***")
    return text


def kafka_uuid(answered: object) -> str | None:
    """Spell an id as Kafka's own tools do; older clusters, and whoever has none, answer nothing or zero."""
    number = uuid.UUID(str(answered)) if answered else None
    return base64.urlsafe_b64encode(number.bytes).rstrip(b"=").decode() if number is not None and number.int else None


class _Connections(KafkaConnectionManager):  # type: ignore[misc]  # kafka-python has no types
    """Knows why connections fail, and does not try again what cannot end well.

    By itself the client tries until its time is up, and then says no more than that; a wrong password tried for half
    a minute can also lock an account.
    """

    def __init__(self, net: NetworkSelector, **config: Any) -> None:
        super().__init__(net, **config)
        self.failures: list[Exception] = []
        self._final: dict[Any, Exception] = {}

    def get_connection(self, node_id: Any, *args: Any, **options: Any) -> Any:
        """Open a connection, or give the one there is."""
        if node_id in self._final:
            raise self._final[node_id]
        connection = super().get_connection(node_id, *args, **options)
        connection.init_future.add_errback(lambda error: self._note(node_id, error))
        return connection

    async def _build_transport(self, node: Any, timeout_at: float | None = None) -> Any:
        """Open a transport that hands over what a broker said last before it hung up: why it refuses us."""
        transport = await super()._build_transport(node, timeout_at=timeout_at)
        receive = transport._sock_recv

        def receive_all() -> tuple[bytes, Exception | None]:
            data, error = receive()
            return data, None if data else error  # the end shows again at the next reading

        transport._sock_recv = receive_all
        return transport

    def _note(self, node_id: Any, error: Exception) -> None:
        self.failures.append(error)
        if isinstance(error, _CREDENTIALS_REFUSED) or _CERTIFICATE_REFUSED in str(error):
            self._final[node_id] = error


def _connect(connection: KafkaConnection, context: ssl.SSLContext | None) -> KafkaAdminClient:
    opened: list[_Connections] = []

    def open_network(**config: Any) -> KafkaNetClient:
        net = NetworkSelector(**config)
        opened.append(_Connections(net, **config))
        return KafkaNetClient(net=net, manager=opened[0])

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
        for manager in opened:
            manager.close()
            manager._net.close()
            manager._net.stop()
        last = opened[0].failures[-1:] if opened else []
        raise SourceError(_why_not_connected(last[0] if last else error, connection)) from error


def _why_not_connected(error: Exception, connection: KafkaConnection) -> str:
    head = f"Kafka at {connection.servers} ({connection.security_protocol})"
    if isinstance(error, _CREDENTIALS_REFUSED):
        who = f"user {connection.username!r}" if connection.username else "this client"
        return f"{head} rejects {who}: {explain(error, connection)}"
    if isinstance(error, KafkaTimeoutError):
        return f"{head} did not answer within {connection.request_timeout_seconds:g} s"
    return (
        f"{head} could not be reached: {explain(error, connection)}; check bootstrap.servers, and that brokers can be "
        "reached from here"
    )


class _Hidden(str):
    """A secret that a log line with its ``repr`` does not show."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'"


@contextmanager
def _wire_kept_out_of_logs() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in _WIRE_LOGGERS]

    def no_debug(record: logging.LogRecord) -> bool:
        return record.levelno > logging.DEBUG

    for logger in loggers:
        logger.addFilter(no_debug)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(no_debug)
