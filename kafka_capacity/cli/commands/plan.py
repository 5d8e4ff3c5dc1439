"""``kafka-capacity plan``: what moves, how long it takes, whether it fits."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from kafka_capacity.cli.app import EXIT_NOTHING_FITS, app
from kafka_capacity.cli.console import print_answer, print_json, progress_bar
from kafka_capacity.cli.options import BrokersFile, HasToFit, OutFolder, Quiet, option, takes_snapshot
from kafka_capacity.cli.plan_options import fields_of, takes
from kafka_capacity.cli.startup import keep_pandas_out
from kafka_capacity.errors import RequestError
from kafka_capacity.questions.change.parameters import MoveParameters, PlacementParameters


@app.command("plan")
@takes_snapshot()
@takes(*fields_of(PlacementParameters, MoveParameters))
def plan(
    snapshot: str,
    given: Mapping[str, Any],
    brokers: BrokersFile = None,
    out: OutFolder = None,
    is_json: Annotated[bool, option("--json", "Print the contents of plan.json instead of the table.")] = False,
    is_explained: Annotated[
        bool, option("--explain", "Explain for each option why it moves what it moves, and the waves.")
    ] = False,
    has_to_fit: HasToFit = False,
    is_quiet: Quiet = False,
) -> None:
    """Show what a change of brokers would move, how long it would take and whether it fits.

    Evaluates every broker list or count with every placer at today's sizes and rates, and prints the answer and a
    table. How long a count lasts is not looked at here: size and report say that, and report and the scheduled plan
    move to the count that sizing says is needed.

    With --out it writes into DIR, or if there are several options into one folder of DIR for each:

    waves/ and runbook.md: the moves wave by wave, with the exact commands, for which the time in the answer is.
    moves.json: all partitions that change, for kafka-reassign-partitions.sh --execute --throttle. rollback.json: the
    same partitions as they are today. target.json and reassignment.json: the complete target. decision.json: the
    verdict, the recommendation and the problems, as data. plan.json: all figures; the same input gives the same bytes.
    timing.json: how long this program took.

    Amounts may have units: 50MB/s, 1.5TiB, 90s, 7d, 40%.
    """
    if is_explained and is_json:
        raise RequestError("--explain: is for people, and --json has all of it; leave one out")
    keep_pandas_out()
    began = time.perf_counter()
    from kafka_capacity.cli.plan_files import plan_files, write_plan
    from kafka_capacity.cli.plan_table import answer_line, print_plan, verdict_lines
    from kafka_capacity.cli.planning import make_plan, plan_decision
    from kafka_capacity.questions.answer import Status

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
        print_json(document)
    else:
        reasons = verdict_lines(planned.results, decision)
        print_answer(
            answer_line(planned, decision),
            lambda: print_plan(planned, decision, reasons, out=out, is_explained=is_explained),
            hint="--out DIR writes the files to execute" if out is None and decision.view.recommended else "",
            is_quiet=is_quiet,
        )
    if has_to_fit and decision.status in (Status.DOES_NOT_FIT, Status.NOT_JUDGED):
        raise typer.Exit(EXIT_NOTHING_FITS)
