"""What fails, and brokers that come back.

A broker that dies leaves the ISR, unless it is the last in it: then it stays, and only it may lead again, or anybody
where unclean elections are allowed. With eligible leader replicas (KIP-966) the ISR may become empty instead; who left
it while it was too small may lead as long as it has not died, and once all have, the last leader may. The model takes
any replica that may lead, since their order is that of the assignment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kafka_capacity.kafka.durability.rules import (
    CONFIGURATION,
    ELIGIBLE,
    FAILURES,
    HIGH_WATERMARK,
    IN_SYNC,
    KNOWN_END,
    LEADS,
    LED_LAST,
    LENGTH,
    LIFE,
    LIVE,
    POWER_LOSSES,
    STOPPED_CLEANLY,
    UNSENT,
    Mask,
    Rules,
    States,
    Words,
    attempts_of,
    cut,
    is_under_way,
    status_of,
    waits_for,
)
from kafka_capacity.kafka.durability.settings import FailureKind
from kafka_capacity.kafka.durability.steps import Following, Step


def failing_steps(rules: Rules, states: States) -> Iterator[Following]:
    """Let everything fail that may, one failure a step; and let every dead broker come back."""
    for place in range(rules.replicas):
        yield from _come_back(rules, states, place)
    left = states.where(FAILURES.get(states.rest) < rules.bounds.failures)
    left = replace(left, rest=FAILURES.put(left.rest, FAILURES.get(left.rest) + 1))
    if not len(left):
        return
    for place in range(rules.replicas):
        yield from _one_fails(rules, left, place)
    kinds = rules.bounds.kinds
    if FailureKind.ALL_POWER_LOSS in kinds:
        yield from _all_power_loss(rules, left)
    if FailureKind.DISCONNECT in kinds:
        yield from _disconnect(rules, left)
    if FailureKind.PRODUCER_RESTART in kinds:
        yield from _restart_producer(rules, left)


def _one_fails(rules: Rules, states: States, place: int) -> Iterator[Following]:
    kinds = rules.bounds.kinds
    for kind, step in ((FailureKind.CRASH, Step.CRASH), (FailureKind.CLEAN_STOP, Step.CLEAN_STOP)):
        if kind in kinds:
            for found in _crash(rules, states, place, is_clean=step is Step.CLEAN_STOP):
                yield step, place, found
    if FailureKind.POWER_LOSS in kinds:
        yield from _power_loss(rules, states, place)
    if FailureKind.QUICK_RESTART in kinds and place:
        yield from _quick_restart(rules, states, place)


def _is_live(states: States, place: int) -> Mask:
    return np.asarray(LIVE.get(states.replicas[:, place]) == 1, dtype=np.bool_)


def _crash(rules: Rules, states: States, place: int, *, is_clean: bool = False) -> Iterator[States]:
    """Let a live broker die, or stop, and elect."""
    states = states.where(_is_live(states, place))
    if is_clean:
        # Only eligible leader replicas depend on how a broker stopped.
        has_eligible = rules.has_eligible[CONFIGURATION.get(states.rest)]
        word = STOPPED_CLEANLY.put(states.replicas[:, place], has_eligible)
        states = states.with_replica(place, word)
    is_leader = states.is_led if place == 0 else np.zeros(len(states), dtype=np.bool_)
    follower = states.where(~is_leader)
    if len(follower):
        yield _follower_dies(rules, follower, place)
    leading = states.where(is_leader)
    for part in _both_ways(rules, leading):
        yield from _leader_dies(rules, part)


def _both_ways(rules: Rules, states: States) -> Iterator[States]:
    """Break the connection, with nothing more sent, and with the next record lost on its way."""
    if not len(states):
        return
    yield replace(states, rest=rules.unanswered(states.rest))
    lost, is_any = rules.lost_under_way(states.rest)
    part = States(states.replicas[is_any], rules.unanswered(lost[is_any]), states.number[is_any])
    if len(part):
        yield part


def _follower_dies(rules: Rules, states: States, place: int) -> States:
    word = states.replicas[:, place]
    leaves = states.is_led & (IN_SYNC.get(word) == 1)
    word = KNOWN_END.put(LIVE.put(word, 0), 0)
    word = np.where(leaves, IN_SYNC.put(word, 0), word)
    found = states.with_replica(place, word)
    has_eligible = rules.has_eligible[CONFIGURATION.get(states.rest)]
    becomes = leaves & has_eligible & rules.is_short_of_isr(found)
    word = np.where(becomes, ELIGIBLE.put(word, 1), word)
    return rules.advanced(found.with_replica(place, word)).in_order()


def _leader_dies(rules: Rules, states: States) -> Iterator[States]:
    has_eligible = rules.has_eligible[CONFIGURATION.get(states.rest)]
    others = (IN_SYNC.get(states.replicas[:, 1:]) & LIVE.get(states.replicas[:, 1:])).sum(axis=1)
    word = LEADS.put(LIVE.put(states.replicas[:, 0], 0), 0)
    leaves = has_eligible | (others > 0)
    word = np.where(leaves, IN_SYNC.put(word, 0), word)
    becomes = has_eligible & (others < rules.min_isr[CONFIGURATION.get(states.rest)])
    word = np.where(becomes, ELIGIBLE.put(word, 1), word)
    replicas = LED_LAST.put(KNOWN_END.put(states.with_replica(0, word).replicas, 0), 0)
    replicas[:, 0] = LED_LAST.put(replicas[:, 0], has_eligible)
    yield from _elections(rules, replace(states, replicas=replicas))


def _elections(rules: Rules, states: States) -> Iterator[States]:
    """Elect every replica that may lead; where none may, nobody leads."""
    live = LIVE.get(states.replicas) == 1
    in_sync = live & (IN_SYNC.get(states.replicas) == 1)
    none_in_sync = ~in_sync.any(axis=1)
    eligible = live & (ELIGIBLE.get(states.replicas) == 1) & none_in_sync[:, None]
    unclean = rules.is_unclean_allowed[CONFIGURATION.get(states.rest)] & none_in_sync & ~eligible.any(axis=1)
    other = eligible | (live & unclean[:, None])
    for place in range(rules.replicas):
        for may_lead, is_clean in ((in_sync, True), (other, False)):
            part = states.where(may_lead[:, place])
            if len(part):
                yield rules.elected(part, place, is_clean=is_clean)
    nobody = states.where(~(in_sync | other).any(axis=1))
    if len(nobody):
        yield nobody.in_order()


def _come_back(rules: Rules, states: States, place: int) -> Iterator[Following]:
    states = states.where(~_is_live(states, place))
    if not len(states):
        return
    which = CONFIGURATION.get(states.rest)
    word = LIVE.put(states.replicas[:, place], 1)
    # Who did not shut down cleanly may lack what it had acknowledged: it is eligible no more.
    is_struck = rules.has_eligible[which] & (STOPPED_CLEANLY.get(word) == 0)
    word = np.where(is_struck, ELIGIBLE.put(IN_SYNC.put(word, 0), 0), word)
    word = STOPPED_CLEANLY.put(word, 0)
    led = states.is_led
    cuts = led & ~rules.cuts_by_epoch[which]
    word = np.where(cuts, cut(word, HIGH_WATERMARK.get(word)), word)
    back = states.with_replica(place, word)
    with_leader = back.where(led)
    if len(with_leader):
        yield Step.RETURN, place, with_leader.in_order()
    without = back.where(~led)
    if not len(without):
        return
    nobody_left = ((IN_SYNC.get(without.replicas) | ELIGIBLE.get(without.replicas)) == 0).all(axis=1)
    is_last = (LED_LAST.get(without.replicas[:, place]) == 1) & nobody_left
    is_last &= rules.has_eligible[CONFIGURATION.get(without.rest)]
    last = without.where(is_last)
    if len(last):
        yield Step.RETURN, place, rules.elected(last, place, is_clean=False)
    rest = without.where(~is_last)
    if len(rest):
        for found in _elections(rules, rest):
            yield Step.RETURN, place, found


def _power_loss(rules: Rules, states: States, place: int) -> Iterator[Following]:
    states = _power_lost(rules, states.where(_is_live(states, place)))
    for part in _shorter(rules, states, place):
        for found in _crash(rules, part, place):
            yield Step.POWER_LOSS, place, found


def _power_lost(rules: Rules, states: States) -> States:
    """Count a loss of power, where one more may be."""
    states = states.where(POWER_LOSSES.get(states.rest) < rules.bounds.power_losses)
    if rules.bounds.power_losses >= rules.bounds.failures:
        return states
    return replace(states, rest=POWER_LOSSES.put(states.rest, POWER_LOSSES.get(states.rest) + 1))


def _shorter(rules: Rules, states: States, place: int) -> Iterator[States]:
    """Cut the log of a replica to every shorter length: pages are written back in any order, logs from the start."""
    length = LENGTH.get(states.replicas[:, place])
    can_lose = ~rules.is_flushed[CONFIGURATION.get(states.rest)]
    for kept in range(int(length.max(initial=0))):
        part = states.where(can_lose & (length > kept))
        if len(part):
            word = cut(part.replicas[:, place], np.full(len(part), kept))
            # Its flags stay, and so its place among the replicas of the state does not matter until it has died.
            yield part.with_replica(place, word)


def _all_power_loss(rules: Rules, states: States) -> Iterator[Following]:
    states = _power_lost(rules, states.where(states.is_led))
    for parted in _both_ways(rules, states):
        parts = [parted]
        for place in range(rules.replicas):
            parts += [
                shorter
                for part in parts
                for shorter in _shorter(rules, part.where(_is_live(part, place)), place)
                if len(shorter)
            ]
        for part in parts:
            live = LIVE.get(part.replicas) == 1
            is_leader = (LEADS.get(part.replicas) == 1) & rules.has_eligible[CONFIGURATION.get(part.rest)][:, None]
            replicas = LED_LAST.put(KNOWN_END.put(LIVE.put(LEADS.put(part.replicas, 0), 0), 0), is_leader)
            found = replace(part, replicas=replicas).in_order()
            yield Step.ALL_POWER_LOSS, 0, found.where(live.any(axis=1))


def _quick_restart(rules: Rules, states: States, place: int) -> Iterator[Following]:
    """Cut by the old rule; since leader epochs decide, a restart that nobody notices changes nothing."""
    by_epoch = rules.cuts_by_epoch[CONFIGURATION.get(states.rest)]
    states = states.where(states.is_led & _is_live(states, place) & ~by_epoch)
    if len(states):
        word = states.replicas[:, place]
        yield Step.QUICK_RESTART, place, states.with_replica(place, cut(word, HIGH_WATERMARK.get(word))).in_order()


def _disconnect(rules: Rules, states: States) -> Iterator[Following]:
    states = states.where(states.is_led & rules.is_outstanding(states))
    for found in _both_ways(rules, states):
        yield Step.DISCONNECT, 0, found


def _restart_producer(rules: Rules, states: States) -> Iterator[Following]:
    states = states.where((LIFE.get(states.rest) == 0) & rules.is_outstanding(states))
    if not len(states):
        return
    rest: Words = LIFE.put(states.rest, 1)
    for record in range(rules.bounds.records):
        again = (status_of(record).get(rest) == UNSENT) | is_under_way(rest, record)
        anew = waits_for(record).put(attempts_of(record).put(status_of(record).put(rest, UNSENT), 0), 0)
        rest = np.where(again, anew, rest)
    yield Step.PRODUCER_RESTART, 0, replace(states, rest=rest)
