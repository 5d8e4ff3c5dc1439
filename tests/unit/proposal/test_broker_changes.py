"""Brokers that are named to go or to be replaced, and racks with new names."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from kafka_capacity.errors import RequestError
from kafka_capacity.health.cordons import uncordoned_problems
from kafka_capacity.health.problem import Severity
from kafka_capacity.health.racks import proposed_problems
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.release import KAFKA_4_4, KafkaRelease
from kafka_capacity.kafka.placement.problem import RackRule
from kafka_capacity.proposal.evaluate import evaluate_placement
from kafka_capacity.proposal.grid import BrokerChanges, placement_grid, proposed_brokers
from tests.unit.proposal.snapshots import observed
from tests.unit.proposal.test_grid import REQUEST, SIX


def changes(removed=(), replaced=None, rack_names=None):
    pairs = {"replaced": replaced or {}, "rack_names": rack_names or {}}
    return BrokerChanges(removed=tuple(removed), **{name: tuple(sorted(one.items())) for name, one in pairs.items()})


def targets(changes, counts=()):
    grid = placement_grid(
        SIX, replace(REQUEST, broker_counts=counts, broker_changes=changes, placers=("fewest-bytes",))
    )
    return [one.target for one in grid]


def test_without_counts_the_plan_is_for_what_is_then_there():
    (target,) = targets(changes(removed=[2], replaced={5: 55}))

    assert target.ids.tolist() == [1, 3, 4, 6, 55]
    assert target.racks == ("a", "c", "a", "c", "b")


def test_counts_are_of_what_is_then_there_and_no_id_is_given_again():
    fewer, more = targets(changes(removed=[6]), counts=(4, 7))

    assert set(fewer.ids.tolist()) < {1, 2, 3, 4, 5}
    assert more.ids.tolist() == [1, 2, 3, 4, 5, 7, 8]
    assert more.racks[5:] == ("c", "a")


def test_what_replaces_a_broker_has_its_rack_and_hardware_and_is_not_fenced():
    fenced = replace(SIX, is_fenced=SIX.ids == 4)
    after = changes(replaced={4: 14}).apply(fenced)

    assert after.ids.tolist() == [1, 2, 3, 5, 6, 14]
    assert after.racks[5] == "a"
    assert after.disk_capacity_bytes[5] == 40.0
    assert not after.is_fenced.any()


def test_what_replaces_a_cordoned_broker_takes_replicas():
    cordoned = replace(SIX, is_cordoned=np.isin(SIX.ids, [4, 5]))
    after = changes(replaced={4: 14}).apply(cordoned)

    assert after.ids[~after.takes_replicas].tolist() == [5]


def test_brokers_that_are_emptied_and_not_cordoned_are_named():
    target = proposed_brokers(SIX, 4)
    gone = sorted(set(SIX.ids.tolist()) - set(target.ids.tolist()))
    (problem,) = uncordoned_problems(SIX, KAFKA_4_4, target)

    assert (problem.code, problem.where) == ("not-cordoned", f"brokers {gone[0]}, {gone[1]}")
    assert problem.severity is Severity.WARNING
    assert uncordoned_problems(SIX, KafkaRelease(4, 2), target) == ()
    assert uncordoned_problems(replace(SIX, is_cordoned=np.isin(SIX.ids, gone)), KAFKA_4_4, target) == ()
    assert uncordoned_problems(SIX, KAFKA_4_4, SIX) == ()


def test_brokers_that_vote_go_last_and_those_that_take_no_replicas_first():
    voting = replace(SIX, is_voter=np.isin(SIX.ids, [4, 5, 6]))
    assert proposed_brokers(voting, 3).ids.tolist() == [4, 5, 6]
    assert proposed_brokers(voting, 2).ids.tolist() == [4, 5]
    fenced = replace(SIX, is_fenced=np.isin(SIX.ids, [1]), is_cordoned=np.isin(SIX.ids, [2]))
    assert proposed_brokers(fenced, 3).ids.tolist() == [3, 4, 5]
    assert proposed_brokers(SIX, 3).ids.tolist() == [1, 2, 3]
    assert changes(removed=(3,)).apply(voting).is_voter.tolist() == [False, False, True, True, True]


def test_two_racks_with_one_new_name_become_one():
    assert changes(rack_names={"a": "x", "b": "x"}).apply(SIX).racks == ("x", "x", "c") * 2


def test_a_new_name_may_be_that_of_another_rack_which_is_renamed_too():
    assert changes(rack_names={"a": "b", "b": "a"}).apply(SIX).racks == ("b", "a", "c") * 2


def test_every_mistake_is_told():
    wrong = changes(removed=[9, 3], replaced={3: 13, 1: 2, 4: 44, 5: 44, 8: 80}, rack_names={"z": "a"})
    with pytest.raises(RequestError) as refused:
        wrong.check(SIX)

    assert str(refused.value).splitlines() == [
        "removed_brokers: broker 9 is invalid: the cluster has no such broker (brokers: 1, 2, 3, 4, 5, 6)",
        "replaced_brokers: broker 8 is invalid: the cluster has no such broker (brokers: 1, 2, 3, 4, 5, 6)",
        "replaced_brokers: 1 by 2 is invalid: broker 2 exists; choose a free id",
        "replaced_brokers: broker 3 is invalid: it is removed as well; choose one",
        "replaced_brokers: 4 by 44 is invalid: 44 replaces another one too",
        "replaced_brokers: 5 by 44 is invalid: 44 replaces another one too",
        "rack_names: 'z' is invalid: no broker is in it (racks: a, b, c)",
    ]


def test_not_all_brokers_can_go():
    with pytest.raises(RequestError, match="removed_brokers: all brokers of the cluster are invalid: leave one"):
        changes(removed=[1, 2]).check(Brokers.of([1, 2]))


def one_result(changes, **options):
    snapshot, load = observed(**options)
    asked = replace(REQUEST, broker_changes=changes, placers=("fewest-bytes",), tolerance_ratio=1.0)
    (scenario,) = placement_grid(snapshot.brokers, asked)
    return evaluate_placement(snapshot, load, scenario)


def test_a_renamed_rack_moves_nothing():
    assert one_result(changes(rack_names={"a": "zone-a"})).metrics.moved_replicas == 0


def test_racks_that_become_one_move_nothing_where_the_rule_holds_still():
    # Two racks are left for three replicas: every partition is on both already.
    assert one_result(changes(rack_names={"a": "b"})).metrics.moved_replicas == 0


def test_a_replaced_broker_gives_all_it_holds_to_the_new_one():
    result = one_result(changes(replaced={3: 30}))

    assert result.fits
    assert 3 not in result.diff.after
    assert (result.diff.after == 30).sum() == (result.diff.before == 3).sum() == result.metrics.moved_replicas


def test_a_rack_that_is_renamed_whole_is_no_slip_of_the_pen_but_somebody_must_set_it():
    renamed = changes(rack_names={"a": "zone-a"}).apply(SIX)
    slip = Brokers.of(SIX.ids.tolist(), ["a", "b", "c", "a", "B", "c"])

    def found(target):
        proposed = SimpleNamespace(target=target, replication_factor=None, rack_rule=RackRule.STRICT)
        return {one.code: one for one in proposed_problems(SIX, np.array([2]), proposed)}

    assert "new-rack" in found(slip)
    assert "new-rack" not in found(renamed)
    note = found(renamed)["changed-racks"]
    assert note.message == ("2 brokers have a different rack from today (1: a → zone-a, 4: a → zone-a)")
    assert note.remedy == "set broker.rack and restart them before the move"
    assert found(SIX) == {}


def test_replicas_that_a_new_name_puts_into_one_rack_are_spread_again():
    result = one_result(changes(rack_names={"b": "a"}), brokers=4, racks=4, rf=3, partitions=8)

    target = result.scenario.target
    racks = dict(zip(target.ids.tolist(), target.racks, strict=True))
    assert set(racks.values()) == {"a", "c", "d"}
    assert all(len({racks[b] for b in row}) == 3 for row in result.diff.after.tolist())
    assert np.count_nonzero(result.diff.added) > 0
