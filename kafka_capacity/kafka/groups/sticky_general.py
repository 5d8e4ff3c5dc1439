"""The sticky assignment where subscriptions differ (``GeneralAssignmentBuilder`` of the client, 4.3.1).

Algorithm:
    1. Members keep everything they had, subscribe to and (where racks count) have in their rack.
    2. The other partitions, topics with the fewest subscribers first, each go to the subscriber with the fewest
       partitions; where racks count first to one in their racks, if there is any.
    3. Topics with one subscriber, and members for whom nothing can change, are set aside. Then partitions are
       tried one after another, and again from the front as long as one moved: to the member that had it a
       generation ago, or to the least loaded subscriber, if the holder has at least two more than that (or than
       any subscriber). First only those of step 2 are tried, unless step 1 took something away.
    4. If that made the assignment no better, it is undone (unless nobody had anything before).

Stickiness within step 3: instead of a partition, one of the same topic goes that came from the member that is to
get it (:mod:`kafka_capacity.kafka.groups.reassigning`).

Quirks:
    The member of a generation ago may no longer subscribe to the topic and gets the partition all the same; if it is
    set aside, Kafka throws a NullPointerException. Step 1's list is compared with all partitions side by side, as in
    :mod:`kafka_capacity.kafka.groups.sticky_equal`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.groups.claims import Claims, Memory
from kafka_capacity.kafka.groups.codes import Codes, stable_order
from kafka_capacity.kafka.groups.loads import Loads, balance_score
from kafka_capacity.kafka.groups.model import concatenated
from kafka_capacity.kafka.groups.racks import Racks
from kafka_capacity.kafka.groups.reassigning import Reassigning, Wishes
from kafka_capacity.kafka.groups.sticky_equal import left_over
from kafka_capacity.kafka.groups.subscriptions import Subscriptions
from kafka_capacity.kafka.java.hash_map import put_order
from kafka_capacity.kafka.java.hashing import utf16_keys


def assign_general(
    found: Subscriptions, codes: Codes, racks: Racks, claims: Claims, memories: Sequence[Memory]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Assign; give rows (member, partition number), each member's in list order.

    Raises:
        AssignmentError: Kafka would throw.
    """
    wishes = Wishes.of(found)
    previous = _previous_holders(found, codes, claims, memories)
    map_order = np.array(found.order)[put_order(found.hashes[found.order])].tolist()
    held = _held(found, codes, claims, wishes, racks)
    was_revoked = len(held[0]) < len(claims.code)
    topic_order = sorted(found.alphabetical(), key=wishes.subscribers.count.tolist().__getitem__)
    left = left_over(codes, topic_order, held[1])
    everything = codes.in_topics(np.array(topic_order, dtype=np.int64))

    ends = np.cumsum(np.bincount(held[0], minlength=len(map_order))).tolist()
    listed = held[1].tolist()
    lists = [listed[first:end] for first, end in zip([0, *ends], ends, strict=False)]
    loads = Loads(lists, len(codes.topic), _ranks(found), map_order)
    loads.owner[held[1]] = held[0]
    loads.rank_all()
    work = Reassigning(found, codes, racks, wishes, loads, previous)
    is_new = loads.extremes()[1] == 0
    work.give(work.give_in_rack(left) if racks.count else left)
    _balance(work, wishes, left, everything, is_new=is_new, was_revoked=was_revoked)
    counts = [len(lists[member]) for member in map_order]
    flat = [code for member in map_order for code in lists[member]]
    return np.repeat(np.array(map_order, dtype=np.int64), counts), np.array(flat, dtype=np.int64)


def _balance(
    work: Reassigning,
    wishes: Wishes,
    left: NDArray[np.int64],
    everything: NDArray[np.int64],
    *,
    is_new: bool,
    was_revoked: bool,
) -> None:
    loads = work.loads
    is_shared = wishes.subscribers.count >= 2
    everything = everything[is_shared[work.topics[everything]]]
    left = left[is_shared[work.topics[left]]]
    for member in range(len(loads.lists)):
        if not _can_change(member, work, wishes):
            loads.set_aside(member)
    before = loads.active_lists()
    if not was_revoked:
        work.reassign(left)
    if work.reassign(everything) and not is_new and balance_score(loads.active_lists()) >= balance_score(before):
        for member, codes in before.items():
            loads.lists[member] = codes


def _can_change(member: int, work: Reassigning, wishes: Wishes) -> bool:
    held = work.loads.lists[member]
    if len(held) < wishes.most[member]:
        return True
    return any(wishes.is_shared(work.topic_of[code]) for code in held)


def _held(
    found: Subscriptions, codes: Codes, claims: Claims, wishes: Wishes, racks: Racks
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what members keep: rows (member, partition number), members as the group lists them.

    Left out is what they no longer subscribe to or have in the wrong rack.
    """
    member, code = claims.member, claims.code
    stays = wishes.subscribers.are_readers(member, codes.topic[code])
    if racks.count:
        pairs = zip(member.tolist(), code.tolist(), strict=True)
        stays &= ~np.array([racks.mismatch(i, number) for i, number in pairs], dtype=np.bool_)
    member, code = member[stays], code[stays]
    rows = stable_order(member, len(found.group.members))
    return member[rows], code[rows]


def _previous_holders(found: Subscriptions, codes: Codes, claims: Claims, memories: Sequence[Memory]) -> dict[int, int]:
    """Find who had each partition in the latest generation but the current one."""
    holders: dict[int, tuple[int, int]] = {}
    for member in found.order:
        memory = memories[member]
        generation = -1 if memory.generation is None else memory.generation
        is_older = generation < claims.latest_generation
        if not is_older:
            continue
        topic, partition = concatenated([memory.partitions], found.table)
        is_known = topic >= 0
        for code in codes.encode(topic[is_known], partition[is_known]).tolist():
            if code not in holders or generation > holders[code][1]:
                holders[code] = (member, generation)
    return {code: member for code, (member, _) in holders.items()}


def _ranks(found: Subscriptions) -> NDArray[np.int64]:
    """Return the place of each member by name: int64[M]."""
    names = utf16_keys([member.member_id for member in found.group.members])
    ranks = np.empty(len(names), dtype=np.int64)
    ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return ranks
