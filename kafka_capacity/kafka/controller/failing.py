"""Brokers die, of a million partitions at once: who leads then, who is in sync, what nobody leads.

Goals (ordered)
    1. Give for each partition what the rules for one partition give, in ``kraft_change`` (4.3.1) and ``zk_machine``
       (3.9.2) of :mod:`kafka_capacity.conformance.models`, which equal Kafka's own code.
    2. Look only at partitions that have a replica on a lost broker, so that many sets of losses are cheap.

Algorithm
    KRaft fences lost brokers one after another (``ReplicationControlManager.handleBrokerFenced``), here in the order of
    their positions. Each leaves the ISRs that it is in; a leader is elected where it led. Without eligible leader
    replicas the last broker of an ISR stays in it, so that it alone may lead when it is back.
    ZooKeeper's controller learns of all at once (``KafkaController.onBrokerFailure``): it elects leaders for what is
    without one, then takes the lost replicas out of the ISRs.
    A partition has few replicas, so there are few steps: each is done for all partitions together.
    Without a controller, whose rules are ``None``, nobody is elected and nobody leaves an ISR.

Worked example, one partition on brokers 0, 1 and 2; lost are 0, then 0 and 1, with an ISR of these two:
    >>> states = PartitionStates.of(
    ...     np.array([[0, 1, 2]], dtype=np.int32), np.array([[True, True, False]]), np.array([0], dtype=np.int32),
    ...     min_insync_replicas=np.array([2]), is_unclean_allowed=np.array([False]), is_live=np.ones(3, dtype=bool))
    >>> fail_brokers(states, [0], ElectionRules.KRAFT).leader.tolist()
    [1]
    >>> after = fail_brokers(states, [0, 1], ElectionRules.KRAFT)
    >>> after.leader.tolist(), after.in_sync.tolist()
    ([-1], [[False, True, False]])
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Int32s, Ints
from kafka_capacity.kafka.controller.partition_states import NO_SLOT, PartitionStates, first_of, live_on, only
from kafka_capacity.kafka.java.hash_map import stable_order

MAX_ROWS = 1 << 19  # how many partitions are looked at together: what they take stays below a hundred MiB
_STAYS = np.int32(np.iinfo(np.int32).max)


class ElectionRules(StrEnum):
    """Whose rules decide who leads after a loss."""

    KRAFT = "kraft"  # KRaft's controller
    KRAFT_ELR = "kraft-elr"
    """KRaft's controller with eligible leader replicas (``eligible.leader.replicas.version`` 1, KIP-966)."""
    ZOOKEEPER = "zookeeper"  # the controller of ZooKeeper's time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Losses:
    """What some sets of lost brokers do, one row a set and partition that has a replica there."""

    first: int  # the number of the first set that this is about
    count: int  # of how many sets it is
    of: Ints  # int64[N], the set of each row, counted from `first`
    row: Ints  # int64[N], the partition
    before: PartitionStates  # the partitions as they were
    after: PartitionStates  # the same, once the brokers are lost. `is_live` of both is as it was before.
    is_live: Flags  # bool[N, W], which replicas are on brokers that live still


@dataclass(frozen=True, slots=True, eq=False)
class BrokerRows:
    """Which partitions each broker has replicas of."""

    row: Ints  # int64[R], partitions, those of one broker together
    bounds: Ints  # int64[B + 1], where those of each broker begin

    @classmethod
    def of(cls, replicas: Int32s, broker_count: int) -> BrokerRows:
        """Sort the replicas by broker."""
        rows, slots = np.nonzero(replicas >= 0)
        broker = replicas[rows, slots]
        order = stable_order(broker, broker_count)
        counts = np.bincount(broker, minlength=broker_count)
        return cls(rows[order], np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))

    def of_brokers(self, brokers: Sequence[int]) -> Ints:
        """Return the partitions that have a replica on any of these, each once, ascending."""
        parts = [self.row[self.bounds[broker] : self.bounds[broker + 1]] for broker in brokers]
        if len(parts) == 1:
            return parts[0]
        return np.unique(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64)

    def count_on(self, brokers: Sequence[int]) -> int:
        """Count the replicas on these brokers."""
        return sum(int(self.bounds[broker + 1] - self.bounds[broker]) for broker in brokers)


def fail_brokers(states: PartitionStates, brokers: Sequence[int], rules: ElectionRules | None) -> PartitionStates:
    """Return the partitions once brokers, given by position, are dead; one that is dead already changes nothing."""
    is_live = states.is_live.copy()
    is_live[list(brokers)] = False
    rank = np.full(len(states.is_live) + 1, _STAYS, dtype=np.int32)
    for position in sorted(brokers):
        if states.is_live[position]:
            rank[position] = position
    after = _after(states, rank[states.replicas], states.live_replicas(), rules)
    return dataclasses.replace(after, is_live=is_live)


def losses(
    states: PartitionStates,
    sets: Sequence[Sequence[int]],
    rules: ElectionRules | None,
    *,
    rows: BrokerRows | None = None,
    max_sets: int = 1 << 30,
) -> Iterator[Losses]:
    """Lose each set of brokers, given by position, by itself; yield some sets at a time, in their order.

    ``rows`` are those of these states, where the caller has them already. At most ``max_sets`` are given together.
    """
    held = BrokerRows.of(states.replicas, len(states.is_live)) if rows is None else rows
    start = 0
    while start < len(sets):
        end, replicas = start + 1, held.count_on(sets[start])
        while end < len(sets) and end - start < max_sets and replicas + held.count_on(sets[end]) <= MAX_ROWS:
            replicas += held.count_on(sets[end])
            end += 1
        yield _losses(states, sets[start:end], rules, held, start)
        start = end


