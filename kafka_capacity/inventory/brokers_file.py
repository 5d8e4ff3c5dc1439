"""The list of brokers that people write by hand: observed ones for an import, wanted ones for a plan.

    [{"id": 1, "rack": "a"},
     {"id": 2, "rack": "b", "disk_capacity_bytes": 4000000000000, "network_in_bytes_per_second": 1250000000}]

Cruise Control's ``capacity.json`` is taken in its place: it names brokers and capacities, and no racks.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import pyarrow as pa
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, TypeAdapter, ValidationError

from kafka_capacity.errors import DamagedInputError
from kafka_capacity.health.problem import Problem, problem_of, warning
from kafka_capacity.inventory.column_values import values
from kafka_capacity.inventory.tables import TABLES
from kafka_capacity.kafka.cluster.brokers import FIGURES, Brokers
from kafka_capacity.text.validation_errors import Text, check_text, describe_mistakes, naming_mistakes

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


class Capacity(BaseModel):
    """What one broker can carry."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    DISK: Annotated[float | dict[str, float], PlainValidator(_disk)]
    CPU: Annotated[float | None, PlainValidator(_cores)]
    NW_IN: Amount
    NW_OUT: Amount

    @property
    def columns(self) -> dict[str, float]:
        """Those of the table of brokers that are known."""
        disk = sum(self.DISK.values()) if isinstance(self.DISK, dict) else self.DISK
        columns = {
            "disk_capacity_bytes": disk * _DISK_UNIT_BYTES,
            "network_in_bytes_per_second": self.NW_IN * _NETWORK_UNIT_BYTES,
            "network_out_bytes_per_second": self.NW_OUT * _NETWORK_UNIT_BYTES,
        }
        return columns if self.CPU is None else {**columns, "cpu_cores": self.CPU}

    @property
    def log_dir_bytes(self) -> dict[str, int]:
        """The size of each log dir, by its :func:`_bare` path; none where only their sum is given."""
        log_dirs = self.DISK if isinstance(self.DISK, dict) else {}
        return {_bare(path): int(amount * _DISK_UNIT_BYTES) for path, amount in log_dirs.items()}


def _bare(path: str) -> str:
    """Return the path of a log dir without the slash at its end, which means nothing."""
    return path.rstrip("/") or path


