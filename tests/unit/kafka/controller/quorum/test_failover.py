"""How long a quorum is without a leader, against what can be said with a pencil."""

from math import inf
from random import Random

import numpy as np
import pytest

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.controller.quorum import failover
from kafka_capacity.kafka.controller.quorum.failover import ControllerLoss, failovers
from kafka_capacity.kafka.controller.quorum.messages import Request, Response, Rpc
from kafka_capacity.kafka.controller.quorum.replica import CHECK_QUORUM_FACTOR
from kafka_capacity.kafka.controller.quorum.settings import Environment, QuorumTimeouts, Spread
from kafka_capacity.kafka.controller.quorum.simulation import FailureKind, QuorumSimulation
from tests.failovers import Failovers, fail_leader
from tests.unit.kafka.controller.quorum.watched import WatchedSimulation

DELAY = Spread(0.002, 0.004)
INSTANT = Spread(0, 0)
PRACTISED = {"delay": DELAY, "flush": INSTANT, "first_election": INSTANT, "first_work": INSTANT}
"""Controllers whose code runs as fast the first time as later."""
CRASHES = (FailureKind.KILLED, FailureKind.VANISHED)


@pytest.fixture
def three():
    simulation = WatchedSimulation([1, 2, 3], observers=[7], seed=5, around=Environment(delay=DELAY))
    simulation.run(5.0)
    return simulation


def test_a_quorum_elects_one_leader_and_keeps_it(three):
    assert len(three.elections) == 1
    assert 1.0 <= three.elections[0].at_seconds <= 2.1
    before = dict(three.rpcs)
    three.run(20.0)

    assert three.leader() == three.elections[0].leader
    assert {rpc for rpc in Rpc if three.rpcs[rpc] != before.get(rpc, 0)} == {Rpc.FETCH}
    assert all(len(replica.log) == len(three.committed) for replica in three.replicas.values())


def test_an_election_without_trouble_costs_one_round_of_each_request(three):
    # 2 pre-votes, 2 votes, 2 announcements: one for each other voter; the observer finds the leader by itself.
    assert [three.rpcs[rpc] for rpc in (Rpc.PRE_VOTE, Rpc.VOTE, Rpc.BEGIN_QUORUM_EPOCH)] == [2, 2, 2]
    assert three.replicas[7].leader == three.leader()


def test_a_single_voter_leads_at_once():
    simulation = QuorumSimulation([4], seed=1, around=Environment(flush=INSTANT))

    assert simulation.elections == [(0.0, 4, 1)]
    assert simulation.run_until_active(4, 1.0)
    assert sum(simulation.rpcs.values()) == 0


def test_an_election_takes_as_long_as_its_messages_and_writes():
    steady = Environment(delay=Spread(0.001, 0.001), flush=Spread(0.01, 0.01))
    simulation = QuorumSimulation([1, 2, 3], seed=5, around=steady)
    stands = min(replica.deadline for replica in simulation.replicas.values())
    simulation.run(stands + 0.5)

    # Four messages; the candidate writes that it stands, a voter the new epoch and its vote, the winner that it leads.
    assert [election.at_seconds - stands for election in simulation.elections] == pytest.approx([4 * 0.001 + 4 * 0.01])


def test_who_writes_answers_nobody_else_meanwhile():
    steady = Environment(delay=Spread(0.001, 0.001), flush=Spread(0.01, 0.01))
    simulation = QuorumSimulation([1, 2, 3], seed=5, around=steady)
    answers, send = [], simulation._send

    def watched(message, after_seconds=0.0):
        if isinstance(message, Response) and message.rpc is Rpc.VOTE:
            answers.append((message.target, message.is_granted, simulation.now + after_seconds))
        send(message, after_seconds)

    simulation._send = watched
    for candidate in (2, 3):
        watched(Request(Rpc.VOTE, candidate, 1, 1, epoch=5))
    simulation.run(0.5)

    # Both come after 1 ms; the epoch and the vote for the first take two writes, the refusal none.
    assert answers == [(2, True, pytest.approx(0.021)), (3, False, pytest.approx(0.021))]


@pytest.mark.parametrize("failure", CRASHES)
def test_nobody_stands_before_the_fetch_timeout(failure):
    timeouts = QuorumTimeouts(fetch_timeout_seconds=3.0, idle_interval_seconds=0.2)
    found = fail_leader(3, failure, runs=40, seed=2, timeouts=timeouts, **PRACTISED)

    # The last fetch was answered at most one idle interval, and a few delays, before the failure.
    assert found.leaderless_seconds.min() >= 3.0 - 0.2 - 5 * DELAY.max_seconds
    # A first election that is won takes a pre-vote and a vote: two round trips.
    won_at_once = found.leaderless_seconds[found.epochs == 1]
    assert won_at_once.max() <= 3.0 + 10 * DELAY.max_seconds
    # One that is lost waits for the election timeout, which is from one to two seconds.
    again = found.leaderless_seconds[found.epochs == 2]
    assert again.min() >= won_at_once.min() + 1.0
    assert again.max() <= 3.0 + 2.0 + 20 * DELAY.max_seconds
    assert (found.inactive_seconds > found.leaderless_seconds).all()


