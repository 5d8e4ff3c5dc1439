"""The parameters of a plan. The trigger form, the command line and the schedule all use this model and its defaults."""

from __future__ import annotations

import datetime
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from kafka_capacity import MODEL_VERSION
from kafka_capacity.errors import RequestError
from kafka_capacity.placement import Balance, RackRule, placer_names
from kafka_capacity.sizing.grid import GridRequest

PLACERS = placer_names()
_ADDRESS = re.compile(r"[^@\s,;<>\"]+@[^@\s,;<>\"]+")

BrokerCount = Annotated[int, Field(ge=1, le=2_000)]
RackName = Annotated[str, Field(min_length=1, max_length=255)]


class PlanRequest(BaseModel):
    """What a plan is asked to answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cluster: str = Field(
        min_length=1,
        max_length=255,
        description="The cluster, by the name under which its inventory is staged.",
        json_schema_extra={"section": "Inventory"},
    )
    ds: datetime.date | None = Field(
        default=None,
        title="Inventory date",
        description="The day of the inventory (UTC). Empty: the newest complete one that is not after the run.",
        json_schema_extra={"section": "Inventory"},
    )
    broker_counts: tuple[BrokerCount, ...] = Field(
        default=(),
        max_length=50,
        title="Broker counts to try",
        description="Empty: today's count, and one more broker in every rack. Brokers that do not exist yet are "
        "planned with the median hardware of the others. For example [12, 15, 18].",
        json_schema_extra={"section": "What to try"},
    )
    new_broker_racks: tuple[RackName, ...] = Field(
        default=(),
        max_length=1000,
        title="Racks of new brokers",
        description="One a line, taken in turn. Empty: each new broker goes to the rack with the fewest brokers.",
        json_schema_extra={"section": "What to try"},
    )
    placers: tuple[str, ...] = Field(
        default=("fewest-bytes", "generate"),
        min_length=1,
        title="Placers to compare",
        description="fewest-bytes keeps what fits; generate is what kafka-reassign-partitions --generate proposes; "
        "striped, zk and modulo place everything afresh.",
        json_schema_extra={"section": "What to try", "items": {"type": "string", "enum": list(PLACERS)}},
    )
    replication_factor: int | None = Field(
        default=None,
        ge=1,
        le=100,
        title="Replication factor",
        description="For all topics. Empty: each topic keeps its own.",
        json_schema_extra={"section": "What to try"},
    )
    rack_rule: RackRule = Field(
        default=RackRule.STRICT,
        title="Rack rule",
        description="strict: as many racks as the replication factor allows; two-racks: at least two; off.",
        json_schema_extra={"section": "Rules"},
    )
    balance: Balance = Field(
        default=Balance.BYTES,
        description="What fewest-bytes makes even: the bytes on disk, or the number of replicas.",
        json_schema_extra={"section": "Rules"},
    )
    tolerance_ratio: float | None = Field(
        default=None,
        ge=0.0,
        le=1.0,
        title="Tolerance",
        description="How far from its fair share a broker may be: 0.02 is 2 %. "
        "Empty: 0.02 for bytes, and within one replica for counts.",
        json_schema_extra={"section": "Rules"},
    )
    disk_limit_ratio: float = Field(
        default=0.85,
        gt=0.0,
        le=1.0,
        title="Disk limit",
        description="How full a disk may be after the change: 0.85 is 85 %.",
        json_schema_extra={"section": "Rules"},
    )
    throttle_bytes_per_second: float = Field(
        default=50e6,
        gt=0.0,
        le=1e12,
        title="Throttle (bytes per second)",
        description="Per broker and direction, as given to kafka-reassign-partitions --throttle.",
        json_schema_extra={"section": "Rules"},
    )
    seed: int = Field(
        default=0,
        ge=0,
        le=2**31 - 1,
        description="Of every random draw: the same request with the same seed is the same plan.",
        json_schema_extra={"section": "Rules"},
    )
    recipients: tuple[str, ...] = Field(
        default=(),
        max_length=100,
        description="Who gets the report by e-mail. Empty: those of the Airflow variable kafka_capacity_recipients.",
        json_schema_extra={"section": "Delivery"},
    )
    is_approval_required: bool = Field(
        default=False,
        title="Ask for approval",
        description="Release the reassignment files only after somebody has approved the report.",
        json_schema_extra={"section": "Delivery"},
    )

    @field_validator("placers")
    @classmethod
    def _are_known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if name not in PLACERS:
                msg = f"{name!r} is no placer; choose from {', '.join(PLACERS)}"
                raise ValueError(msg)
        return value

    @field_validator("recipients")
    @classmethod
    def _are_addresses(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for address in value:
            if not _ADDRESS.fullmatch(address):
                msg = f"{address!r} is not an e-mail address; write each as name@host"
                raise ValueError(msg)
        return value

    @field_validator("throttle_bytes_per_second", "disk_limit_ratio", "tolerance_ratio")
    @classmethod
    def _is_finite(cls, value: float | None) -> float | None:
        if value is not None and value != value:
            msg = "write a number"
            raise ValueError(msg)
        return value

    def grid(self) -> GridRequest:
        """Give what spans the grid of scenarios."""
        return GridRequest(
            broker_counts=self.broker_counts,
            new_broker_racks=self.new_broker_racks,
            placers=self.placers,
            replication_factor=self.replication_factor,
            throttle_bytes_per_second=self.throttle_bytes_per_second,
            rack_rule=self.rack_rule,
            balance=self.balance,
            tolerance_ratio=self.tolerance_ratio,
            disk_limit_ratio=self.disk_limit_ratio,
            seed=self.seed,
        )

    def plan_id(self, *, ds: str, inventory_sha256: str) -> str:
        """Name the plan by what it rests on: the same request on the same inventory is the same plan.

        Who reads it and who must approve it are not part of that.

        Args:
            ds: the day of the inventory that was found.
            inventory_sha256: of its manifest.
        """
        asked = self.model_dump(mode="json", exclude={"recipients", "is_approval_required", "ds"})
        basis = {"request": asked, "ds": ds, "inventory_sha256": inventory_sha256, "model_version": MODEL_VERSION}
        return hashlib.sha256(json.dumps(basis, sort_keys=True).encode()).hexdigest()[:16]


def parse_plan_request(values: Mapping[str, Any]) -> PlanRequest:
    """Parse parameters.

    Raises:
        RequestError: one line for each wrong field, with its value and the mend.
    """
    try:
        return PlanRequest.model_validate(dict(values))
    except ValidationError as error:
        raise RequestError("\n".join(_complaint(item) for item in error.errors(include_url=False))) from None


def _complaint(item: Any) -> str:
    field = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        known = ", ".join(PlanRequest.model_fields)
        return f"{field}: there is no such parameter; the parameters are {known}"
    if item["type"] == "missing":
        return f"{field}: is missing; give it"
    what = item["msg"].removeprefix("Value error, ")
    return f"{field}: {item['input']!r} is refused: {what[:1].lower()}{what[1:]}"


def parameter_schemas() -> dict[str, dict[str, Any]]:
    """Give the JSON schema of each parameter, in the words that a form understands.

    ``anyOf: [T, null]`` becomes ``type: [T, "null"]`` and definitions stand where they are used, as Airflow's form
    expects. Defaults are left out: they are the model's.
    """
    document = PlanRequest.model_json_schema()
    definitions = document.get("$defs", {})
    return {name: _flattened(schema, definitions) for name, schema in document["properties"].items()}


def _flattened(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    flat = {key: value for key, value in schema.items() if key not in {"default", "anyOf", "$ref"}}
    if "$ref" in schema:
        referred = definitions[schema["$ref"].rpartition("/")[2]]
        flat = {**{k: v for k, v in referred.items() if k not in {"title", "description"}}, **flat}
    if "anyOf" in schema:
        options = [option for option in schema["anyOf"] if option.get("type") != "null"]
        flat = {**options[0], **flat, "type": [options[0]["type"], "null"]}
    return flat
