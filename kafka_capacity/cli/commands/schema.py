"""``kafka-capacity schema``: what the JSON documents of all commands hold."""

from __future__ import annotations

from typing import Annotated

import typer

from kafka_capacity.cli.app import app
from kafka_capacity.cli.options import option


@app.command("schema")
def schema(is_json: Annotated[bool, option("--json", "Print a JSON schema instead of the page.")] = False) -> None:
    """Describe the JSON documents that commands print with --json and write with --out: docs/json.md.

    With --json it prints this as a JSON schema: docs/json-schema.json.
    """
    from kafka_capacity.cli.json_schema import json_schema, schema_page
    from kafka_capacity.objects.dataset import canonical_json

    typer.echo(canonical_json(json_schema()) if is_json else schema_page(), nl=False)
