"""What a replica does: when it is asked, when it is answered, and when its time has come (``KafkaRaftClient``, 4.3.1).

Not modelled: UpdateRaftVoter, AddRaftVoter and RemoveRaftVoter (the voters stay as they are, or change at once), and
FetchSnapshot (the log is never cut at its start).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from kafka_capacity.kafka.controller.quorum.messages import NOBODY, UNKNOWN_OFFSET, Error, Request, Response, Rpc
from kafka_capacity.kafka.controller.quorum.replica import CHECK_QUORUM_FACTOR, Replica, State

MAX_FETCH_WAIT_SECONDS = 0.5  # how long a fetch waits for records (`KafkaRaftClient.MAX_FETCH_WAIT_MS`)


# -- when it is asked ----------------------------------------------------------------------------------


def handle_request(replica: Replica, request: Request, now: float) -> None:
    """Take in a request and put the answer, if there is one already, into the outbox."""
    if request.rpc is Rpc.FETCH:
        answer = _fetched(replica, request, now)
        is_empty = answer.error is Error.NONE and not answer.records and answer.diverging is None
        if is_empty and request.high_watermark >= answer.high_watermark:
            replica.parked.append((now + MAX_FETCH_WAIT_SECONDS, request, answer))
        else:
            replica.outbox.append(answer)
        return
    if request.epoch < replica.epoch:
        replica.outbox.append(replica.answer(request, Error.FENCED_LEADER_EPOCH))
        return
    is_granted = False
    if request.rpc is Rpc.VOTE or request.rpc is Rpc.PRE_VOTE:
        is_granted = _vote(replica, request, now)
    else:
        _accept_leader(replica, request.source, request.epoch, now)
        is_led = replica.state is State.FOLLOWER and replica.leader == request.source
        if request.rpc is Rpc.END_QUORUM_EPOCH and is_led:
            replica.deadline = now + _succession_backoff(replica, request.successors)
    replica.outbox.append(replica.answer(request, is_granted=is_granted))


def _accept_leader(replica: Replica, leader: int, epoch: int, now: float) -> None:
    """Learn who leads an epoch, or that nobody does yet, from another replica."""
    if leader == NOBODY:
        if epoch > replica.epoch:
            replica.become_unattached(epoch, now)
    elif epoch > replica.epoch or replica.leader == NOBODY:
        replica.become_follower(epoch, leader, now)


def _vote(replica: Replica, request: Request, now: float) -> bool:
    if request.epoch > replica.epoch:
        replica.become_unattached(request.epoch, now)
    is_pre_vote = request.rpc is Rpc.PRE_VOTE
    is_granted = replica.can_grant(request.source, request.end, is_pre_vote=is_pre_vote)
    if is_granted and not is_pre_vote and replica.voted == NOBODY:
        replica.give_vote(request.source, now)
    return is_granted


def _succession_backoff(replica: Replica, successors: tuple[int, ...]) -> float:
    """Return how long to wait: nothing for the first, then twice as long from one to the next."""
    max_ms = round(replica.timeouts.election_backoff_max_seconds * 1000)
    position = successors.index(replica.node_id) if replica.node_id in successors else len(successors)
    if position == 0:
        return 0.0
    if position >= len(successors):
        return max_ms / 1000
    return min(max_ms, (max_ms >> (len(successors) - 1)) << (position - 1)) / 1000


def _fetched(replica: Replica, request: Request, now: float) -> Response:
    """Answer a fetch; one that fits the log tells how far the replica has got."""
    if request.epoch < replica.epoch:
        return replica.answer(request, Error.FENCED_LEADER_EPOCH)
    if request.epoch > replica.epoch:
        return replica.answer(request, Error.UNKNOWN_LEADER_EPOCH)
    if replica.state is not State.LEADER:
        return replica.answer(request, Error.NOT_LEADER_OR_FOLLOWER)
    end = replica.end_of_epoch(request.end.epoch)
    if end.epoch != request.end.epoch or request.end.offset > end.offset:
        return replica.answer(request, diverging=end)
    if request.source in replica.end_offsets:
        _note_progress(replica, request, now)
    return replica.answer(request, records=tuple(replica.log[request.end.offset :]))


def _note_progress(replica: Replica, request: Request, now: float) -> None:
    replica.end_offsets[request.source] = request.end.offset
    replica.fetched_at[request.source] = now
    replica.fetched.add(request.source)
    if len(replica.fetched) >= replica.majority - 1:
        replica.fetched.clear()
        replica.deadline = now + CHECK_QUORUM_FACTOR * replica.timeouts.fetch_timeout_seconds
    if replica.raise_high_watermark():
        _complete_parked(replica, now)


def _complete_parked(replica: Replica, now: float) -> None:
    """Answer all fetches that wait: there is a record, or a higher high watermark, to tell of."""
    waiting, replica.parked = replica.parked, []
    for _, request, _ in waiting:
        replica.outbox.append(_fetched(replica, request, now))


# -- when it is answered -------------------------------------------------------------------------------


def handle_response(replica: Replica, response: Response, now: float) -> None:
    """Take in an answer; one that the replica does not wait for any longer is passed over."""
    expected, source = replica.connections.expected, response.source
    if expected.get(source) != response.correlation:
        return
    is_success = response.error is not Error.BROKER_NOT_AVAILABLE
    if is_success:
        _on_answer(replica, response, now)
    # A change of state has forgotten all connections.
    if expected.get(source) == response.correlation:
        replica.connections.on_answer(source, is_success=is_success, now=now)


def _on_answer(replica: Replica, response: Response, now: float) -> None:
    if response.epoch < replica.epoch or response.error is Error.UNKNOWN_LEADER_EPOCH:
        return
    is_stale = response.epoch > replica.epoch or response.error is not Error.NONE
    _accept_leader(replica, response.leader, response.epoch, now)
    if is_stale:
        return
    if response.rpc is Rpc.FETCH:
        _take_records(replica, response, now)
    elif response.rpc is Rpc.END_QUORUM_EPOCH:
        replica.unacknowledged.discard(response.source)
    elif replica.state in (State.PROSPECTIVE, State.CANDIDATE) and response.rpc is not Rpc.BEGIN_QUORUM_EPOCH:
        _count_vote(replica, response, now)


def _count_vote(replica: Replica, response: Response, now: float) -> None:
    counted, other = replica.granted, replica.rejected
    if not response.is_granted:
        counted, other = other, counted
    counted.add(response.source)
    other.discard(response.source)
    is_pre_vote = replica.state is State.PROSPECTIVE
    if response.is_granted and replica.is_elected:
        if is_pre_vote:
            replica.become_candidate(now)
        else:
            replica.become_leader(now)
    elif not response.is_granted and is_pre_vote and replica.is_rejected:
        _give_up_pre_vote(replica, now)


def _give_up_pre_vote(replica: Replica, now: float) -> None:
    """Go back to the leader that is known, or wait for one."""
    if replica.leader != NOBODY:
        replica.become_follower(replica.epoch, replica.leader, now)
    else:
        replica.become_unattached(replica.epoch, now)


def _take_records(replica: Replica, response: Response, now: float) -> None:
    if response.diverging is not None:
        mine = replica.end_of_epoch(response.diverging.epoch)
        keeps_both = mine.epoch == response.diverging.epoch
        replica.replace_end(min(mine.offset, response.diverging.offset) if keeps_both else mine.offset, ())
    else:
        replica.replace_end(len(replica.log), response.records)
        if response.high_watermark != UNKNOWN_OFFSET:
            known = min(response.high_watermark, len(replica.log))
            replica.high_watermark = max(replica.high_watermark, known)
    replica.deadline = now + replica.timeouts.fetch_timeout_seconds
    replica.has_fetched = True


def take_refusal(replica: Replica, message: Request | Response, now: float) -> float | None:
    """Refuse a fetch, or ask the next node after a refusal, as a whole step would, where nothing is due.

    A replica without a leader asks one node after another, and each answers at once that it does not lead: most of what
    happens while nobody leads. Neither changes a replica, its log or its timers, so most of a step is spared.

    Returns:
        When to come back at the latest; ``None`` where this is no such message, and nothing was done.
    """
    if message.epoch != replica.epoch:
        return None
    if isinstance(message, Request):
        # With nothing under way it would look whom to ask.
        if message.rpc is not Rpc.FETCH or replica.state is State.LEADER or not replica.connections.expected:
            return None
        replica.outbox.append(replica.answer(message, Error.NOT_LEADER_OR_FOLLOWER))
        return inf
    is_looking = replica.state is State.FOLLOWER or replica.state is State.UNATTACHED
    has_news = message.leader != replica.leader and message.leader != NOBODY
    is_expected = replica.connections.expected.get(message.source) == message.correlation
    if message.error is not Error.NOT_LEADER_OR_FOLLOWER or has_news or not is_looking or not is_expected:
        return None
    if replica.shutdown_at < inf:
        return None
    replica.connections.on_answer(message.source, is_success=True, now=now)
    return _look_for_leader(replica, now)


# -- when its time has come ----------------------------------------------------------------------------


def poll(replica: Replica, now: float) -> float:
    """Do what is due, and return when to come back."""
    while True:
        if replica.shutdown_at < inf and _ends(replica, now):
            return inf
        wake = _POLLS[replica.state](replica, now)
        if wake > now:
            break
    for expires_at, _, answer in replica.parked:
        if expires_at <= now:
            replica.outbox.append(answer)
        else:
            wake = min(wake, expires_at)
    replica.parked = [parked for parked in replica.parked if parked[0] > now]
    return wake


def _ends(replica: Replica, now: float) -> bool:
    """Whether a replica that shuts down is through: somebody else leads, nobody else could, or it took too long."""
    has_other_leader = replica.leader not in (NOBODY, replica.node_id)
    is_needless = has_other_leader or not replica.is_voter or not replica.others
    replica.has_ended = is_needless or now >= replica.shutdown_at
    return replica.has_ended


def _deadline(replica: Replica) -> float:
    """The timer of the state, or the end of a shutdown, during which that timer stands still."""
    return replica.shutdown_at if replica.shutdown_at < inf else replica.deadline


def _poll_fetching(replica: Replica, now: float) -> float:
    """Fetch until the timer ends, or without a leader wait for the end of a shutdown: a follower is through then."""
    if replica.is_voter and _deadline(replica) <= now:
        replica.become_prospective(now)
        return now
    if replica.shutdown_at < inf:
        return replica.shutdown_at
    wake = _look_for_leader(replica, now)
    return min(wake, replica.deadline) if replica.is_voter else wake


def _poll_nominee(replica: Replica, now: float) -> float:
    is_pre_vote = replica.state is State.PROSPECTIVE
    if _deadline(replica) <= now:
        if is_pre_vote:
            _give_up_pre_vote(replica, now)
        else:
            replica.become_prospective(now)
        return now
    if replica.is_rejected:
        return _deadline(replica)
    open_votes = [voter for voter in replica.others if voter not in replica.granted and voter not in replica.rejected]
    wake = _send_all(replica, Rpc.PRE_VOTE if is_pre_vote else Rpc.VOTE, open_votes, now)
    return min(wake, _deadline(replica))


def _look_for_leader(replica: Replica, now: float) -> float:
    """Fetch from the leader, or from any voter while none is known or it is silent; one request at a time."""
    connections = replica.connections
    asks_leader = replica.state is State.FOLLOWER and not connections.is_silent(replica.leader, now)
    in_flight_until = connections.in_flight_until(now)
    if in_flight_until is not None:
        return in_flight_until
    if asks_leader:
        return _send_all(replica, Rpc.FETCH, [replica.leader], now)
    node = connections.choose(replica.voters, now, replica.random)
    if node is None:
        return min(connections.busy_until(voter, now) or now for voter in replica.voters)
    replica.request(Rpc.FETCH, node, now)
    return now + replica.timeouts.request_timeout_seconds


def _poll_leader(replica: Replica, now: float) -> float:
    if replica.shutdown_at < inf or (replica.others and replica.deadline <= now):
        replica.become_resigned(now)
        return now
    if replica.append_at <= now:
        replica.append(now)
        _complete_parked(replica, now)
    if not replica.others:
        replica.raise_high_watermark()
        return replica.append_at
    if replica.begin_at <= now:
        pause = replica.timeouts.fetch_timeout_seconds / 2
        quiet = [voter for voter in replica.others if now - replica.fetched_at[voter] >= pause]
        _send_all(replica, Rpc.BEGIN_QUORUM_EPOCH, quiet, now)
        replica.begin_at = now + pause
    return min(replica.deadline, replica.append_at, replica.begin_at)


def _poll_resigned(replica: Replica, now: float) -> float:
    wake = _send_all(replica, Rpc.END_QUORUM_EPOCH, sorted(replica.unacknowledged), now)
    if replica.shutdown_at < inf or replica.deadline > now:
        return min(wake, _deadline(replica))
    replica.become_unattached(replica.epoch + 1, now)
    return now


def _send_all(replica: Replica, rpc: Rpc, targets: Iterable[int], now: float) -> float:
    """Send to the nodes that are free; return when the first of the others, or an answer, is due at the latest."""
    wake = inf
    for target in targets:
        until = replica.connections.busy_until(target, now)
        if until is None:
            replica.request(rpc, target, now)
            until = now + replica.timeouts.request_timeout_seconds
        wake = min(wake, until)
    return wake


_POLLS = {
    State.UNATTACHED: _poll_fetching,
    State.PROSPECTIVE: _poll_nominee,
    State.CANDIDATE: _poll_nominee,
    State.FOLLOWER: _poll_fetching,
    State.LEADER: _poll_leader,
    State.RESIGNED: _poll_resigned,
}
