"""What brokers must hold together, against trying every placement of one partition."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.placement import RackRule, allowed_brokers
from kafka_capacity.kafka.placement.relaxing import shortages
from kafka_capacity.kafka.placement.shares import wanted_racks
from tests.unit.kafka.placement_kafka.problems import problem


def least_by_trying(racks, allowed, factor, rule, inside):
    """Return the fewest replicas on some brokers, over all placements that keep the rack rule as the pin lets."""
    free = np.flatnonzero(allowed).tolist()
    wanted = int(wanted_racks(np.array([factor], dtype=np.int32), len(set(racks)), rule)[0])
    wanted = min(wanted, len({racks[b] for b in free}))
    placements = [p for p in combinations(free, factor) if len({racks[b] for b in p}) >= wanted]
    return min(sum(bool(inside[b]) for b in placement) for placement in placements)


@pytest.mark.parametrize("rule", RackRule)
@pytest.mark.parametrize("seed", range(40))
def test_it_is_the_least_that_any_placement_puts_there(seed, rule):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 8))
    names = [*"ab", *rng.choice(list("abc"), count - 2)]
    factor = int(rng.integers(1, min(4, count)))
    pin = sorted((rng.choice(count, int(rng.integers(factor, count + 1)), replace=False) + 1).tolist())
    target = Brokers.of(range(1, count + 1), names)
    asked = problem({"orders": [pin[:factor]]}, target, rack_rule=rule)
    asked = replace(asked, allowed_brokers=allowed_brokers(asked.partitions, target, {"orders": pin}))
    allowed = np.isin(target.ids, pin)

    found = shortages(asked, np.ones(1), np.full(count, 0.25))

    places = {None: np.ones(count, dtype=bool), **{name: np.array(target.racks) == name for name in set(names)}}
    for one in found:
        inside = allowed if one.topics else places[one.rack]
        least = least_by_trying(target.racks, allowed, factor, rule, inside)
        assert one.ratio == pytest.approx(least / (0.25 * inside.sum())), one
    pinned = [one.topics for one in found if one.topics]
    assert pinned == ([] if allowed.all() else [("orders",)])


def test_every_rack_says_how_many_brokers_it_lacks():
    target = Brokers.of(range(1, 7), list("abcabc"))
    asked = problem({"orders": [[1, 2, 3]] * 6}, target)

    found = {one.rack: one.missing_brokers for one in shortages(asked, np.ones(6), np.full(6, 2.0))}

    assert found == {None: 3, "a": 1, "b": 1, "c": 1}


def test_a_broker_without_a_limit_takes_what_the_others_cannot():
    target = Brokers.of([1, 2, 3], list("aab"))
    asked = problem({"orders": [[1, 3]] * 6}, target)

    found = {one.rack: one.ratio for one in shortages(asked, np.ones(6), np.array([1.0, np.inf, 3.0]))}

    assert found == {None: 0.0, "a": 0.0, "b": 2.0}


def test_a_leader_must_be_somewhere_its_topic_may_be():
    target = Brokers.of([1, 2, 3])
    asked = problem({"audit": [[1, 2]] * 4, "orders": [[1, 2]] * 2}, target, rack_rule=RackRule.OFF)
    asked = replace(asked, allowed_brokers=allowed_brokers(asked.partitions, target, {"audit": [1, 2]}))

    found = shortages(asked, np.ones(6), np.full(3, 1.0), leaders_only=True)

    assert [(one.topics, one.ratio, one.missing_brokers) for one in found] == [((), 2.0, 3), (("audit",), 2.0, 2)]
