"""``kafka-capacity failures``: what breaks when brokers or racks die."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from kafka_capacity.cli.app import app
from kafka_capacity.cli.console import progress_bar
from kafka_capacity.cli.options import OutFolder, Quiet, takes_snapshot
from kafka_capacity.cli.plan_options import request_of, takes
from kafka_capacity.cli.startup import keep_pandas_out
from kafka_capacity.objects.dataset import canonical_json

_HELP = """Work out what breaks when brokers or racks die: what is offline, what refuses writes, who is overloaded.

Reads a native snapshot and loses every broker, every rack, every rack with one broker more, and every two brokers, each
by itself; leaders are elected by the rules of Kafka's controller. Prints the worst losses first: partitions and topics
that nobody leads, partitions with too few replicas in sync for acks=all, leaders that move, survivors whose peak is
above what they can do, consumer groups that lose partitions or their coordinator, and how long it takes to re-replicate
everything that was lost onto empty disks under a throttle. docs/failures.md tells the model and its assumptions.

With --lost-together or --racks it loses these sets only (and those of --losses), and prints the topics and groups that
each of them affects. With --out it writes failures.json into DIR.

Amounts are bytes, rates bytes per second, times seconds.
"""


@app.command("failures", help=_HELP)
@takes_snapshot()
@takes(
    "failure_sets",
    "failure_kinds",
    "max_failure_sets",
    "election_rules",
    "throttle_bytes_per_second",
    "seed",
    also={"failure_sets": "--brokers"},
)
def failures(
    snapshot: str,
    given: Mapping[str, Any],
    racks: Annotated[
        list[str] | None,
        typer.Option("--racks", metavar="RACK,…", help="Racks that are lost together. May be repeated, a set each."),
    ] = None,
    has_pairs: Annotated[bool, typer.Option("--pairs", hidden=True, help="Beside given sets lose every pair.")] = False,
    most_rows: Annotated[int, typer.Option("--rows", min=1, metavar="N", help="Of each table.")] = 10,
    out: OutFolder = None,
    is_json: Annotated[bool, typer.Option("--json", help="Print what failures.json holds instead of tables.")] = False,
    is_quiet: Quiet = False,
) -> None:
    """Lose brokers; the text that users read is the help above."""
    keep_pandas_out()
    from kafka_capacity.cli.documents import write_document
    from kafka_capacity.cli.failing import FAILURES, FailureOptions, failures_document, lose_brokers
    from kafka_capacity.cli.failure_table import print_failures
    from kafka_capacity.questions.failures.scenario import SetKind

    # Sets are read where the brokers are known.
    sets = given.get("failure_sets", ())
    request = request_of("not read yet", "2000-01-01", {k: v for k, v in given.items() if k != "failure_sets"})
    is_given = bool(sets or racks) and "failure_kinds" not in given
    names = ("pair",) * has_pairs if is_given else request.failure_kinds
    options = FailureOptions(
        brokers=sets,
        racks=racks or (),
        kinds=tuple(SetKind(name) for name in dict.fromkeys(names)),
        rules=request.election_rules,
        most_sets=request.max_failure_sets,
        throttle_bytes_per_second=request.throttle_bytes_per_second,
        seed=request.seed,
    )
    with progress_bar(is_quiet=is_quiet) as begin:
        failed = lose_brokers(snapshot, options, begin)
        document = failures_document(failed) if is_json or out is not None else {}
        if out is not None:
            write_document(out, FAILURES, document)
    if is_json:
        typer.echo(canonical_json(document), nl=False)
    else:
        print_failures(failed, most_rows=most_rows)
