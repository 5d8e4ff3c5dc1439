"""``kafka-capacity durability``: what could be lost, duplicated or refused, and how often data are gone for good."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from kafka_capacity.cli.console import Steps
from kafka_capacity.cli.one_question import Found, asks
from kafka_capacity.cli.options import MaxRows, option
from kafka_capacity.cli.plan_options import fields_of
from kafka_capacity.questions.failures.durability.parameters import DurabilityParameters


@asks("durability", *fields_of(DurabilityParameters), "election_rules", "throttle_bytes_per_second", version=2)
def durability(
    snapshot: str,
    given: Mapping[str, Any],
    begin: Steps,
    max_failures: Annotated[
        int, option("--max-failures --failures N", "Max number of failures to combine.", min=0, max=3)
    ] = 3,
    explain: Annotated[
        list[str] | None, option("--explain TOPIC", "Print the shortest path to each outcome. May be repeated.")
    ] = None,
    is_checked: Annotated[
        bool, option("--check", "Also simulate random failures, and print how far the closed form is off.")
    ] = False,
    max_rows: MaxRows = 20,
) -> Found:
    """Show what could be lost: after how many failures, in which steps, and how often per year.

    Reads a native snapshot. For every distinct combination of replication factor, min.insync.replicas and unclean
    election it explores every order of sending, appending, fetching, failing and recovering, and prints the smallest
    number of failures after which records can be lost, duplicated or refused; --explain prints the shortest path to
    each. From the mean time between disk losses, the time to re-replicate under the throttle and the sets of brokers
    that hold all replicas of a partition, it computes the expected loss per topic and year, and what it would be with
    fewer such sets. docs/durability.md describes the model and its assumptions.

    An inventory does not show how producers are configured: --acks and --idempotence are assumptions.
    """
    from kafka_capacity.cli.durable import find_durability

    more: dict[str, Any] = {"max_failures": max_failures, "is_checked": is_checked, "max_rows": max_rows}
    return find_durability(snapshot, given, explain or (), begin, **more)
