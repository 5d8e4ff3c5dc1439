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
get it (:mod:`kafka_capacity.groups.movements`).

Quirks:
    The member of a generation ago may no longer subscribe to the topic and gets the partition all the same; if it is
    set aside, Kafka throws a NullPointerException. Step 1's list is compared with all partitions side by side, as in
    :mod:`kafka_capacity.groups.sticky_equal`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.groups.claims import Claims, Memory
from kafka_capacity.groups.codes import Codes
from kafka_capacity.groups.loads import Loads, balance_score
from kafka_capacity.groups.model import concatenated
from kafka_capacity.groups.racks import Racks
from kafka_capacity.groups.reassigning import Reassigning, Wishes
from kafka_capacity.groups.sticky_equal import left_over
from kafka_capacity.groups.subscriptions import Subscriptions
from kafka_capacity.java.hash_map import put_order
from kafka_capacity.java.hashing import utf16_key


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
    lists: list[list[int]] = [[] for _ in found.group.members]
    for member, code in zip(claims.member.tolist(), claims.code.tolist(), strict=True):
        lists[member].append(code)
    topic_of = codes.topic.tolist()
    was_revoked = _revoke(lists, topic_of, wishes, racks)
    topic_order = sorted(
        range(len(found.topics)), key=lambda i: (len(wishes.subscribers[i]), utf16_key(found.topics[i].name))
    )
    kept = np.array([code for listed in lists for code in listed], dtype=np.int64)
    left = left_over(codes, topic_order, kept).tolist()
    everything = left_over(codes, topic_order, kept[:0]).tolist()

    loads = Loads(lists, _ranks(found), map_order)
    for member in map_order:
        loads.owner.update((code, member) for code in lists[member])
    loads.rank_all()
    work = Reassigning(found, codes, racks, wishes, loads, previous)
    is_new = loads.extremes()[1] == 0
    rest = [code for code in left if not work.give(code, in_rack=True)] if racks.count else left
    for code in rest:
        work.give(code)
    _balance(work, wishes, left, everything, is_new=is_new, was_revoked=was_revoked)
    counts = [len(lists[member]) for member in map_order]
    flat = [code for member in map_order for code in lists[member]]
    return np.repeat(np.array(map_order, dtype=np.int64), counts), np.array(flat, dtype=np.int64)


def _balance(
    work: Reassigning, wishes: Wishes, left: list[int], everything: list[int], *, is_new: bool, was_revoked: bool
) -> None:
    loads = work.loads
    everything = [code for code in everything if wishes.is_shared(work.topic_of[code])]
    left = [code for code in left if wishes.is_shared(work.topic_of[code])]
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


def _revoke(lists: list[list[int]], topic_of: list[int], wishes: Wishes, racks: Racks) -> bool:
    """Take away what members no longer subscribe to or have in the wrong rack; tell whether there was any."""
    was_revoked = False
    for member, codes in enumerate(lists):
        kept = [code for code in codes if topic_of[code] in wishes.wanted[member] and not racks.mismatch(member, code)]
        if len(kept) < len(codes):
            lists[member][:] = kept
            was_revoked = True
    return was_revoked


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


def _ranks(found: Subscriptions) -> list[int]:
    members = found.group.members
    by_name = sorted(range(len(members)), key=lambda i: utf16_key(members[i].member_id))
    ranks = [0] * len(members)
    for place, member in enumerate(by_name):
        ranks[member] = place
    return ranks
