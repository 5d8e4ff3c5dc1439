"""An inventory as its source gave it: one Arrow table each, not judged yet."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, field_validator

from kafka_capacity.errors import DamagedInputError, InventoryError
from kafka_capacity.health.problem import Problem
from kafka_capacity.inventory.chosen_hours import ChosenHours
from kafka_capacity.inventory.tables import SCHEMA_VERSION, TABLES, empty_table, moment_of
from kafka_capacity.objects.keys import is_day
from kafka_capacity.text.validation_errors import Text, naming_mistakes

CLUSTER_DOCUMENT = "cluster.json"
"""The file of a snapshot that says which cluster and which day it is of; a snapshot without it is not complete."""

OLDEST_READABLE_VERSION = max(1, SCHEMA_VERSION - 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RawInventory:
    """What a source says about one cluster on one day."""

    cluster: str  # the name that the user gives it
    ds: str  # the day it stands for, `YYYY-MM-DD` (UTC)
    captured_at: str | None = None  # when it was read, ISO 8601 in UTC, `None` where nobody wrote that down
    source: str  # what it was read with, such as `files`, `kafka_admin`, `kafka_tools`
    kafka_version: str | None = None  # of the brokers, where known
    # by name, each with exactly the schema of `TABLES`; optional ones may be left out and are then empty
    tables: Mapping[str, pa.Table]
    remarks: tuple[Problem, ...] = ()  # what the source noticed while it read
    hours: ChosenHours | None = None  # of the metrics, where the table of that name is left out as too large

    def __post_init__(self) -> None:
        """Fill in the optional tables and refuse any table that is not of the format."""
        unknown = sorted(set(self.tables) - set(TABLES))
        if unknown:
            raise InventoryError(f"an inventory has no table {unknown[0]!r}; the tables are {', '.join(TABLES)}")
        required = [name for name, spec in TABLES.items() if spec.is_required]
        missing = [name for name in required if name not in self.tables]
        if missing:
            raise InventoryError(f"the inventory lacks the table {missing[0]!r}; {', '.join(required)} must be there")
        for name, table in self.tables.items():
            _check_schema(name, table)
        complete = {name: self.tables.get(name, empty_table(name)) for name in TABLES}
        object.__setattr__(self, "tables", complete)

    def table(self, name: str) -> pa.Table:
        """Return one table by name."""
        return self.tables[name]


def _check_schema(name: str, table: pa.Table) -> None:
    schema = TABLES[name].schema
    if not table.schema.equals(schema):
        msg = f"table {name!r} is not of the inventory's schema: expected {_brief(schema)}, got {_brief(table.schema)}"
        raise InventoryError(msg)
    for field in schema:
        if not field.nullable and table.column(field.name).null_count:
            row = 1 + table.column(field.name).is_null().to_numpy().argmax()
            raise InventoryError(f"table {name!r}, row {row}, {field.name}: null; it must have a value in every row")


def _brief(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {field.type}{'' if field.nullable else ' not null'}" for field in schema)


class ClusterDocument(BaseModel):
    """``cluster.json``: what a snapshot says about itself."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    schema_version: int = Field(description="of the native snapshot format")
    cluster: Text = Field(min_length=1, description="the name of the cluster")
    ds: str = Field(description="the day that the snapshot is for, YYYY-MM-DD in UTC")
    captured_at: str | None = Field(default=None, description="when it was read, ISO 8601 with its offset from UTC")
    source: Text = Field(default="files", min_length=1, description="what it was read with")
    kafka_version: str | None = Field(default=None, description="of the brokers")
    remarks: list[dict[str, str]] = Field(default_factory=list, description="what the source noticed while reading")

    @field_validator("ds")
    @classmethod
    def _is_a_day(cls, value: str) -> str:
        if not is_day(value):
            raise ValueError("write the day as YYYY-MM-DD")
        return value

    @field_validator("captured_at")
    @classmethod
    def _is_a_moment(cls, value: str | None) -> str | None:
        if value is not None and not is_utc_moment(value):
            raise ValueError("write the time as ISO 8601 in UTC, such as 2026-11-20T03:00:00Z")
        return value

    @field_validator("remarks")
    @classmethod
    def _are_findings(cls, value: list[dict[str, str]]) -> list[dict[str, str]]:
        for remark in value:
            Problem.from_dict(remark)
        return value


def is_utc_moment(text: str) -> bool:
    """Return whether this is a moment in UTC, written as ISO 8601."""
    moment = moment_of(text)
    return moment is not None and moment.utcoffset() == datetime.timedelta(0)


def cluster_document(raw: RawInventory) -> dict[str, Any]:
    """Return what ``cluster.json`` says about an inventory."""
    told = {name: getattr(raw, name) for name in ("cluster", "ds", "captured_at", "source", "kafka_version")}
    remarks = {"remarks": [remark.as_dict() for remark in raw.remarks]} if raw.remarks else {}
    return {"schema_version": SCHEMA_VERSION, **told, **remarks}


def parse_cluster_document(data: bytes, name: str) -> ClusterDocument:
    """Parse the bytes of ``cluster.json``; errors call it by this name.

    Raises:
        DamagedInputError: it is not JSON, a field is wrong, or it is of a version that this program does not read.
    """
    # The version is looked at first: a newer format may well have fields that this one would call mistakes.
    with naming_mistakes(name):
        version = _Versioned.model_validate_json(data).schema_version
    if not OLDEST_READABLE_VERSION <= version <= SCHEMA_VERSION:
        readable = " and ".join(str(v) for v in range(OLDEST_READABLE_VERSION, SCHEMA_VERSION + 1))
        remedy = "use a newer kafka-capacity" if version > SCHEMA_VERSION else "export the snapshot again"
        raise DamagedInputError(f"{name}: schema_version is {version}, this release reads {readable}; {remedy}")
    with naming_mistakes(name):
        return ClusterDocument.model_validate_json(data)


class _Versioned(BaseModel):
    model_config = ConfigDict(strict=True)
    schema_version: int


def raw_from_document(document: ClusterDocument, tables: Mapping[str, pa.Table]) -> RawInventory:
    """Put a parsed ``cluster.json`` and its tables together."""
    told = document.model_dump(exclude={"schema_version", "remarks"})
    return RawInventory(**told, tables=tables, remarks=tuple(map(Problem.from_dict, document.remarks)))
