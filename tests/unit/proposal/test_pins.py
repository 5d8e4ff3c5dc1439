"""Topics pinned to brokers and racks, and how many replicas a broker may hold."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from kafka_capacity.errors import RequestError
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.placement import RackRule, placer_names
from kafka_capacity.proposal.evaluate import evaluate_placement
from kafka_capacity.proposal.pins import Pin, check_pins, pins_by_topic, pins_of
from tests.builders import cluster, topic
from tests.unit.proposal.snapshots import GIB, observed, scenario

TWO_TOPICS = [topic("audit", partitions=4, rf=2), topic("orders", partitions=12)]


def two_topics():
    raw = cluster(topics=TWO_TOPICS)
    snapshot = build_snapshot(raw)
    return snapshot, partition_load(raw, snapshot)


def reasons(result, constraint):
    return [excuse.reason for excuse in result.excuses if excuse.constraint == constraint]


def test_the_own_name_of_a_topic_goes_before_a_pattern():
    pins = pins_of({"a*": [1], "audit": ["rack:b"]})
    found = pins_by_topic(pins, ["alerts", "audit", "orders"])

    assert found == {"alerts": Pin(topics="a*", broker_ids=(1,)), "audit": Pin(topics="audit", racks=("b",))}


def test_a_topic_that_two_patterns_match_is_refused():
    with pytest.raises(RequestError) as refused:
        pins_by_topic(pins_of({"a*": [1], "*t": [2]}), ["audit"])

    assert str(refused.value) == (
        "pinned_topics: topic 'audit' is matched by '*t' and 'a*'; pin it by its own name as well"
    )


def test_what_is_not_there_is_told_all_at_once():
    pins = pins_of({"audit": [2, 9, "rack:z"], "oders": [1], "x*": [1]})
    with pytest.raises(RequestError) as refused:
        check_pins(pins, ["audit", "orders"], [Brokers.of([1, 2], ["a", "b"]), Brokers.of([1, 2, 3], ["a", "b", "a"])])

    assert str(refused.value).splitlines() == [
        "pinned_topics: 'audit' is pinned to broker 9, which no option of this plan has (brokers: 1, 2, 3)",
        "pinned_topics: 'audit' is pinned to rack 'z', which no option of this plan has (racks: a, b)",
        "pinned_topics: 'oders' is not a topic of the cluster; correct the name or leave it out",
        "pinned_topics: 'x*' matches no topic of the cluster; correct the name or leave it out",
    ]


def test_a_pattern_all_of_whose_topics_have_their_own_pins_is_no_mistake():
    check_pins(pins_of({"a*": [1], "audit": [2]}), ["audit"], [Brokers.of([1, 2])])


def test_a_pinned_topic_is_on_its_brokers_and_the_others_do_not_move_for_it():
    asked = scenario(pins=pins_of({"audit": [1, 2, 6]}), tolerance_ratio=1.0)
    result = evaluate_placement(*two_topics(), asked)

    assert result.fits
    assert np.isin(result.diff.after[:4], [1, 2, 6, -1]).all()
    assert (np.sort(result.diff.after[4:]) == np.sort(result.diff.before[4:])).all()


def test_a_pin_to_a_rack_takes_new_brokers_of_that_rack_too():
    pins = pins_of({"audit": ["rack:a", "rack:b"]})
    result = evaluate_placement(*two_topics(), scenario(9, pins=pins))

    assert np.isin(result.diff.after[:4], [1, 2, 4, 5, 7, 8, -1]).all()


def test_a_pin_that_cannot_hold_the_factor_is_an_excuse_with_what_would_do():
    (excuse,) = evaluate_placement(*two_topics(), scenario(pins=pins_of({"orders": [1, 2]}))).excuses

    assert excuse.reason == (
        "topic 'orders' needs replication factor 3 but is pinned to 2 brokers of the target that may take one; pin it "
        "to 1 more, or lower the factor"
    )
    assert (excuse.needed, excuse.available, excuse.unit) == (3.0, 2.0, "brokers")


@pytest.mark.parametrize("placer", sorted(set(placer_names()) - {"fewest-bytes"}))
def test_placers_of_kafka_know_no_pins_and_the_excuse_says_so(placer):
    result = evaluate_placement(*two_topics(), scenario(placer=placer, pins=pins_of({"audit": [1, 2]})))

    (reason,) = reasons(result, "pin")
    assert reason.endswith("are not allowed on; choose a placer that respects pins, such as fewest-bytes")


def test_a_topic_pinned_into_one_rack_stays_put_and_breaks_the_rack_rule_openly():
    raw = cluster(topics=[topic("audit", replicas=[[1, 4]] * 3)])
    snapshot = build_snapshot(raw)
    asked = scenario(pins=pins_of({"audit": ["rack:a"]}))
    result = evaluate_placement(snapshot, partition_load(raw, snapshot), asked)

    assert result.metrics.moved_replicas == 0
    (reason,) = reasons(result, "rack_rule")
    assert "pin topics to brokers of more racks" in reason
    loose = evaluate_placement(snapshot, partition_load(raw, snapshot), replace(asked, rack_rule=RackRule.OFF))
    assert loose.fits


def test_the_limit_of_replicas_is_kept_where_it_can_be():
    result = evaluate_placement(
        *observed(brokers=3, racks=3, partitions=10), scenario(6, broker_maxima=(("replica_count", 5),))
    )

    assert result.fits
    assert result.loads.replicas_after.tolist() == [5] * 6


def test_a_limit_of_replicas_that_cannot_be_kept_says_what_would_do():
    result = evaluate_placement(*observed(), scenario(6, broker_maxima=(("replica_count", 5),)))

    assert [excuse.constraint for excuse in result.excuses] == ["replica_count"] * 6
    assert result.excuses[0].reason == (
        "broker 1 (rack a) would hold 6 replicas but may hold 5; it needs at least 3 more brokers of this size in "
        "these racks (1 in rack a, 1 in rack b, 1 in rack c), or a limit of 6 would be enough"
    )
    # Every rack has a replica of each partition, so two brokers more leave the third rack as full as it was.
    fits = [evaluate_placement(*observed(), scenario(n, broker_maxima=(("replica_count", 5),))).fits for n in (8, 9)]
    assert fits == [False, True]


def test_a_topic_pinned_to_too_few_brokers_is_named():
    pins = pins_of({"orders": [1, 2, 4]})
    asked = scenario(6, pins=pins, rack_rule=RackRule.OFF, replication_factor=2, broker_maxima=(("replica_count", 5),))
    result = evaluate_placement(*observed(), asked)

    assert "it needs at least 2 more brokers of this size that topic orders may be on, or" in result.excuses[0].reason


@pytest.mark.parametrize("seed", range(40))
def test_tiny_pinned_clusters_copy_as_little_as_trying_everything(seed):
    rng = np.random.default_rng(seed)
    rows = [rng.choice([1, 2, 3], 2, replace=False).tolist() for _ in range(4)]
    sizes = rng.integers(1, 9, 4) * GIB
    raw = cluster(brokers=4, racks=None, topics=[topic(f"t{p}", replicas=[row]) for p, row in enumerate(rows)])
    snapshot = build_snapshot(raw)
    snapshot = replace(snapshot, size_bytes=np.repeat(sizes[:, None], 2, axis=1))
    allowed = {f"t{p}": sorted(rng.choice(4, rng.integers(2, 5), replace=False) + 1) for p in range(3)}
    asked = scenario(
        4,
        racks=0,
        pins=pins_of({name: [int(b) for b in ids] for name, ids in allowed.items()}),
        tolerance_ratio=1.0,
        rack_rule=RackRule.OFF,
        broker_maxima=(("replica_count", 3),),
    )
    result = evaluate_placement(snapshot, partition_load(raw, snapshot), asked)
    upper = 2.0 * 2.0 * sizes.sum() / 4
    best = None
    for chosen in product(*(combinations(allowed.get(f"t{p}", [1, 2, 3, 4]), 2) for p in range(4))):
        held = [b for row in chosen for b in row]
        load = [sum(sizes[p] for p in range(4) if b in chosen[p]) for b in (1, 2, 3, 4)]
        if max(held.count(b) for b in held) <= 3 and max(load) <= upper:
            cost = sum(int(sizes[p]) * len(set(chosen[p]) - set(rows[p])) for p in range(4))
            best = cost if best is None else min(best, cost)
    assert best is not None
    assert result.fits
    assert result.metrics.moved_bytes == best
