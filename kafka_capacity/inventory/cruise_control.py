"""Cruise Control's ``capacity.json``: what each broker can carry.

    {"brokerCapacities": [
      {"brokerId": "-1", "capacity": {"DISK": "1000000", "CPU": "100", "NW_IN": "125000", "NW_OUT": "125000"}},
      {"brokerId": "0",  "capacity": {"DISK": {"/data/a": "500000", "/data/b": "500000"},
                                      "CPU": {"num.cores": "16"}, "NW_IN": "125000", "NW_OUT": "125000"}}]}

Broker ``-1`` is the default of all that are not listed. Cruise Control documents DISK in MB and the network in KB per
second, and turns Kafka's bytes into them by 1024 * 1024 and by 1024 (its ``CruiseControlMetricsProcessor``): so they
are MiB and KiB here. CPU in percent says nothing of the number of cores, which then stays unknown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import pyarrow as pa
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, ValidationError

from kafka_capacity.errors import DamagedInputError
from kafka_capacity.inventory.column_values import values
from kafka_capacity.inventory.tables import TABLES
from kafka_capacity.text.validation_errors import check_text, describe_mistakes

DEFAULT_BROKER_ID = -1
_DISK_UNIT_BYTES = 1024 * 1024
_NETWORK_UNIT_BYTES = 1024
_MAX_AMOUNT = 2**63 // _DISK_UNIT_BYTES - 1
"""Of MB, KB per second or cores: above it bytes are no long of Java any more."""


def _number(value: Any, wanted: str = "write a number") -> float:
    """Take a number, also as the text that Cruise Control's examples write."""
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            number = math.nan
        if abs(number) <= _MAX_AMOUNT:
            return number
        if math.isfinite(number):
            wanted = f"give at most {_MAX_AMOUNT}"
    raise ValueError(wanted)


def _disk(value: Any) -> float | dict[str, float]:
    wanted = 'write a number of MB, or {"/log/dir": MB, …}'
    if isinstance(value, dict) and value:
        return {check_text(path): _number(amount, wanted) for path, amount in value.items()}
    return _number(value, wanted)


def _cores(value: Any) -> float | None:
    """Return the number of cores; a percentage does not tell it."""
    wanted = 'write a percentage, or {"num.cores": number}'
    if isinstance(value, dict):
        if set(value) != {"num.cores"}:
            raise ValueError(wanted)
        return _number(value["num.cores"], wanted)
    _number(value, wanted)
    return None


def _broker_id(value: Any) -> Any:
    is_text_number = isinstance(value, str) and value.removeprefix("-").isdecimal() and value.isascii()
    return int(value) if is_text_number else value


Amount = Annotated[float, PlainValidator(_number)]


class _Capacity(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    DISK: Annotated[float | dict[str, float], PlainValidator(_disk)]
    CPU: Annotated[float | None, PlainValidator(_cores)]
    NW_IN: Amount
    NW_OUT: Amount


class _BrokerCapacity(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    brokerId: Annotated[int, BeforeValidator(_broker_id), Field(strict=True, ge=DEFAULT_BROKER_ID, le=2**31 - 1)]
    capacity: _Capacity
    doc: str | None = None


class _CapacityFile(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)
    brokerCapacities: list[_BrokerCapacity]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What one broker can carry; ``None`` where it is not known."""

    disk_capacity_bytes: float
    network_in_bytes_per_second: float
    network_out_bytes_per_second: float
    cpu_cores: float | None = None
    log_dir_bytes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityFile:
    """What ``capacity.json`` says: by broker, and for all others."""

    by_broker: Mapping[int, Capacity]
    default: Capacity | None

    def of(self, broker_id: int) -> Capacity | None:
        """Return what is said about a broker, by name or by default."""
        return self.by_broker.get(broker_id, self.default)

    def merge_into(self, brokers: pa.Table) -> pa.Table:
        """Return the table of brokers with these capacities in place of the ones it had."""
        found = [self.of(broker_id) for broker_id in values(brokers.column("broker_id"))]
        for name in (
            "disk_capacity_bytes",
            "network_in_bytes_per_second",
            "network_out_bytes_per_second",
            "cpu_cores",
        ):
            before = values(brokers.column(name))
            given = [None if capacity is None else getattr(capacity, name) for capacity in found]
            merged = [new if new is not None else old for new, old in zip(given, before, strict=True)]
            index = brokers.schema.get_field_index(name)
            brokers = brokers.set_column(index, TABLES["brokers"].schema.field(name), pa.array(merged, pa.float64()))
        return brokers


def is_capacity_file(document: Any) -> bool:
    """Return whether this JSON is Cruise Control's."""
    return isinstance(document, dict) and "brokerCapacities" in document


def parse_capacity_file(document: Any, file: str) -> CapacityFile:
    """Read ``capacity.json``, which is parsed as JSON already; errors name the file.

    Raises:
        DamagedInputError: with one line for each mistake.
    """
    try:
        parsed = _CapacityFile.model_validate(document)
    except ValidationError as error:
        lines = [f"{file}: {line}" for line in describe_mistakes(error)]
        raise DamagedInputError("\n".join(lines)) from error
    by_broker: dict[int, Capacity] = {}
    for entry in parsed.brokerCapacities:
        if entry.brokerId in by_broker:
            msg = f"{file}: brokerId {entry.brokerId} is listed twice; keep one"
            raise DamagedInputError(msg)
        by_broker[entry.brokerId] = _capacity(entry.capacity)
    return CapacityFile(default=by_broker.pop(DEFAULT_BROKER_ID, None), by_broker=by_broker)


def _capacity(given: _Capacity) -> Capacity:
    log_dirs = given.DISK if isinstance(given.DISK, dict) else {}
    disk = sum(given.DISK.values()) if isinstance(given.DISK, dict) else given.DISK
    return Capacity(
        disk_capacity_bytes=disk * _DISK_UNIT_BYTES,
        network_in_bytes_per_second=given.NW_IN * _NETWORK_UNIT_BYTES,
        network_out_bytes_per_second=given.NW_OUT * _NETWORK_UNIT_BYTES,
        cpu_cores=given.CPU,
        log_dir_bytes={path: int(amount * _DISK_UNIT_BYTES) for path, amount in log_dirs.items()},
    )
