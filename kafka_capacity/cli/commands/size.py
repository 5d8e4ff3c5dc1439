"""``kafka-capacity size``: how many brokers, of what kind, by when, for how much."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from kafka_capacity.cli import plan_options as options
from kafka_capacity.cli.app import EXIT_NOTHING_FITS, app
from kafka_capacity.cli.console import progress_bar
from kafka_capacity.cli.options import OutFolder, Quiet
from kafka_capacity.cli.size_options import SIZE_OPTIONS
from kafka_capacity.cli.startup import keep_pandas_out
from kafka_capacity.objects.dataset import canonical_json, content_type_of

_HELP = """Work out how many brokers of which kind the cluster needs up to a horizon, and what they cost.

Reads a native snapshot, lets its traffic grow, places its real partitions on every number of brokers that is tried, and
judges each shape on that: network, processors, disk space and throughput of every broker at peak, each month, also
after losses. An option that does not fit says which limit it passes, on which broker and day, and by how much. Doing
nothing and scaling in are always among the options. docs/sizing.md tells the model and its assumptions.

Prints the options worth a look, the recommendation, when the cluster as it is runs out of what, and why calculators
give other counts. With --out it writes size.json with everything into DIR.

Sizes and amounts are bytes, rates bytes per second, ratios 0 to 1, prices US dollars.
"""


@app.command("size", help=_HELP)
@options.takes(*SIZE_OPTIONS)
def size(
    snapshot: options.Snapshot,
    given: Mapping[str, Any],
    shapes_file: Annotated[
        Path | None,
        typer.Option(
            "--shapes-file",
            exists=True,
            dir_okay=False,
            metavar="SHAPES.json",
            help="Shapes and prices of your own, in the form of the shipped catalogue; they take the place of shipped "
            "ones of the same name.",
        ),
    ] = None,
    cpu_samples: Annotated[
        Path | None,
        typer.Option(
            "--cpu-samples",
            exists=True,
            dir_okay=False,
            metavar="SAMPLES.csv",
            help="What your brokers use: the columns cores_used, leader_in_bytes_per_second, "
            "follower_in_bytes_per_second and out_bytes_per_second, one row a broker and moment. Fitted and used "
            "where they explain enough; the output says so.",
        ),
    ] = None,
    out: OutFolder = None,
    is_json: Annotated[bool, typer.Option("--json", help="Print what size.json holds instead of tables.")] = False,
    is_everything: Annotated[bool, typer.Option("--all", help="List every option that was tried.")] = False,
    has_to_fit: Annotated[bool, typer.Option("--fail-if-unfit", help="End with status 3 when no option fits.")] = False,
    is_quiet: Quiet = False,
) -> None:
    """Size; the text that users read is the help above."""
    keep_pandas_out()
    from kafka_capacity.cli.size_table import print_size
    from kafka_capacity.cli.sizing import SIZE, size_cluster, size_document
    from kafka_capacity.objects.store import open_store

    with progress_bar(is_quiet=is_quiet) as begin:
        done = size_cluster(snapshot, given, shapes_file, cpu_samples, begin)
        document = size_document(done) if is_json or out is not None else {}
        if out is not None:
            begin("writing")
            open_store(out).write_bytes(SIZE, canonical_json(document), content_type=content_type_of(SIZE))
    if is_json:
        typer.echo(canonical_json(document), nl=False)
    else:
        print_size(done, is_everything=is_everything)
    if has_to_fit and done.sized.advice.recommended is None:
        raise typer.Exit(EXIT_NOTHING_FITS)
