"""What happens while nothing fails: records are sent and appended, followers fetch, producers are answered.

Each step gives the states that follow, and says of which state each follows. A request is appended when it arrives, in
the order in which it was sent; what is on its way when a leader dies or a connection breaks is either not sent yet, or
lost (:func:`~kafka_capacity.kafka.durability.rules.lost_under_way`), but never appended later.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import IntEnum

import numpy as np

from kafka_capacity.kafka.durability.rules import (
    CONFIGURATION,
    EPOCH,
    EPOCH_START,
    HIGH_WATERMARK,
    IN_SYNC,
    KNOWN_END,
    LENGTH,
    LIFE,
    LIVE,
    LOG,
    REFUSAL_UNDER_WAY,
    SENT_UNTOLD,
    TOLD_WRITTEN,
    WAITING,
    WRITTEN_ELSEWHERE,
    Mask,
    Rules,
    States,
    Words,
    appended,
    attempts_of,
    common_length,
    copies,
    cut,
    entry,
    prefix,
    status_of,
    waits_for,
)


class Step(IntEnum):
    """Kinds of steps."""

    SEND = 0
    SEND_ELSEWHERE = 1
    ANSWER = 2
    ANSWER_ERROR = 3
    FETCH = 4
    RETURN = 5
    CRASH = 6
    POWER_LOSS = 7
    ALL_POWER_LOSS = 8
    QUICK_RESTART = 9
    DISCONNECT = 10
    PRODUCER_RESTART = 11
    CLEAN_STOP = 12
    ASK = 13  # a fetch that is not answered: the leader has learnt how far the follower is


Following = tuple[Step, int, States]  # the kind of step, which replica or record, and the states that follow


def ordinary_steps(rules: Rules, states: States) -> Iterator[Following]:
    """Take every step that is no failure, except that brokers come back."""
    led = states.where(states.is_led)
    for record in range(rules.bounds.records):
        yield from _send(rules, led, record)
        yield from _answer(rules, led, record)
        if rules.bounds.moves_on_resend:
            yield from _send_elsewhere(rules, states, record)
    for place in range(1, rules.replicas):
        yield from _fetch(rules, led, place)


def _send(rules: Rules, states: States, record: int) -> Iterator[Following]:
    states = states.where(rules.next_to_send(states.rest)[record])
    if rules.bounds.moves_on_resend:
        states = states.where(LIFE.get(states.rest) == 0)
    if not len(states):
        return
    rest, leader = states.rest, states.replicas[:, 0]
    which, life = CONFIGURATION.get(rest), LIFE.get(rest)
    rest = attempts_of(record).put(rest, attempts_of(record).get(rest) + 1)
    has_all, is_idempotent = rules.has_all_acks[which], rules.is_idempotent[which]
    known = copies(leader, record, life)[1]
    is_known = is_idempotent & (known > 0)
    is_refused = has_all & rules.is_short_of_isr(states)
    is_refused |= is_idempotent & ~is_known & _is_out_of_order(rules, leader, record, life)
    appends = ~is_refused & ~is_known
    end = LENGTH.get(leader)
    written = appended(leader, entry(record, life, EPOCH.get(rest)), appends)
    rest = waits_for(record).put(rest, np.where(is_refused, 0, np.where(is_known, known, end + 1)))
    status = np.where(rules.has_no_acks[which], SENT_UNTOLD, WAITING)
    rest = status_of(record).put(rest, np.where(is_refused, REFUSAL_UNDER_WAY, status))
    rest = waits_for(record).put(rest, np.where(rules.has_no_acks[which], 0, waits_for(record).get(rest)))
    if rules.bounds.in_flight == 1:
        rest = rules.told_error(rest, record, is_refused)
    yield Step.SEND, record, rules.advanced(replace(states.with_replica(0, written), rest=rest))


def _is_out_of_order(rules: Rules, leader: Words, record: int, life: Words) -> Mask:
    """Return where the broker's last record of this producer is not the one before; without any it takes what comes."""
    last = np.full(len(leader), -1, dtype=np.int64)
    for other in range(rules.bounds.records):
        last = np.where(copies(leader, other, life)[0] > 0, other, last)
    return np.asarray((last >= 0) & (last != record - 1), dtype=np.bool_)


def _send_elsewhere(rules: Rules, states: States, record: int) -> Iterator[Following]:
    is_next = rules.next_to_send(states.rest)[record] & (LIFE.get(states.rest) == 1)
    states = states.where(is_next)
    if len(states):
        rest = status_of(record).put(states.rest, WRITTEN_ELSEWHERE)
        yield Step.SEND_ELSEWHERE, record, replace(states, rest=rest)


def _answer(rules: Rules, states: States, record: int) -> Iterator[Following]:
    which, status = CONFIGURATION.get(states.rest), status_of(record).get(states.rest)
    is_waiting, has_all = status == WAITING, rules.has_all_acks[which]
    is_short = rules.is_short_of_isr(states)
    is_replicated = HIGH_WATERMARK.get(states.replicas[:, 0]) >= waits_for(record).get(states.rest)
    is_done = is_waiting & (rules.has_leader_acks[which] | (has_all & is_replicated & ~is_short))
    # Refused after it was appended; or it waits for a high watermark that stands still, until it times out.
    is_error = (status == REFUSAL_UNDER_WAY) | (is_waiting & has_all & is_short)
    for step, mask in ((Step.ANSWER, is_done), (Step.ANSWER_ERROR, is_error)):
        part = states.where(mask)
        if not len(part):
            continue
        rest = waits_for(record).put(part.rest, 0)
        if step is Step.ANSWER:
            rest = status_of(record).put(rest, TOLD_WRITTEN)
        else:
            rest = rules.told_error(rest, record, np.ones(len(part), dtype=np.bool_))
        yield step, record, replace(part, rest=rest)


def _fetch(rules: Rules, states: States, place: int) -> Iterator[Following]:
    states = states.where(LIVE.get(states.replicas[:, place]) == 1)
    if not len(states):
        return
    leader, follower = states.replicas[:, 0], states.replicas[:, place]
    by_epoch = rules.cuts_by_epoch[CONFIGURATION.get(states.rest)]
    follower = cut(follower, np.where(by_epoch, common_length(leader, follower), LENGTH.get(leader)))
    start, mark = LENGTH.get(follower), HIGH_WATERMARK.get(leader)
    joins = (start >= mark) & (start >= EPOCH_START.get(states.rest))
    follower = KNOWN_END.put(IN_SYNC.put(follower, IN_SYNC.get(follower) | joins), start)
    # The answer was made before the request moved the high watermark: the follower learns of it one fetch later.
    asked = rules.advanced(rules.without_idle_eligible(states.with_replica(place, follower)))
    yield Step.ASK, place, asked.in_order()
    leader, follower = asked.replicas[:, 0], asked.replicas[:, place]
    log = prefix(follower, start) | (LOG.get(leader) & ~prefix(leader, start))
    follower = LENGTH.put(LOG.put(follower, log), LENGTH.get(leader))
    follower = HIGH_WATERMARK.put(follower, np.maximum(HIGH_WATERMARK.get(follower), mark))
    yield Step.FETCH, place, asked.with_replica(place, follower).in_order()
