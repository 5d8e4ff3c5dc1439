"""What to ask a Prometheus-compatible server for, as users write it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from kafka_capacity.inventory.prometheus_dialects import Quantity

Dialect = Literal["jmx", "kminion", "kafka_exporter"]
MAX_DAYS = 366

_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")


class PrometheusSettings(BaseModel):
    """Which metrics of which cluster, over how long."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dialects: tuple[Dialect, ...] = Field(
        default=("jmx", "kminion", "kafka_exporter"), min_length=1, description="whose names to look for, best first"
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
                msg = f"{name!r} cannot be the name of a label; letters, digits and _ can"
                raise ValueError(msg)
        return value

    @field_validator("broker_label")
    @classmethod
    def _is_a_label(cls, value: str | None) -> str | None:
        if value is not None and not _LABEL.fullmatch(value):
            raise ValueError("it cannot be the name of a label; letters, digits and _ can")
        return value

    @field_validator("names")
    @classmethod
    def _are_names(cls, value: Mapping[Quantity, str]) -> Mapping[Quantity, str]:
        for quantity, name in value.items():
            if not _NAME.fullmatch(name):
                msg = f"{name!r} of {quantity} cannot be the name of a metric; give a name, not an expression"
                raise ValueError(msg)
        return value

    @field_validator("counter_step_seconds", "offset_step_seconds")
    @classmethod
    def _divides_the_hour(cls, value: int) -> int:
        if 900 % value:
            raise ValueError("write a number of seconds that divides 900, such as 60 or 300")
        return value
