"""``kafka-capacity durability``: what could be lost, duplicated or refused, and how often data are gone for good."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from kafka_capacity.cli.console import Steps
from kafka_capacity.cli.one_question import Found, asks
from kafka_capacity.cli.options import MaxRows
from kafka_capacity.cli.plan_options import fields_of
from kafka_capacity.questions.failures.durability.parameters import DurabilityParameters

_HELP = """Work out what could be lost: after how many failures, in which steps, and how often in a year.

Reads a native snapshot. For every distinct combination of replication factor, min.insync.replicas and unclean election
it tries every order of sending, appending, fetching, failing and coming back, and prints after how many failures at
least records can be lost, duplicated or refused; --explain prints a shortest way to each. From the mean time to the
loss of a broker's disks, the time to re-replicate them under the throttle and the sets of brokers that hold all
replicas of something, it works out the expected loss of each topic in a year, and what it would be with few such sets.
docs/durability.md tells the model and its assumptions.

An inventory does not tell how producers are set: --acks and --idempotence are assumptions.
"""


@asks(
    "durability",
    "durability.json",
    *fields_of(DurabilityParameters),
    "election_rules",
    "throttle_bytes_per_second",
    version=2,
    text=_HELP,
)
def durability(
    snapshot: str,
    given: Mapping[str, Any],
    begin: Steps,
    max_failures: Annotated[
        int,
        typer.Option(
            "--max-failures", "--failures", min=0, max=3, metavar="N", help="At most so many are tried together."
        ),
    ] = 3,
    explain: Annotated[
        list[str] | None,
        typer.Option("--explain", metavar="TOPIC", help="Print a shortest way to every outcome. May be repeated."),
    ] = None,
    is_checked: Annotated[
        bool,
        typer.Option("--check", help="Let brokers fail at random, too, and print how far the closed form is off."),
    ] = False,
    max_rows: MaxRows = 20,
) -> Found:
    """Look at durability; the text that users read is the help above."""
    from kafka_capacity.cli.durable import find_durability

    more: dict[str, Any] = {"max_failures": max_failures, "is_checked": is_checked, "max_rows": max_rows}
    return find_durability(snapshot, given, explain or (), begin, **more)
