"""Inventories with groups, and what the simulation is told of them."""

from __future__ import annotations

from kafka_capacity.inventory.group_facts import group_facts
from kafka_capacity.inventory.snapshot import build_snapshot
from tests.builders import cluster, rows_of, topic, with_rows

TOPICS = (topic("orders", partitions=4, bytes_in=1000.0), topic("audit", partitions=2, bytes_in=500.0))


def group(group_id="g", **changes):
    return {
        "group_id": group_id,
        "state": "Stable",
        "group_type": "classic",
        "protocol_type": "consumer",
        "assignor": "range",
    } | changes


def member(member_id, *assigned, group_id="g", subscribed=("orders",), **changes):
    pairs = [{"topic": name, "partition": number} for name, number in assigned]
    return {
        "group_id": group_id,
        "member_id": member_id,
        "subscribed": None if subscribed is None else list(subscribed),
        "assigned": pairs,
    } | changes


def lag(topic="orders", partition=0, group_id="g", **changes):
    return {"group_id": group_id, "topic": topic, "partition": partition} | changes


A = member("a", ("orders", 0), ("orders", 1))

B = member("b", ("orders", 2), ("orders", 3))


def found(*, groups=None, members=(A, B), lags=(), topics=TOPICS, memory=None, **options):
    raw = cluster(topics=topics, groups=[group()] if groups is None else groups, members=members, lags=lags, **options)
    raw = with_rows(raw, "brokers", [row | {"memory_bytes": memory} for row in rows_of(raw, "brokers")])
    return group_facts(raw, build_snapshot(raw))


def only(**options):
    answer = found(**options)
    assert answer.skipped == ()
    (facts,) = answer.facts
    return facts
