"""What a replica does with an answer (``KafkaRaftClient.handle…Response``, 4.3.1)."""

from __future__ import annotations

from kafka_capacity.kafka.controller.quorum.messages import NOBODY, UNKNOWN_OFFSET, Error, Response, Rpc
from kafka_capacity.kafka.controller.quorum.replica import Replica
from kafka_capacity.kafka.controller.quorum.requests import ProtocolError, accept_leader
from kafka_capacity.kafka.controller.quorum.states import State


def handle_response(replica: Replica, response: Response, now: float) -> None:
    """Take in an answer; one that the replica does not wait for any longer is passed over."""
    if not replica.connections.is_expected(response.source, response.correlation):
        return
    is_success = _handle(replica, response, now)
    # A change of state has forgotten all connections.
    if replica.connections.is_expected(response.source, response.correlation):
        replica.connections.on_answer(response.source, is_success=is_success, now=now)


def _handle(replica: Replica, response: Response, now: float) -> bool:
    if response.error is Error.BROKER_NOT_AVAILABLE:
        return False
    if response.epoch < replica.epoch or response.error is Error.UNKNOWN_LEADER_EPOCH:
        return True
    if response.epoch > replica.epoch or response.error is not Error.NONE:
        accept_leader(replica, response.leader, response.epoch, now)
        return True
    if response.leader != NOBODY and replica.leader == NOBODY:
        replica.become_follower(response.epoch, response.leader, now)
    if response.rpc in (Rpc.VOTE, Rpc.PRE_VOTE):
        _on_vote(replica, response, now)
    elif response.rpc is Rpc.FETCH:
        _on_fetch(replica, response, now)
    elif response.rpc is Rpc.END_QUORUM_EPOCH:
        replica.unacknowledged.discard(response.source)
    return True


def _on_vote(replica: Replica, response: Response, now: float) -> None:
    if not replica.is_nominee:
        return
    if response.is_granted:
        replica.rejected.discard(response.source)
        replica.granted.add(response.source)
        if replica.is_elected:
            if replica.state is State.PROSPECTIVE:
                replica.become_candidate(now)
            else:
                replica.become_leader(now)
        return
    replica.granted.discard(response.source)
    replica.rejected.add(response.source)
    if replica.is_rejected and replica.state is State.PROSPECTIVE:
        give_up_pre_vote(replica, now)


def give_up_pre_vote(replica: Replica, now: float) -> None:
    """Go back to the leader that is known, or wait for one."""
    if replica.leader != NOBODY:
        replica.become_follower(replica.epoch, replica.leader, now)
    else:
        replica.become_unattached(replica.epoch, now)


def _on_fetch(replica: Replica, response: Response, now: float) -> None:
    if replica.state is not State.FOLLOWER:
        raise ProtocolError(f"replica {replica.node_id} got records while it was {replica.state}")
    if response.diverging is not None:
        if response.diverging.offset < replica.high_watermark:
            raise ProtocolError(
                f"replica {replica.node_id} was asked to cut its log to offset {response.diverging.offset}, "
                f"below its high watermark {replica.high_watermark}"
            )
        replica.log.truncate_to(response.diverging)
    else:
        replica.log.append(response.records)
        if response.high_watermark != UNKNOWN_OFFSET:
            known = min(response.high_watermark, replica.log.end.offset)
            replica.high_watermark = max(replica.high_watermark, known)
    replica.deadline = now + replica.timeouts.fetch_timeout_seconds
    replica.has_fetched = True
