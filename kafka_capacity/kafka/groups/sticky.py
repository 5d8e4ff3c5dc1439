"""``sticky`` and ``cooperative-sticky`` (``AbstractStickyAssignor`` and its two classes of the client, 4.3.1).

Goals, in this order:
    1. Balance: counts that differ by at most one where all members subscribe to the same topics, else as even as
       moves of single partitions can make them.
    2. Racks, where members and replicas have them and they are not everywhere the same.
    3. Stickiness: a member keeps what it had as far as balance lets it.

Constraints:
    Only to subscribers, each partition once. ``cooperative-sticky`` holds back a partition that changes hands until
    the member that had it has let it go: it is given out in the next round.

Algorithm:
    1. Members say what they had (``sticky`` in its user data, ``cooperative-sticky`` as owned partitions);
       :mod:`kafka_capacity.kafka.groups.claims` settles who is believed.
    2. All subscriptions equal: :mod:`kafka_capacity.kafka.groups.sticky_equal`; else
       :func:`assign_general`. Members that subscribe to nothing and come before all others in
       the leader's map do not make subscriptions unequal, and then take part: a quirk of Kafka's.
    3. ``cooperative-sticky`` takes out what changes hands.

Worked example: c joins a and b, who had two and three partitions. Two each and none taken but b's third:

>>> from kafka_capacity.kafka.groups.model import Group, Member, Topic, TopicPartitions
>>> had = {"a": [0, 1], "b": [2, 3, 4], "c": []}
>>> members = tuple(
...     Member(
...         member_id=name,
...         topics=("orders",),
...         owned=TopicPartitions.of(("orders", p) for p in partitions),
...         generation=1,
...     )
...     for name, partitions in had.items()
... )
>>> group = Group(topics=(Topic(name="orders", partitions=5),), members=members)
>>> answer = assign_cooperatively(group).lists()
>>> {name: [p for _, p in part] for name, part in answer.items()}
{'a': [0, 1], 'b': [2, 3], 'c': []}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kafka_capacity.kafka.arrays import Ints
from kafka_capacity.kafka.groups.assignment import Assignment
from kafka_capacity.kafka.groups.claims import Claims, settle_claims
from kafka_capacity.kafka.groups.codes import Codes
from kafka_capacity.kafka.groups.loads import Loads, balance_score
from kafka_capacity.kafka.groups.model import Group, Member, TopicPartitions, UserData, known_rows
from kafka_capacity.kafka.groups.racks import Racks
from kafka_capacity.kafka.groups.reassigning import Reassigning, Wishes
from kafka_capacity.kafka.groups.sticky_equal import assign_equal, left_over
from kafka_capacity.kafka.groups.subscriptions import Subscriptions
from kafka_capacity.kafka.java.hash_map import computed_order, put_order, stable_order
from kafka_capacity.kafka.java.hashing import string_hashes, utf16_keys

Rows = tuple[Ints, Ints]
"""Positions of members and numbers of partitions, one row a partition given; a member's rows are in list order."""


def assign_sticky(group: Group) -> Assignment:
    """Keep partitions where they were, by members' user data; members let go of all while the group rebalances."""
    return _assign(group, [member.user_data or UserData() for member in group.members], is_cooperative=False)


def assign_cooperatively(group: Group) -> Assignment:
    """Keep partitions where they are, by what members own; what changes hands takes two rounds."""
    return _assign(group, [_from_owned(member) for member in group.members], is_cooperative=True)


def _assign(group: Group, memories: list[UserData], *, is_cooperative: bool) -> Assignment:
    found = Subscriptions.of(group)
    codes = Codes(found.partition_counts())
    are_equal = _subscriptions_equal(group, found.order)
    if not (are_equal or is_cooperative):
        memories = _as_carried(memories)
    claims = settle_claims(found, memories, codes)
    racks = Racks(found)
    if are_equal:
        owner, code, moved = assign_equal(found, codes, racks, claims)
    else:
        owner, code = assign_general(found, codes, racks, claims, memories)
        moved = _changing_hands(found, codes, (owner, code)) if is_cooperative else {}
    if is_cooperative and moved:
        owner, code = _without((owner, code), moved)
    return Assignment.of_codes(group, found.topic_names, codes, owner=owner, code=code)


def _from_owned(member: Member) -> UserData:
    stated = None if member.user_data is None else member.user_data.generation
    return UserData(partitions=member.owned, generation=member.generation if member.known_generation >= 0 else stated)


def _as_carried(memories: list[UserData]) -> list[UserData]:
    """Order the lists as user data carries them: by topic, in the order of a hash map filled topic by topic."""
    hashes = {
        id(names): string_hashes(names)
        for names in {id(m.partitions.topics): m.partitions.topics for m in memories}.values()
    }
    orders: dict[tuple[int, tuple[int, ...], bool], Ints] = {}
    carried: list[UserData] = []
    for memory in memories:
        names = memory.partitions.topics
        topics = memory.partitions.topic.tolist()
        appearance = tuple(dict.fromkeys(topics))
        if len(appearance) < 2:
            carried.append(memory)
            continue
        key = (id(names), appearance, topics[-1] in topics[:-1])
        if key not in orders:
            places = np.zeros(len(names), dtype=np.int64)
            found = np.array(appearance)
            places[found[computed_order(hashes[id(names)][found], is_called_again=key[2])]] = np.arange(len(found))
            orders[key] = places
        carried.append(replace(memory, partitions=_sorted_by(memory.partitions, orders[key])))
    return carried


