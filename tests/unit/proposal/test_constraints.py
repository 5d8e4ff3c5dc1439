"""What speaks against a change of a cluster that is over its limits already, and what does not."""

from dataclasses import replace

import numpy as np
import pytest

from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.proposal.constraints.registry import CONSTRAINTS, broker_limits, standing_sentence
from kafka_capacity.proposal.evaluate import evaluate_placement
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.proposal.grid import is_judged_against_today, placement_grid, target_scenarios
from kafka_capacity.proposal.pins import Pin
from kafka_capacity.questions.change.move_schedule import MoveSettings, scheduled
from tests.unit.proposal.snapshots import GIB, observed, scenario
from tests.unit.proposal.test_broker_changes import changes
from tests.unit.proposal.test_grid import REQUEST, SIX

FULL = 6.5 * GIB
"""A disk of which 85 percent is less than the 6 GiB that each of the six brokers holds."""


def asked(disk=FULL, **request):
    """Evaluate a request on six brokers with 36 GiB in all."""
    snapshot, load = observed(disk_capacity_bytes=disk)
    grid = placement_grid(snapshot.brokers, replace(REQUEST, placers=("fewest-bytes",), **request))
    return [evaluate_placement(snapshot, load, one) for one in grid]


def test_replacing_a_broker_of_a_full_cluster_is_no_worse_than_today():
    (result,) = asked(broker_changes=changes(replaced={3: 13}))

    assert result.fits
    assert result.excuses == ()
    assert {one.constraint for one in result.standing} == {"disk"}
    assert standing_sentence(one.as_dict() for one in result.standing) == (
        "no worse than today: brokers 1, 2, 3, 4, 5 and 6 were over the disk limit before"
    )
    new = next(one for one in result.standing if one.broker_id == 13)
    assert (new.before, new.replaced_broker_id) == (6 * GIB, 3)
    assert new.reason == (
        "broker 13 (rack c) would hold 6.0 GiB but may be filled to 5.5 GiB (85 % of its disk): 486.4 MiB too much; "
        "today it is 6.0 GiB on broker 3, which it replaces"
    )


def test_the_waves_of_such_a_replacement_may_fill_the_new_broker_as_the_old_one_was():
    snapshot, load = observed(disk_capacity_bytes=FULL)
    (one,) = placement_grid(
        snapshot.brokers, replace(REQUEST, placers=("fewest-bytes",), broker_changes=changes(replaced={3: 13}))
    )
    result, schedule = scheduled(snapshot, load, evaluate_placement(snapshot, load, one), MoveSettings())

    assert result.fits
    assert schedule.refusals == ()


def test_a_full_broker_that_gets_fuller_speaks_against_the_change():
    (result,) = asked(broker_changes=changes(removed=[3]))

    # Each rack holds a copy of everything: that of rack c is on one broker then.
    assert not result.fits
    assert [(one.broker_id, one.before) for one in result.excuses if one.constraint == "disk"] == [(6, 6 * GIB)]
    assert {one.broker_id for one in result.standing} == {1, 2, 4, 5}
    assert "; today it is 6.0 GiB; it needs at least" in result.excuses[0].reason


def test_what_gets_better_and_stays_over_its_limit_is_standing():
    only, more = asked(disk=4.5 * GIB, replication_factor=2)

    # 24 GiB on six disks of 4.5 GiB: over, and less than today.
    assert only.fits
    assert len(only.standing) == 6
    assert all(one.needed < one.before for one in only.standing)
    assert more.fits
    assert more.standing == ()


def test_a_new_broker_keeps_its_limits_whatever_the_others_do():
    snapshot, load = observed(disk_capacity_bytes=FULL)
    ids = [1, 2, 4, 5, 6, 13]
    target = Brokers.of(
        ids,
        ["a", "b", "a", "b", "c", "c"],
        disk_capacity_bytes=[FULL] * 6,
        network_in_bytes_per_second=snapshot.brokers.network_in_bytes_per_second.tolist(),
        network_out_bytes_per_second=snapshot.brokers.network_out_bytes_per_second.tolist(),
    )
    (one,) = target_scenarios(replace(REQUEST, placers=("fewest-bytes",)), snapshot.brokers, target)
    result = evaluate_placement(snapshot, load, one)

    assert one.is_judged_against_today
    assert 13 in {excuse.broker_id for excuse in result.excuses}


def test_whether_so_many_brokers_are_enough_is_judged_by_the_limits_alone():
    few, more = asked()
    (named,) = asked(broker_counts=(6,))

    assert (few.fits, more.fits, named.fits) == (False, True, False)
    assert few.standing == named.standing == ()
    assert {one.before for one in few.excuses} == {None}


@pytest.mark.parametrize(
    ("request_", "target", "expected"),
    [
        ({}, SIX, False),
        ({"broker_counts": (6,), "replication_factor": 2}, SIX, False),
        ({"replication_factor": 2}, SIX, True),
        ({"pins": (Pin(topics="a", broker_ids=(1,), racks=()),)}, SIX, True),
        ({"partition_counts": (("a", 9),)}, SIX, True),
        ({"replication_factor": 2}, Brokers.of(range(1, 8)), False),
        ({"broker_changes": changes(rack_names={"a": "x"})}, SIX, True),
        ({"broker_changes": changes(removed=[2]), "broker_counts": (5,)}, SIX, False),
        ({"replication_factor": 2}, replace(SIX, disk_capacity_bytes=SIX.disk_capacity_bytes / 2), False),
    ],
)
def test_which_requests_are_judged_against_today(request_, target, expected):
    assert is_judged_against_today(replace(REQUEST, **request_), SIX, target) is expected


def test_no_worse_is_no_more_at_the_same_broker_that_was_over_its_limit():
    def is_standing(needed, before):
        return Excuse(
            reason="", constraint="disk", where="", needed=needed, available=10.0, unit="bytes", before=before
        ).is_standing

    assert is_standing(12.0, 12.0)
    assert is_standing(11.0, 12.0)
    assert not is_standing(12.1, 12.0)
    assert not is_standing(10.5, 10.0)  # was within its limit
    assert not is_standing(12.0, None)


def test_placers_are_told_the_limits_that_are_judged_by():
    limits = broker_limits(scenario(2, disk=100.0, network=7.0, broker_maxima=(("replica_count", 5),)))

    assert limits.disk_bytes.tolist() == [85.0, 85.0]
    assert limits.network_in_bytes_per_second.tolist() == limits.network_out_bytes_per_second.tolist() == [7.0, 7.0]
    assert limits.replica_count.tolist() == [5.0, 5.0]
    assert np.isinf(broker_limits(scenario(2)).replica_count).all()


def test_a_limit_of_leaders_is_kept_where_it_can_be_and_else_an_excuse_with_figures():
    kept = evaluate_placement(*observed(), scenario(6, broker_maxima=(("leader_count", 2),)))
    broken = evaluate_placement(*observed(), scenario(6, broker_maxima=(("leader_count", 1),)))

    assert kept.fits
    assert kept.loads.leaders_after.tolist() == [2] * 6
    assert {(one.constraint, one.needed, one.available, one.unit) for one in broken.excuses} == {
        ("leader_count", 2.0, 1.0, "leaders")
    }
    assert broken.excuses[0].reason == (
        "broker 1 (rack a) would hold 2 leaders but may hold 1; it needs at least 6 more brokers of this size, or a "
        "limit of 2 would be enough"
    )


def test_every_constraint_on_brokers_has_a_name_of_its_own():
    names = [one.name for one in CONSTRAINTS if hasattr(one, "name")]

    assert len(names) == len(set(names)) == 12
