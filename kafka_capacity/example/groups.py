"""Consumer groups for the example clusters.

Every group is assigned by its own assignor. Most keep up; one in eight is a quarter of an hour behind; the one that
reads most has two members and is hours behind; the one with the fewest partitions has more members than that. One in
five is of the coordinator's protocol (KIP-848), and one in four has static members.
"""

from __future__ import annotations

import base64
import uuid
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from kafka_capacity.example.shapes import ExampleTopics
from kafka_capacity.inventory.tables import TABLES
from kafka_capacity.kafka.arrays import Floats, Ints
from kafka_capacity.kafka.cluster.snapshot import made_up_topic_id
from kafka_capacity.kafka.groups import Group, GroupProtocol, Member, Topic, TopicPartition, assignor

_PURPOSES = ("etl", "fraud", "search-index", "billing", "dashboards", "archive", "alerts", "features")
_ASSIGNORS = ("range", "cooperative-sticky", "range", "sticky", "roundrobin")
_SERVER_ASSIGNORS = ("uniform", "uniform", "range")
RECORD_BYTES = 900  # a usual size of a JSON event after compression
_IDLE_MEMBERS = 2
_FEW_MEMBERS = 2
_HOURS_BEHIND_SECONDS = 3 * 3600.0

Row = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Plan:
    """One group to be made."""

    number: int  # from 0
    group_id: str  # its name
    purpose: str  # the last part of it
    topics: tuple[int, ...]  # what it reads, places in the names, ascending
    rows: Ints  # int64[N], their partitions
    count: int  # how many members it has
    behind_seconds: Floats  # float64[N], the lag of each partition
    protocol: GroupProtocol
    assignor: str  # one of the protocol's


def group_tables(logs: ExampleTopics, group_count: int, rng: np.random.Generator) -> dict[str, pa.Table]:
    """Make ``groups``, ``members`` and ``lags``; every partition of a topic has one owner in its group."""
    (ids,) = rng.spawn(1)
    plans = _with_extremes(_plans(logs, group_count, rng), logs)
    rows: dict[str, list[Row]] = {
        "groups": [
            {
                "group_id": plan.group_id,
                "state": "Stable",
                "group_type": str(plan.protocol),
                "protocol_type": "consumer",
                "assignor": plan.assignor,
            }
            for plan in plans
        ],
        "members": [row for plan in plans for row in _members(plan, logs, ids)],
        "lags": [row for plan in plans for row in _lags(plan, logs)],
    }
    return {name: pa.Table.from_pylist(listed, schema=TABLES[name].schema) for name, listed in rows.items()}


