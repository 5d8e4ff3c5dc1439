"""``kafka-capacity parameters``: what every parameter means, with its option, default and bounds."""

from __future__ import annotations

import typer

from kafka_capacity.cli.app import app

_HELP = """Print every parameter of a plan as a table in Markdown: docs/parameters.md.

They are the fields of the trigger form and, by the names of the second column, options of the commands.
"""


@app.command("parameters", help=_HELP)
def parameters() -> None:
    """Print the table; the text that users read is the help above."""
    from kafka_capacity.cli.parameter_table import parameter_table

    typer.echo(parameter_table(), nl=False)
