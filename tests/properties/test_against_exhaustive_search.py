"""Tight little clusters, drawn evenly and not towards the simple ones, each solved by trying everything."""

import random

import numpy as np
import pytest

from kafka_capacity.kafka.cluster.assignment import replica_lists
from kafka_capacity.kafka.placement import Balance, RackRule, placer
from kafka_capacity.kafka.placement.bounds import lower_bound
from kafka_capacity.kafka.placement.shares import balance_limits
from tests.properties import exhaustive
from tests.properties.strategies import Case

CASES = 500


def tight_case(rng):
    """Five partitions on two to four of five brokers, wanted on three or four of six."""
    ids = tuple(sorted(rng.sample(range(1, 7), rng.randint(3, 4))))
    observed = rng.sample(range(1, 6), rng.randint(2, 4))
    factor = rng.choice([1, 2])
    has_racks = rng.random() < 0.6
    return Case(
        topics=(5,),
        before=tuple(tuple(rng.sample(observed, factor)) for _ in range(5)),
        sizes=tuple(rng.randint(1, 9) for _ in range(5)),
        rates=(1,) * 5,
        ids=ids,
        racks=tuple(rng.choice("ab") if has_racks else None for _ in ids),
        fenced=(False,) * len(ids),
        capacities=(None,) * len(ids),
        factors=(factor,) * 5,
        rack_rule=rng.choice(list(RackRule)),
        balance=rng.choice(list(Balance)),
        tolerance=rng.choice([0.0, 0.1, 0.3, 0.5]),
    )


def cheapest_within(case, limits):
    lower, upper = (dict(zip(case.ids, side.tolist(), strict=True)) for side in (limits.lower, limits.upper))
    return exhaustive.cheapest(case, tuple(limits.unit.tolist()), lower, upper)


@pytest.fixture(scope="module")
def solved():
    """Per case: what was asked, the limits, the bounds, what the placer copied and what the search found."""
    rng = random.Random(5)
    found = []
    for case in (tight_case(rng) for _ in range(CASES)):
        problem = case.problem()
        limits = balance_limits(problem)
        rows = replica_lists(placer("fewest-bytes").place(problem))
        load = np.array(list(exhaustive.loads(case, rows, limits.unit.tolist()).values()))
        reached = limits.widened_to(load)
        found.append(
            {
                "case": case,
                "copied": exhaustive.copied(case, rows),
                "is_inside": bool(
                    (reached.lower >= limits.lower - 1e-6).all() and (reached.upper <= limits.upper + 1e-6).all()
                ),
                "bound": lower_bound(problem, limits).bytes,
                "reached_bound": lower_bound(problem, reached).bytes,
                "cheapest": cheapest_within(case, limits),
                "reached_cheapest": cheapest_within(case, reached),
            }
        )
    return found


def test_no_bound_is_above_the_cheapest_assignment(solved):
    for one in solved:
        assert one["cheapest"] is None or one["bound"] <= one["cheapest"], one["case"]
        assert one["reached_bound"] <= one["reached_cheapest"] <= one["copied"], one["case"]


def test_every_plan_copies_as_little_as_can_be(solved):
    for one in solved:
        assert one["copied"] == one["reached_cheapest"], one["case"]


def test_every_plan_reaches_the_balance_where_it_can_be_reached(solved):
    reachable = [one for one in solved if one["cheapest"] is not None]

    assert len(reachable) > CASES / 2
    for one in reachable:
        assert one["is_inside"], one["case"]


def test_the_search_is_no_walkover(solved):
    # Without these the other tests would say little.
    assert sum(one["reached_cheapest"] > 0 for one in solved) > CASES / 2
    assert sum(one["reached_bound"] < one["reached_cheapest"] for one in solved) > CASES / 20
