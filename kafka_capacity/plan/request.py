"""The parameters of a plan. The trigger form, the command line and the schedule all use this model and its defaults."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, get_args

from pydantic import AfterValidator, Field, ValidationError, ValidationInfo, field_validator, model_validator

from kafka_capacity import MODEL_VERSION
from kafka_capacity.errors import RequestError
from kafka_capacity.proposal.grid import GridRequest
from kafka_capacity.questions.capacity.demand_parameters import DemandParameters
from kafka_capacity.questions.capacity.parameters import SizingParameters
from kafka_capacity.questions.change.parameters import MoveParameters, PlacementParameters
from kafka_capacity.questions.chargeback.parameters import ChargebackParameters
from kafka_capacity.questions.consumers.parameters import GroupParameters
from kafka_capacity.questions.failures.durability.parameters import DurabilityParameters
from kafka_capacity.questions.failures.parameters import FailureParameters
from kafka_capacity.questions.savings.parameters import SavingsParameters
from kafka_capacity.text.quantities import parse_count, parse_quantity, shown_quantity, unit_of
from kafka_capacity.text.validation_errors import check_text, plain_words

DELIVERY_FIELDS = frozenset({"recipients", "is_approval_required", "is_split_by_question"})
"""Parameters that say how a plan is made and who gets it, not what it is."""

_ADDRESS = r"[^@\s,;<>\"]+@[^@\s,;<>\"]+"


def _check_address(value: str) -> str:
    if not re.fullmatch(_ADDRESS, value):
        raise ValueError("write an e-mail address as name@host")
    return value


Address = Annotated[
    str,
    AfterValidator(_check_address),
    Field(description="addresses as name@host", json_schema_extra={"pattern": f"^{_ADDRESS}$"}),
]

EARLIER_NAMES = {
    "longest_wave_hours": "max_wave_hours",
    "most_failure_sets": "max_failure_sets",
    "most_moves_per_broker": "max_concurrent_moves_per_broker",
    "most_replicas_per_broker": "max_replicas_per_broker",
    "most_traffic_ratio": "max_traffic_ratio",
}
"""Names of parameters until model version 2: requests that were written down with them are still read."""

OPTION_KEYS = ("option", "metavar", "repeats", "is_usual")
"""What a field's ``json_schema_extra`` says of its option of the command line: the names that are typed, the first of
them shown; what stands for a value in the help; whether it is typed once for each value, which may hold commas."""


class PlanRequest(
    ChargebackParameters,
    SavingsParameters,
    GroupParameters,
    DurabilityParameters,
    FailureParameters,
    SizingParameters,
    DemandParameters,
    MoveParameters,
    PlacementParameters,
):
    """What a plan is asked to answer: fields in the order of the form, those of the last base first."""

    recipients: tuple[Address, ...] = Field(
        default=(),
        max_length=100,
        description="Who gets the report by e-mail. Empty: the Airflow variable kafka_capacity_recipients.",
        json_schema_extra={"section": "Delivery"},
    )
    is_approval_required: bool = Field(
        default=False,
        title="Require approval",
        description="Release the reassignment files only after somebody has approved the report.",
        json_schema_extra={"section": "Delivery"},
    )

    is_split_by_question: bool = Field(
        default=False,
        title="One Spark application per question",
        description="Run the questions one after another instead of together: for clusters so large that one "
        "driver should not hold all results at once.",
        json_schema_extra={"section": "Delivery"},
    )

    def grid(self) -> GridRequest:
        """Return what spans the grid of scenarios, whose lists keep to the replicas that sizing lets a broker hold."""
        return dataclasses.replace(super().grid(), replica_goal=self.replica_goal())

    @model_validator(mode="before")
    @classmethod
    def _read_earlier_names(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        return {EARLIER_NAMES.get(name, name): value for name, value in values.items()}

    @field_validator("*", mode="before")
    @classmethod
    def _is_of_text(cls, value: Any) -> Any:
        """Refuse halves of characters, which JSON can spell and no file can hold, wherever they stand."""
        inner = [*value.keys(), *value.values()] if isinstance(value, Mapping) else value
        for one in inner if isinstance(inner, list | tuple) else ():
            cls._is_of_text(one)
        return check_text(value) if isinstance(value, str) else value

    @field_validator("*", mode="before")
    @classmethod
    def _read_units(cls, value: Any, info: ValidationInfo) -> Any:
        """Read ``50MB/s`` and the like where the name of a parameter tells its unit, and ``500k`` of a count."""
        name, kind = str(info.field_name), cls.model_fields[str(info.field_name)].annotation
        if unit_of(name) is not None:
            parse: Callable[[str], Any] = functools.partial(parse_quantity, name)
        elif int in (kind, *get_args(kind)):
            parse = parse_count
        else:
            return value
        if isinstance(value, list | tuple):
            return [parse(one) if isinstance(one, str) else one for one in value]
        return parse(value) if isinstance(value, str) else value

    @field_validator("is_throttle_automatic")
    @classmethod
    def _is_one_kind_of_throttle(cls, value: bool, info: ValidationInfo) -> bool:
        if value and info.data.get("throttles_bytes_per_second"):
            raise ValueError("it leaves nothing to compare; leave out either this or throttles_bytes_per_second")
        return value

    def plan_id(self, *, ds: str, inventory_sha256: str, **rests_on: str) -> str:
        """Name the plan by what it rests on: the same request on the same inventory is the same plan.

        Who reads it and who must approve it are not part of that, nor is what is left at its default, so that one more
        parameter renames nothing.

        Args:
            ds: the day of the inventory that was found.
            inventory_sha256: of its manifest, or of the files of a snapshot.
            **rests_on: what else the plan rests on, whole or as a hash, empty for none: a load profile, the scores of
                earlier predictions, shapes of one's own, a list of brokers, samples of processors.
        """
        asked = self.model_dump(mode="json", exclude={*DELIVERY_FIELDS, "ds"}, exclude_defaults=True)
        basis = {"request": asked, "ds": ds, "inventory_sha256": inventory_sha256, "model_version": MODEL_VERSION}
        basis |= {name: value for name, value in rests_on.items() if value}
        return hashlib.sha256(json.dumps(basis, sort_keys=True).encode()).hexdigest()[:16]


def parse_plan_request(values: Mapping[str, Any]) -> PlanRequest:
    """Parse parameters; raises RequestError with a line for each wrong field: its value and the remedy."""
    try:
        return PlanRequest.model_validate(dict(values))
    except ValidationError as error:
        mistakes = error.errors(include_url=False)
        reported = [item for item in mistakes if not _follows(item, mistakes)]
        raise RequestError("\n".join(_complaint(item) for item in reported)) from None


def add_pair(pairs: dict[str, Any], key: str, value: Any, *, name: str) -> None:
    """Add a pair as it was typed; raises RequestError, which names the parameter, where the key has another value."""
    if pairs.setdefault(key, value) != value:
        msg = f"{name}: {key!r} is invalid: it is given both as {pairs[key]!r} and as {value!r}; choose one"
        raise RequestError(msg)


def _follows(mistake: Any, mistakes: Sequence[Any]) -> bool:
    """Whether a list is too short only because its values are refused, each by a complaint of its own."""
    place = mistake["loc"]
    return mistake["type"] == "too_short" and any(
        len(other["loc"]) > len(place) and other["loc"][: len(place)] == place for other in mistakes
    )


def _complaint(item: Any) -> str:
    field = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden" and len(item["loc"]) > 1:
        return f"{field}: {plain_words(item)}"
    if item["type"] == "extra_forbidden":
        known = ", ".join(PlanRequest.model_fields)
        return f"{field}: no such parameter; the parameters are {known}"
    if item["type"] == "missing":
        return f"{field}: is required"
    limits = {
        name: shown_quantity(str(item["loc"][0]), limit) if limit else "0"
        for name, limit in item.get("ctx", {}).items()
        if name in _LIMITS
    }
    reported = {**item, "ctx": {**item.get("ctx", {}), **limits}}
    return f"{field}: {item['input']!r} is invalid: {plain_words(reported)}"


def parameter_schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON schema of each parameter of a plan, in the words that Airflow's form understands.

    ``anyOf: [T, null]`` becomes ``type: [T, "null"]`` and definitions stand where they are used. Defaults are left out:
    they are the model's.
    """
    document = PlanRequest.model_json_schema()
    definitions = document.get("$defs", {})
    return {name: _flattened(schema, definitions) for name, schema in document["properties"].items()}


