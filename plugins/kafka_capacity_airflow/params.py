"""The trigger form, made from the model that parses what it sends."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from airflow.sdk import Param

from kafka_capacity.plan.request import PlanRequest, parameter_schemas, parse_plan_request


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value.value if isinstance(value, Enum) else value


def plan_params() -> dict[str, Param]:
    """Return the form's fields: schema, section and default of each parameter of :class:`PlanRequest`.

    The cluster may be left empty here: then every cluster of the deployment is planned.
    """
    schemas = parameter_schemas()
    schemas["cluster"] |= {
        "type": ["string", "null"],
        "description": schemas["cluster"]["description"] + " Empty: every cluster of the deployment, one by one.",
    }
    for schema in schemas.values():
        if "enum" in schema.get("items", {}):
            # The form draws a list with examples as a choice of these, several at once.
            schema["examples"] = schema["items"]["enum"]
    params = {}
    for name, schema in schemas.items():
        field = PlanRequest.model_fields[name]
        default = None if field.is_required() else _plain(field.get_default())
        if default in ([], {}):
            # What may be empty may be left out; without this the form marks it as required.
            schema["type"] = [schema["type"], "null"]
        title = schema.pop("title", name.replace("_", " ").capitalize())
        description = schema.pop("description", None)
        params[name] = Param(default, title=title, description_md=description, **schema)
    return params


def plan_request(params: Mapping[str, Any], cluster: str) -> PlanRequest:
    """Parse the parameters of a run for one cluster.

    Raises:
        RequestError: a value is wrong.
    """
    given = {name: value for name, value in params.items() if value is not None}
    return parse_plan_request({**given, "cluster": cluster})
