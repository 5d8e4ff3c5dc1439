"""What a replica does when it is asked (``KafkaRaftClient.handle…Request``, 4.3.1)."""

from __future__ import annotations

from kafka_capacity.kafka.controller.quorum.messages import NOBODY, UNKNOWN_OFFSET, Error, Request, Response, Rpc
from kafka_capacity.kafka.controller.quorum.replica import CHECK_QUORUM_FACTOR, Replica
from kafka_capacity.kafka.controller.quorum.states import ParkedFetch, State

MAX_FETCH_WAIT_SECONDS = 0.5
"""How long a fetch waits for records (``KafkaRaftClient.MAX_FETCH_WAIT_MS``)."""


class ProtocolError(AssertionError):
    """A replica saw what Kafka itself would stop at with an ``IllegalStateException``."""


def handle_request(replica: Replica, request: Request, now: float) -> None:
    """Take in a request and put the answer, if there is one already, into the outbox."""
    if request.rpc is Rpc.FETCH:
        _on_fetch(replica, request, now)
    elif request.epoch < replica.epoch:
        replica.outbox.append(replica.answer(request, Error.FENCED_LEADER_EPOCH))
    elif request.rpc is Rpc.BEGIN_QUORUM_EPOCH:
        accept_leader(replica, request.source, request.epoch, now)
        replica.outbox.append(replica.answer(request))
    elif request.rpc is Rpc.END_QUORUM_EPOCH:
        _on_end(replica, request, now)
    else:
        _on_vote(replica, request, now)


def accept_leader(replica: Replica, leader: int, epoch: int, now: float) -> None:
    """Learn who leads an epoch, or that nobody does yet, from another replica.

    Raises:
        ProtocolError: this replica knows another leader of the epoch.
    """
    if leader == replica.node_id:
        is_consistent = replica.state is State.LEADER
    else:
        is_consistent = epoch != replica.epoch or NOBODY in (leader, replica.leader) or leader == replica.leader
    if not is_consistent:
        raise ProtocolError(f"replica {replica.node_id} knows leader {replica.leader} of epoch {epoch}, not {leader}")
    if epoch > replica.epoch:
        if leader == NOBODY:
            replica.become_unattached(epoch, now)
        else:
            replica.become_follower(epoch, leader, now)
    elif leader != NOBODY and replica.leader == NOBODY:
        replica.become_follower(epoch, leader, now)


def complete_parked(replica: Replica, now: float) -> None:
    """Answer all fetches that wait: there is a record, or a higher high watermark, to tell of."""
    waiting, replica.parked = replica.parked, []
    for parked in waiting:
        replica.outbox.append(_fetched(replica, parked.request, now))


def _on_vote(replica: Replica, request: Request, now: float) -> None:
    if request.epoch > replica.epoch:
        replica.become_unattached(request.epoch, now)
    is_pre_vote = request.rpc is Rpc.PRE_VOTE
    is_granted = replica.can_grant(request.source, request.end, is_pre_vote=is_pre_vote)
    if is_granted and not is_pre_vote and replica.voted == NOBODY:
        replica.give_vote(request.source, now)
    replica.outbox.append(replica.answer(request, is_granted=is_granted))


def _on_end(replica: Replica, request: Request, now: float) -> None:
    accept_leader(replica, request.source, request.epoch, now)
    if replica.state is State.FOLLOWER and replica.leader == request.source:
        replica.deadline = now + _succession_backoff(replica, request.successors)
    replica.outbox.append(replica.answer(request))


def _succession_backoff(replica: Replica, successors: tuple[int, ...]) -> float:
    """Return how long to wait: nothing for the first, then twice as long from one to the next."""
    most_ms = round(replica.timeouts.election_backoff_max_seconds * 1000)
    position = successors.index(replica.node_id) if replica.node_id in successors else len(successors)
    if position == 0:
        return 0.0
    if position >= len(successors):
        return most_ms / 1000
    return min(most_ms, (most_ms >> (len(successors) - 1)) << (position - 1)) / 1000


def _on_fetch(replica: Replica, request: Request, now: float) -> None:
    answer = _fetched(replica, request, now)
    has_news = (
        answer.error is not Error.NONE
        or answer.records
        or answer.diverging is not None
        or request.high_watermark < answer.high_watermark
    )
    if has_news:
        replica.outbox.append(answer)
    else:
        replica.parked.append(ParkedFetch(request, answer, now + MAX_FETCH_WAIT_SECONDS))


def _fetched(replica: Replica, request: Request, now: float) -> Response:
    """Answer a fetch; one that fits the log tells how far the replica has got."""
    if request.epoch < replica.epoch:
        return replica.answer(request, Error.FENCED_LEADER_EPOCH)
    if request.epoch > replica.epoch:
        return replica.answer(request, Error.UNKNOWN_LEADER_EPOCH)
    if replica.state is not State.LEADER:
        return replica.answer(request, Error.NOT_LEADER_OR_FOLLOWER)
    diverging = replica.log.diverging_from(request.end)
    if diverging is not None:
        return replica.answer(request, diverging=diverging, high_watermark=replica.high_watermark)
    _note_progress(replica, request, now)
    records = tuple(replica.log.records[request.end.offset :])
    return replica.answer(request, records=records, high_watermark=replica.high_watermark)


def _note_progress(replica: Replica, request: Request, now: float) -> None:
    if request.source not in replica.end_offsets:
        return
    replica.end_offsets[request.source] = request.end.offset
    replica.fetched_at[request.source] = now
    replica.fetched.add(request.source)
    if len(replica.fetched) >= replica.majority - 1:
        replica.fetched.clear()
        replica.deadline = now + CHECK_QUORUM_FACTOR * replica.timeouts.fetch_timeout_seconds
    if raise_high_watermark(replica):
        complete_parked(replica, now)


def raise_high_watermark(replica: Replica) -> bool:
    """Commit what a majority holds, once that reaches into the leader's own epoch; whether it did."""
    ends = sorted([replica.log.end.offset, *replica.end_offsets.values()], reverse=True)
    majority_end = ends[len(ends) // 2]
    if majority_end <= max(replica.epoch_start, replica.high_watermark, UNKNOWN_OFFSET):
        return False
    replica.high_watermark = majority_end
    return True
