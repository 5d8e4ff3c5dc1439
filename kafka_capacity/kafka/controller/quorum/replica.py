"""One replica of the metadata log: its state, and the changes of state that Kafka allows (``QuorumState``, 4.3.1).

Epoch, leader and vote are durable, so is the log. Everything else is gone after a crash.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from enum import StrEnum
from math import inf
from random import Random

from kafka_capacity.kafka.controller.quorum.messages import (
    NOBODY,
    UNKNOWN_OFFSET,
    Error,
    LogEnd,
    Request,
    Response,
    Rpc,
)
from kafka_capacity.kafka.controller.quorum.settings import QuorumTimeouts
from kafka_capacity.kafka.controller.quorum.voters import majority


class Connections:
    """The requests of one replica that are under way, and the nodes that it leaves in peace for a while.

    One request at a time to each node, and a pause after a failure (``RequestManager``, 4.3.1). Times are seconds since
    the start of a simulation. Where Kafka gives how long to wait, these give until when.

    A node is busy until its time in ``_ready_at``: with the request that ``expected`` has the number of, else with a
    pause.
    """

    __slots__ = ("_ready_at", "_timeouts", "expected")

    def __init__(self, timeouts: QuorumTimeouts) -> None:
        self._timeouts = timeouts
        self._ready_at: dict[int, float] = {}
        self.expected: dict[int, int] = {}

    def reset(self) -> None:
        """Forget everything, as a replica does whenever its state changes; answers still under way count no more."""
        self.expected.clear()
        self._ready_at.clear()

    def on_sent(self, node: int, correlation: int, now: float) -> None:
        """Wait for an answer."""
        self.expected[node] = correlation
        self._ready_at[node] = now + self._timeouts.request_timeout_seconds

    def on_answer(self, node: int, *, is_success: bool, now: float) -> None:
        """The node is free again, after a pause where the request failed."""
        del self.expected[node]
        if is_success:
            del self._ready_at[node]
        else:
            self._ready_at[node] = now + self._timeouts.retry_backoff_seconds

    def busy_until(self, node: int, now: float) -> float | None:
        """Return when a request to this node times out or its pause ends; ``None`` where it can be asked now."""
        ready_at = self._ready_at.get(node)
        if ready_at is None or now < ready_at:
            return ready_at
        self.expected.pop(node, None)
        del self._ready_at[node]
        return None

    def is_silent(self, node: int, now: float) -> bool:
        """Whether the request to this node was given up just now, or the node is left in peace after a failure."""
        is_awaited, was_busy = node in self.expected, node in self._ready_at
        return was_busy and (self.busy_until(node, now) is None) == is_awaited

    def in_flight_until(self, now: float) -> float | None:
        """Return when the request under way times out; ``None`` where none is."""
        for node in list(self.expected):
            until = self.busy_until(node, now)
            if until is not None:
                return until
        return None

    def choose(self, nodes: Sequence[int], now: float, random: Random) -> int | None:
        """Choose a node to ask for the leader: any that is free, from a random one on."""
        start = random.randrange(len(nodes))
        for node in (*nodes[start:], *nodes[:start]):
            if self.busy_until(node, now) is None:
                return node
        return None


CHECK_QUORUM_FACTOR = 1.5  # a leader resigns when a majority has not fetched for so many fetch timeouts


class State(StrEnum):
    """The states of a replica, by Kafka's names."""

    UNATTACHED = "Unattached"
    PROSPECTIVE = "Prospective"
    CANDIDATE = "Candidate"
    FOLLOWER = "Follower"
    LEADER = "Leader"
    RESIGNED = "Resigned"


