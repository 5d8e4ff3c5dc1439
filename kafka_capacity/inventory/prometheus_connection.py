"""How to reach the HTTP API of a Prometheus-compatible server, and what an Airflow connection says of it."""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from kafka_capacity.errors import RequestError
from kafka_capacity.inventory.kafka_connection import context_of_cas
from kafka_capacity.inventory.prometheus_dialects import Quantity
from kafka_capacity.text.validation_errors import hiding_values

_EXTRA = ("token", "ca_file", "headers", "timeout_seconds", "path_prefix")


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
    ca_file: Path | None = Field(default=None, description="PEM file of the CAs; default: the system's")
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
            raise ValueError("remove the user and password from it and give them separately")
        if parts.query or parts.fragment:
            raise ValueError("write it without ? and #; use labels to tell clusters apart")
        return value.rstrip("/").removesuffix("/api/v1")

    @model_validator(mode="after")
    def _has_one_way_in(self) -> PrometheusConnection:
        if self.token is not None and (self.username or self.password is not None):
            raise ValueError("it has a token and a user; keep one of them")
        if self.password is not None and not self.username:
            raise ValueError("it has a password but no user; add the user")
        if self.ca_file is not None and not self.url.startswith("https://"):
            raise ValueError("it has a ca_file but no https:// address; fix one of them")
        return self

    @classmethod
    def of(cls, **given: Any) -> PrometheusConnection:
        """Make one of what was given, or raise :class:`RequestError` that names the field and never a secret."""
        with hiding_values("prometheus connection"):
            return cls(**given)

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
        """Read an Airflow HTTP connection; ``host`` may be a whole address, and ``port`` counts where it has none.

        Raises:
            RequestError: a field does not do or is not known; the message never names a secret.
        """
        unknown = sorted(set(extra) - set(_EXTRA))
        if unknown:
            known = ", ".join(_EXTRA)
            raise RequestError(f"prometheus connection: extra {unknown[0]!r} is unknown; the keys are {known}")
        if not host:
            raise RequestError("prometheus connection: has no host; write the address of the server")
        address = host if "://" in host else f"{schema or 'http'}://{host}"
        if port and ":" not in (parts := urlsplit(address)).netloc.rpartition("]")[2]:
            address = parts._replace(netloc=f"{parts.netloc}:{port}").geturl()
        if prefix := str(extra.get("path_prefix") or "").strip("/"):
            address = f"{address.rstrip('/')}/{prefix}"
        given = {key: extra[key] for key in _EXTRA if key != "path_prefix" and extra.get(key)}
        return cls.of(url=address, username=login or None, password=password or None, **given)

    def ssl_context(self) -> ssl.SSLContext | None:
        """Load the CAs, where the address asks for TLS.

        Raises:
            SourceError: the file is missing or holds none.
        """
        if not self.url.startswith("https://"):
            return None
        return context_of_cas(self.ca_file, "prometheus connection: ca_file")


Dialect = Literal["jmx", "kminion", "kafka_exporter", "clients"]
MAX_DAYS = 366
FILES_DAYS = 90
"""How far back rates in files count, where nobody says; a server is asked for less."""

_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")


class PrometheusSettings(BaseModel):
    """Which metrics of which cluster, over how long."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dialects: tuple[Dialect, ...] = Field(
        default=("jmx", "kminion", "kafka_exporter", "clients"),
        min_length=1,
        description="whose names to look for, best first",
    )
    labels: Mapping[str, str] = Field(
        default_factory=dict, description="that every series of this cluster has, where the server has several"
    )
    days: int = Field(default=14, ge=1, le=MAX_DAYS, description="how far back to ask each time; late samples count")
    counter_step_seconds: int = Field(default=300, ge=15, le=900, description="between samples of bytes and processors")
    offset_step_seconds: int = Field(default=900, ge=15, le=900, description="between samples of offsets")
    broker_label: str | None = Field(
        default=None, description="the label with the broker id, its host or its pod; found by itself if left out"
    )
    names: Mapping[Quantity, str] = Field(
        default_factory=dict, description="metrics of one's own, such as those of recording rules, by quantity"
    )

    @field_validator("labels")
    @classmethod
    def _are_labels(cls, value: Mapping[str, str]) -> Mapping[str, str]:
        for name in value:
            if not _LABEL.fullmatch(name):
                raise ValueError(f"{name!r} is not a label name; use letters, digits and _")
        return value

    @field_validator("broker_label")
    @classmethod
    def _is_a_label(cls, value: str | None) -> str | None:
        if value is not None and not _LABEL.fullmatch(value):
            raise ValueError("it is not a label name; use letters, digits and _")
        return value

    @field_validator("names")
    @classmethod
    def _are_names(cls, value: Mapping[Quantity, str]) -> Mapping[Quantity, str]:
        for quantity, name in value.items():
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name!r} of {quantity} is not a metric name; give a name, not an expression")
        return value

    @field_validator("counter_step_seconds", "offset_step_seconds")
    @classmethod
    def _divides_the_hour(cls, value: int) -> int:
        if 900 % value:
            raise ValueError("write a number of seconds that divides 900, such as 60 or 300")
        return value