def test_a_leader_that_resigns_is_followed_at_once():
    found = fail_leader(3, FailureKind.SHUT_DOWN, runs=20, seed=3, **PRACTISED)

    # EndQuorumEpoch, then two round trips: five messages.
    assert found.leaderless_seconds.min() >= 5 * DELAY.least_seconds
    assert found.leaderless_seconds.max() <= 8 * DELAY.max_seconds
    assert found.rpcs[Rpc.END_QUORUM_EPOCH].min() >= 2


def test_successors_of_five_wait_for_each_other():
    found = fail_leader(5, FailureKind.SHUT_DOWN, runs=20, seed=3, **PRACTISED)

    # The first choice gets no pre-vote from voters that have just fetched; the second follows after 1000 >> 3 ms.
    assert found.leaderless_seconds.min() >= 0.125
    assert found.leaderless_seconds.max() <= 0.125 + 10 * DELAY.max_seconds


@pytest.mark.parametrize("failure", FailureKind)
def test_code_that_runs_for_the_first_time_takes_longer_and_decides_nothing(failure):
    quick = fail_leader(5, failure, runs=20, seed=3, **PRACTISED)
    first = {"first_election": Spread(0.1, 0.1), "first_work": Spread(0.03, 0.03)}
    slow = fail_leader(5, failure, runs=20, seed=3, **PRACTISED | first)

    assert slow.leaderless_seconds == pytest.approx(quick.leaderless_seconds + 0.1)
    assert slow.inactive_seconds == pytest.approx(quick.inactive_seconds + 0.13)
    assert slow.epochs.tolist() == quick.epochs.tolist()


def test_a_leader_that_is_cut_off_resigns_by_itself(three):
    old = three.leader()
    start = three.now
    three.groups = (frozenset([old]),)
    limit = CHECK_QUORUM_FACTOR * three.around.timeouts.fetch_timeout_seconds
    three.run(start + limit - 0.1)
    assert three.leads(old)
    # A fetch that waits counts once more when it is answered, with the next record.
    three.run(start + limit + three.around.timeouts.idle_interval_seconds + 0.1)
    assert not three.leads(old)


@pytest.mark.parametrize("outage", CRASHES)
def test_without_a_majority_there_is_no_leader_and_with_it_there_is_again(three, outage):
    first = three.leader()
    epoch = three.replicas[first].epoch
    others = [voter for voter in three.voters if voter != first]
    for node_id in (first, others[0]):
        three.fail(node_id, outage)
    assert three.run_until_elected(epoch, three.now + 60) is None
    assert three.replicas[others[1]].epoch == epoch, "pre-votes use up no epochs"
    three.restart(others[0])
    assert three.run_until_elected(epoch, three.now + 10) is not None


def test_a_restarted_leader_does_not_lead_its_epoch_again(three):
    old = three.leader()
    epoch = three.replicas[old].epoch
    three.fail(old, FailureKind.KILLED)
    three.restart(old)
    assert not three.leads(old)
    assert three.run_until_elected(epoch, three.now + 10).epoch > epoch


def test_observers_do_not_count(three):
    three.fail(7, FailureKind.KILLED)
    three.run(three.now + 10)
    assert len(three.elections) == 1


def test_more_losses_make_elections_longer():
    few, many = (fail_leader(3, FailureKind.VANISHED, runs=40, seed=4, loss_ratio=loss) for loss in (0.0, 0.15))
    assert many.leaderless_seconds.mean() > few.leaderless_seconds.mean()


def test_flushes_that_differ_keep_followers_from_standing_together():
    uneven = Spread(0.001, 0.02)
    together, apart = (
        fail_leader(3, FailureKind.VANISHED, runs=200, seed=6, flush=flush) for flush in (INSTANT, uneven)
    )
    assert apart.split_vote_ratio < together.split_vote_ratio * 0.75


@pytest.mark.parametrize("voters", [3, 5])
def test_a_quorum_that_has_just_settled_fails_as_one_that_has_run_for_long(voters, monkeypatch):
    # Quorums that had just elected their first leader once needed two thirds of the second elections of others.
    ratios = []
    for seconds in (failover._SETTLING_SECONDS, 30.0):
        monkeypatch.setattr(failover, "_SETTLING_SECONDS", seconds)
        ratios.append(fail_leader(voters, FailureKind.VANISHED, runs=500, seed=2).split_vote_ratio)
    assert ratios[0] == pytest.approx(ratios[1], abs=0.05)


