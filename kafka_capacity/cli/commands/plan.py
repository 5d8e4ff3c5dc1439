"""``kafka-capacity plan``: what moves, how long it takes, whether it fits."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from kafka_capacity.cli.app import EXIT_NOTHING_FITS, app
from kafka_capacity.cli.console import progress_bar
from kafka_capacity.cli.options import OutFolder, Quiet
from kafka_capacity.cli.plan_options import request_option, split_counts, split_names
from kafka_capacity.cli.startup import keep_pandas_out
from kafka_capacity.objects.dataset import canonical_json
from kafka_capacity.placement import Balance, RackRule

_HELP = """Work out what a change of brokers would move, how long it would take and whether it fits.

Reads a native snapshot and judges every broker list or count with every placer: the same evaluation as the scheduled
plan's. Prints a table; with --out it writes, for one option, into DIR:

reassignment.json (the whole target, for kafka-reassign-partitions --execute), rollback.json (the assignment as it is),
plan.json (all figures, the same bytes for the same input) and timing.json (how long this program took).

With several options each has a folder of these below DIR, named by its id such as 015-brokers.fewest-bytes, and
DIR/plan.json lists them and names the recommended one: of those that fit the fewest brokers, then the fewest bytes.

Sizes and amounts are bytes, rates bytes per second, times seconds, ratios 0 to 1.
"""


@app.command("plan", help=_HELP)
def plan(
    snapshot: Annotated[str, typer.Option(metavar="DIR", help="The folder of a native snapshot, or an s3:// address.")],
    brokers: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            metavar="B2.json",
            help='The whole list of brokers wanted, [{"id": 1, "rack": "a"}, …] with optional disk_capacity_bytes and '
            "network_in/out_bytes_per_second: one that is not listed is removed, one that is new does not exist yet. "
            "What is left out stays as observed; a new broker has the median capacities. Instead of --broker-counts.",
        ),
    ] = None,
    broker_counts: Annotated[str | None, request_option("broker_counts", metavar="N,…")] = None,
    new_broker_racks: Annotated[str | None, request_option("new_broker_racks", metavar="RACK,…")] = None,
    placers: Annotated[list[str] | None, request_option("placers", metavar="NAME", more="May be repeated.")] = None,
    out: OutFolder = None,
    throttle: Annotated[float | None, request_option("throttle_bytes_per_second", metavar="BYTES/S")] = None,
    replication_factor: Annotated[int | None, request_option("replication_factor")] = None,
    rack_rule: Annotated[RackRule | None, request_option("rack_rule")] = None,
    balance: Annotated[Balance | None, request_option("balance")] = None,
    tolerance: Annotated[float | None, request_option("tolerance_ratio", metavar="RATIO")] = None,
    disk_limit: Annotated[float | None, request_option("disk_limit_ratio", metavar="RATIO")] = None,
    seed: Annotated[int | None, request_option("seed")] = None,
    is_json: Annotated[bool, typer.Option("--json", help="Print what plan.json holds instead of the table.")] = False,
    has_to_fit: Annotated[bool, typer.Option("--fail-if-unfit", help="End with status 3 when no option fits.")] = False,
    is_quiet: Quiet = False,
) -> None:
    """Plan; the text that users read is the help above."""
    given = {
        "broker_counts": split_counts(broker_counts),
        "new_broker_racks": split_names(new_broker_racks),
        "placers": placers,
        "throttle_bytes_per_second": throttle,
        "replication_factor": replication_factor,
        "rack_rule": rack_rule,
        "balance": balance,
        "tolerance_ratio": tolerance,
        "disk_limit_ratio": disk_limit,
        "seed": seed,
    }
    keep_pandas_out()
    began = time.perf_counter()
    from kafka_capacity.cli.plan_files import plan_files, recommended, write_plan
    from kafka_capacity.cli.plan_table import print_plan
    from kafka_capacity.cli.planning import make_plan

    with progress_bar(is_quiet=is_quiet) as begin:
        planned = make_plan(snapshot, given, brokers, begin)
        begin("writing")
        document, folders = plan_files(planned)
        if out is not None:
            write_plan(out, planned, folders, began=began)
    if is_json:
        typer.echo(canonical_json(document), nl=False)
    else:
        print_plan(planned)
    if has_to_fit and recommended(planned.results) is None:
        raise typer.Exit(EXIT_NOTHING_FITS)
