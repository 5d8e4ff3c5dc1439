"""Refused fetches are gone through quickly; nothing else may come of it than of whole steps."""

from math import inf
from random import Random

import pytest

from kafka_capacity.kafka.controller.quorum import simulation
from kafka_capacity.kafka.controller.quorum.messages import Error, Request, Rpc
from kafka_capacity.kafka.controller.quorum.protocol import poll, take_refusal
from kafka_capacity.kafka.controller.quorum.replica import Replica
from kafka_capacity.kafka.controller.quorum.settings import QuorumTimeouts, Spread
from kafka_capacity.kafka.controller.quorum.simulation import FailureKind
from tests.failovers import fail_leader
from tests.unit.kafka.controller.quorum.random_traces import random_trace

CASES = (
    {},
    {"observers": 2, "delay": Spread(0.02, 0.3), "loss_ratio": 0.1},
    {"lost_before": 1, "timeouts": QuorumTimeouts(request_timeout_seconds=0.3, fetch_timeout_seconds=0.9)},
    {
        "delay": Spread.measured((0.001, 0.05)),
        "flush": Spread.measured((0.0, 0.3)),
    },
)


def figures(case):
    found = {failure: fail_leader(5, failure, runs=2, seed=3, **case) for failure in FailureKind}
    return {
        failure: (
            one.leaderless_seconds.tolist(),
            one.inactive_seconds.tolist(),
            one.epochs.tolist(),
            {rpc: counts.tolist() for rpc, counts in one.rpcs.items()},
        )
        for failure, one in found.items()
    }


def counted(monkeypatch):
    taken, take = [], simulation.take_refusal

    def watched(replica, message, now):
        wake = take(replica, message, now)
        taken.append(wake is not None)
        return wake

    monkeypatch.setattr(simulation, "take_refusal", watched)
    return taken


@pytest.mark.parametrize("case", CASES)
def test_failovers_are_those_of_whole_steps(monkeypatch, case):
    taken = counted(monkeypatch)
    quick = figures(case)
    assert sum(taken) > 100
    monkeypatch.setattr(simulation, "take_refusal", lambda *_: None)

    assert figures(case) == quick


def test_random_courses_are_those_of_whole_steps(monkeypatch):
    quick = [random_trace(seed) for seed in range(25)]
    monkeypatch.setattr(simulation, "take_refusal", lambda *_: None)

    assert [random_trace(seed) for seed in range(25)] == quick


def test_a_replica_that_has_asked_nobody_yet_takes_a_whole_step():
    replica = Replica(1, [1, 2, 3], QuorumTimeouts(), Random(1))
    fetch = Request(Rpc.FETCH, 2, 1, 1, epoch=0)
    assert take_refusal(replica, fetch, 0.0) is None
    assert not replica.outbox

    poll(replica, 0.0)
    assert take_refusal(replica, fetch, 0.0) == inf
    assert replica.outbox[-1].error is Error.NOT_LEADER_OR_FOLLOWER
