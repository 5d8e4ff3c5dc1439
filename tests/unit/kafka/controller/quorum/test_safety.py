"""Nothing that goes wrong may break the protocol; and a protocol that is broken on purpose is found out."""

from math import inf
from random import Random

import pytest

from kafka_capacity.kafka.controller.quorum.messages import NOBODY, Request, Rpc
from kafka_capacity.kafka.controller.quorum.protocol import handle_request
from kafka_capacity.kafka.controller.quorum.replica import Replica, State
from kafka_capacity.kafka.controller.quorum.settings import QuorumTimeouts
from tests.unit.kafka.controller.quorum.random_traces import random_trace
from tests.unit.kafka.controller.quorum.watched import SafetyViolationError

TRACES = 200


def run_traces(first=0):
    return [random_trace(seed) for seed in range(first, first + TRACES)]


def test_random_courses_keep_every_invariant_and_recover():
    traces = run_traces()

    assert {trace.voters for trace in traces} == set(range(1, 10))
    assert sum(trace.elections for trace in traces) > 2 * TRACES
    assert sum(trace.committed for trace in traces) > 20 * TRACES
    assert max(trace.recovery_seconds for trace in traces) < 60


def test_the_same_seed_gives_the_same_trace():
    assert random_trace(11) == random_trace(11)
    assert random_trace(11) != random_trace(12)


def found_out():
    return pytest.raises(SafetyViolationError)


def test_voting_twice_is_found_out(monkeypatch):
    def grants_everybody(self, candidate, end, *, is_pre_vote):
        return self.state in (State.UNATTACHED, State.CANDIDATE, State.PROSPECTIVE) and end >= self.end

    monkeypatch.setattr(Replica, "can_grant", grants_everybody)
    with found_out():
        run_traces()


def test_voting_for_a_shorter_log_is_found_out(monkeypatch):
    def grants_short_logs(self, candidate, end, *, is_pre_vote):
        is_free = self.state in (State.UNATTACHED, State.PROSPECTIVE)
        return is_free and (is_pre_vote or self.voted == candidate or (self.voted, self.leader) == (NOBODY, NOBODY))

    monkeypatch.setattr(Replica, "can_grant", grants_short_logs)
    with found_out():
        run_traces()


def test_a_vote_outlives_a_crash():
    replica = Replica(1, [1, 2, 3], QuorumTimeouts(), Random(1))
    handle_request(replica, Request(Rpc.VOTE, 2, 1, 1, epoch=4), 0.0)
    replica.start(1.0)
    handle_request(replica, Request(Rpc.VOTE, 3, 1, 1, epoch=4), 2.0)

    assert (replica.epoch, replica.voted) == (4, 2)
    assert not replica.outbox[-1].is_granted


def test_a_log_that_a_crash_empties_is_found_out(monkeypatch):
    start = Replica.start

    def forgetful(self, now):
        self.replace_end(0, ())
        start(self, now)

    monkeypatch.setattr(Replica, "start", forgetful)
    with found_out():
        run_traces()


def test_committing_what_a_minority_holds_is_found_out(monkeypatch):
    def hasty(replica):
        end = max([0, *replica.end_offsets.values()])
        if end <= max(replica.epoch_start, replica.high_watermark):
            return False
        replica.high_watermark = end
        return True

    monkeypatch.setattr(Replica, "raise_high_watermark", hasty)
    with found_out():
        run_traces()


def test_a_quorum_that_never_comes_back_is_found_out(monkeypatch):
    monkeypatch.setattr(Replica, "_election_timeout", lambda self: inf)
    with pytest.raises(SafetyViolationError, match="nothing was committed"):
        run_traces()
