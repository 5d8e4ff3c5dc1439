"""What a replica does by itself, when its time has come (``KafkaRaftClient.poll…``, 4.3.1).

Not modelled: UpdateRaftVoter, AddRaftVoter and RemoveRaftVoter (the voters stay as they are), and FetchSnapshot (the
log is never cut at its start).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from kafka_capacity.kafka.controller.quorum.messages import NOBODY, Rpc
from kafka_capacity.kafka.controller.quorum.replica import Replica
from kafka_capacity.kafka.controller.quorum.requests import complete_parked, raise_high_watermark
from kafka_capacity.kafka.controller.quorum.responses import give_up_pre_vote
from kafka_capacity.kafka.controller.quorum.states import State


def poll(replica: Replica, now: float) -> float:
    """Do what is due, and give when to come back."""
    while True:
        if replica.shutdown_at < inf and _ends(replica, now):
            return inf
        wake = _POLLS[replica.state](replica, now)
        if wake > now:
            break
    if not replica.parked:
        return wake
    _expire_parked(replica, now)
    return min([wake, *(parked.expires_at for parked in replica.parked)])


def _ends(replica: Replica, now: float) -> bool:
    """Whether a replica that shuts down is through: somebody else leads, nobody else could, or it took too long."""
    has_other_leader = replica.leader not in (NOBODY, replica.node_id)
    is_needless = has_other_leader or not replica.is_voter or not replica.others
    replica.has_ended = is_needless or now >= replica.shutdown_at
    return replica.has_ended


def _expire_parked(replica: Replica, now: float) -> None:
    if any(parked.expires_at <= now for parked in replica.parked):
        replica.outbox.extend(parked.answer for parked in replica.parked if parked.expires_at <= now)
        replica.parked = [parked for parked in replica.parked if parked.expires_at > now]


def _deadline(replica: Replica) -> float:
    """The timer of the state, or the end of a shutdown, during which that timer stands still."""
    return min(replica.shutdown_at, inf if replica.shutdown_at < inf else replica.deadline)


def _poll_unattached(replica: Replica, now: float) -> float:
    if _deadline(replica) <= now:
        replica.become_prospective(now)
        return now
    if replica.shutdown_at < inf:
        return replica.shutdown_at
    return min(look_for_leader(replica, now), replica.deadline)


def _poll_prospective(replica: Replica, now: float) -> float:
    if _deadline(replica) <= now:
        give_up_pre_vote(replica, now)
        return now
    return min(_ask_for_votes(replica, Rpc.PRE_VOTE, now), _deadline(replica))


def _poll_candidate(replica: Replica, now: float) -> float:
    if _deadline(replica) <= now:
        replica.become_prospective(now)
        return now
    return min(_ask_for_votes(replica, Rpc.VOTE, now), _deadline(replica))


def _ask_for_votes(replica: Replica, rpc: Rpc, now: float) -> float:
    if replica.is_rejected:
        return inf
    open_votes = [voter for voter in replica.others if voter not in replica.granted and voter not in replica.rejected]
    return _send_all(replica, rpc, open_votes, now)


def _poll_follower(replica: Replica, now: float) -> float:
    if replica.is_voter and replica.deadline <= now:
        replica.become_prospective(now)
        return now
    wake = look_for_leader(replica, now)
    return min(wake, replica.deadline) if replica.is_voter else wake


def look_for_leader(replica: Replica, now: float) -> float:
    """Fetch from the leader; where none is known, or it does not answer, ask any voter who leads.

    Returns:
        When to come back.
    """
    connections = replica.connections
    is_known = replica.state is State.FOLLOWER
    is_silent = is_known and (
        connections.has_timed_out(replica.leader, now) or connections.is_backing_off(replica.leader, now)
    )
    in_flight_until = connections.in_flight_until(now)
    if in_flight_until is not None:
        return in_flight_until
    if is_known and not is_silent:
        return _send_all(replica, Rpc.FETCH, [replica.leader], now)
    node = connections.ready_bootstrap(now)
    return connections.earliest_bootstrap(now) if node is None else _send(replica, Rpc.FETCH, node, now)


def _poll_leader(replica: Replica, now: float) -> float:
    has_lost_majority = bool(replica.others) and replica.deadline <= now
    if replica.resign_requested or replica.shutdown_at < inf or has_lost_majority:
        replica.become_resigned(now)
        return now
    if replica.append_at <= now:
        replica.append(now)
        complete_parked(replica, now)
    if not replica.others:
        raise_high_watermark(replica)
        return replica.append_at
    if replica.begin_at <= now:
        pause = replica.timeouts.fetch_timeout_seconds / 2
        quiet = [voter for voter in replica.others if now - replica.fetched_at[voter] >= pause]
        _send_all(replica, Rpc.BEGIN_QUORUM_EPOCH, quiet, now)
        replica.begin_at = now + pause
    return min(replica.deadline, replica.append_at, replica.begin_at)


def _poll_resigned(replica: Replica, now: float) -> float:
    wake = _send_all(replica, Rpc.END_QUORUM_EPOCH, sorted(replica.unacknowledged), now)
    if replica.shutdown_at < inf:
        return min(wake, replica.shutdown_at)
    if replica.deadline <= now:
        replica.become_unattached(replica.epoch + 1, now)
        return now
    return min(wake, replica.deadline)


def _send_all(replica: Replica, rpc: Rpc, targets: Iterable[int], now: float) -> float:
    """Send to the nodes that are free, and give when the first of the others, or an answer, is due at the latest."""
    wake = inf
    for target in targets:
        until = replica.connections.busy_until(target, now)
        wake = min(wake, _send(replica, rpc, target, now) if until is None else until)
    return wake


def _send(replica: Replica, rpc: Rpc, target: int, now: float) -> float:
    replica.request(rpc, target, now)
    return now + replica.timeouts.request_timeout_seconds


_POLLS = {
    State.UNATTACHED: _poll_unattached,
    State.PROSPECTIVE: _poll_prospective,
    State.CANDIDATE: _poll_candidate,
    State.FOLLOWER: _poll_follower,
    State.LEADER: _poll_leader,
    State.RESIGNED: _poll_resigned,
}