def _sorted_by(partitions: TopicPartitions, places: Ints) -> TopicPartitions:
    rows = stable_order(places[partitions.topic], len(places))
    return TopicPartitions(topics=partitions.topics, topic=partitions.topic[rows], partition=partitions.partition[rows])


def _subscriptions_equal(group: Group, order: list[int]) -> bool:
    wanted: frozenset[str] = frozenset()
    known: set[int] = set()
    for i in order:
        topics = group.members[i].topics
        if not wanted:
            wanted = frozenset(topics)
        elif id(topics) not in known:
            if len(topics) != len(wanted) or wanted != frozenset(topics):
                return False
            known.add(id(topics))
    return True


def _changing_hands(found: Subscriptions, codes: Codes, rows: Rows) -> dict[int, int]:
    """Find partitions that one member owned and another gets: the new member by partition."""
    members = found.group.members
    holder, topic, partition = known_rows([member.owned for member in members], found.table)
    held_code = codes.encode(topic, partition)
    owner, code = rows
    if len(held_code) == 0:
        return {}
    if int(np.bincount(held_code).max()) == 1 and int(np.bincount(code).max(initial=0)) <= 1:
        had = np.full(len(codes.topic), -1, dtype=np.int64)
        had[held_code] = holder
        moved = (had[code] >= 0) & (had[code] != owner)
        return dict(zip(code[moved].tolist(), owner[moved].tolist(), strict=True))
    held = held_code * len(members) + holder
    given = code * len(members) + owner
    let_go = np.setdiff1d(held, given) // len(members)
    added = ~np.isin(given, held)
    moved = added & np.isin(code, let_go)
    return dict(zip(code[moved].tolist(), owner[moved].tolist(), strict=True))


def _without(rows: Rows, moved: dict[int, int]) -> Rows:
    """Take the first row of each partition out of the list of the member named."""
    owner, code = rows
    taken = np.array(list(moved), dtype=np.int64)
    by = np.array(list(moved.values()), dtype=np.int64)
    width = int(max(code.max(), taken.max())) + 1
    key = owner * width + code
    candidates = np.flatnonzero(np.isin(key, by * width + taken))
    _, first = np.unique(key[candidates], return_index=True)
    kept = np.ones(len(code), dtype=np.bool_)
    kept[candidates[first]] = False
    return owner[kept], code[kept]


def assign_general(
    found: Subscriptions, codes: Codes, racks: Racks, claims: Claims, memories: Sequence[UserData]
) -> tuple[Ints, Ints]:
    """Assign; give rows (member, partition number), each member's in list order.

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
        The member of a generation ago may no longer subscribe to the topic and gets the partition all the same; if it
        is set aside, Kafka throws a NullPointerException. Step 1's list is compared with all partitions side by side,
        as in :mod:`kafka_capacity.kafka.groups.sticky_equal`.

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
    work: Reassigning, wishes: Wishes, left: Ints, everything: Ints, *, is_new: bool, was_revoked: bool
) -> None:
    loads = work.loads
    is_shared = wishes.subscribers.count >= 2
    everything = everything[is_shared[work.topics[everything]]]
    left = left[is_shared[work.topics[left]]]
    for member, held in enumerate(loads.lists):
        if len(held) >= wishes.most[member] and not is_shared[work.topics[held]].any():
            loads.set_aside(member)
    before = loads.active_lists()
    if not was_revoked:
        work.reassign(left)
    if work.reassign(everything) and not is_new and balance_score(loads.active_lists()) >= balance_score(before):
        for member, codes in before.items():
            loads.lists[member] = codes


def _held(found: Subscriptions, codes: Codes, claims: Claims, wishes: Wishes, racks: Racks) -> tuple[Ints, Ints]:
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


def _previous_holders(
    found: Subscriptions, codes: Codes, claims: Claims, memories: Sequence[UserData]
) -> dict[int, int]:
    """Find who had each partition in the latest generation but the current one."""
    holders: dict[int, tuple[int, int]] = {}
    for member in found.order:
        memory = memories[member]
        generation = -1 if memory.generation is None else memory.generation
        if generation >= claims.latest_generation:
            continue
        _, topic, partition = known_rows([memory.partitions], found.table)
        for code in codes.encode(topic, partition).tolist():
            if code not in holders or generation > holders[code][1]:
                holders[code] = (member, generation)
    return {code: member for code, (member, _) in holders.items()}


def _ranks(found: Subscriptions) -> Ints:
    """Return the place of each member by name: int64[M]."""
    names = utf16_keys([member.member_id for member in found.group.members])
    return np.argsort(sorted(range(len(names)), key=names.__getitem__))
