"""``kafka-capacity durability``: what could be lost, doubled or refused, and how often data are gone for good."""

from __future__ import annotations

from typing import Annotated

import typer

from kafka_capacity.cli.app import app
from kafka_capacity.cli.console import progress_bar
from kafka_capacity.cli.options import OutFolder, Quiet
from kafka_capacity.cli.startup import keep_pandas_out
from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.controller.failing import ElectionRules
from kafka_capacity.kafka.durability import Acks
from kafka_capacity.objects.dataset import canonical_json

_MOST_DAYS, _MOST_HOURS, _MOST_SECONDS, _MOST_BYTES = 1e6, 1e5, 1e6, 1e15

_HELP = """Work out what could be lost: after how many failures, in which steps, and how often in a year.

Reads a native snapshot. For every distinct combination of replication factor, min.insync.replicas and unclean election
it tries every order of sending, appending, fetching, failing and coming back, and prints after how many failures at
least records can be lost, doubled or refused; --explain prints a shortest way to each. From the mean time to the loss
of a broker's disks, the time to copy them anew under the throttle and the sets of brokers that hold all replicas of
something, it works out the expected loss of each topic in a year, and what it would be with few such sets.
docs/durability.md tells the model and its assumptions.

An inventory does not tell how producers are set: --acks and --idempotence are assumptions.
"""


@app.command("durability", help=_HELP)
def durability(
    snapshot: Annotated[
        str,
        typer.Argument(
            metavar="SNAPSHOT", help="The folder of a native snapshot, or an s3:// address.", show_default=False
        ),
    ],
    acks: Annotated[Acks, typer.Option("--acks", help="Of producers.")] = Acks.ALL,
    is_idempotent: Annotated[
        bool, typer.Option("--idempotence/--no-idempotence", help="Of producers with acks=all.")
    ] = True,
    rules: Annotated[
        ElectionRules, typer.Option("--controller", help="By whose rules leaders are elected.")
    ] = ElectionRules.KRAFT,
    mttf_days: Annotated[
        float, typer.Option("--mttf", metavar="DAYS", help="Mean time until a broker loses its disks.")
    ] = 3650.0,
    crash_days: Annotated[
        float, typer.Option("--crash-mttf", metavar="DAYS", help="Mean time until a broker dies, its disks kept.")
    ] = 90.0,
    rack_days: Annotated[
        float | None,
        typer.Option("--rack-mttf", metavar="DAYS", help="Mean time until a rack loses all disks. Default: never."),
    ] = None,
    replacement_hours: Annotated[
        float, typer.Option("--replacement", metavar="HOURS", help="Until a broker with empty disks stands in.")
    ] = 1.0,
    throttle: Annotated[
        float, typer.Option("--throttle", metavar="BYTES/S", help="Per broker and direction, for copying anew.")
    ] = 50e6,
    lag: Annotated[
        float, typer.Option("--replica-lag", metavar="SECONDS", help="By how much followers are behind.")
    ] = 0.5,
    scatter_width: Annotated[
        int,
        typer.Option("--scatter-width", min=1, metavar="N", help="Of few copysets: over how many brokers data spread."),
    ] = 4,
    most_failures: Annotated[
        int, typer.Option("--failures", min=0, max=3, metavar="N", help="At most so many are tried together.")
    ] = 3,
    explain: Annotated[
        list[str] | None,
        typer.Option("--explain", metavar="TOPIC", help="Print a shortest way to every outcome. May be repeated."),
    ] = None,
    is_checked: Annotated[
        bool,
        typer.Option("--check", help="Let brokers fail at random, too, and print how far the closed form is off."),
    ] = False,
    most_rows: Annotated[int, typer.Option("--rows", min=1, metavar="N", help="Of each table.")] = 20,
    out: OutFolder = None,
    is_json: Annotated[
        bool, typer.Option("--json", help="Print what durability.json holds instead of tables.")
    ] = False,
    is_quiet: Quiet = False,
) -> None:
    """Look at durability; the text that users read is the help above."""
    keep_pandas_out()
    from kafka_capacity.cli.documents import write_document
    from kafka_capacity.cli.durability_table import print_durability
    from kafka_capacity.cli.durable import DURABILITY, durability_document, find_durability
    from kafka_capacity.questions.failures.durability import DurabilityScenario
    from kafka_capacity.questions.failures.durability.scenario import DAY

    for option, value, most in (
        ("--mttf", mttf_days, _MOST_DAYS),
        ("--crash-mttf", crash_days, _MOST_DAYS),
        ("--rack-mttf", 1.0 if rack_days is None else rack_days, _MOST_DAYS),
        ("--replacement", replacement_hours, _MOST_HOURS),
        ("--throttle", throttle, _MOST_BYTES),
    ):
        if not 0.0 < value <= most:
            raise RequestError(f"{option}: {value:g} is refused; give more than 0 and at most {most:g}")
    if not 0.0 <= lag <= _MOST_SECONDS:
        raise RequestError(f"--replica-lag: {lag:g} is refused; give 0 to {_MOST_SECONDS:g}")
    scenario = DurabilityScenario(
        acks=acks,
        is_idempotent=is_idempotent,
        rules=rules,
        mttf_seconds=mttf_days * DAY,
        crash_mttf_seconds=crash_days * DAY,
        replacement_seconds=replacement_hours * 3600.0,
        throttle_bytes_per_second=throttle,
        rack_mttf_seconds=float("inf") if rack_days is None else rack_days * DAY,
        replica_lag_seconds=lag,
        most_failures=most_failures,
        scatter_width=scatter_width,
    )
    with progress_bar(is_quiet=is_quiet) as begin:
        found = find_durability(snapshot, scenario, explain or (), begin, is_checked=is_checked)
        document = durability_document(found) if is_json or out is not None else {}
        if out is not None:
            write_document(out, DURABILITY, document)
    if is_json:
        typer.echo(canonical_json(document), nl=False)
    else:
        print_durability(found, most_rows=most_rows)
