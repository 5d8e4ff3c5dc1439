"""``kafka-capacity plan``: what moves, how long it takes, whether it fits."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from kafka_capacity.cli import plan_options as options
from kafka_capacity.cli.app import EXIT_NOTHING_FITS, app
from kafka_capacity.cli.console import progress_bar
from kafka_capacity.cli.options import OutFolder, Quiet
from kafka_capacity.cli.startup import keep_pandas_out
from kafka_capacity.errors import RequestError
from kafka_capacity.objects.dataset import canonical_json

_HELP = """Work out what a change of brokers would move, how long it would take and whether it fits.

Reads a native snapshot and judges every broker list or count with every placer: the same evaluation as the scheduled
plan's. Prints a table; with --out it writes, for one option, into DIR:

moves.json (the partitions that change: give this one to kafka-reassign-partitions.sh --execute --throttle, the time is
of it), moves-rollback.json (the same partitions as they are), reassignment.json (the whole target: Kafka would throttle
the partitions that stay, too, and take longer), rollback.json (the whole assignment as it is), waves/ (the same moves
wave by wave, with elections and the way back), runbook.md (what to do in which order, with the exact commands),
decision.json (the verdict, what is recommended and what is wrong, as data), plan.json (all figures, the same bytes for
the same input) and timing.json (how long this program took).

With several options each has a folder of these below DIR, named by its id such as 015-brokers.fewest-bytes, and
DIR/plan.json lists them and names the recommended one, by the rule of the report: of those that fit the fewest
brokers; of these a placer that plans before one of Kafka's own; of these the fewest bytes.

Sizes and amounts are bytes, rates bytes per second, times seconds, ratios 0 to 1.
"""


@app.command("plan", help=_HELP)
@options.takes(*options.PLACEMENT_OPTIONS, *options.MOVE_OPTIONS, options.SEED_OPTION)
def plan(
    snapshot: options.Snapshot,
    given: Mapping[str, Any],
    brokers: options.BrokersFile = None,
    out: OutFolder = None,
    is_json: Annotated[bool, typer.Option("--json", help="Print what plan.json holds instead of the table.")] = False,
    is_explained: Annotated[
        bool, typer.Option("--explain", help="Say of each option why it moves what it moves, and how wave by wave.")
    ] = False,
    has_to_fit: Annotated[bool, typer.Option("--fail-if-unfit", help="End with status 3 when no option fits.")] = False,
    is_quiet: Quiet = False,
) -> None:
    """Plan; the text that users read is the help above."""
    if is_explained and is_json:
        raise RequestError("--explain: is for people, and --json holds all of it; leave one out")
    keep_pandas_out()
    began = time.perf_counter()
    from kafka_capacity.cli.plan_caveats import plan_decision
    from kafka_capacity.cli.plan_files import plan_files, write_plan
    from kafka_capacity.cli.plan_table import print_plan
    from kafka_capacity.cli.planning import make_plan

    with progress_bar(is_quiet=is_quiet) as begin:
        planned = make_plan(snapshot, given, brokers, begin)
        begin("writing")
        decision = plan_decision(planned)
        document: dict[str, Any] = {}
        if is_json or out is not None:
            document, folders = plan_files(planned, decision)
        if out is not None:
            write_plan(out, planned, folders, began=began)
    if is_json:
        typer.echo(canonical_json(document), nl=False)
    else:
        print_plan(planned, decision, out=out, is_explained=is_explained)
    if has_to_fit and decision.view.recommended is None:
        raise typer.Exit(EXIT_NOTHING_FITS)
