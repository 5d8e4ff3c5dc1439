"""Groups and scenarios made up from a few numbers, to try things out."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from kafka_capacity.kafka.cluster.snapshot import made_up_topic_id
from kafka_capacity.kafka.groups.model import Group, Member, StreamsTopology, Topic, TopicPartitions
from kafka_capacity.kafka.groups.registry import GroupProtocol, assignor
from kafka_capacity.kafka.rebalance.member_events import Roster
from kafka_capacity.kafka.rebalance.model import NOBODY, Event, GroupFacts, GroupScenario, GroupSettings
from kafka_capacity.kafka.rebalance.table import PartitionTable
from kafka_capacity.kafka.rebalance.tasks import as_tasks


def plain_group(
    partitions: Mapping[str, int],
    *,
    members: int,
    assignor: str = "range",
    protocol: str = "classic",
    bytes_per_second: float = 1000.0,
    capacity_bytes_per_second: float | None = None,
) -> GroupFacts:
    """Make up a group whose members subscribe to all topics, all partitions alike, assigned afresh.

    Args:
        partitions: how many each topic has.
        members: how many there are; they are named ``m0``, ``m1``, ….
        assignor: its name.
        protocol: ``classic`` or ``consumer``.
        bytes_per_second: of each partition, mean and peak.
        capacity_bytes_per_second: the estimate of what a member can do.
    """
    names = tuple(sorted(partitions))
    counts = [partitions[name] for name in names]
    topic = np.repeat(np.arange(len(names), dtype=np.int32), counts)
    total = len(topic)
    group_protocol = GroupProtocol(protocol)
    facts: dict[str, Any] = {
        "group_id": "group",
        "protocol": group_protocol,
        "assignor": assignor,
        "members": tuple(Member(member_id=f"m{number}", topics=names) for number in range(members)),
        "topics": tuple(Topic(name=name, partitions=count) for name, count in zip(names, counts, strict=True)),
        "topic_ids": tuple(made_up_topic_id(name) for name in names),
        "topic": topic,
        "partition": np.concatenate([np.arange(count, dtype=np.int32) for count in counts]),
        "owner": np.full(total, -1, dtype=np.int32),
        "mean_bytes_per_second": np.full(total, bytes_per_second),
        "peak_bytes_per_second": np.full(total, bytes_per_second),
        "is_rate_known": np.ones(total, dtype=np.bool_),
        "is_offline": np.zeros(total, dtype=np.bool_),
        "start_lag_bytes": np.zeros(total),
        "start_lag_seconds": 0.0,
        "lost_records": np.zeros(total),
        "cache_window_seconds": np.full(total, np.nan),
        "record_bytes": 1000.0,
        "is_record_size_known": True,
        "estimated_capacity_bytes_per_second": capacity_bytes_per_second,
        "is_estimate_a_limit": False,
        "history_hours": 168,
    }
    return with_fresh_assignment(GroupFacts(**facts))


def plain_streams_group(
    partitions: Mapping[str, int], topology: StreamsTopology, *, members: int, **changes: Any
) -> GroupFacts:
    """Make up a streams group of one thread a process, with a row a task, all of them assigned afresh."""
    facts = plain_group(partitions, members=members, **changes)
    processes = tuple(dataclasses.replace(one, process_id=f"p{i}") for i, one in enumerate(facts.members))
    facts = dataclasses.replace(
        facts, protocol=GroupProtocol.STREAMS, assignor="sticky", streams=topology, members=processes
    )
    return as_tasks(dataclasses.replace(facts, owner=np.full(len(facts), NOBODY, dtype=np.int32)))


def with_fresh_assignment(facts: GroupFacts) -> GroupFacts:
    """Return a group as if its assignor had just assigned everything."""
    table = PartitionTable.of(facts, facts.protocol)
    members = Roster(facts, table.ids, is_static=facts.is_static, count=0, seed=0).members
    answer = assignor(facts.assignor, facts.protocol).assign(Group(topics=table.topics, members=tuple(members)))
    owner = table.owners(answer, range(len(members)))
    names = tuple(topic.name for topic in facts.topics)
    owned = [
        TopicPartitions(topics=names, topic=facts.topic[rows], partition=facts.partition[rows])
        for rows in (np.flatnonzero(owner == number) for number in range(len(members)))
    ]
    return dataclasses.replace(
        facts,
        owner=owner.astype(np.int32),
        members=tuple(
            dataclasses.replace(member, owned=part) for member, part in zip(facts.members, owned, strict=True)
        ),
    )


def plain_scenario(facts: GroupFacts, **changes: Any) -> GroupScenario:
    """Return the scenario of a group as it is, with changes: any field of :class:`GroupScenario`."""
    given: dict[str, Any] = {
        "scenario_id": f"{facts.group_id}.today",
        "group_id": facts.group_id,
        "member_count": len(facts.members),
        "protocol": facts.protocol,
        "assignor": facts.assignor,
        "is_static": facts.is_static,
        "events": tuple(Event),
        "member_capacity_bytes_per_second": None,
        "lag_slo_seconds": 120.0,
        "catch_up_limit_seconds": 4 * 3600.0,
        "failure_count": 1,
        "partitions_factor": 2,
        "settings": GroupSettings(),
        "seed": 0,
        **changes,
    }
    return GroupScenario(**given)
