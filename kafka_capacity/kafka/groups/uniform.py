"""``uniform`` of the group coordinator (KIP-848, ``UniformAssignor`` of the group coordinator, 4.3.1).

Goals, in this order:
    1. Balance: counts that differ by at most one where all members subscribe to the same topics, else close to it.
    2. Stickiness: a member keeps what it has as far as balance lets it.

Constraints:
    Only to subscribers; all subscribed topics must exist. It does not look at racks.

Algorithm (all members subscribe to the same topics; else :mod:`kafka_capacity.kafka.groups.uniform_mixed`):
    1. Of p partitions and c members each is to get p // c, and p % c of them one more.
    2. Members, in the order of a hash map, keep what they have up to their share. As long as there are larger
       shares each is offered one, and gives it back if it has no use for it and enough members are to come.
       Partitions above the share, in the order of a hash set, are taken away.
    3. What nobody had, then what was taken away, fills the members below their share in the same order.

Worked example: c joins a and b, who had two and three partitions:

>>> from kafka_capacity.kafka.groups.model import Group, Member, Topic, TopicPartitions
>>> orders = "AAAAAAAAAAAAAAAAAAAAAQ"
>>> had = {"a": [0, 1], "b": [2, 3, 4], "c": []}
>>> members = tuple(
...     Member(member_id=name, topics=(orders,), owned=TopicPartitions.of((orders, p) for p in partitions))
...     for name, partitions in had.items()
... )
>>> group = Group(topics=(Topic(name=orders, partitions=5),), members=members)
>>> {name: [p for _, p in part] for name, part in assign_uniformly(group).lists().items()}
{'a': [0, 1], 'b': [2, 3], 'c': [4]}
"""

from __future__ import annotations

import numpy as np

from kafka_capacity.errors import AssignmentError
from kafka_capacity.kafka.arrays import Ints, runs
from kafka_capacity.kafka.groups.assignment import Assignment
from kafka_capacity.kafka.groups.codes import Codes
from kafka_capacity.kafka.groups.coordinator import KAFKA_TYPE, assign_by_kind, known_partition_count, map_order
from kafka_capacity.kafka.groups.held import walk
from kafka_capacity.kafka.groups.model import Group, known_rows
from kafka_capacity.kafka.groups.uniform_mixed import assign_mixed
from kafka_capacity.kafka.java.hash_map import copied_set_capacity, put_order, stable_order
from kafka_capacity.kafka.java.hashing import uuid_hashes

Rows = tuple[Ints, Ints]
"""Places of members in the coordinator's map, and numbers of partitions."""


def assign_uniformly(group: Group) -> Assignment:
    """Assign as groups do by default that the coordinator assigns, by what the members are to have now."""
    return assign_by_kind(group, _assign_homogeneous, assign_mixed)


def _assign_homogeneous(group: Group) -> Assignment:
    order = map_order(group)
    walked = _walked_topics(group.members[order[0]].topics)
    counts = {topic: known_partition_count(group, topic) for topic in walked}
    if not counts:
        return Assignment.of(group, {})
    topics = tuple(sorted(counts))
    table = {topic: i for i, topic in enumerate(topics)}
    codes = Codes(np.array([counts[topic] for topic in topics], dtype=np.int64))
    held = _held(group, order, table, codes)
    limit, room = _shares(np.bincount(held[0], minlength=len(order)), codes.total)
    taken = np.zeros(len(codes.topic), dtype=np.bool_)
    taken[held[1]] = True
    kept, revoked = _cut(group, order, table, codes, held, limit)
    place = np.argsort([table[topic] for topic in walked])
    free = np.flatnonzero(~taken[: codes.total])
    left = np.concatenate((free[stable_order(place[codes.topic[free]], len(topics))], revoked))
    filled = np.repeat(np.arange(len(order)), room)
    if len(filled) < len(left):
        raise AssignmentError(f"{len(left) - len(filled)} partitions are left over", kafka_type=KAFKA_TYPE)
    seat, code = np.concatenate((kept[0], filled[: len(left)])), np.concatenate((kept[1], left))
    return Assignment.of_sets(group, topics, codes, np.array(order, dtype=np.int64)[seat], code)


def _walked_topics(listed: tuple[str, ...]) -> list[str]:
    """Return the topics of a member in the order of a copy of its ``HashSet``."""
    names = list(dict.fromkeys(listed))
    hashes = uuid_hashes(names)
    first = put_order(hashes)
    return [names[i] for i in first[put_order(hashes[first], copied_set_capacity(len(names)))].tolist()]


def _held(group: Group, order: list[int], table: dict[str, int], codes: Codes) -> Rows:
    """List what the members have of the topics, each partition once a member."""
    seat, topic, partition = known_rows([group.members[i].owned for i in order], table)
    code = codes.encode(topic, partition)
    if len(code) and int(np.bincount(code).max()) > 1:
        seat, code = np.divmod(np.unique(seat * len(codes.topic) + code), len(codes.topic))
    return seat, code


def _shares(counts: Ints, partitions: int) -> Rows:
    """Return how many partitions each member may keep, and how many it is to get: int64[M] each."""
    share, larger_shares = divmod(partitions, len(counts))
    limits: list[int] = []
    rooms: list[int] = []
    members = len(counts)
    for place, count in enumerate(counts.tolist()):
        is_larger = larger_shares > 0
        limit = share + is_larger
        room = limit - count if count < limit else 0
        # It gives the larger share back if it has no use for it and enough members are to come, itself included.
        if room and is_larger and members - place > larger_shares:
            room -= 1
            is_larger = False
        larger_shares -= is_larger
        limits.append(limit)
        rooms.append(room)
    return np.array(limits, dtype=np.int64), np.array(rooms, dtype=np.int64)


def _cut(
    group: Group, order: list[int], table: dict[str, int], codes: Codes, held: Rows, limit: Ints
) -> tuple[Rows, Ints]:
    """Take from members what is above their limit; give what is kept, and what is not in the order of Kafka's list."""
    seat, code = held
    is_above = np.bincount(seat, minlength=len(order)) > limit
    if not is_above.any():
        return held, np.empty(0, dtype=np.int64)
    above = np.flatnonzero(is_above)
    walked = walk([group.members[order[i]].owned for i in above.tolist()])
    topic = np.array([table.get(name, -1) for name in walked.topics], dtype=np.int64)[walked.topic]
    wanted = topic >= 0
    cut_seat = above[walked.member[wanted]]
    cut_code = codes.encode(topic[wanted], walked.partition[wanted])
    starts, lengths = runs(cut_seat)
    place = np.arange(len(cut_seat)) - np.repeat(starts, lengths)
    stays = place < limit[cut_seat]
    calm = ~is_above[seat]
    kept = np.concatenate((seat[calm], cut_seat[stays])), np.concatenate((code[calm], cut_code[stays]))
    return kept, cut_code[~stays]