class _BrokerCapacity(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    brokerId: Annotated[int, BeforeValidator(_broker_id), Field(strict=True, ge=DEFAULT_BROKER_ID, le=2**31 - 1)]
    capacity: Capacity
    doc: str | None = None


class _CapacityFile(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)
    brokerCapacities: list[_BrokerCapacity]


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
        rows = brokers.to_pylist()
        for row in rows:
            if capacity := self.of(row["broker_id"]):
                row |= capacity.columns
        return pa.Table.from_pylist(rows, schema=TABLES["brokers"].schema)

    def merge_into_dirs(self, log_dirs: pa.Table) -> pa.Table:
        """Return the table of log dirs with the sizes that are given here in place of the ones it had."""
        rows = log_dirs.to_pylist()
        for row in rows:
            if capacity := self.of(row["broker_id"]):
                row["total_bytes"] = capacity.log_dir_bytes.get(_bare(row["path"]), row["total_bytes"])
        return pa.Table.from_pylist(rows, schema=TABLES["log_dirs"].schema)

    def check_dirs(self, log_dirs: pa.Table) -> Iterator[Problem]:
        """Find log dirs that are only given here or only there, of brokers of which both tell some."""
        found: dict[int, set[str]] = {}
        for row in log_dirs.to_pylist():
            found.setdefault(row["broker_id"], set()).add(_bare(row["path"]))
        lone = [
            f"{path!r} of broker {broker_id} only in {'DISK' if path in given else 'kafka-log-dirs'}"
            for broker_id, paths in sorted(found.items())
            if (capacity := self.of(broker_id)) and (given := capacity.log_dir_bytes)
            for path in sorted(paths ^ given.keys())
        ]
        message = (
            "{count} not in both DISK of Cruise Control's capacities and kafka-log-dirs ({names}): the size of one "
            "that DISK lacks is unknown, and disk_capacity_bytes is the sum of DISK; correct the paths of DISK"
        )
        yield from problem_of(lone, "log dir", warning, "capacity_of_other_log_dirs", "log_dirs.total_bytes", message)


def _parse_capacity_file(document: Any, file: str) -> CapacityFile:
    """Read Cruise Control's ``capacity.json``, which is parsed as JSON already; errors name the file.

    {"brokerCapacities": [
          {"brokerId": "-1", "capacity": {"DISK": "1000000", "CPU": "100", "NW_IN": "125000", "NW_OUT": "125000"}},
          {"brokerId": "0",  "capacity": {"DISK": {"/data/a": "500000", "/data/b": "500000"},
                                          "CPU": {"num.cores": "16"}, "NW_IN": "125000", "NW_OUT": "125000"}}]}

    Broker ``-1`` is the default of all that are not listed. Cruise Control documents DISK in MB and the network in KB
    per second, and turns Kafka's bytes into them by 1024 * 1024 and by 1024 (its ``CruiseControlMetricsProcessor``): so
    they are MiB and KiB here. CPU in percent says nothing of the number of cores, which then stays unknown.

    Raises:
        DamagedInputError: with one line for each mistake.
    """
    with naming_mistakes(file):
        parsed = _CapacityFile.model_validate(document)
    by_broker: dict[int, Capacity] = {}
    for entry in parsed.brokerCapacities:
        if entry.brokerId in by_broker:
            raise DamagedInputError(f"{file}: brokerId {entry.brokerId} is listed twice; keep one")
        by_broker[entry.brokerId] = entry.capacity
    return CapacityFile(default=by_broker.pop(DEFAULT_BROKER_ID, None), by_broker=by_broker)


class BrokerEntry(BaseModel):
    """One broker of the list."""

    # Numbers of any size and sign pass here: the checks of an inventory judge them, all at once.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: int = Field(ge=-(2**31), le=2**31 - 1, description="the broker's node.id")
    rack: Text | None = Field(default=None, description="its broker.rack")
    host: Text | None = Field(default=None, description="its host name")
    is_fenced: bool | None = Field(default=None, description="whether it is down")
    disk_capacity_bytes: float | None = Field(default=None, allow_inf_nan=False, description="of all its log dirs")
    network_in_bytes_per_second: float | None = Field(default=None, allow_inf_nan=False, description="its line, in")
    network_out_bytes_per_second: float | None = Field(default=None, allow_inf_nan=False, description="its line, out")
    cpu_cores: float | None = Field(default=None, allow_inf_nan=False, description="how many cores it has")
    memory_bytes: float | None = Field(default=None, allow_inf_nan=False, description="of the whole machine")


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
        raise DamagedInputError(f"{file}: is not JSON ({error}); fix it") from error
    if isinstance(document, dict) and "brokerCapacities" in document:
        return BrokersFile(capacities=_parse_capacity_file(document, file))
    if not isinstance(document, list):
        wanted = '[{"id": 1, "rack": "a"}, …]'
        msg = f"{file}: is not a list of brokers; write {wanted} or give Cruise Control's capacity.json"
        raise DamagedInputError(msg)
    try:
        return BrokersFile(entries=tuple(TypeAdapter(list[BrokerEntry]).validate_python(document)))
    except ValidationError as error:
        lines = [f"{file}: {_named(line, document)}" for line in describe_mistakes(error)]
        raise DamagedInputError("\n".join(lines)) from error


def _named(line: str, document: list[Any]) -> str:
    """Turn ``3.rack is …`` into ``entry 4 (id 7): rack is …``."""
    place, _, rest = line.partition(" ")
    index, *column = place.split(".")
    entry = document[int(index)]
    broker_id = entry.get("id") if isinstance(entry, dict) else None
    who = f"entry {int(index) + 1}" + ("" if broker_id is None else f" (id {broker_id})")
    return f"{who}: {'.'.join(column)} {rest}" if column else f"{who}: {rest}"


def brokers_table(entries: Sequence[BrokerEntry]) -> pa.Table:
    """Return the entries as the inventory's table of brokers, as they stand."""
    rows = [{"broker_id": entry.id, **entry.model_dump(exclude={"id"})} for entry in entries]
    return pa.Table.from_pylist(rows, schema=TABLES["brokers"].schema)


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
        **{name: columns[name] for name in FIGURES},
    )
