"""``kafka-capacity doctor``: what is wrong with a cluster before anything fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

from kafka_capacity.cli.app import EXIT_FATAL_FINDINGS
from kafka_capacity.cli.console import Steps, print_problem_rows
from kafka_capacity.cli.one_question import Found, asks
from kafka_capacity.cli.options import option
from kafka_capacity.cli.plan_options import split_names
from kafka_capacity.errors import RequestError
from kafka_capacity.health.problem import Severity


@asks("doctor", version=2)
def doctor(
    snapshot: str,
    given: Mapping[str, Any],
    begin: Steps,
    controllers: Annotated[
        str | None,
        option(
            "--controllers ID[:RACK],…",
            "The voters of the metadata quorum and their racks; one that is also a broker has its broker's rack.",
        ),
    ] = None,
    fail_on: Annotated[Severity | None, option("--fail-on", "Exit with status 1 if this or worse was found.")] = None,
) -> Found:
    """List what is wrong with a cluster before anything fails, with the figures and the remedy.

    Reads a native snapshot and checks what is offline, under min ISR or under-replicated now; disks, networks and CPUs
    that are over the limits that sizing uses; consumer groups with a large lag; racks that are missing, uneven or
    unused, and what losing one would stop; replication factors, min.insync.replicas and unclean elections, Kafka's own
    topics included; with --controllers the voters of the metadata quorum; and the snapshot itself.

    With --out it writes doctor.json into DIR. With --fail-on it exits with status 1 if it finds something that severe.
    docs/failures.md lists all checks.
    """
    from kafka_capacity.cli.plan_input import ask_snapshot
    from kafka_capacity.health.controllers import check_voter_racks
    from kafka_capacity.kafka.controller.quorum.voters import parse_voters
    from kafka_capacity.plan.handing import failures_today

    begin("reading the snapshot")
    voters = _voters(controllers)
    asked = ask_snapshot(snapshot, {**given, "controllers": voters})
    with _naming_controllers():
        check_voter_racks(parse_voters(voters), asked.basis.snapshot.brokers)
    problems = failures_today(asked).problems_today(asked.basis.findings)
    is_bad = fail_on is not None and any(one.severity.is_at_least(fail_on) for one in problems)
    return Found(
        of=asked.basis.snapshot,
        answer=lambda: problems.summary,
        document=lambda: {"problems": problems.to_json()},
        show=lambda: print_problem_rows("Problems", problems) if len(problems) else None,
        exit_status=EXIT_FATAL_FINDINGS if is_bad else 0,
    )


def _voters(text: str | None) -> list[str]:
    """Split ``1:a,2:b,3``, and refuse what is wrong before anything is read: no id, one twice, or none at all."""
    from kafka_capacity.kafka.controller.quorum.voters import parse_voters

    voters = split_names(text or "")
    with _naming_controllers():
        parse_voters(voters)
    if text is not None and not voters:
        raise RequestError("--controllers: is empty; name the voters, such as 1:a,2:b,3:c, or leave it out")
    return voters


@contextmanager
def _naming_controllers() -> Iterator[None]:
    try:
        yield
    except RequestError as error:
        raise RequestError(f"--controllers: {error}") from None
