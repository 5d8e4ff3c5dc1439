"""Fetches that are refused: most of what happens while nobody leads, and quick to go through.

A replica without a leader asks one node after another, and each answers at once that it does not lead. Neither answer
nor question changes a replica, its log or its timers, so all that a whole step looks at can be passed over while
nothing is due. What is done, said and drawn is what a whole step does.
"""

from __future__ import annotations

from math import inf

from kafka_capacity.kafka.controller.quorum.messages import NOBODY, Error, Request, Response, Rpc
from kafka_capacity.kafka.controller.quorum.polling import look_for_leader
from kafka_capacity.kafka.controller.quorum.replica import Replica
from kafka_capacity.kafka.controller.quorum.states import State


def take_refusal(replica: Replica, message: Request | Response, now: float) -> float | None:
    """Refuse a fetch, or ask the next node after a refusal, and say so in the outbox.

    Args:
        replica: for which nothing is due.
        message: that came.
        now: in seconds.

    Returns:
        When to come back at the latest; ``None`` where this is no such message, and nothing was done.
    """
    if message.epoch != replica.epoch:
        return None
    if isinstance(message, Response):
        return _ask_next(replica, message, now)
    # With nothing under way it would look whom to ask.
    if message.rpc is not Rpc.FETCH or replica.state is State.LEADER or not replica.connections.awaits_any():
        return None
    replica.outbox.append(replica.answer(message, Error.NOT_LEADER_OR_FOLLOWER))
    return inf


def _ask_next(replica: Replica, refusal: Response, now: float) -> float | None:
    is_looking = replica.state is State.FOLLOWER or replica.state is State.UNATTACHED
    has_news = refusal.leader != replica.leader and refusal.leader != NOBODY
    if refusal.error is not Error.NOT_LEADER_OR_FOLLOWER or has_news or not is_looking or replica.shutdown_at < inf:
        return None
    if not replica.connections.is_expected(refusal.source, refusal.correlation):
        return None
    replica.connections.on_answer(refusal.source, is_success=True, now=now)
    return look_for_leader(replica, now)
