"""What could be lost: how producers are set, and how often brokers fail."""

from __future__ import annotations

from math import inf
from typing import Any

from pydantic import BaseModel, ConfigDict

from kafka_capacity.kafka.controller.failing import ElectionRules
from kafka_capacity.kafka.durability import Acks
from kafka_capacity.questions.failures.durability.scenario import DAY, DurabilityScenario
from kafka_capacity.questions.failures.parameters import FAILURES_FORM

_DEFAULTS = DurabilityScenario()
_HOUR = 3600.0
_DAYS: dict[str, Any] = {"gt": 0.0, "le": 1e6, "allow_inf_nan": False}


class DurabilityParameters(BaseModel):
    """What is assumed of producers and brokers, to tell what topics could lose."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    producer_acks: Acks = FAILURES_FORM.field(_DEFAULTS.acks, "Producer acks", "--acks", is_usual=True)(
        "0, 1 or all, assumed for all producers because an inventory does not show it."
    )
    is_producer_idempotent: bool = FAILURES_FORM.field(
        _DEFAULTS.is_idempotent, "Producers are idempotent", "--idempotence"
    )("The default since clients 3.0; only with acks=all.")
    disk_mttf_days: float = FAILURES_FORM.field(
        _DEFAULTS.mttf_seconds / DAY, "Mean days until a broker loses its disks", "--mttf", **_DAYS
    )("An assumption: 3,650 days are ten years.")
    crash_mttf_days: float = FAILURES_FORM.field(
        _DEFAULTS.crash_mttf_seconds / DAY, "Mean days until a broker dies", "--crash-mttf", **_DAYS
    )("With or without losing its disks, so that other brokers become leaders. An assumption, for what acks=1 loses.")
    rack_mttf_days: float | None = FAILURES_FORM.field(
        None, "Mean days until a rack loses all disks", "--rack-mttf", **_DAYS
    )("The disks of all its brokers at once. Empty: never.")
    replacement_hours: float = FAILURES_FORM.field(
        _DEFAULTS.replacement_seconds / _HOUR,
        "Hours until a broker is replaced",
        "--replacement",
        gt=0.0,
        le=1e5,
        allow_inf_nan=False,
    )("From the loss of its disks until a broker with empty disks replaces it and starts to copy.")
    replica_lag_seconds: float = FAILURES_FORM.field(
        _DEFAULTS.replica_lag_seconds, "Follower lag (seconds)", "--replica-lag", ge=0.0, le=1e6, allow_inf_nan=False
    )("For what acks=1 loses; by default replica.fetch.wait.max.ms, an upper estimate.")
    copyset_scatter_width: int = FAILURES_FORM.field(
        _DEFAULTS.scatter_width, "Scatter width", "--scatter-width", ge=1, le=1_000
    )("How many brokers share a broker's data, in the reference placement with few copysets.")

    def durability_scenario(self, *, rules: ElectionRules, throttle_bytes_per_second: float) -> DurabilityScenario:
        """Return what is assumed of every placement."""
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
