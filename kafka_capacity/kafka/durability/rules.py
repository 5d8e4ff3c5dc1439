"""What follows from a step by itself: the high watermark, elections, and requests that are not answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.durability.settings import MAX_APPENDS, Acks, Bounds, Configuration, Truncation
from kafka_capacity.kafka.durability.words import (
    CONFIGURATION,
    ELIGIBLE,
    EPOCH,
    EPOCH_START,
    HIGH_WATERMARK,
    IN_SYNC,
    KNOWN_END,
    LEADS,
    LED_LAST,
    LENGTH,
    LIVE,
    READ,
    REFUSAL_UNDER_WAY,
    SENT_UNTOLD,
    TOLD_ERROR,
    UNSENT,
    WAITING,
    Mask,
    States,
    Words,
    attempts_of,
    canonical,
    cut,
    slot,
    status_of,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rules:
    """The configurations that are explored at once, as arrays; a state says which is its own."""

    bounds: Bounds  # of all
    replicas: int  # of each partition
    has_no_acks: NDArray[np.bool_]  # bool[C]
    has_leader_acks: NDArray[np.bool_]  # bool[C]
    has_all_acks: NDArray[np.bool_]  # bool[C]
    min_isr: NDArray[np.int64]  # int64[C], the effective one
    is_unclean_allowed: NDArray[np.bool_]  # bool[C]
    is_idempotent: NDArray[np.bool_]  # bool[C]
    cuts_by_epoch: NDArray[np.bool_]  # bool[C]
    has_eligible: NDArray[np.bool_]  # bool[C]
    is_flushed: NDArray[np.bool_]  # bool[C]

    @classmethod
    def of(cls, configurations: Sequence[Configuration], bounds: Bounds) -> Rules:
        """Build from configurations of one replication factor."""
        return cls(
            bounds=bounds,
            replicas=configurations[0].replication_factor,
            has_no_acks=np.array([one.acks is Acks.NONE for one in configurations]),
            has_leader_acks=np.array([one.acks is Acks.LEADER for one in configurations]),
            has_all_acks=np.array([one.acks is Acks.ALL for one in configurations]),
            min_isr=np.array([one.effective_min_isr for one in configurations], dtype=np.int64),
            is_unclean_allowed=np.array([one.is_unclean_allowed for one in configurations]),
            is_idempotent=np.array([one.is_idempotent for one in configurations]),
            cuts_by_epoch=np.array([one.truncation is Truncation.LEADER_EPOCH for one in configurations]),
            has_eligible=np.array([one.has_eligible_leaders for one in configurations]),
            is_flushed=np.array([one.is_flushed for one in configurations]),
        )

    def first_states(self) -> States:
        """Return the state that each configuration starts in: all replicas live, in sync and empty."""
        count = len(self.min_isr)
        word = IN_SYNC.put(LIVE.put(np.zeros((count, self.replicas), dtype=np.int64), 1), 1)
        word[:, 0] = LEADS.put(word[:, 0], 1)
        rest = CONFIGURATION.put(np.zeros(count, dtype=np.int64), np.arange(count))
        return States(word, rest, np.full(count, -1, dtype=np.int64))


def has_leader(states: States) -> Mask:
    """Return where somebody leads."""
    return np.asarray(LEADS.get(states.replicas[:, 0]) == 1, dtype=np.bool_)


def is_short_of_isr(rules: Rules, states: States) -> Mask:
    """Return where fewer replicas are in sync than must be."""
    count = IN_SYNC.get(states.replicas).sum(axis=1)
    return np.asarray(count < rules.min_isr[CONFIGURATION.get(states.rest)], dtype=np.bool_)


def advanced(rules: Rules, states: States) -> States:
    """Move the leader's high watermark to the smallest known end of the ISR; it stands still below the minimum."""
    replicas, rest = states.replicas, states.rest
    ends = KNOWN_END.get(replicas)
    ends[:, 0] = LENGTH.get(replicas[:, 0])
    smallest = np.where(IN_SYNC.get(replicas) == 1, ends, MAX_APPENDS).min(axis=1)
    is_led = has_leader(states)
    moves = is_led & ~is_short_of_isr(rules, states)
    leader = replicas[:, 0]
    mark = np.maximum(HIGH_WATERMARK.get(leader), np.where(moves, smallest, 0))
    leader = HIGH_WATERMARK.put(leader, mark)
    read = READ.get(rest)
    for number in range(MAX_APPENDS):
        record = slot(leader, number) & 0b11
        is_seen = is_led & (number < mark) & (record > 0)
        read = np.where(is_seen, read | (1 << np.maximum(record - 1, 0)), read)
    return states.with_words(states.with_replica(0, leader), READ.put(rest, read))


