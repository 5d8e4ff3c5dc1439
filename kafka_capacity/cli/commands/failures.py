"""``kafka-capacity failures``: what breaks when brokers or racks die."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from kafka_capacity.cli.console import Steps
from kafka_capacity.cli.one_question import Found, asks
from kafka_capacity.cli.options import MaxRows, option


@asks(
    "failures",
    "failure_sets",
    "failure_kinds",
    "max_failure_sets",
    "election_rules",
    "throttle_bytes_per_second",
    "controllers",
    "wanted_controllers",
    "controller_properties",
    "failover_runs",
    "seed",
    version=3,
    also={"failure_sets": "--brokers"},
)
def failures(
    snapshot: str,
    given: Mapping[str, Any],
    begin: Steps,
    racks: Annotated[
        list[str] | None, option("--racks RACK,…", "Racks that are lost together. May be repeated, one set each.")
    ] = None,
    has_pairs: Annotated[bool, option("--pairs", "Besides the given sets, lose every pair.", hidden=True)] = False,
    max_rows: MaxRows = 10,
) -> Found:
    """Show what breaks when brokers or racks die: what goes offline, what rejects writes, what is overloaded.

    Reads a native snapshot and simulates the loss of every broker, every rack, every rack plus one more broker, and
    every pair of brokers; leaders are elected by the rules of Kafka's controller. Prints the worst losses first:
    partitions and topics without a leader, partitions with too few replicas in sync for acks=all, leaders that move,
    survivors that are overloaded at peak, consumer groups that lose partitions or their coordinator, and how long it
    takes to re-replicate everything onto empty disks under a throttle. docs/failures.md describes the model and its
    assumptions.

    With --lost-together or --racks it simulates only these sets (and those of --losses), and prints the topics and
    groups that each of them affects. With --wanted-controllers it prints the steps to these voters, what may fail
    meanwhile, and the commands. With --out it writes failures.json into DIR.

    Amounts are bytes, rates bytes per second, times seconds.
    """
    from kafka_capacity.cli.failing import lose_brokers

    return lose_brokers(snapshot, given, racks or (), begin, has_pairs=has_pairs, max_rows=max_rows)
