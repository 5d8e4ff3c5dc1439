"""Which sets are looked at."""

import dataclasses

import numpy as np
import pytest

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.controller.quorum.voters import Quorum, QuorumReplica, Voter
from kafka_capacity.questions.failures.request import ControllerRequest, FailureRequest, lost_together
from kafka_capacity.questions.failures.scenario import FailureScenario, FailureSet, LeftOut, SetKind
from kafka_capacity.questions.failures.sets import failure_sets, rack_members, shared_partitions

SIX = Brokers.of(range(1, 7), list("aabbcc"))
REPLICAS = np.array([[1, 3], [1, 3], [5, 6], [2, -1]], dtype=np.int32)


def sets(**options):
    return failure_sets(SIX, REPLICAS, FailureScenario(**options))


def test_a_rack_goes_before_the_broker_that_follows():
    found, left_out = sets(kinds=(SetKind.RACK_AND_BROKER,))

    assert len(found) == 12
    assert not left_out
    assert (found[0].name, found[0].brokers, found[0].first) == ("rack a + broker 3", (1, 2, 3), (1, 2))


def test_of_too_many_pairs_those_that_share_partitions_are_kept():
    found, left_out = sets(kinds=(SetKind.PAIR,), max_sets=4)

    assert left_out == (LeftOut(kind=SetKind.PAIR, possible=15, chosen=4),)
    assert len(found) == 4
    assert {(1, 3), (5, 6)} <= {one.brokers for one in found}
    assert found == sets(kinds=(SetKind.PAIR,), max_sets=4)[0]
    others = {sets(kinds=(SetKind.PAIR,), max_sets=4, seed=seed)[0] for seed in range(5)}
    assert len(others) > 1


def test_shared_partitions_are_counted_by_hand():
    shared = shared_partitions(SIX.index_of(REPLICAS), 6)

    assert shared[0, 2] == shared[2, 0] == 2
    assert shared[4, 5] == 1
    assert shared.sum() == 6


def test_given_brokers_are_called_by_their_ids_and_racks_by_the_names_they_were_given():
    texts = ("2,1", "1", "6,1,1", "6,rack:a")
    asked = FailureRequest(asked=FailureScenario(), given=tuple(map(lost_together, texts)))
    found, _ = failure_sets(SIX, REPLICAS, asked.scenario("today", SIX, (SetKind.GIVEN,)))
    assert [one.name for one in found] == ["brokers 1, 2", "broker 1", "brokers 1, 6", "broker 6 + rack a"]
    assert [(one.brokers, one.racks) for one in found[2:]] == [((1, 6), ()), ((1, 2, 6), ("a",))]


def test_a_rack_that_is_not_there_is_refused():
    with pytest.raises(RequestError) as caught:
        rack_members(SIX, "z")
    assert str(caught.value) == "racks: no broker is in rack 'z'; the racks of this cluster: a, b, c"


def test_a_rack_of_controllers_alone_is_lost_like_any_other():
    given = FailureSet(kind=SetKind.GIVEN, name="rack q", brokers=(), racks=("q",))
    scenario = FailureScenario(kinds=(SetKind.RACK, SetKind.RACK_AND_BROKER), given=(given,))
    found, _ = failure_sets(SIX, REPLICAS, scenario, ("a", "q"))
    lost = {(one.kind, one.name): (one.brokers, one.racks) for one in found}
    assert lost[SetKind.GIVEN, "rack q"] == lost[SetKind.RACK, "rack q"] == ((), ("q",))
    assert lost[SetKind.RACK_AND_BROKER, "rack q + broker 6"] == ((6,), ("q",))
    assert [name for kind, name in lost if kind is SetKind.RACK] == ["rack a", "rack b", "rack c", "rack q"]

    assert rack_members(SIX, "q", ("a", "q")) == ()
    with pytest.raises(RequestError, match=r"neither a broker nor a controller is in rack 'z'.*: a, b, c, q$"):
        rack_members(SIX, "z", ("a", "q"))


def test_what_a_plan_asks_of_a_rack_of_controllers_alone_is_lost_where_they_are():
    voters = (Voter(node_id=101, rack="q"), Voter(node_id=102, rack=None))
    asked = FailureRequest(
        asked=FailureScenario(kinds=()),
        given=(lost_together("rack:q"),),
        controllers=ControllerRequest(voters=voters),
    )
    asked.check([SIX])
    lost = asked.scenario("today", SIX, (SetKind.GIVEN,), asked.controllers.racks)
    assert [(one.brokers, one.name, one.racks) for one in lost.given] == [((), "rack q", ("q",))]
    assert asked.scenario("today", SIX, (SetKind.GIVEN,)).given == ()
    with pytest.raises(RequestError, match="rack q"):
        dataclasses.replace(asked, controllers=ControllerRequest()).check([SIX])


def test_a_rack_is_lost_with_all_that_is_in_it_where_it_is_a_rack_that_is_lost():
    given = FailureSet(kind=SetKind.GIVEN, name="brokers 1, 2", brokers=(1, 2))
    found, _ = sets(kinds=(SetKind.BROKER, SetKind.PAIR, SetKind.RACK, SetKind.RACK_AND_BROKER), given=(given,))
    racks = {(one.kind, one.name): one.racks for one in found}
    assert racks[SetKind.RACK, "rack a"] == racks[SetKind.RACK_AND_BROKER, "rack a + broker 6"] == ("a",)
    # Brokers by themselves are no rack, be they all that are in it.
    assert racks[SetKind.BROKER, "broker 1"] == racks[SetKind.PAIR, "brokers 1, 2"] == ()
    assert racks[SetKind.GIVEN, "brokers 1, 2"] == ()


def test_voters_of_unknown_racks_may_be_in_one_that_is_lost():
    def left(*racks, lost=("a",), down=(), brokers=()):
        voters = tuple(Voter(node_id=101 + place, rack=rack) for place, rack in enumerate(racks))
        behind = tuple(QuorumReplica(node_id=one, is_voter=True, behind_seconds=1e6) for one in down)
        asked = ControllerRequest(voters=voters, quorum=Quorum(replicas=behind))
        return asked.has_majority_without(brokers, lost)

    assert (left("a", "b", "c"), left("a", "a", "b")) == (True, False)
    assert left(None, None, None) is None
    assert left(None, None, None, lost=()) is True
    assert left(None, None, None, lost=(), brokers=(101, 102)) is False
    assert (left(None, "b", "c"), left(None, "b", "c", down=(102,))) == (True, None)
    assert left("a", "a", None) is False
    # A broker that is fenced is no controller that helps, unless the quorum tells more of it.
    fenced = Quorum(fenced=frozenset({101}))
    voters = tuple(Voter(node_id=node, rack=rack) for node, rack in ((101, "a"), (102, "b"), (103, "c")))
    assert ControllerRequest(voters=voters, quorum=fenced).has_majority_without((102,), ()) is False
    told = dataclasses.replace(fenced, replicas=(QuorumReplica(node_id=101, is_voter=True, behind_seconds=0.0),))
    assert ControllerRequest(voters=voters, quorum=told).has_majority_without((102,), ()) is True
    assert ControllerRequest().has_majority_without((), ("a",)) is None