def _losses(
    states: PartitionStates, sets: Sequence[Sequence[int]], rules: ElectionRules | None, held: BrokerRows, first: int
) -> Losses:
    lost = [sorted(broker for broker in set(one) if states.is_live[broker]) for one in sets]
    parts = [held.of_brokers(one) for one in lost]
    row = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
    of = np.repeat(np.arange(len(sets)), [len(part) for part in parts])
    before = states.take(row)
    was_live = before.live_replicas()
    rank = np.full(before.replicas.shape, _STAYS, dtype=np.int32)
    end = 0
    for one, part in zip(lost, parts, strict=True):
        begin, end = end, end + len(part)
        place = before.replicas[begin:end]
        # One broker is the common case, and is found by comparing.
        is_lost = place == one[0] if len(one) == 1 else live_on(place, np.isin(np.arange(len(states.is_live)), one))
        rank[begin:end][is_lost] = place[is_lost]
    after = _after(before, rank, was_live, rules)
    return Losses(
        first=first, count=len(sets), of=of, row=row, before=before, after=after, is_live=was_live & (rank == _STAYS)
    )


def _after(states: PartitionStates, rank: Int32s, live: Flags, rules: ElectionRules | None) -> PartitionStates:
    """Lose the replicas that have a rank, in its order."""
    if not states.replicas.shape[1]:
        return states
    if rules is None:
        is_led_by_lost = (only(states.leader, states.replicas.shape[1]) & (rank != _STAYS)).any(axis=1)
        return dataclasses.replace(states, leader=np.where(is_led_by_lost, NO_SLOT, states.leader).astype(np.int8))
    if rules is ElectionRules.ZOOKEEPER:
        return _after_in_zookeeper(states, rank, live)
    steps = int((rank != _STAYS).sum(axis=1).max(initial=0))
    turns = np.sort(rank, axis=1) if steps > 1 else rank.min(axis=1, keepdims=True)
    for step in range(steps):
        now = turns[:, step, None]
        leaving = (rank == now) & (now != _STAYS)
        states = _fenced(states, leaving, live & (rank > now), has_elr=rules is ElectionRules.KRAFT_ELR)
    return states


def _fenced(states: PartitionStates, leaving: Flags, acceptable: Flags, *, has_elr: bool) -> PartitionStates:
    """Take one replica a row out of the ISR, where it is in it, and elect a leader (``PartitionChangeBuilder``).

    ``leaving`` is bool[N, W], the replica that is fenced, none in rows that stay as they are; ``acceptable`` who may
    lead then, bool[N, W]; ``has_elr`` says whether eligible leader replicas are kept.
    """
    width = states.replicas.shape[1]
    is_changed = np.asarray((states.in_sync & leaving).any(axis=1), dtype=np.bool_)
    isr = states.in_sync & ~leaving
    size = isr.sum(axis=1)
    elr = states.eligible
    if has_elr:
        elr = (elr | states.in_sync) & ~isr & (size < states.min_isr)[:, None]
    candidates = np.where((size > 0)[:, None], isr, elr) & acceptable
    leads = only(states.leader, width)
    leader = np.where(candidates.any(axis=1), first_of(candidates), NO_SLOT).astype(np.int8)
    leader = np.where((candidates & leads).any(axis=1), states.leader, leader)
    unclean = (leader < 0) & states.is_unclean_allowed & acceptable.any(axis=1)
    leader = np.where(unclean, first_of(acceptable), leader).astype(np.int8)
    is_new = leader != states.leader
    is_alone = is_new & (leader >= 0) & (unclean | (size == 0))
    alone = only(leader, width)
    kept = isr if has_elr else np.where((size > 0)[:, None], isr, states.in_sync)
    isr_after = np.where(is_alone[:, None], alone, kept)
    elr_after = elr & ~isr_after & ~(is_new & unclean)[:, None] if has_elr else np.zeros_like(elr)
    return dataclasses.replace(
        states,
        in_sync=np.where(is_changed[:, None], isr_after, states.in_sync),
        eligible=np.where(is_changed[:, None], elr_after, states.eligible),
        leader=np.where(is_changed, leader, states.leader),
        is_unclean=states.is_unclean | (is_changed & is_new & unclean),
    )


def _after_in_zookeeper(states: PartitionStates, rank: Int32s, live: Flags) -> PartitionStates:
    lost = rank != _STAYS
    is_changed = lost.any(axis=1)
    alive = live & ~lost
    is_led = (only(states.leader, states.replicas.shape[1]) & alive).any(axis=1)
    clean = states.in_sync & alive
    is_clean = clean.any(axis=1)
    unclean = states.is_unclean_allowed & alive.any(axis=1) & ~is_led & ~is_clean
    elected = np.where(is_clean, first_of(clean), np.where(unclean, first_of(alive), NO_SLOT))
    leader = np.where(is_led, states.leader, elected).astype(np.int8)
    left = states.in_sync & ~lost
    # The lost are taken out one after another; whoever would leave nobody stays.
    turn = np.where(states.in_sync & lost, rank, -1)
    last = (turn >= 0) & (turn == turn.max(axis=1)[:, None])
    dropped = np.where(left.any(axis=1)[:, None], left, last)
    isr = np.where((is_clean & ~is_led)[:, None], clean, dropped)
    isr = np.where(unclean[:, None], only(leader, states.replicas.shape[1]), isr)
    return dataclasses.replace(
        states,
        in_sync=np.where(is_changed[:, None], isr, states.in_sync),
        leader=np.where(is_changed, leader, states.leader),
        is_unclean=states.is_unclean | (is_changed & unclean),
    )
