"""What must hold of the placer that copies little, whatever the cluster, against an exhaustive search on tiny ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.kafka.cluster.assignment import replica_lists
from kafka_capacity.kafka.cluster.diff import diff_assignments
from kafka_capacity.kafka.placement import Balance, RackRule, placer
from kafka_capacity.kafka.placement.bounds import lower_bound
from kafka_capacity.kafka.placement.exact import bound_of_plan
from kafka_capacity.kafka.placement.shares import balance_limits, broker_loads, narrow_partitions
from tests.properties import exhaustive
from tests.properties.strategies import Case, cases, repeatable

FEWEST = placer("fewest-bytes")


def place(case):
    return FEWEST.place(case.problem())


def lists(case):
    return replica_lists(place(case))


@repeatable(300)
@given(cases())
def test_every_partition_gets_its_factor_on_brokers_that_may_have_it_and_no_plan_beats_its_lower_bound(case):
    problem = case.problem()
    after = FEWEST.place(problem)
    check_replicas(case, replica_lists(after))
    check_bound(problem, after)


def check_replicas(case, rows):
    """Distinct brokers of the target, as many as the factor says; no replica is made on a fenced one."""
    fenced = {broker for broker, is_fenced in zip(case.ids, case.fenced, strict=True) if is_fenced}
    for before, row, factor in zip(case.before, rows, case.factors, strict=True):
        assert len(row) == len(set(row)) == factor
        assert set(row) <= set(case.ids)
        assert not (set(row) - set(before)) & fenced


def check_bound(problem, after):
    limits = balance_limits(problem)
    reached = broker_loads(problem, limits, after)

    bound = lower_bound(problem, limits.widened_to(reached))

    # Where all brokers of a rack are fenced no plan heeds the rack rule, and the bound is about those that do.
    if not narrow_partitions(problem, after):
        assert diff_assignments(problem.before, after).moved_bytes(problem.size_bytes) >= bound.bytes


@repeatable(300)
@given(cases(can_fence=False))
def test_partitions_are_spread_over_the_racks_that_the_rule_asks_for(case):
    for row, factor in zip(lists(case), case.factors, strict=True):
        assert len(exhaustive.racks_of(case, row)) >= exhaustive.racks_wanted(case, factor)


@repeatable(200)
@given(cases())
def test_partitions_on_too_few_racks_are_counted(case):
    problem = case.problem()
    inside = np.where(np.isin(problem.before, case.ids), problem.before, -1)
    rows = replica_lists(inside)

    assert narrow_partitions(problem, problem.before) == sum(
        len(exhaustive.racks_of(case, row)) < exhaustive.racks_wanted(case, len(before))
        for row, before in zip(rows, case.before, strict=True)
    )


@repeatable(200)
@given(cases(max_brokers=4, max_partitions=5, max_factor=2, can_fence=False))
def test_the_lower_bound_is_below_the_cheapest_assignment_there_is(case):
    problem = case.problem()
    limits = balance_limits(problem)
    unit = tuple(limits.unit.tolist())
    lower, upper = (dict(zip(case.ids, side.tolist(), strict=True)) for side in (limits.lower, limits.upper))

    cheapest = exhaustive.cheapest(case, unit, lower, upper)

    if cheapest is not None:
        assert lower_bound(problem, limits).bytes <= cheapest


@repeatable(150)
@given(cases(max_brokers=4, max_partitions=5, max_factor=2, can_fence=False))
def test_a_plan_within_the_limits_is_no_cheaper_than_the_cheapest(case):
    problem = case.problem()
    limits = balance_limits(problem)
    after = place(case)
    rows = tuple(tuple(row) for row in replica_lists(after))
    reached = exhaustive.loads(case, rows, limits.unit.tolist())
    widened = limits.widened_to(np.array([reached[b] for b in case.ids]))
    lower, upper = (dict(zip(case.ids, side.tolist(), strict=True)) for side in (widened.lower, widened.upper))

    cheapest = exhaustive.cheapest(case, tuple(limits.unit.tolist()), lower, upper)

    assert cheapest is not None
    assert bound_of_plan(problem, after).bytes <= cheapest
    assert lower_bound(problem, widened).bytes <= cheapest <= exhaustive.copied(case, rows)


@repeatable(150)
@given(cases(can_fence=False))
def test_what_is_balanced_already_is_left_alone(case):
    first = place(case)
    again = case.with_(before=tuple(tuple(row) for row in replica_lists(first)), tolerance=1.0)
    problem = again.problem()
    limits = balance_limits(problem)
    load = broker_loads(problem, limits, problem.before)

    if ((limits.lower <= load) & (load <= limits.upper)).all():
        assert diff_assignments(problem.before, FEWEST.place(problem)).moved_replicas == 0


@repeatable(150)
@given(cases())
def test_drained_brokers_end_empty_and_the_same_input_gives_the_same_answer(case):
    first, second = place(case), place(case)

    assert first.tolist() == second.tolist()
    assert not set(first[first >= 0].tolist()) - set(case.ids)


@repeatable(150)
@given(cases(), st.integers(1, 50), st.integers(1, 7))
def test_broker_ids_carry_no_meaning_but_their_order(case, start, step):
    def renamed(broker):
        return start + step * broker

    other = case.with_(ids=tuple(map(renamed, case.ids)), before=tuple(tuple(map(renamed, row)) for row in case.before))

    assert lists(other) == [[renamed(broker) for broker in row] for row in lists(case)]


@repeatable(150)
@given(cases(), st.sampled_from([2, 1000, 2**20]))
def test_the_unit_of_sizes_does_not_matter(case, times):
    other = case.with_(
        sizes=tuple(size * times for size in case.sizes),
        capacities=tuple(c and c * times for c in case.capacities),
    )
    moved, moved_other = exhaustive.copied(case, lists(case)), exhaustive.copied(other, lists(other))

    assert moved_other == pytest.approx(moved * times, abs=max(case.sizes) * times)


def even_case(**changes):
    """Three racks of two brokers, twelve partitions of one size, in perfect order."""
    rows = tuple((p % 6 + 1, (p + 1) % 6 + 1, (p + 2) % 6 + 1) for p in range(12))
    case = Case(
        topics=(12,),
        before=rows,
        sizes=(10,) * 12,
        rates=(1,) * 12,
        ids=(1, 2, 3, 4, 5, 6),
        racks=("a", "b", "c") * 2,
        fenced=(False,) * 6,
        capacities=(None,) * 6,
        factors=(3,) * 12,
        rack_rule=RackRule.STRICT,
        balance=Balance.BYTES,
        tolerance=0.0,
    )
    return case.with_(**changes)


def counts(case, rows):
    return [round(load) for load in exhaustive.loads(case, rows, [1.0] * len(rows)).values()]


def test_an_even_cluster_stays_as_it_is():
    case = even_case()

    assert lists(case) == [list(row) for row in case.before]


@pytest.mark.parametrize("balance", Balance)
def test_three_new_brokers_take_a_third_and_nothing_else_moves(balance):
    case = even_case(
        ids=tuple(range(1, 10)),
        racks=("a", "b", "c") * 3,
        fenced=(False,) * 9,
        capacities=(None,) * 9,
        balance=balance,
    )
    rows = lists(case)

    assert counts(case, rows) == [4] * 9
    assert exhaustive.copied(case, rows) == 3 * 4 * 10


def test_a_drained_broker_gives_away_what_it_holds_and_no_more():
    case = even_case(ids=(1, 2, 3, 4, 5), racks=("a", "b", "c", "a", "b"), fenced=(False,) * 5, capacities=(None,) * 5)
    rows = lists(case)

    assert exhaustive.copied(case, rows) == 6 * 10
    assert counts(case, rows) == [6, 6, 12, 6, 6]


@pytest.mark.parametrize(("rule", "spread"), [(RackRule.STRICT, 3), (RackRule.TWO_RACKS, 2), (RackRule.OFF, 1)])
def test_the_rack_rule_mends_what_breaks_it_and_nothing_more(rule, spread):
    # Every partition sits in rack a alone, which has three brokers; b and c have one each.
    case = even_case(
        topics=(6,),
        before=((1, 2, 3),) * 6,
        sizes=(10,) * 6,
        rates=(1,) * 6,
        ids=(1, 2, 3, 4, 5),
        racks=("a", "a", "a", "b", "c"),
        fenced=(False,) * 5,
        capacities=(None,) * 5,
        factors=(3,) * 6,
        rack_rule=rule,
        tolerance=1.0,
    )
    rows = lists(case)

    assert min(len(exhaustive.racks_of(case, row)) for row in rows) >= spread


def test_in_racks_of_four_four_and_one_the_lone_broker_holds_every_partition():
    ids = tuple(range(1, 10))
    case = even_case(
        topics=(24,),
        before=tuple(((p % 8) + 1, ((p + 3) % 8) + 1, ((p + 5) % 8) + 1) for p in range(24)),
        sizes=(10,) * 24,
        rates=(1,) * 24,
        ids=ids,
        racks=("e",) * 4 + ("f",) * 4 + ("a",),
        fenced=(False,) * 9,
        capacities=(None,) * 9,
        factors=(3,) * 24,
        tolerance=0.02,
    )
    rows = lists(case)

    assert all(9 in row for row in rows)
    assert counts(case, rows) == [6] * 8 + [24]


@pytest.mark.parametrize("factor", [1, 2, 4, 5])
def test_a_factor_is_raised_by_new_replicas_only_and_lowered_by_none(factor):
    case = even_case(factors=(factor,) * 12, rack_rule=RackRule.OFF, tolerance=0.1)
    rows = lists(case)

    assert [len(row) for row in rows] == [factor] * 12
    assert exhaustive.copied(case, rows) == max(0, factor - 3) * 12 * 10


def test_brokers_twice_as_large_hold_twice_as_much():
    case = even_case(
        topics=(36,),
        before=tuple((p % 6 + 1,) for p in range(36)),
        sizes=(10,) * 36,
        rates=(1,) * 36,
        racks=(None,) * 6,
        capacities=(1e3, 1e3, 1e3, 2e3, 2e3, 2e3),
        factors=(1,) * 36,
    )

    assert counts(case, lists(case)) == [4, 4, 4, 8, 8, 8]


def test_leaders_are_even_by_what_is_produced_and_cost_no_bytes():
    case = even_case(before=tuple((1, 2, 3) if p % 2 else (4, 5, 6) for p in range(12)), rates=(6,) * 12)
    rows = lists(case)
    leads = [sum(row[0] == broker for row in rows) for broker in case.ids]

    assert exhaustive.copied(case, rows) == 0
    assert leads == [2] * 6


def expanded(seed, *, balance, brokers=9, new=3, partitions=240):
    """A cluster with skewed sizes that gets new brokers."""
    rng = np.random.default_rng(seed)
    starts = rng.integers(0, brokers, partitions)
    total = brokers + new
    return even_case(
        topics=(partitions,),
        before=tuple(tuple(int((start + r) % brokers) + 1 for r in range(3)) for start in starts),
        sizes=tuple((rng.lognormal(0.0, 1.0, partitions) * 1e9).astype(int).tolist()),
        rates=(1,) * partitions,
        ids=tuple(range(1, total + 1)),
        racks=tuple("abc"[i % 3] for i in range(total)),
        fenced=(False,) * total,
        capacities=(None,) * total,
        factors=(3,) * partitions,
        balance=balance,
        tolerance=0.05 if balance is Balance.BYTES else 0.0,
    )


@pytest.mark.parametrize("seed", range(6))
def test_by_bytes_the_gap_to_the_bound_is_within_a_hundredth(seed):
    problem = expanded(seed, balance=Balance.BYTES).problem()
    after = FEWEST.place(problem)
    limits = balance_limits(problem)
    reached = broker_loads(problem, limits, after)
    bound = lower_bound(problem, limits).bytes

    assert limits.imbalance_ratio(reached) <= 0.05 + 1e-9
    assert bound <= diff_assignments(problem.before, after).moved_bytes(problem.size_bytes) <= 1.01 * bound


@pytest.mark.parametrize("seed", range(6))
def test_by_count_every_broker_ends_within_one_replica_and_the_fewest_replicas_move(seed):
    case = expanded(seed, balance=Balance.REPLICAS)
    problem = case.problem()
    after = FEWEST.place(problem)
    held = broker_loads(problem, balance_limits(problem), after)
    before = exhaustive.loads(case, case.before, [1.0] * len(case.before))
    share = 3 * len(case.before) / len(case.ids)

    assert set(held.tolist()) <= {float(np.floor(share)), float(np.ceil(share))}
    # What brokers lack that they must have: no plan moves fewer.
    lack = sum(max(0.0, np.floor(share) - load) for load in before.values())
    assert lack <= diff_assignments(problem.before, after).moved_replicas <= lack + len(case.ids)
