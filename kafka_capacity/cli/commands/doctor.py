"""``kafka-capacity doctor``: what is wrong with a cluster before anything fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from kafka_capacity.cli.app import EXIT_FATAL_FINDINGS
from kafka_capacity.cli.console import Steps
from kafka_capacity.cli.one_question import Found, asks
from kafka_capacity.health.problem import Severity

_HELP = """Describe what is wrong with a cluster before anything fails, with the figure at stake and the remedy.

Reads a native snapshot and looks at what is offline, under min ISR or lacks replicas now; at disks, networks and
processors over the limits that sizing judges by; at consumer groups that are far behind; at racks that are missing,
uneven or not used, and what the loss of one would stop; at replication factors, min.insync.replicas and unclean
elections, Kafka's own topics among them; with --controllers at the voters of the metadata quorum; and at the snapshot
itself.

With --out it writes doctor.json into DIR. With --fail-on it ends with status 1 where something as severe was found.
docs/failures.md lists everything that is looked at.
"""


@asks("doctor", "doctor.json", text=_HELP)
def doctor(
    snapshot: str,
    given: Mapping[str, Any],
    begin: Steps,
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
) -> Found:
    """Examine; the text that users read is the help above."""
    from kafka_capacity.cli.examining import doctor_answer, doctor_document, examine_snapshot, print_problems

    begin("reading the snapshot")
    examined = examine_snapshot(snapshot, given, controllers)
    is_bad = fail_on is not None and any(one.severity.is_at_least(fail_on) for one in examined.problems)
    return Found(
        answer=doctor_answer(examined),
        document=lambda: doctor_document(examined),
        show=lambda: print_problems(examined),
        exit_status=EXIT_FATAL_FINDINGS if is_bad else 0,
    )
