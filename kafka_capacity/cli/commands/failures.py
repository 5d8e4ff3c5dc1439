"""``kafka-capacity failures``: what breaks when brokers or racks die."""

from __future__ import annotations

from math import inf
from typing import Annotated

import typer

from kafka_capacity.cli.app import app
from kafka_capacity.cli.console import progress_bar
from kafka_capacity.cli.options import OutFolder, Quiet
from kafka_capacity.cli.startup import keep_pandas_out
from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.controller.failing import ElectionRules
from kafka_capacity.objects.dataset import canonical_json

_HELP = """Work out what breaks when brokers or racks die: what is offline, what refuses writes, who is overloaded.

Reads a native snapshot and loses every broker, every rack, and every rack with one broker more, each by itself; leaders
are elected by the rules of Kafka's controller. Prints the worst losses first: partitions and topics that nobody leads,
partitions with too few replicas in sync for acks=all, leaders that move, survivors whose peak is above what their
network takes, consumer groups that lose partitions or their coordinator, and how long it takes to copy everything that
was lost onto empty disks under a throttle. docs/failures.md tells the model and its assumptions.

With --brokers or --racks it loses these sets only, and prints the topics and groups that each of them hurts. With --out
it writes failures.json into DIR.

Amounts are bytes, rates bytes per second, times seconds.
"""


@app.command("failures", help=_HELP)
def failures(
    snapshot: Annotated[
        str,
        typer.Argument(
            metavar="SNAPSHOT", help="The folder of a native snapshot, or an s3:// address.", show_default=False
        ),
    ],
    brokers: Annotated[
        list[str] | None,
        typer.Option(
            "--brokers",
            metavar="ID,…",
            help="Brokers that are lost together; rack:a stands for all of a rack. May be repeated, a set each.",
        ),
    ] = None,
    racks: Annotated[
        list[str] | None,
        typer.Option("--racks", metavar="RACK,…", help="Racks that are lost together. May be repeated, a set each."),
    ] = None,
    has_pairs: Annotated[bool, typer.Option("--pairs", help="Lose every two brokers, too.")] = False,
    most_sets: Annotated[
        int,
        typer.Option(
            "--most-sets",
            min=1,
            metavar="N",
            help="At most so many pairs, and racks with a broker, are lost; of more a part is chosen, and said so.",
        ),
    ] = 2000,
    rules: Annotated[
        ElectionRules, typer.Option("--controller", help="By whose rules leaders are elected.")
    ] = ElectionRules.KRAFT,
    throttle: Annotated[
        float, typer.Option("--throttle", metavar="BYTES/S", help="Per broker and direction, for copying anew.")
    ] = 50e6,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the draws of sets.")] = 0,
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

    if not 0.0 < throttle < inf:
        raise RequestError(f"--throttle: {throttle:g} is refused; give more than 0 bytes per second, and no infinity")
    options = FailureOptions(
        brokers=brokers or (),
        racks=racks or (),
        has_pairs=has_pairs,
        rules=rules,
        most_sets=most_sets,
        throttle_bytes_per_second=throttle,
        seed=seed,
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
