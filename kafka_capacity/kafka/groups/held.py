"""What members have, in the order in which the group coordinator walks over it (4.3.1).

What a member is to have is a ``HashMap`` by topic id of ``HashSet`` of partitions, each made from a list. Here the
order of many members' maps and sets is worked out in one go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Indices, Int32s, Ints
from kafka_capacity.kafka.groups.coordinator import held_partitions
from kafka_capacity.kafka.groups.model import TopicPartitions, known_rows
from kafka_capacity.kafka.java.hash_map import (
    copied_set_capacities,
    crowded_tables,
    put_tables,
    spread_hashes,
    table_sizes,
)
from kafka_capacity.kafka.java.hashing import uuid_hashes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Walk:
    """The partitions of some members, each once."""

    topics: tuple[str, ...]  # the table that `topic` points into
    member: Ints  # int64[N], which of the lists; rises
    topic: Ints  # int64[N], the topics of a member in the order of its map
    partition: Ints  # int64[N], the partitions of a topic in the order of its set


def walk(lists: Sequence[TopicPartitions]) -> Walk:
    """Walk over what members have, each list in the order in which that member's maps and sets are filled."""
    table: dict[str, int] = {}
    for names in {id(part.topics): part.topics for part in lists}.values():
        for name in names:
            table.setdefault(name, len(table))
    member, topic, partition = known_rows(lists, table)
    rows, crowded = _fast_order(uuid_hashes(list(table)), member, topic, partition, len(lists))
    member, topic, partition = member[rows], topic[rows], partition[rows]
    if crowded.any():
        # A table that doubled because of one long bucket is followed call by call.
        calm = ~crowded[member]
        slow = [
            (i, table[name], number)
            for i in np.flatnonzero(crowded).tolist()
            for name, numbers in held_partitions(lists[i]).items()
            for number in numbers
        ]
        more = np.array(slow, dtype=np.int64).T
        member, topic, partition = (
            np.concatenate((found[calm], extra)) for found, extra in zip((member, topic, partition), more, strict=True)
        )
        rows = np.argsort(member, kind="stable")
        member, topic, partition = member[rows], topic[rows], partition[rows]
    return Walk(topics=tuple(table), member=member, topic=topic, partition=partition)


def _fast_order(hashes: Int32s, member: Ints, topic: Ints, partition: Ints, members: int) -> tuple[Indices, Flags]:
    """Order the rows, each partition once; also tell the members whose tables may have doubled early."""
    # A run is what one member has of one topic.
    found, first, run, listed = np.unique(
        member * len(hashes) + topic, return_index=True, return_inverse=True, return_counts=True
    )
    run_member, run_topic = np.divmod(found, max(len(hashes), 1))
    topics_of = np.bincount(run_member, minlength=members)
    topic_table = put_tables(topics_of)[run_member]
    topic_bucket = spread_hashes(hashes)[run_topic] & (topic_table - 1)
    run_place = np.empty(len(found), dtype=np.int64)
    run_place[np.lexsort((first, topic_bucket, run_member))] = np.arange(len(found))
    set_table = table_sizes(copied_set_capacities(listed))
    bucket = spread_hashes(partition) & (set_table[run] - 1)
    width = int(set_table.max(initial=1))
    rows = np.argsort(run_place[run] * width + bucket, kind="stable")
    low = int(partition.min(initial=0))
    key = run * (int(partition.max(initial=0)) - low + 1) + partition - low
    if (np.diff(np.sort(key)) == 0).any():
        once = np.unique(key, return_index=True)[1]
        is_first = np.zeros(len(rows), dtype=np.bool_)
        is_first[once] = True
        rows = rows[is_first[rows]]
    crowded_runs = crowded_tables(run[rows], bucket[rows], set_table)
    crowded = crowded_tables(run_member, topic_bucket, put_tables(topics_of))
    crowded[run_member[crowded_runs]] = True
    return rows, crowded
