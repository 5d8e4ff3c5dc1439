"""Fair shares and lower bounds, in figures worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.placement import Balance, RackRule
from kafka_capacity.kafka.placement.bounds import least_new_replicas, lower_bound
from kafka_capacity.kafka.placement.registry import placer
from kafka_capacity.kafka.placement.shares import balance_limits, broker_loads, fair_shares, wanted_racks
from tests.unit.kafka.placement_kafka.problems import problem

EVEN = {"orders": [[1, 2, 3]] * 4}  # 100 bytes a replica


def shares(racks, *, total, rack_limit, weight=None, least=None):
    weight = np.ones(len(racks)) if weight is None else np.array(weight)
    most = np.full(max(racks) + 1, rack_limit)
    least = np.zeros(len(most)) if least is None else np.array(least)
    return fair_shares(total=total, rack=np.array(racks), weight=weight, least=least, most=most).tolist()


def test_without_a_rack_that_is_full_everybody_gets_the_same():
    assert shares([0, 0, 1, 1], total=40.0, rack_limit=40.0) == [10.0] * 4


def test_a_full_rack_hands_its_rest_to_the_others():
    # 4, 4 and 1 brokers, three copies of 24: each rack holds one copy of everything.
    assert shares([0] * 4 + [1] * 4 + [2], total=72.0, rack_limit=24.0) == [6.0] * 8 + [24.0]


def test_racks_fill_one_after_another():
    # By weight 30, 10, 10: the rack of three holds 20 at most, and the other two share its rest.
    assert shares([0, 0, 0, 1, 2], total=50.0, rack_limit=20.0) == pytest.approx([20 / 3] * 3 + [15.0, 15.0])


def test_a_larger_broker_gets_more():
    assert shares([0, 1], total=30.0, rack_limit=30.0, weight=[1.0, 2.0]) == [10.0, 20.0]


def test_what_a_rack_must_hold_is_its_share():
    # 100 in three copies, one in each rack, and 100 in one copy: the lone broker must hold 100 of 400.
    assert shares([0, 1, 1, 2, 2], total=400.0, rack_limit=200.0, least=[100.0] * 3) == [100.0] + [75.0] * 4
    # What one rack may not hold, and another must, from two sides.
    assert shares([0, 1, 2], total=90.0, rack_limit=35.0, least=[30.0, 0.0, 30.0], weight=[1.0, 8.0, 1.0]) == (
        pytest.approx([30.0, 30.0, 30.0])
    )


@pytest.mark.parametrize("seed", range(20))
def test_shares_are_level_between_the_limits_of_racks(seed):
    rng = np.random.default_rng(seed)
    racks = rng.integers(2, 6)
    rack = np.concatenate([np.arange(racks), rng.integers(0, racks, 6)])
    weight, least = rng.uniform(1.0, 3.0, len(rack)), rng.uniform(0.0, 20.0, racks)
    most = least + rng.uniform(1.0, 40.0, racks)
    total = float(rng.uniform(least.sum(), most.sum()))
    found = fair_shares(total=total, rack=rack, weight=weight, least=least, most=most)
    of_rack, wide = (np.bincount(rack, each) for each in (found, weight))
    assert of_rack.sum() == pytest.approx(total)
    assert (of_rack >= least - 1e-9).all()
    assert (of_rack <= most + 1e-9).all()
    # Who could give has no higher level than who could take.
    level = of_rack / wide
    assert level[of_rack > least + 1e-9].max(initial=0.0) <= level[of_rack < most - 1e-9].min(initial=np.inf) + 1e-9
    np.testing.assert_allclose(found, (of_rack / wide)[rack] * weight)


@pytest.mark.parametrize("tolerance", [0.0, 0.02, 0.05, 0.1])
def test_a_tighter_tolerance_is_never_less_even(tolerance):
    """One broker alone in its rack must hold a copy of what has three; single replicas are all on two of the others."""
    orders = [[1, 2 + at % 2, 4 + at // 2 % 2] for at in range(40)]
    single = [[2 + at % 2] for at in range(40)]
    uneven = problem({"orders": orders, "single": single}, Brokers.of(range(1, 6), list("abbcc")))
    asked = replace(uneven, balance=Balance.BYTES, tolerance_ratio=tolerance)
    limits = balance_limits(asked)
    assert limits.fair.tolist() == pytest.approx([4000.0, 3000.0, 3000.0, 3000.0, 3000.0])
    after = placer("fewest-bytes").place(asked)
    assert limits.imbalance_ratio(broker_loads(asked, limits, after)) <= tolerance + 100.0 / 3000.0


@pytest.mark.parametrize(
    ("rule", "wanted"), [(RackRule.STRICT, [1, 2, 3, 3]), (RackRule.TWO_RACKS, [1, 2, 2, 2]), (RackRule.OFF, [1] * 4)]
)
def test_the_rack_rule_in_racks(rule, wanted):
    assert wanted_racks(np.array([1, 2, 3, 4]), 3, rule).tolist() == wanted


def test_no_rack_wants_more_racks_than_there_are():
    assert wanted_racks(np.array([3]), 1, RackRule.STRICT).tolist() == [1]


def test_a_replica_on_a_broker_that_goes_must_be_made_anew():
    assert least_new_replicas(problem(EVEN, [1, 2, 4])).tolist() == [1] * 4


def test_a_rack_that_is_missing_costs_a_replica():
    target = Brokers.of([1, 2, 3, 4], ["a", "a", "b", "c"])

    assert least_new_replicas(problem(EVEN, target)).tolist() == [1] * 4
    assert least_new_replicas(problem(EVEN, target, rack_rule=RackRule.TWO_RACKS)).tolist() == [0] * 4


def test_a_lower_factor_needs_nothing_new():
    assert least_new_replicas(problem(EVEN, [1, 2, 3], factors=[2] * 4)).tolist() == [0] * 4


@pytest.mark.parametrize(
    ("target", "amount", "kind"),
    [
        # A drained broker: its four replicas of 100 bytes.
        (range(1, 3), 0, "counting"),
        # 1,200 bytes on four brokers, 300 each with a tenth of tolerance: the new one must get 270.
        (range(1, 5), 270, "deficit"),
    ],
)
def test_the_bound_names_what_it_rests_on(target, amount, kind):
    asked = problem(EVEN, list(target), factors=[2] * 4 if len(target) == 2 else None)
    bound = lower_bound(asked, balance_limits(asked))

    assert (bound.bytes, bound.kind) == (amount, kind)


def test_what_does_not_fit_is_a_surplus():
    # Two brokers of three hold everything: 600 each, 440 allowed, so 320 must leave; the third lacks 360.
    asked = replace(problem({"orders": [[1, 2]] * 6}, [1, 2, 3]), tolerance_ratio=0.1)
    bound = lower_bound(asked, balance_limits(asked))

    assert (bound.bytes, bound.kind) == (360, "deficit")
    loose = replace(asked, tolerance_ratio=0.4)
    assert lower_bound(loose, balance_limits(loose)).bytes == 240


def test_by_count_the_smallest_replicas_set_the_price():
    asked = replace(
        problem({"orders": [[1]] * 4}, [1, 2]),
        balance=Balance.REPLICAS,
        tolerance_ratio=0.0,
        size_bytes=np.array([5, 7, 11, 13]),
    )

    assert lower_bound(asked, balance_limits(asked)).bytes == 5 + 7


def test_bytes_follow_the_disks_where_all_are_known():
    target = Brokers.of([1, 2], disk_capacity_bytes=[100.0, 300.0])
    limits = balance_limits(problem({"orders": [[1]] * 4}, target))

    assert limits.fair.tolist() == [100.0, 300.0]
    unknown = Brokers.of([1, 2], disk_capacity_bytes=[100.0, None])
    assert balance_limits(problem({"orders": [[1]] * 4}, unknown)).fair.tolist() == [200.0, 200.0]


def test_loads_leave_out_who_is_not_in_the_target():
    asked = problem(EVEN, [1, 2, 9])

    assert broker_loads(asked, balance_limits(asked), asked.before).tolist() == [400.0, 400.0, 0.0]


def test_imbalance_is_the_largest_distance_from_a_share():
    asked = problem({"orders": [[1], [1], [1], [2]]}, [1, 2])
    limits = balance_limits(asked)

    assert limits.imbalance_ratio(broker_loads(asked, limits, asked.before)) == pytest.approx(0.5)
