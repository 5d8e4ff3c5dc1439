"""What has come of it, once everything has settled.

*Settled* means: somebody leads, the producer has been told of every record or tells nobody, and every live replica is
in sync and has fetched to the end. Brokers may still be dead: what they have does not change the leader's log any
more. *Lost* means: acknowledged, and not in the log of that leader. Where nobody leads, that is the only verdict.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.durability.rules import Rules, has_leader
from kafka_capacity.kafka.durability.settings import Outcome
from kafka_capacity.kafka.durability.steps import is_outstanding
from kafka_capacity.kafka.durability.words import (
    IN_SYNC,
    KNOWN_END,
    LENGTH,
    LIVE,
    LOG,
    READ,
    RECORDS_OF_LOG,
    SENT_UNTOLD,
    TOLD_ERROR,
    TOLD_WRITTEN,
    WRITTEN_ELSEWHERE,
    Mask,
    States,
    copies,
    status_of,
)


def outcomes(rules: Rules, states: States) -> NDArray[np.bool_]:
    """Return bool[S, O]: which :class:`Outcome` holds; none where things have not settled."""
    found = np.zeros((len(states), len(Outcome)), dtype=np.bool_)
    found[:, Outcome.UNAVAILABLE] = ~has_leader(states)
    rows = np.flatnonzero(_is_settled(rules, states))
    if len(rows):
        found[rows] = _judged(rules, states.where(_is_settled(rules, states)))
    return found


def _is_settled(rules: Rules, states: States) -> Mask:
    replicas = states.replicas
    end = LENGTH.get(replicas[:, :1])
    caught_up = (IN_SYNC.get(replicas) == 1) & (LENGTH.get(replicas) == end) & (KNOWN_END.get(replicas) == end)
    caught_up[:, 0] = True
    all_caught_up = (caught_up | (LIVE.get(replicas) == 0)).all(axis=1)
    return np.asarray(has_leader(states) & ~is_outstanding(rules, states) & all_caught_up, dtype=np.bool_)


def _judged(rules: Rules, states: States) -> NDArray[np.bool_]:
    found = np.zeros((len(states), len(Outcome)), dtype=np.bool_)
    leader, read = states.replicas[:, 0], READ.get(states.rest)
    is_plain = np.ones(len(states), dtype=np.bool_)
    before = np.zeros(len(states), dtype=np.int64)
    for record in range(rules.bounds.records):
        count, first = copies(leader, record)
        status, is_there = status_of(record).get(states.rest), count > 0
        found[:, Outcome.LOST_ACKNOWLEDGED] |= (status == TOLD_WRITTEN) & ~is_there
        found[:, Outcome.LOST_SILENTLY] |= (status == SENT_UNTOLD) & ~is_there
        found[:, Outcome.DUPLICATED] |= count > 1
        found[:, Outcome.DUPLICATED_ACROSS_PARTITIONS] |= (status == WRITTEN_ELSEWHERE) & is_there
        found[:, Outcome.READ_THEN_GONE] |= ((read >> record) & 1 == 1) & ~is_there
        found[:, Outcome.REFUSED] |= (status == TOLD_ERROR) & ~is_there
        found[:, Outcome.WRITTEN_THOUGH_REFUSED] |= (status == TOLD_ERROR) & is_there
        found[:, Outcome.REORDERED] |= is_there & (first < before)
        is_plain &= (
            (count + (status == WRITTEN_ELSEWHERE) == 1) & (status != TOLD_ERROR) & ~(is_there & (first < before))
        )
        before = np.where(is_there, np.maximum(first, before), before)
    found[:, Outcome.EXACTLY_ONCE] = is_plain
    found[:, Outcome.DIVERGED] = _differs(states)
    return found


def _differs(states: States) -> Mask:
    """Return where a live replica holds other records than the leader."""
    records = LOG.get(states.replicas) & RECORDS_OF_LOG
    differs = (records != records[:, :1]) & (LIVE.get(states.replicas) == 1)
    return np.asarray(differs.any(axis=1), dtype=np.bool_)
