"""What could be lost: how producers are set, and how often brokers fail."""

from __future__ import annotations

from math import inf
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from kafka_capacity.kafka.controller.failing import ElectionRules
from kafka_capacity.kafka.durability import Acks
from kafka_capacity.questions.failures.durability import DurabilityScenario
from kafka_capacity.questions.failures.durability.scenario import DAY
from kafka_capacity.questions.failures.parameters import FAILURES_SECTION

_DEFAULTS = DurabilityScenario()
_HOUR = 3600.0


def _here(**more: Any) -> dict[str, Any]:
    return {"section": FAILURES_SECTION, **more}


def _days(title: str, description: str, default: float | None, option: str) -> Any:
    return Field(
        default=default,
        gt=0.0,
        le=1e6,
        allow_inf_nan=False,
        title=title,
        description=description,
        json_schema_extra=_here(option=option),
    )


class DurabilityParameters(BaseModel):
    """What is assumed of producers and brokers, to tell what topics could lose."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    producer_acks: Acks = Field(
        default=_DEFAULTS.acks,
        title="Acks of producers",
        description="0, 1 or all, taken to hold for all producers: an inventory does not tell.",
        json_schema_extra=_here(option="--acks"),
    )
    is_producer_idempotent: bool = Field(
        default=_DEFAULTS.is_idempotent,
        title="Producers are idempotent",
        description="As they are by default since clients 3.0; only with acks=all.",
        json_schema_extra=_here(option="--idempotence"),
    )
    disk_mttf_days: float = _days(
        "Days until a broker loses its disks",
        "In the mean. An assumption: 3,650 days are ten years.",
        _DEFAULTS.mttf_seconds / DAY,
        option="--mttf",
    )
    crash_mttf_days: float = _days(
        "Days until a broker dies",
        "In the mean, its disks lost or not, so that others lead. An assumption, for what acks=1 loses.",
        _DEFAULTS.crash_mttf_seconds / DAY,
        option="--crash-mttf",
    )
    rack_mttf_days: float | None = _days(
        "Days until a rack loses all disks",
        "In the mean, of all its brokers at once. Empty: never.",
        None,
        option="--rack-mttf",
    )
    replacement_hours: float = Field(
        default=_DEFAULTS.replacement_seconds / _HOUR,
        gt=0.0,
        le=1e5,
        allow_inf_nan=False,
        title="Hours until a broker is replaced",
        description="From the loss of its disks until one with empty disks stands in; then it copies.",
        json_schema_extra=_here(option="--replacement"),
    )
    replica_lag_seconds: float = Field(
        default=_DEFAULTS.replica_lag_seconds,
        ge=0.0,
        le=1e6,
        allow_inf_nan=False,
        title="Seconds that followers are behind",
        description="For what acks=1 loses; by default replica.fetch.wait.max.ms, an upper estimate.",
        json_schema_extra=_here(option="--replica-lag"),
    )
    copyset_scatter_width: int = Field(
        default=_DEFAULTS.scatter_width,
        ge=1,
        le=1_000,
        title="Brokers that share a broker's data",
        description="In the placement over few sets of brokers that others are compared with.",
        json_schema_extra=_here(option="--scatter-width"),
    )

    def durability_scenario(self, *, rules: ElectionRules, throttle_bytes_per_second: float) -> DurabilityScenario:
        """Return what is assumed of every placement.

        Args:
            rules: by which leaders are elected.
            throttle_bytes_per_second: of the copies, per broker and direction.
        """
        return DurabilityScenario(
            acks=self.producer_acks,
            is_idempotent=self.is_producer_idempotent,
            rules=rules,
            mttf_seconds=self.disk_mttf_days * DAY,
            crash_mttf_seconds=self.crash_mttf_days * DAY,
            replacement_seconds=self.replacement_hours * _HOUR,
            throttle_bytes_per_second=throttle_bytes_per_second,
            rack_mttf_seconds=inf if self.rack_mttf_days is None else self.rack_mttf_days * DAY,
            replica_lag_seconds=self.replica_lag_seconds,
            scatter_width=self.copyset_scatter_width,
        )
