"""``kafka-capacity example``: made-up clusters to try the planner on."""

from __future__ import annotations

from typing import Annotated

import typer

from kafka_capacity.cli.app import app
from kafka_capacity.cli.commands.inventory import write_inventory
from kafka_capacity.cli.console import print_json, print_table, say
from kafka_capacity.cli.options import AsJson, OutFolder, Quiet, SnapshotFormat, option
from kafka_capacity.errors import RequestError


@app.command("example")
def example(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Name of the example; leave it out to list them.")
    ] = None,
    out: OutFolder = None,
    file_format: SnapshotFormat = "parquet",
    seed: Annotated[
        int | None, option("--seed", "Another seed gives a different cluster of the same kind.", min=0)
    ] = None,
    ds: Annotated[str | None, option("--ds YYYY-MM-DD", "The day that it is for; its history ends there.")] = None,
    is_json: AsJson = False,
    is_quiet: Quiet = False,
) -> None:
    """Write an example cluster as native snapshot files, with consumer groups and a history of rates."""
    from kafka_capacity.example import EXAMPLE_DS, EXAMPLES, make_example
    from kafka_capacity.objects.keys import check_ds

    if name is None and is_json:
        print_json({"examples": EXAMPLES})
        return
    if name is None:
        print_table("Examples", [("name", "left"), ("description", "left")], list(EXAMPLES.items()))
        return
    if out is None:
        raise RequestError("--out: is required; name the folder to write the snapshot to")
    raw = make_example(name, ds=check_ds(ds or EXAMPLE_DS), seed=seed)
    write_inventory(raw, out, file_format, is_json=is_json, is_quiet=True)
    say(f"wrote example {name} to {out}", is_quiet=is_quiet or is_json)
