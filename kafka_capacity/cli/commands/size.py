"""``kafka-capacity size``: how many brokers, of what kind, by when, for how much."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from kafka_capacity.cli.app import EXIT_NOTHING_FITS, app
from kafka_capacity.cli.console import progress_bar
from kafka_capacity.cli.options import CpuSamples, OutFolder, Quiet, ShapesFile, takes_snapshot
from kafka_capacity.cli.plan_options import fields_of, takes
from kafka_capacity.cli.startup import keep_pandas_out
from kafka_capacity.objects.dataset import canonical_json
from kafka_capacity.questions.capacity.demand_parameters import DemandParameters
from kafka_capacity.questions.capacity.parameters import SizingParameters

_OF_OTHER_SECTIONS = (
    "disk_limit_ratio",
    "throttle_bytes_per_second",
    "broker_heap_bytes",
    "rack_rule",
    "balance",
    "seed",
)
"""What sizing hangs on beside its own sections of the form."""

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
@takes_snapshot()
@takes(
    *fields_of(DemandParameters, SizingParameters),
    *_OF_OTHER_SECTIONS,
    also={"planned_events": "--events", "sizing_broker_counts": "--broker-counts"},
)
def size(
    snapshot: str,
    given: Mapping[str, Any],
    shapes_file: ShapesFile = None,
    cpu_samples: CpuSamples = None,
    out: OutFolder = None,
    is_json: Annotated[bool, typer.Option("--json", help="Print what size.json holds instead of tables.")] = False,
    is_everything: Annotated[bool, typer.Option("--all", help="List every option that was tried.")] = False,
    has_to_fit: Annotated[bool, typer.Option("--fail-if-unfit", help="End with status 3 when no option fits.")] = False,
    is_quiet: Quiet = False,
) -> None:
    """Size; the text that users read is the help above."""
    keep_pandas_out()
    from kafka_capacity.cli.documents import write_document
    from kafka_capacity.cli.size_table import print_size
    from kafka_capacity.cli.sizing import SIZE, size_cluster, size_document

    with progress_bar(is_quiet=is_quiet) as begin:
        done = size_cluster(snapshot, given, shapes_file, cpu_samples, begin)
        document = size_document(done)
        if out is not None:
            begin("writing")
            write_document(out, SIZE, document)
    if is_json:
        typer.echo(canonical_json(document), nl=False)
    else:
        print_size(done, document, is_everything=is_everything)
    if has_to_fit and done.sized.advice.recommended is None:
        raise typer.Exit(EXIT_NOTHING_FITS)
