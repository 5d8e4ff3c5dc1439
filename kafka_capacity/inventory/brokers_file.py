"""The list of brokers that people write by hand: observed ones for an import, wanted ones for a plan.

    [{"id": 1, "rack": "a"},
     {"id": 2, "rack": "b", "disk_capacity_bytes": 4000000000000, "network_in_bytes_per_second": 1250000000}]

Cruise Control's ``capacity.json`` is taken in its place: it names brokers and capacities, and no racks.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kafka_capacity.errors import DamagedInputError
from kafka_capacity.inventory.column_values import values
from kafka_capacity.inventory.cruise_control import CapacityFile, is_capacity_file, parse_capacity_file
from kafka_capacity.inventory.tables import TABLES
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.text.validation_errors import Text, describe_mistakes


class BrokerEntry(BaseModel):
    """One broker of the list."""

    # Numbers of any size and sign pass here: the checks of an inventory judge them, all at once.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: int = Field(ge=-(2**31), le=2**31 - 1, description="the broker's node.id")
    rack: Text | None = Field(default=None, description="its broker.rack")
    host: Text | None = Field(default=None, description="its host name")
    disk_capacity_bytes: float | None = Field(default=None, allow_inf_nan=False, description="of all its log dirs")
    network_in_bytes_per_second: float | None = Field(default=None, allow_inf_nan=False, description="its line, in")
    network_out_bytes_per_second: float | None = Field(default=None, allow_inf_nan=False, description="its line, out")
    cpu_cores: float | None = Field(default=None, allow_inf_nan=False, description="how many cores it has")
    memory_bytes: float | None = Field(default=None, allow_inf_nan=False, description="of the whole machine")


class _BrokerList(BaseModel):
    model_config = ConfigDict(frozen=True)
    entries: list[BrokerEntry]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokersFile:
    """What the file says: a list of brokers, or Cruise Control's capacities, never both."""

    entries: tuple[BrokerEntry, ...] = ()
    capacities: CapacityFile | None = None


def parse_brokers_file(text: str, file: str) -> BrokersFile:
    """Read a list of brokers, or Cruise Control's ``capacity.json``, from the text of a file that errors name.

    Raises:
        DamagedInputError: with one line for each mistake, naming the entry and its id.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        msg = f"{file}: is not JSON ({error}); fix it"
        raise DamagedInputError(msg) from error
    if is_capacity_file(document):
        return BrokersFile(capacities=parse_capacity_file(document, file))
    if not isinstance(document, list):
        wanted = '[{"id": 1, "rack": "a"}, …]'
        msg = f"{file}: is not a list of brokers; write {wanted} or give Cruise Control's capacity.json"
        raise DamagedInputError(msg)
    try:
        return BrokersFile(entries=tuple(_BrokerList.model_validate({"entries": document}).entries))
    except ValidationError as error:
        lines = [f"{file}: {_named(line, document)}" for line in describe_mistakes(error)]
        raise DamagedInputError("\n".join(lines)) from error


def _named(line: str, document: list[Any]) -> str:
    """Turn ``entries.3.rack is …`` into ``entry 3 (id 7): rack is …``."""
    place, _, rest = line.partition(" ")
    _, index, *column = place.split(".")
    entry = document[int(index)]
    broker_id = entry.get("id") if isinstance(entry, dict) else None
    who = f"entry {index}" if broker_id is None else f"entry {index} (id {broker_id})"
    return f"{who}: {'.'.join(column)} {rest}" if column else f"{who}: {rest}"


def brokers_table(entries: Sequence[BrokerEntry]) -> pa.Table:
    """Return the entries as the inventory's table of brokers, as they stand."""
    schema = TABLES["brokers"].schema
    rows = [{"broker_id": entry.id, **entry.model_dump(exclude={"id"})} for entry in entries]
    return pa.table([pa.array([row.get(column.name) for row in rows], column.type) for column in schema], schema=schema)


def listed_brokers_table(content: BrokersFile, file: str, other_ids: Sequence[int] = ()) -> pa.Table:
    """Return the table of the brokers that the file names.

    ``capacity.json`` speaks by its default of ``other_ids``, brokers known from elsewhere.

    Raises:
        DamagedInputError: ``capacity.json`` names no broker and none are known from elsewhere.
    """
    if content.capacities is None:
        return brokers_table(content.entries)
    ids = set(content.capacities.by_broker)
    if content.capacities.default is not None:
        ids |= set(other_ids)
    if not ids:
        msg = f"{file}: has only the default capacity, so it names no broker; list each broker with its brokerId"
        raise DamagedInputError(msg)
    return content.capacities.merge_into(brokers_table([BrokerEntry(id=broker_id) for broker_id in sorted(ids)]))


def brokers_of(table: pa.Table) -> Brokers:
    """Return a table of brokers as arrays."""
    columns = {name: values(table.column(name)) for name in table.column_names}
    return Brokers.of(
        columns["broker_id"],
        columns["rack"],
        is_fenced=[bool(fenced) for fenced in columns["is_fenced"]],
        disk_capacity_bytes=columns["disk_capacity_bytes"],
        network_in_bytes_per_second=columns["network_in_bytes_per_second"],
        network_out_bytes_per_second=columns["network_out_bytes_per_second"],
        memory_bytes=columns["memory_bytes"],
    )