def test_a_seed_gives_its_runs_and_another_others():
    first, again, other = (fail_leader(3, FailureKind.KILLED, runs=5, seed=seed) for seed in (1, 1, 2))

    assert np.array_equal(first.leaderless_seconds, again.leaderless_seconds)
    assert {rpc: counts.tolist() for rpc, counts in first.rpcs.items()} == {
        rpc: counts.tolist() for rpc, counts in again.rpcs.items()
    }
    assert not np.array_equal(first.leaderless_seconds, other.leaderless_seconds)


def test_runs_can_be_shared_out():
    whole = fail_leader(3, FailureKind.SHUT_DOWN, runs=4, seed=3)
    parts = [fail_leader(3, FailureKind.SHUT_DOWN, runs=2, first_run=first, seed=3) for first in (0, 2)]
    assert np.concatenate([one.leaderless_seconds for one in parts]).tolist() == whole.leaderless_seconds.tolist()
    assert np.concatenate([one.epochs for one in parts]).tolist() == whole.epochs.tolist()


def as_lists(found):
    figures = (found.leaderless_seconds, found.inactive_seconds, found.epochs)
    return [one.tolist() for one in figures], {rpc: counts.tolist() for rpc, counts in found.rpcs.items()}


def test_failures_of_one_quorum_give_what_each_gives_by_itself():
    losses = [ControllerLoss(failure, lost) for lost in (1, 0, 2) for failure in FailureKind]
    around = Environment(observers=1, delay=DELAY)
    found = failovers(5, losses, runs=2, seed=7, first_run=3, around=around)

    assert list(found) == losses
    for loss in losses:
        alone = fail_leader(
            5,
            loss.failure,
            runs=2,
            seed=7,
            first_run=3,
            lost_before=loss.lost_before,
            observers=1,
            delay=DELAY,
        )
        assert as_lists(Failovers.of(found[loss])) == as_lists(alone)


def test_without_a_majority_the_time_has_no_end():
    assert fail_leader(1, FailureKind.KILLED, runs=2, seed=1).quantile(0.5) == inf
    assert fail_leader(5, FailureKind.KILLED, runs=2, seed=1, lost_before=2).quantile(0.5) == inf
    assert fail_leader(5, FailureKind.KILLED, runs=2, seed=1, lost_before=1).quantile(1.0) < inf


def test_a_voter_that_resigns_alone_leads_again():
    alone = WatchedSimulation([4], seed=1)
    alone.run(3.0)
    alone.resign(4)
    elected = alone.run_until_elected(1, 60.0)

    assert 1.0 <= elected.at_seconds - 3.0 < 2.0 + 3 * alone.around.flush.max_seconds
    assert alone.run_until_active(4, 60.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"voters": 0}, "voters must be from 1 to 9 and runs at least 1, not 0"),
        ({"voters": 10}, "voters must be from 1 to 9 and runs at least 1, not 10"),
        ({"runs": 0}, "runs at least 1, not 3 and 0"),
        ({"lost_before": 2}, "lost_before must be from 0 to 1, not 2"),
    ],
)
def test_numbers_out_of_range_are_refused(arguments, message):
    with pytest.raises(RequestError, match=message):
        fail_leader(**{"voters": 3, "failure": FailureKind.KILLED, "runs": 1, "seed": 1} | arguments)


def test_delays_and_flushes_are_drawn_from_what_was_measured():
    bounds = {"delay": Spread(0.001, 0.001), "flush": Spread(0.004, 0.004)}
    measured = {"delay": Spread.measured((0.001,)), "flush": Spread.measured((0.004,))}
    plain, drawn = (
        fail_leader(3, FailureKind.KILLED, runs=4, seed=3, **PRACTISED | given) for given in (bounds, measured)
    )
    assert plain.leaderless_seconds.tolist() == drawn.leaderless_seconds.tolist()

    random, uneven = Random(1), Spread.measured((0.1, 0.2))
    assert {uneven.draw(random) for _ in range(50)} == {0.1, 0.2}


def test_the_environment_must_make_sense():
    for times in ((0.2, 0.1), (-1, 1), (0.0, inf)):
        with pytest.raises(RequestError, match="a time must be from 0 on and finite"):
            Spread(*times)
    for odd in ({"loss_ratio": 2}, {"delay": Spread(0, 1)}, {"observers": -1}):
        with pytest.raises(RequestError, match="a message must take some time"):
            Environment(**odd)


def test_a_network_that_is_too_slow_for_any_election_says_so():
    with pytest.raises(RequestError, match="no controller stays active"):
        fail_leader(3, FailureKind.KILLED, runs=1, seed=1, delay=Spread(5, 6))