def without_idle_eligible(rules: Rules, states: States) -> Words:
    """Forget the eligible leader replicas wherever enough are in sync."""
    enough = ~is_short_of_isr(rules, states)[:, None]
    return np.where(enough, ELIGIBLE.put(states.replicas, 0), states.replicas)


def elected(rules: Rules, states: States, place: int, *, is_clean: bool) -> States:
    """Let a live replica lead; nobody does before.

    Args:
        rules: of the states.
        states: without a leader.
        place: of the replica.
        is_clean: whether it is in the ISR, whose dead members then leave it; else it is the whole ISR.
    """
    replicas, which = states.replicas, CONFIGURATION.get(states.rest)
    live = LIVE.get(replicas)
    in_sync = IN_SYNC.get(replicas) & live if is_clean else np.zeros_like(live)
    in_sync[:, place] = 1
    replicas = KNOWN_END.put(LED_LAST.put(IN_SYNC.put(replicas, in_sync), 0), 0)
    replicas[:, place] = ELIGIBLE.put(LEADS.put(replicas[:, place], 1), 0)
    by_epoch = rules.cuts_by_epoch[which]
    cuts = (live == 1) & ~by_epoch[:, None]
    cuts[:, place] = False
    replicas = np.where(cuts, cut(replicas, HIGH_WATERMARK.get(replicas)), replicas)
    rest = EPOCH_START.put(states.rest, LENGTH.get(replicas[:, place]))
    rest = EPOCH.put(rest, EPOCH.get(rest) + by_epoch)
    found = states.with_words(canonical(replicas), rest)
    return advanced(rules, found.with_words(without_idle_eligible(rules, found), rest))


def told_error(rules: Rules, rest: Words, record: int, where: Mask) -> Words:
    """Let the producer hear of an error: it sends again while it may, else gives up."""
    is_last = attempts_of(record).get(rest) > rules.bounds.retries
    return np.where(where, status_of(record).put(rest, np.where(is_last, TOLD_ERROR, UNSENT)), rest)


def unanswered(rules: Rules, rest: Words) -> Words:
    """Break the connection: what the producer waits for is not answered."""
    for record in range(rules.bounds.records):
        status = status_of(record).get(rest)
        rest = told_error(rules, rest, record, (status == WAITING) | (status == REFUSAL_UNDER_WAY))
    return rest


def next_to_send(rules: Rules, rest: Words) -> list[Mask]:
    """Return for each record whether it is the one that the producer sends next: it keeps their order."""
    waiting = sum(
        (status_of(record).get(rest) == WAITING) | (status_of(record).get(rest) == REFUSAL_UNDER_WAY)
        for record in range(rules.bounds.records)
    )
    free = np.asarray(waiting < rules.bounds.in_flight, dtype=np.bool_)
    found = []
    for record in range(rules.bounds.records):
        is_unsent = status_of(record).get(rest) == UNSENT
        found.append(is_unsent & free)
        free = free & ~is_unsent
    return found


def lost_under_way(rules: Rules, rest: Words) -> tuple[Words, Mask]:
    """Let the next record be sent and lost on its way; also tell where there is one."""
    is_any = np.zeros(len(rest), dtype=np.bool_)
    found = rest
    is_untold = rules.has_no_acks[CONFIGURATION.get(rest)]
    for record, is_next in enumerate(next_to_send(rules, rest)):
        sent = attempts_of(record).put(rest, attempts_of(record).get(rest) + 1)
        sent = np.where(
            is_untold,
            status_of(record).put(sent, SENT_UNTOLD),
            told_error(rules, sent, record, np.ones(len(rest), dtype=np.bool_)),
        )
        found = np.where(is_next, sent, found)
        is_any |= is_next
    return found, is_any