class Replica:
    """One replica; ``outbox`` holds what it has said since somebody took it away.

    ``log`` holds the epoch of each record by offset, which says all of it, since an epoch has one leader; ``end`` has
    the epoch of the last, 0 of an empty log, and the offset of the next.
    ``state_writes`` counts how often it has written epoch, leader and vote since: a vote for a new epoch is two writes,
    standing, winning and following one each, becoming prospective none (``durableTransitionTo``).

    Args:
        node_id: its id; one that is not among the voters observes.
        voters: node ids.
        timeouts: of this replica.
        random: draws election timeouts and whom to ask for the leader.
    """

    def __init__(self, node_id: int, voters: Sequence[int], timeouts: QuorumTimeouts, random: Random) -> None:
        self.node_id = node_id
        self.vote_among(voters)
        self.timeouts = timeouts
        self.random = random
        self.connections = Connections(timeouts)
        self.outbox: list[Request | Response] = []
        self.state_writes = 0
        self.epoch = 0
        self.leader = self.voted = NOBODY
        self.log: list[int] = []
        self.end = LogEnd(0, 0)
        self.granted: set[int] = set()
        self.rejected: set[int] = set()
        self.unacknowledged: set[int] = set()
        self._correlation = 0
        self.start(0.0)

    def vote_among(self, voters: Sequence[int]) -> None:
        """Go by these voters from now on."""
        self.voters = tuple(voters)
        self.others = tuple(voter for voter in voters if voter != self.node_id)
        self.majority = majority(len(voters))
        self.is_voter = self.node_id in self.voters

    def start(self, now: float) -> None:
        """Begin with nothing but what is durable, as after a crash."""
        self.high_watermark = UNKNOWN_OFFSET
        self.parked: list[tuple[float, Request, Response]] = []  # fetches that wait: until when, and what is said then
        self.outbox.clear()
        self.shutdown_at = inf
        self.has_ended = False
        self.successors: tuple[int, ...] = ()
        self._enter(State.UNATTACHED, now + self._election_timeout())
        if self.leader == self.node_id:
            # A leader may have lost what it had not flushed: it must not lead, nor vote, in its epoch again.
            self._enter_resigned(now)
        elif self.leader != NOBODY:
            self._enter(State.FOLLOWER, now + self.timeouts.fetch_timeout_seconds)
        elif self.voted == self.node_id:
            self._enter_candidate(now)
        if self.voters == (self.node_id,) and self.state is not State.LEADER:
            self.become_prospective(now)

    def end_of_epoch(self, epoch: int) -> LogEnd:
        """Return the largest epoch in the log that is not above this one, and where it ends."""
        offset = bisect_right(self.log, epoch)
        return LogEnd(self.log[offset - 1] if offset else 0, offset)

    @property
    def is_elected(self) -> bool:
        """Whether enough voters have granted their vote."""
        return len(self.granted) >= self.majority

    @property
    def is_rejected(self) -> bool:
        """Whether the votes that are still open are too few."""
        return len(self.voters) - len(self.rejected) < self.majority

    def can_grant(self, candidate: int, end: LogEnd, *, is_pre_vote: bool) -> bool:
        """Whether this replica gives its vote."""
        is_up_to_date = end >= self.end
        if is_pre_vote:
            is_busy = self.state is State.LEADER or (self.state is State.FOLLOWER and self.has_fetched)
            return is_up_to_date and not is_busy
        if self.state not in (State.UNATTACHED, State.PROSPECTIVE):
            return False
        if self.voted != NOBODY:
            return self.voted == candidate
        return self.leader == NOBODY and is_up_to_date

    # -- changes of state --------------------------------------------------------------------------

    def become_unattached(self, epoch: int, now: float) -> None:
        """Know an epoch, but no leader of it."""
        keeps_timer = self.state in (State.CANDIDATE, State.UNATTACHED, State.RESIGNED) or (
            self.state is State.PROSPECTIVE and not self.is_rejected
        )
        deadline = self.deadline if keeps_timer else now + self._election_timeout()
        if epoch > self.epoch:
            self.epoch, self.leader, self.voted = epoch, NOBODY, NOBODY
        self.state_writes += 1
        self._enter(State.UNATTACHED, deadline)

    def become_follower(self, epoch: int, leader: int, now: float) -> None:
        """Follow a leader; within an epoch the vote stays given."""
        if epoch > self.epoch:
            self.voted = NOBODY
        self.epoch, self.leader = epoch, leader
        self.state_writes += 1
        self._drop_parked()
        self._enter(State.FOLLOWER, now + self.timeouts.fetch_timeout_seconds)

    def become_prospective(self, now: float) -> None:
        """Ask whether an election could be won, before an epoch is used up for it."""
        self._enter(State.PROSPECTIVE, now + self._election_timeout())
        self.granted = {self.node_id}
        if self.is_elected:
            self.become_candidate(now)

    def become_candidate(self, now: float) -> None:
        """Stand for election in a new epoch."""
        self.epoch, self.leader, self.voted = self.epoch + 1, NOBODY, self.node_id
        self.state_writes += 1
        self._enter_candidate(now)

    def become_leader(self, now: float) -> None:
        """Lead the epoch of the election that was won, and write its first record."""
        self.leader, self.voted = self.node_id, NOBODY
        self.state_writes += 1
        self.high_watermark = UNKNOWN_OFFSET
        self._enter(State.LEADER, now + CHECK_QUORUM_FACTOR * self.timeouts.fetch_timeout_seconds)
        self.epoch_start = len(self.log)
        self.end_offsets = dict.fromkeys(self.others, UNKNOWN_OFFSET)
        self.fetched_at = dict.fromkeys(self.others, -inf)
        self.fetched: set[int] = set()
        self.begin_at = now
        self.append(now)

    def become_resigned(self, now: float) -> None:
        """Lead no longer, and tell the voters whom of them it would like to lead: who has most of the log first."""
        # Sorting keeps the order of the voters where two have as much.
        self.successors = tuple(sorted(self.others, key=lambda voter: -self.end_offsets[voter]))
        self._drop_parked()
        self._enter_resigned(now)

    def give_vote(self, candidate: int, now: float) -> None:
        """Vote, and wait again: who was voted for has as good a chance as this replica."""
        self.voted = candidate
        self.state_writes += 1
        self.deadline = now + self._election_timeout()
        if self.state is State.PROSPECTIVE:
            self.granted, self.rejected = {self.node_id}, set()

    def replace_end(self, offset: int, records: Sequence[int]) -> None:
        """Cut the log at an offset, and add records there."""
        self.log[offset:] = records
        self.end = LogEnd(self.log[-1] if self.log else 0, len(self.log))

    def append(self, now: float) -> None:
        """Write one record as the leader."""
        self.replace_end(len(self.log), (self.epoch,))
        self.append_at = now + (self.timeouts.idle_interval_seconds or inf)

    def raise_high_watermark(self) -> bool:
        """Commit what a majority holds, once that reaches into the leader's own epoch; whether it did."""
        ends = sorted([len(self.log), *self.end_offsets.values()], reverse=True)
        held = ends[self.majority - 1]
        if held <= max(self.epoch_start, self.high_watermark):
            return False
        self.high_watermark = held
        return True

    # -- what it says ------------------------------------------------------------------------------

    def request(self, rpc: Rpc, target: int, now: float) -> None:
        """Send a request and wait for its answer."""
        self._correlation += 1
        successors = self.successors if rpc is Rpc.END_QUORUM_EPOCH else ()
        self.connections.on_sent(target, self._correlation, now)
        self.outbox.append(
            Request(rpc, self.node_id, target, self._correlation, self.epoch, self.end, self.high_watermark, successors)
        )

    def answer(
        self,
        request: Request,
        error: Error = Error.NONE,
        *,
        is_granted: bool = False,
        records: tuple[int, ...] = (),
        diverging: LogEnd | None = None,
    ) -> Response:
        """Return an answer with the epoch and the leader that this replica knows."""
        return Response(
            request.rpc,
            self.node_id,
            request.source,
            request.correlation,
            error,
            self.epoch,
            self.leader,
            is_granted,
            self.high_watermark,
            records,
            diverging,
        )

    def _drop_parked(self) -> None:
        self.outbox.extend(self.answer(request, Error.NOT_LEADER_OR_FOLLOWER) for _, request, _ in self.parked)
        self.parked.clear()

    def _enter_candidate(self, now: float) -> None:
        self._enter(State.CANDIDATE, now + self._election_timeout())
        self.granted = {self.node_id}
        if self.is_elected:
            self.become_leader(now)

    def _enter_resigned(self, now: float) -> None:
        self._enter(State.RESIGNED, now + self._election_timeout())
        self.unacknowledged = set(self.others)

    def _enter(self, state: State, deadline: float) -> None:
        self.state = state
        self.deadline = deadline
        self.has_fetched = False
        self.granted, self.rejected, self.unacknowledged = set(), set(), set()
        self.connections.reset()

    def _election_timeout(self) -> float:
        if not self.is_voter:
            return inf
        least = round(self.timeouts.election_timeout_seconds * 1000)
        return (least + self.random.randrange(least)) / 1000
