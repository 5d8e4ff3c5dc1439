"""A change of the voters, against every loss and every order of its steps."""

from functools import cache
from itertools import combinations, permutations, product
from math import inf

import numpy as np
import pytest

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.controller.quorum.change import fatal_racks, voter_steps
from kafka_capacity.kafka.controller.quorum.failover import ControllerLoss, failovers
from kafka_capacity.kafka.controller.quorum.settings import Environment, QuorumTimeouts, Spread
from kafka_capacity.kafka.controller.quorum.simulation import FailureKind, QuorumSimulation
from kafka_capacity.kafka.controller.quorum.voters import Voter


def changes():
    """Return every size of today's voters and of the wanted ones, how many stay, and who of today's is down."""
    for today, wanted, down in product(range(1, 6), range(1, 6), range(3)):
        for kept in range(min(today, wanted) + 1):
            ids = tuple(range(1, today + 1))
            for lost in combinations(ids, min(down, today)):
                yield ids, (*ids[:kept], *range(11, 11 + wanted - kept)), set(lost)


def has_majority(voters, gone):
    return 2 * sum(voter not in gone for voter in voters) > len(voters)


def survived(sets, down):
    """Return how many losses, whichever they are, leave a majority of each set; -1 where there is none before."""
    everybody = sorted({voter for voters in sets for voter in voters} - down)
    bad = (
        len(lost)
        for size in range(len(everybody) + 1)
        for lost in combinations(everybody, size)
        if not all(has_majority(voters, {*lost} | down) for voters in sets)
    )
    return next(bad, inf) - 1


def test_what_a_step_tolerates_is_what_every_loss_of_voters_leaves():
    seen = 0
    for today, wanted, down in changes():
        for step in voter_steps(today, wanted, down=down):
            tolerated = survived([step.before, step.after], down)
            assert max(step.tolerated, -1) == tolerated, (today, wanted, down, step)
            seen += 1
    assert seen > 500


def test_one_voter_at_a_time_from_today_to_what_is_wanted():
    for today, wanted, down in changes():
        steps = voter_steps(today, wanted, down=down)
        assert len(steps) == len({*today} ^ {*wanted})
        before = today
        for step in steps:
            assert step.before == before
            assert {step.node_id} == {*step.before} ^ {*step.after}
            before = step.after
        assert {*before} == {*wanted}


def test_no_other_order_of_the_steps_tolerates_more_at_its_worst():
    for today, wanted, down in changes():
        steps = voter_steps(today, wanted, down=down)
        if not steps:
            continue
        dead = len(down - {*wanted})
        joining = sum(step.does == "add" for step in steps)
        best = best_order(len(today), len(today) - len(down), joining, dead, len(steps) - joining - dead)
        assert min(step.tolerated for step in steps) == best, (today, wanted, down)


@cache
def best_order(count, living, joining, dead, leaving):
    """Return what the best of all orders tolerates at its worst; voters that are alike are interchangeable."""
    if not count:
        return -inf
    spare = living - (count // 2 + 1)
    further = [
        best_order(count + 1, living + 1, joining - 1, dead, leaving) if joining else -inf,
        best_order(count - 1, living, joining, dead - 1, leaving) if dead else -inf,
        best_order(count - 1, living - 1, joining, dead, leaving - 1) if leaving else -inf,
    ]
    return min(spare, max(further)) if joining or dead or leaving else spare


@pytest.mark.parametrize("active", [None, 1, 2, 3])
@pytest.mark.parametrize("wanted", list(permutations((11, 12, 13))))
def test_whoever_joins_stands_in_for_one_of_its_rack(wanted, active):
    racks = {1: "a", 2: "b", 3: "c", 11: "a", 12: "b", 13: "c"}
    steps = voter_steps((1, 2, 3), wanted, active=active, racks=racks)
    for step in steps:
        if step.does == "remove":  # between steps no rack holds two of three
            assert sorted(racks[voter] for voter in step.after) == ["a", "b", "c"]
    assert active is None or steps[-1].node_id == active


def test_racks_that_nobody_leaves_keep_their_order():
    racks = {1: "a", 2: "b", 3: None, 11: "x", 12: "b", 13: "y", 14: None}
    steps = voter_steps((1, 2, 3), (11, 12, 13, 14), racks=racks)
    assert [step.node_id for step in steps if step.does == "add"] == [11, 12, 13, 14]


def test_the_dead_leave_first_and_the_active_controller_last():
    steps = voter_steps((1, 2, 3), (4, 5, 6), down={3}, active=1)
    assert [(step.does, step.node_id) for step in steps] == [
        ("add", 4),
        ("remove", 3),
        ("add", 5),
        ("remove", 2),
        ("add", 6),
        ("remove", 1),
    ]


def test_a_voter_with_another_disk_is_removed_before_it_is_added():
    steps = voter_steps((1, 2, 3), (1, 2, 3), down={2}, renewed={2})
    assert [(step.does, step.node_id, step.tolerated) for step in steps] == [("remove", 2, 0), ("add", 2, 0)]
    assert steps[-1].after == (1, 3, 2)


@pytest.mark.parametrize(("today", "wanted"), [((1,), ()), (tuple(range(9)), (*range(8), 10))])
def test_too_few_or_too_many_voters_are_refused(today, wanted):
    with pytest.raises(RequestError, match="from 1 to 9 controllers can vote"):
        voter_steps(today, wanted)


def test_four_voters_in_three_racks_may_not_lose_the_rack_of_two():
    voters = [Voter(node_id=i, rack=rack) for i, rack in enumerate("abcab", start=1)]
    fourth, fifth = voter_steps((1, 2, 3), (1, 2, 3, 4, 5))
    assert fatal_racks(fourth, voters) == ("a",)
    assert fatal_racks(fifth, voters) == ("a",)
    assert fatal_racks(voter_steps((1, 2, 3, 4, 5), (1, 2, 3, 4, 5), renewed={3})[0], voters) == ("a", "b")


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6])
def test_a_leader_that_is_removed_is_followed_by_one_of_the_others(count):
    simulation = QuorumSimulation(range(1, count + 1), seed=3)
    simulation.run(10.0)
    gone = simulation.leader()
    simulation.fail(gone, FailureKind.REMOVED)
    simulation.run(30.0)

    assert simulation.leader() not in (None, gone)
    assert simulation.voters == tuple(i for i in range(1, count + 1) if i != gone)
    # It fetches from its successor, and has all that was committed since.
    assert simulation.replicas[gone].leader == simulation.leader()
    assert len(simulation.replicas[gone].log) > 20
    assert len(simulation.elections) == 2


def test_a_resigned_leader_is_followed_within_the_backoff_and_nobody_follows_the_last_voter():
    removed = ControllerLoss(FailureKind.REMOVED)
    at_once = Spread(0, 0)
    around = Environment(timeouts=QuorumTimeouts(election_backoff_max_seconds=0.4), first_election=at_once)
    for count in (2, 3, 5):
        runs = failovers(count, [removed], runs=10, seed=1, around=around)[removed]
        assert max(run.leaderless_seconds for run in runs) < 0.4
    # Two that are left need the vote of each other, and who was asked first has just fetched: the second one stands.
    three = failovers(3, [removed], runs=10, seed=1, around=around)[removed]
    assert np.median([run.leaderless_seconds for run in three]) == pytest.approx(0.2, abs=0.05)
    assert failovers(1, [removed], runs=1, seed=1)[removed][0].leaderless_seconds == inf
