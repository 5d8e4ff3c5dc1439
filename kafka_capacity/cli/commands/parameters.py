"""``kafka-capacity parameters``: what every parameter means, with its option, default and bounds."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import typer

from kafka_capacity.cli.app import app
from kafka_capacity.cli.console import print_json
from kafka_capacity.cli.options import AsJson
from kafka_capacity.cli.plan_options import NO_OPTIONS, FieldOption, option_section
from kafka_capacity.plan.request import PlanRequest, shown_bounds

_HEAD = """# Parameters

Every parameter of a plan: in the trigger form (the common ones; the rest under *Everything else*), in
`make plan PARAMS=…`, and as options of the commands `plan`, `groups`, `size`, `failures`, `durability` and `report`.
Amounts may have units: `50MB/s`, `1.5TiB`, `90s`, `1h30m`, `7d`, `40%`. This page is the output of
`kafka-capacity parameters`.
"""
_COLUMNS = "| parameter | option | default | bounds | meaning |\n|---|---|---|---|---|\n"


def parameter_table() -> str:
    """Return the page: a table for each section of the form."""
    sections = groupby(PlanRequest.model_fields, key=option_section)
    parts = [f"\n## {section}\n\n{_COLUMNS}{''.join(_row(field) for field in fields)}" for section, fields in sections]
    return _HEAD + "".join(parts)


def _row(field: str) -> str:
    one = _document(field)
    names = ", ".join(f"`{name}`" for name in one["options"])
    text = one["meaning"].replace("|", "\\|").replace("*", "\\*")
    return f"| `{field}` | {names} | {one['default']} | {one['bounds']} | {text} |\n"


def _document(field: str) -> dict[str, Any]:
    option = FieldOption(field)
    return {
        "name": field,
        "section": option_section(field),
        "options": [] if field in NO_OPTIONS else list(option.names),
        "default": option.shown_default(),
        "bounds": shown_bounds(field),
        "meaning": PlanRequest.model_fields[field].description or "",
    }


@app.command("parameters")
def parameters(is_json: AsJson = False) -> None:
    """Print every parameter of a plan as a Markdown table: docs/parameters.md.

    They are the fields of the trigger form and, under the names in the second column, options of the commands.
    """
    if is_json:
        print_json({"parameters": [_document(field) for field in PlanRequest.model_fields]})
    else:
        typer.echo(parameter_table(), nl=False)
