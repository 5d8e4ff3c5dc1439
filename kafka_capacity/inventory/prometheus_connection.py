"""How to reach the HTTP API of a Prometheus-compatible server, and what an Airflow connection says of it."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator

from kafka_capacity.errors import RequestError, SourceError

_EXTRA = {
    "token": "token",
    "ca_file": "ca_file",
    "headers": "headers",
    "timeout_seconds": "timeout_seconds",
    "path_prefix": None,
}


class PrometheusConnection(BaseModel):
    """How to reach the server. Secrets show as asterisks wherever this is printed."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: str = Field(description="before /api/v1: http://prometheus:9090, https://mimir.example.org/prometheus")
    username: str | None = Field(default=None, description="for basic authentication")
    password: SecretStr | None = Field(default=None, description="for basic authentication")
    token: SecretStr | None = Field(default=None, description="for bearer authentication")
    headers: Mapping[str, SecretStr] = Field(
        default_factory=dict, description="more headers, such as X-Scope-OrgID for the tenant of Mimir"
    )
    ca_file: Path | None = Field(default=None, description="PEM file of the CAs; else the system's")
    timeout_seconds: float = Field(default=60.0, gt=0, le=3600, description="for one request")

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        try:
            parts = urlsplit(value)
            is_valid = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_valid = False
        if not is_valid:
            raise ValueError("write http://host:port or https://host:port")
        if parts.username is not None or parts.password is not None:
            raise ValueError("take the user and the password out of it and give them by themselves")
        if parts.query or parts.fragment:
            raise ValueError("write it without ? and #; what tells clusters apart are labels")
        return value.rstrip("/").removesuffix("/api/v1")

    @model_validator(mode="after")
    def _has_one_way_in(self) -> PrometheusConnection:
        if self.token is not None and (self.username or self.password is not None):
            raise ValueError("it has a token and a user; keep one of them")
        if self.password is not None and not self.username:
            raise ValueError("it has a password and no user; add the user")
        if self.ca_file is not None and not self.url.startswith("https://"):
            raise ValueError("it has a ca_file and no https:// address; fix one of them")
        return self

    @classmethod
    def of(cls, **given: Any) -> PrometheusConnection:
        """Make one of what was given, or raise :class:`RequestError` that names the field and never a secret."""
        try:
            return cls(**given)
        except ValidationError as error:
            lines = []
            for mistake in error.errors(include_url=False, include_input=False):
                where = "".join(f" {part}:" for part in mistake["loc"][:1])
                what = mistake["msg"].removeprefix("Value error, ")
                lines.append(f"prometheus connection:{where} {what[:1].lower()}{what[1:]}")
            raise RequestError("\n".join(lines)) from None

    @classmethod
    def from_airflow(
        cls,
        *,
        host: str | None,
        schema: str | None,
        port: int | None,
        login: str | None,
        password: str | None,
        extra: Mapping[str, Any],
    ) -> PrometheusConnection:
        """Read an Airflow HTTP connection.

        Args:
            host: of the server, or its whole address.
            schema: ``http`` (the default) or ``https``.
            port: where the host has none in it.
            login: for basic authentication.
            password: likewise.
            extra: may have ``token``, ``ca_file``, ``headers``, ``timeout_seconds`` and ``path_prefix``.

        Raises:
            RequestError: a field does not do or is not known; the message never names a secret.
        """
        unknown = sorted(set(extra) - set(_EXTRA))
        if unknown:
            known = ", ".join(_EXTRA)
            raise RequestError(f"prometheus connection: extra {unknown[0]!r} is not known; known are {known}")
        if not host:
            raise RequestError("prometheus connection: has no host; write the address of the server")
        address = host if "://" in host else f"{schema or 'http'}://{host}"
        if port and urlsplit(address).netloc.rpartition("]")[2].count(":") == 0:
            parts = urlsplit(address)
            address = parts._replace(netloc=f"{parts.netloc}:{port}").geturl()
        prefix = str(extra.get("path_prefix") or "").strip("/")
        if prefix:
            address = f"{address.rstrip('/')}/{prefix}"
        given = {field: extra[key] for key, field in _EXTRA.items() if field is not None and extra.get(key)}
        return cls.of(url=address, username=login or None, password=password or None, **given)

    def ssl_context(self) -> ssl.SSLContext | None:
        """Load the CAs, where the address asks for TLS.

        Raises:
            SourceError: the file is missing or holds none.
        """
        if not self.url.startswith("https://"):
            return None
        try:
            return ssl.create_default_context(cafile=self.ca_file)
        except (ssl.SSLError, OSError) as error:
            raise SourceError(f"prometheus connection: ca_file {str(self.ca_file)!r} holds no CA in PEM") from error