def _plans(logs: ExampleTopics, group_count: int, rng: np.random.Generator) -> list[_Plan]:
    slices = logs.partitions.topic_slices()
    readable = [index for index, name in enumerate(logs.names) if not name.startswith("__")]
    plans = []
    for number in range(group_count):
        first = readable[(number * 7) % len(readable)]
        purpose = _PURPOSES[number % len(_PURPOSES)]
        topics = sorted({first, *(int(t) for t in rng.choice(readable, size=int(rng.integers(0, 3))))})
        rows = np.concatenate([np.arange(slices[t].start, slices[t].stop) for t in topics])
        count = min(len(rows), int(rng.integers(2, 13)))
        # Most groups are a second or two behind, one in eight a quarter of an hour.
        seconds = rng.exponential(900.0 if number % 8 == 7 else 1.5, len(rows))
        is_new = number % 5 == 2
        assignors, turn = (_SERVER_ASSIGNORS, number // 5) if is_new else (_ASSIGNORS, number)
        plans.append(
            _Plan(
                number=number,
                group_id=f"{logs.names[first].replace('.', '-')}-{purpose}",
                purpose=purpose,
                topics=tuple(topics),
                rows=rows,
                count=count,
                behind_seconds=seconds,
                protocol=GroupProtocol.CONSUMER if is_new else GroupProtocol.CLASSIC,
                assignor=assignors[turn % len(assignors)],
            )
        )
    return plans


def _with_extremes(plans: list[_Plan], logs: ExampleTopics) -> list[_Plan]:
    """Return one group too many members, and another one too few."""
    small = min(plans, key=lambda plan: (len(plan.rows), plan.number))
    large = max(plans, key=lambda plan: (logs.mean_in[plan.rows].sum(), plan.number))
    changes = {
        small.number: replace(small, count=len(small.rows) + _IDLE_MEMBERS),
        large.number: replace(
            large, count=_FEW_MEMBERS, behind_seconds=_HOURS_BEHIND_SECONDS * (1 + np.tanh(large.behind_seconds) / 4)
        ),
    }
    return [changes.get(plan.number, plan) for plan in plans]


def _members(plan: _Plan, logs: ExampleTopics, ids: np.random.Generator) -> list[Row]:
    instances = [f"{plan.purpose}-{index}" if plan.number % 4 == 3 else None for index in range(plan.count)]
    member_ids = [_member_id(plan, instance, ids) for instance in instances]
    assigned = _assigned(plan, logs, member_ids, instances)
    return [
        {
            "group_id": plan.group_id,
            "member_id": member_id,
            "client_id": plan.group_id,
            "host": f"/10.0.{index // 250}.{index % 250 + 1}",
            "instance_id": instance,
            "subscribed": [logs.names[t] for t in plan.topics],
            "assigned": [{"topic": topic, "partition": partition} for topic, partition in assigned[member_id]],
        }
        for index, (member_id, instance) in enumerate(zip(member_ids, instances, strict=True))
    ]


def _member_id(plan: _Plan, instance: str | None, ids: np.random.Generator) -> str:
    """Make an id as the coordinator of a classic group does, or the client itself in the other protocol."""
    drawn = uuid.UUID(bytes=ids.bytes(16), version=4)
    if plan.protocol is GroupProtocol.CONSUMER:
        return base64.urlsafe_b64encode(drawn.bytes).decode().rstrip("=")
    return f"{instance or plan.group_id}-{drawn}"


def _assigned(
    plan: _Plan, logs: ExampleTopics, member_ids: list[str], instances: list[str | None]
) -> dict[str, list[TopicPartition]]:
    """Let the group's assignor say who reads what; the coordinator's assignors know topics by their ids."""
    has_ids = plan.protocol is GroupProtocol.CONSUMER
    names = {made_up_topic_id(logs.names[t]) if has_ids else logs.names[t]: t for t in plan.topics}
    slices = logs.partitions.topic_slices()
    members = [
        Member(member_id=member_id, topics=tuple(names), instance_id=instance)
        for member_id, instance in sorted(zip(member_ids, instances, strict=True))
    ]
    topics = [Topic(name=name, partitions=slices[t].stop - slices[t].start) for name, t in names.items()]
    lists = assignor(plan.assignor, plan.protocol).assign(Group(topics=tuple(topics), members=tuple(members))).lists()
    return {
        member_id: sorted((logs.names[names[name]], partition) for name, partition in listed)
        for member_id, listed in lists.items()
    }


def _lags(plan: _Plan, logs: ExampleTopics) -> list[Row]:
    rates, topic = logs.mean_in[plan.rows], logs.partitions.topic[plan.rows]
    behind = (rates * plan.behind_seconds / RECORD_BYTES).astype(np.int64)
    ends = (rates * 86_400 * 90 / RECORD_BYTES).astype(np.int64)
    # A compacted log starts where it always did, with ever more holes.
    starts = np.where(logs.of_kind("is_compacted")[plan.rows] > 0, 0, ends - logs.size_bytes[plan.rows] // RECORD_BYTES)
    return [
        {
            "group_id": plan.group_id,
            "topic": logs.names[index],
            "partition": partition,
            "log_start_offset": start,
            "log_end_offset": end,
            "committed_offset": max(0, end - lag),
            "lag_records": min(end, lag),
        }
        for index, partition, start, end, lag in zip(
            topic.tolist(),
            logs.partitions.partition[plan.rows].tolist(),
            starts.tolist(),
            ends.tolist(),
            behind.tolist(),
            strict=True,
        )
    ]