_LIMITS = ("ge", "gt", "le", "lt")
_FAR_AWAY = 1e9


def shown_bounds(name: str) -> str:
    """Return the bounds of a parameter that is a number, but for such that nobody comes near to; empty without any."""
    described = PlanRequest.model_fields[name]
    limits = {limit: getattr(one, limit) for one in described.metadata for limit in _LIMITS if hasattr(one, limit)}
    low, high = limits.get("ge", limits.get("gt")), limits.get("le", limits.get("lt"))
    if low is None or high is None or high >= _FAR_AWAY:
        return ""
    return f"{shown_quantity(name, low) if low else 0} to {shown_quantity(name, high)}"


def _flattened(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    flat = {key: value for key, value in schema.items() if key not in {"default", "anyOf", *OPTION_KEYS}}
    if "anyOf" in schema:
        options = [option for option in schema["anyOf"] if option.get("type") != "null"]
        flat = {**options[0], **flat, "type": [options[0]["type"], "null"]}
    inlined: dict[str, Any] = _inlined(flat, definitions)
    kinds = {kind.get("type") for kind in inlined.get("items", {}).get("oneOf", ())}
    if len(kinds) == 1:
        # Without it the form takes a list of one of several kinds of objects for a list of texts.
        inlined["items"] = {**inlined["items"], "type": kinds.pop()}
    return inlined


def _inlined(part: Any, definitions: dict[str, Any]) -> Any:
    """Put definitions where they are used, whole: a form has each parameter's schema and nothing beside it."""
    if isinstance(part, list):
        return [_inlined(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        referred = definitions[part["$ref"].rpartition("/")[2]]
        own = {key: value for key, value in part.items() if key != "$ref"}
        part = {**{key: value for key, value in referred.items() if key not in {"title", "description"}}, **own}
    # The discriminator of a union only names its definitions once more.
    return {key: _inlined(value, definitions) for key, value in part.items() if key != "discriminator"}
