"""The sticky assignment where all subscriptions are equal (``ConstrainedAssignmentBuilder`` of the client, 4.3.1).

Of p partitions and c members each is to get p // c, and p % c of them one more.

Algorithm:
    1. Members keep what they had and still may have, lowest partition number first: up to the larger share as long
       as there are larger shares, else up to the smaller. They are asked in the order of a hash map, which decides
       who gets the larger shares. Where racks count, what is in the wrong rack is not kept.
    2. Where racks count: partitions with the fewest members in their racks first, each goes to the next member in
       one of its racks that is below its share.
    3. The others go round the members below the smaller share, by name, until each has it; then one more each, to
       those who kept exactly the smaller share, then to those just filled.

Quirk:
    What is left over is found by walking two sorted lists side by side. A partition that a member claims and that
    does not exist stops the walk: all after it count as left over though they were kept, and there may not be room.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kafka_capacity.errors import AssignmentError
from kafka_capacity.kafka.arrays import Ints
from kafka_capacity.kafka.groups.claims import Claims
from kafka_capacity.kafka.groups.codes import Codes, order_by
from kafka_capacity.kafka.groups.racks import Racks
from kafka_capacity.kafka.groups.subscriptions import Subscriptions
from kafka_capacity.kafka.java.hash_map import put_order, stable_order
from kafka_capacity.kafka.java.hashing import utf16_keys


@dataclass(slots=True, kw_only=True, eq=False)
class Shares:
    """How far the members are."""

    smaller: int  # the share that each member gets
    larger: int  # the same, or one more where the partitions do not divide evenly
    larger_wanted: int  # how many members get the larger share, 0 where both are the same
    larger_given: int = 0  # how many have it
    count: Ints  # int64[M], partitions of each member
    below: list[int] = field(default_factory=list)  # members with less than the smaller share
    at_smaller: list[int] = field(default_factory=list)  # members with exactly the smaller share that may get one more

    @property
    def wants_larger(self) -> bool:
        """Whether more members are to get the larger share."""
        return self.larger_given < self.larger_wanted

    def keep(self, member: int, had: int) -> int:
        """Return how many of its partitions a member keeps; puts it where it belongs."""
        if had < self.smaller:
            self.below.append(member)
            kept = had
        elif had >= self.larger and self.wants_larger:
            self.larger_given += 1
            if self.larger_given == self.larger_wanted:
                self.at_smaller.clear()
            kept = self.larger
        else:
            if self.wants_larger:
                self.at_smaller.append(member)
            kept = self.smaller
        self.count[member] = kept
        return kept


Dealt = tuple[Ints, Ints, Ints]


def deal_in_rack(left: Ints, racks: Racks, shares: Shares) -> Dealt:
    """Assign partitions to members in their racks: int64, those that are given, to whom, and those that are left.

    Members below the smaller share are asked round and round, those at it from the first on. ``shares`` are brought up
    to date.
    """
    given: list[int] = []
    to: list[int] = []
    remaining: list[int] = []
    turn = 0
    for code in left.tolist():
        position = racks.next_in_rack(code, shares.below, turn)
        if position is not None:
            member = shares.below[position]
            turn = _fill(position, shares)
        else:
            at_smaller = racks.next_in_rack(code, shares.at_smaller, 0)
            if at_smaller is None:
                remaining.append(code)
                continue
            member = shares.at_smaller[at_smaller]
            _raise_above(at_smaller, shares)
        shares.count[member] += 1
        given.append(code)
        to.append(member)
    return np.array(given, dtype=np.int64), np.array(to, dtype=np.int64), np.array(remaining, dtype=np.int64)


def _fill(position: int, shares: Shares) -> int:
    """Move a member on that is about to get one more; give the position to go on from."""
    member = shares.below[position]
    count = int(shares.count[member]) + 1
    if count >= shares.smaller:
        del shares.below[position]
        if count < shares.larger and shares.wants_larger:
            shares.at_smaller.append(member)
    else:
        position += 1
    return position % len(shares.below) if shares.below else 0


def _raise_above(position: int, shares: Shares) -> None:
    """Note that a member at the smaller share is about to get the larger."""
    member = shares.at_smaller[position]
    if shares.count[member] + 1 == shares.larger:
        del shares.at_smaller[position]
        shares.larger_given += 1
        if not shares.wants_larger:
            shares.at_smaller.clear()


_ILLEGAL_STATE = "java.lang.IllegalStateException"


Rows = tuple[Ints, Ints, dict[int, int]]


def assign_equal(found: Subscriptions, codes: Codes, racks: Racks, claims: Claims) -> Rows:
    """Assign; give rows (member, partition number) in list order, and the new member of what changes hands.

    Raises:
        AssignmentError: there is no member, or a claim of a partition that does not exist broke Kafka's bookkeeping.
    """
    members = found.group.members
    if not members:
        raise AssignmentError("a group without members", kafka_type="java.lang.ArithmeticException")
    smaller, extra = divmod(codes.total, len(members))
    shares = Shares(
        smaller=smaller, larger=smaller + (extra > 0), larger_wanted=extra, count=np.zeros(len(members), dtype=np.int64)
    )
    owner, code, was = _keep_owned(found, codes, racks, claims, shares)
    names = utf16_keys([member.member_id for member in members])
    shares.below.sort(key=names.__getitem__)
    shares.at_smaller.sort(key=names.__getitem__)
    left = left_over(codes, found.alphabetical(), code)
    if racks.nearby is not None:
        left = left[np.argsort(racks.nearby[left], kind="stable")]
    dealt_to = [np.empty(0, dtype=np.int64)]
    dealt = [np.empty(0, dtype=np.int64)]
    if racks.count:
        in_rack, to, left = deal_in_rack(left, racks, shares)
        dealt.append(in_rack)
        dealt_to.append(to)
    dealt.append(left)
    dealt_to.append(_deal(len(left), shares))
    new_code, new_owner = np.concatenate(dealt), np.concatenate(dealt_to)
    moved = _moved(new_owner, new_code, was, claims)
    return np.concatenate((owner, new_owner)), np.concatenate((code, new_code)), moved


def _keep_owned(
    found: Subscriptions, codes: Codes, racks: Racks, claims: Claims, shares: Shares
) -> tuple[Ints, Ints, Ints]:
    """Let the members keep what they may: rows of that, and who had each partition that is taken (-1: nobody)."""
    was = np.full(len(codes.topic), -1, dtype=np.int64)
    in_map = np.array(found.order)[put_order(found.hashes[found.order])]
    seat = np.argsort(in_map)
    member, code = claims.member, claims.code
    if racks.count:
        pairs = zip(member.tolist(), code.tolist(), strict=True)
        wrong = np.array([racks.mismatch(i, number) for i, number in pairs], dtype=np.bool_)
        was[code[wrong]] = member[wrong]
        member, code = member[~wrong], code[~wrong]
    if claims.disputed:
        clear = ~np.isin(code, list(claims.disputed))
        member, code = member[clear], code[clear]
    place = np.argsort(found.alphabetical())
    rows = order_by(seat[member], codes.partition[code], place[codes.topic[code]])
    member, code = member[rows], code[rows]
    had = np.bincount(member, minlength=len(in_map))[in_map]
    kept = np.array([shares.keep(i, count) for i, count in zip(in_map.tolist(), had.tolist(), strict=True)])
    position = np.arange(len(code)) - np.repeat(np.cumsum(had) - had, had)
    stays = position < np.repeat(kept, had)
    was[code[~stays]] = member[~stays]
    return member[stays], code[stays], was


def left_over(codes: Codes, topic_order: list[int], kept: Ints) -> Ints:
    """List the partitions that are not kept, topics in the order given; a kept one that does not exist stops it."""
    everything = codes.in_topics(np.array(topic_order, dtype=np.int64))
    if not len(kept):
        return everything
    missing = kept >= codes.total
    if missing.any():
        place = np.argsort(topic_order)
        ordered = kept[np.lexsort((codes.partition[kept], place[codes.topic[kept]]))]
        kept = ordered[: int(np.argmax(ordered >= codes.total))]
    is_left = np.ones(codes.total, dtype=np.bool_)
    is_left[kept] = False
    left: Ints = everything[is_left[everything]]
    return left


def _deal(partitions: int, shares: Shares) -> Ints:
    """Return who gets each of the partitions left: round and round the members below, then one more each."""
    below = np.array(shares.below, dtype=np.int64)
    missing = shares.smaller - shares.count[below]
    rounds = int(missing.sum())
    if rounds > partitions:
        raise AssignmentError(
            f"{len(below)} members miss {rounds} partitions and {partitions} are left", kafka_type=_ILLEGAL_STATE
        )
    filled = below[np.argsort(missing, kind="stable")]
    one_more = np.concatenate((np.array(shares.at_smaller, dtype=np.int64), filled))
    if partitions - rounds > len(one_more):
        raise AssignmentError(
            f"{partitions - rounds} partitions are left and {len(one_more)} members may get one more",
            kafka_type=_ILLEGAL_STATE,
        )
    return np.concatenate((_round_and_round(below, missing), one_more[: partitions - rounds]))


def _round_and_round(members: Ints, missing: Ints) -> Ints:
    """Ask members in turn, each as often as it misses a partition."""
    laps = int(missing.max(initial=0))
    if laps * len(members) == int(missing.sum()):
        return np.tile(members, laps)
    lap = np.arange(int(missing.sum())) - np.repeat(np.cumsum(missing) - missing, missing)
    return np.repeat(members, missing)[stable_order(lap, laps)]


def _moved(owner: Ints, code: Ints, was: Ints, claims: Claims) -> dict[int, int]:
    if not len(claims.code) and not claims.disputed:
        return {}
    is_moved = (was[code] >= 0) & (was[code] != owner)
    if claims.disputed:
        is_moved |= np.isin(code, list(claims.disputed))
    return dict(zip(code[is_moved].tolist(), owner[is_moved].tolist(), strict=True))
