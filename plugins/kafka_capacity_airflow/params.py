"""The trigger form: what most runs set, and one field for everything else, from the model that parses both.

The model brings the whole planner along, a second of processor time whenever a DAG file is loaded. So what the form
shows of it lies beside this module, written by ``python -m kafka_capacity_airflow.params``.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_origin

from airflow.sdk import Param

from kafka_capacity.errors import RequestError
from kafka_capacity_airflow.settings import clusters

if TYPE_CHECKING:
    from kafka_capacity.plan.request import PlanRequest

FORM = Path(__file__).with_name("form.json")

FORM_FIELDS = (
    "cluster",
    "ds",
    "broker_counts",
    "removed_brokers",
    "replaced_brokers",
    "throttle_bytes_per_second",
    "horizon_months",
    "growth_per_year_ratio",
    "failure_tolerance",
    "lag_slo_seconds",
    "recipients",
    "is_approval_required",
)
"""Parameters with a field of their own. The others are given by their names: in the last field, or by the API."""

OTHERS = "other_parameters"
_WRITE_PAIRS = "write old=new, separated by commas if there are several"
_EVERY_CLUSTER = " Empty: every cluster of the deployment, side by side."
_OTHERS_TEXT = (
    'JSON object with any other parameters by name, such as {"placers": ["fewest-bytes"], "replication_factor": 3}; '
    "docs/parameters.md lists them with their meaning and defaults."
)


def plan_params() -> dict[str, Param]:
    """Return the form's fields, with the schema and default of each parameter of a plan's request."""
    fields = json.loads(FORM.read_text(encoding="utf-8"))
    fields["cluster"] |= {
        "type": ["string", "null"],
        "description_md": fields["cluster"]["description_md"] + _EVERY_CLUSTER,
        **offered_clusters(),
    }
    params = {name: Param(**field) for name, field in fields.items()}
    params[OTHERS] = Param(
        None, title="Everything else", description_md=_OTHERS_TEXT, type=["object", "null"], section="Advanced"
    )
    return params


def offered_clusters() -> dict[str, Any]:
    """Return what a field for a cluster offers, as far as it can be read while the DAG file is.

    What is wrong with the setting is told by the task that needs it; without names the form takes any.
    """
    try:
        names = [cluster.name for cluster in clusters()]
    except Exception:  # also where variables cannot be read just then: the tasks of the DAG must load all the same
        return {}
    return {"examples": names} if names else {}


def form_document() -> str:
    """Return the text of :data:`FORM`: by field, the arguments of its ``Param``."""
    from kafka_capacity.plan.request import parameter_schemas

    schemas = parameter_schemas()
    return json.dumps({name: _field(name, schemas[name]) for name in FORM_FIELDS}, indent=1, ensure_ascii=False) + "\n"


def _field(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    from kafka_capacity.text.quantities import shown_quantity, unit_of

    default = _default(name)
    title = schema.get("title", name.replace("_", " ").capitalize())
    text = schema.get("description")
    # What has no section stands in the one that is open.
    bounds = {key: value for key, value in schema.items() if key not in {"title", "description", "section"}}
    if schema["type"] in ("array", "object") or unit_of(name) is not None:
        # Typed as text: lists and pairs with commas between them, amounts with their units. The form draws a line of
        # text for what has no one type. A refusal shows the alternative that was meant, so it begins with words.
        said = {"description": _how_to_write(name, bounds), "pattern": _pattern(name, bounds)}
        typed = {"type": ["string", "null"], **said}
        bounds = {"anyOf": [bounds, typed]}
        default = None if default in ((), {}, None) else shown_quantity(name, default)
    return {"default": default, "title": title, "description_md": text, **bounds}


def _how_to_write(name: str, bounds: Mapping[str, Any]) -> str:
    """Return what may be typed for a field that takes text, for whoever typed something else."""
    from kafka_capacity.plan.request import shown_bounds
    from kafka_capacity.text.quantities import unit_of

    if unit := unit_of(name):
        return f"{unit.example}; {shown}" if (shown := shown_bounds(name)) else unit.example
    if bounds["type"] == "object":
        return _WRITE_PAIRS
    item = bounds["items"]
    kind = f"whole numbers from {item['minimum']} on" if item["type"] == "integer" else item["description"]
    return f"write {kind}, separated by commas if there are several"


def _pattern(name: str, bounds: Mapping[str, Any]) -> str:
    """Return what may be typed instead: what nothing reads, or is too small for the bounds, starts no run."""
    from kafka_capacity.text.quantities import unit_of

    if unit := unit_of(name):
        least = "" if bounds.get("minimum", 0) < 0 else "(?=[^-]*[1-9])"
        return rf"^\s*({least}({unit.pattern})\s*)?$"
    if bounds["type"] == "object":
        return r"^\s*(\d+=\d+([\s,;]+|$))*$"
    item = bounds["items"]
    one = item["pattern"].strip("^$") if item["type"] != "integer" else r"0*[1-9]\d*" if item["minimum"] > 0 else r"\d+"
    return rf"^\s*({one}([\s,;]+|$))*$"


def asked(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run asks for by name: fields of the form, the one of all others, and what the API was given.

    Raises RequestError where a parameter is given twice, with different values.
    """
    others = dict(params.get(OTHERS) or {})
    given = {name: _typed(name, value) for name, value in params.items() if value not in (None, "") and name != OTHERS}
    for name in others.keys() & given.keys():
        # What the form left as it was says nothing.
        if given[name] not in (others[name], _default(name)):
            msg = f"{name}: {given[name]!r} and {others[name]!r} (in {OTHERS}) are both given; keep one of them"
            raise RequestError(msg)
    return {**given, **others}


def _default(name: str) -> Any:
    from kafka_capacity.plan.request import PlanRequest

    field = PlanRequest.model_fields.get(name)
    default = None if field is None or field.is_required() else field.get_default()
    return default.value if isinstance(default, Enum) else default


def _typed(name: str, value: Any) -> Any:
    """Read ``12, 15`` as a list, ``3=13, 4=14`` as pairs and ``50MB/s`` as a number, where a parameter is one."""
    from kafka_capacity.plan.request import PlanRequest, add_pair
    from kafka_capacity.text.quantities import parse_quantity, unit_of

    field = PlanRequest.model_fields.get(name)
    if field is None or not isinstance(value, str):
        return value
    if unit_of(name) is not None:
        with contextlib.suppress(ValueError):  # the parser refuses it in words of its own
            return parse_quantity(name, value)
        return value
    parts = [part for part in re.split(r"[,;\s]+", value.strip()) if part]
    kind = get_origin(field.annotation)
    if kind is tuple:
        return parts
    if kind is dict:
        wrong = [part for part in parts if part.count("=") != 1]
        if wrong:
            raise RequestError(f"{name}: {wrong[0]!r} is invalid: {_WRITE_PAIRS}")
        pairs: dict[str, Any] = {}
        for part in parts:
            add_pair(pairs, *part.split("="), name=name)
        return pairs
    return value


def plan_request(params: Mapping[str, Any], cluster: str) -> PlanRequest:
    """Parse the parameters of a run for one cluster; raises RequestError where a value is wrong."""
    from kafka_capacity.plan.request import parse_plan_request

    return parse_plan_request({**asked(params), "cluster": cluster})


if __name__ == "__main__":
    FORM.write_text(form_document(), encoding="utf-8")
