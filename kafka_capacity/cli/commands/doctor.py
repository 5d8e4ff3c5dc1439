"""``kafka-capacity doctor``: what is wrong with a cluster before anything fails."""

from __future__ import annotations

from typing import Annotated

import typer

from kafka_capacity.cli.app import EXIT_FATAL_FINDINGS, app
from kafka_capacity.cli.options import OutFolder, takes_snapshot
from kafka_capacity.cli.startup import keep_pandas_out
from kafka_capacity.health.problem import Severity
from kafka_capacity.objects.dataset import canonical_json

_HELP = """Describe what is wrong with a cluster before anything fails, with the figure at stake and the remedy.

Reads a native snapshot and looks at what is offline, under min ISR or lacks replicas now; at disks, networks and
processors over the limits that sizing judges by; at consumer groups that are far behind; at racks that are missing,
uneven or not used, and what the loss of one would stop; at replication factors, min.insync.replicas and unclean
elections, Kafka's own topics among them; with --controllers at the voters of the metadata quorum; and at the snapshot
itself.

With --out it writes doctor.json into DIR. With --fail-on it ends with status 1 where something as severe was found.
docs/failures.md lists everything that is looked at.
"""


@app.command("doctor", help=_HELP)
@takes_snapshot()
def doctor(
    snapshot: str,
    controllers: Annotated[
        str | None,
        typer.Option(
            "--controllers",
            metavar="ID[:RACK],…",
            help="The voters of the metadata quorum and their racks; one that is a broker too has its broker's rack.",
        ),
    ] = None,
    fail_on: Annotated[
        Severity | None, typer.Option("--fail-on", help="End with status 1 where this or worse was found.")
    ] = None,
    out: OutFolder = None,
    is_json: Annotated[bool, typer.Option("--json", help="Print what doctor.json holds instead of a table.")] = False,
) -> None:
    """Examine; the text that users read is the help above."""
    keep_pandas_out()
    from kafka_capacity.cli.documents import write_document
    from kafka_capacity.cli.examining import DOCTOR, doctor_document, examine_snapshot, print_problems

    examined = examine_snapshot(snapshot, controllers)
    document = doctor_document(examined)
    if out is not None:
        write_document(out, DOCTOR, document)
    if is_json:
        typer.echo(canonical_json(document), nl=False)
    else:
        print_problems(examined)
    if fail_on is not None and any(one.severity.is_at_least(fail_on) for one in examined.problems):
        raise typer.Exit(EXIT_FATAL_FINDINGS)
