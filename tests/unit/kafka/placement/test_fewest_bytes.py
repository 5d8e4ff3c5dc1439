"""What the placer that copies little refuses, and the order of its lists."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_capacity.errors import PlacementError
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.placement import placer
from tests.unit.kafka.placement_kafka.problems import problem

FEWEST = placer("fewest-bytes")


def test_more_replicas_than_usable_brokers_are_refused_with_the_topic():
    target = Brokers.of([1, 2, 3], is_fenced=[False, True, False])

    with pytest.raises(PlacementError) as refused:
        FEWEST.place(problem({"audit": [[1]], "orders": [[1, 3, 5]]}, target))

    assert str(refused.value) == (
        "topic 'orders' needs replication factor 3 but the target has only 2 brokers that take new replicas; "
        "lower the factor or add brokers"
    )
    assert refused.value.kafka_type == "org.apache.kafka.common.errors.InvalidReplicationFactorException"


def test_a_cordoned_broker_keeps_what_it_has_and_gets_nothing():
    target = Brokers.of([1, 2, 3, 4], is_cordoned=[False, True, False, False])
    rows = {"orders": [[1, 2, 5], [5, 3, 1], [3, 1, 5], [5, 3, 2]]}
    placed = FEWEST.place(problem(rows, target))

    assert [2 in row for row in placed.tolist()] == [True, False, False, True]
    three = Brokers.of([1, 2, 3], is_cordoned=[False, True, False])
    assert FEWEST.place(problem({"orders": [[1, 2, 3]]}, three)).tolist() == [[1, 2, 3]]
    one_down = Brokers.of([1, 2, 3], is_fenced=[False, True, False])
    assert FEWEST.place(problem({"orders": [[1, 2, 3]]}, one_down)).tolist() == [[1, 2, 3]]
    with pytest.raises(PlacementError, match="replication factor 3"):
        FEWEST.place(problem({"orders": [[1, 3, 5]]}, three))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.booleans())
def test_where_lists_with_a_broker_are_refused_none_is_proposed(seed, is_shrinking, is_down):
    rng = np.random.default_rng(seed)
    ids = list(range(1, 7))
    rows = {"orders": [rng.permutation(ids)[:3].tolist() for _ in range(24)]}
    racks = [None] * 6 if seed % 2 else ["a", "b", "c"] * 2
    wanted = ids[:5] if is_shrinking else ids
    # Kafka 4.4 refuses cordoned brokers, and its tool at any version those that are down.
    refused = {"is_fenced" if is_down else "is_cordoned": [broker == 2 for broker in wanted]}
    target = Brokers.of(wanted, racks[: len(wanted)], **refused)
    asked = replace(problem(rows, target), size_bytes=rng.integers(1, 1000, 24), are_cordons_strict=not is_down)

    for before, after in zip(rows["orders"], FEWEST.place(asked).tolist(), strict=True):
        assert 2 not in after or after == before
        assert len(set(after)) == 3
        assert set(after) <= set(wanted)
        if 2 in before and not is_shrinking and seed % 2:
            assert after == before  # nothing has to go: it stays, order and all


def test_what_must_leave_a_cordoned_broker_and_cannot_is_told():
    target = Brokers.of([1, 2, 3], is_cordoned=[False, True, False])
    asked = replace(problem({"orders": [[1, 2, 3], [1, 2, 5]]}, target), are_cordons_strict=True)
    with pytest.raises(PlacementError, match=r"partition orders-1 needs 3 replicas, .* bring one back, or add brokers"):
        FEWEST.place(asked)
    assert FEWEST.place(replace(asked, are_cordons_strict=False)) is not None


def test_a_new_replica_takes_the_place_of_the_one_it_stands_for():
    rows = {"orders": [[1, 2, 3], [2, 3, 1], [3, 1, 2]]}

    assert FEWEST.place(problem(rows, [1, 2, 4])).tolist() == [[1, 2, 4], [2, 4, 1], [4, 1, 2]]


def test_partitions_of_mixed_factors_are_padded_at_the_right():
    placed = FEWEST.place(problem({"orders": [[1], [1, 2], [2, 1]]}, [1, 2], factors=[1, 2, 1]))

    assert [row.tolist().index(-1) if -1 in row else 2 for row in placed] == [1, 2, 1]


def test_a_cluster_without_partitions_is_left_empty():
    assert FEWEST.place(problem({}, [1, 2])).shape == (0, 0)


def test_partitions_without_bytes_are_not_copied_for_the_sake_of_bytes():
    asked = problem({"orders": [[1, 2, 3]] * 4}, [1, 2, 3, 4])
    empty = np.zeros(4, dtype=np.int64)

    placed = FEWEST.place(replace(asked, size_bytes=empty))

    assert [set(row) for row in placed.tolist()] == [{1, 2, 3}] * 4


def test_a_fenced_broker_leads_nothing_that_another_can():
    target = Brokers.of([1, 2, 3, 4], is_fenced=[False, False, False, True])
    rows = [[1, 2, 4], [1, 3, 4], [1, 4, 2]] * 4
    asked = problem({"many": rows, "one": [[4]]}, target)
    # Ever so little traffic, beside what the fenced broker leads alone, is within any tolerance of that.
    rates, sizes = np.array([1.0] * len(rows) + [1000.0]), np.array([100] * len(rows) + [0])
    placed = FEWEST.place(replace(asked, bytes_in_bytes_per_second=rates, size_bytes=sizes))
    assert placed[: len(rows), 0].tolist().count(4) == 0
    assert placed[-1, 0] == 4


def test_many_new_brokers_are_as_full_although_few_replicas_are_large():
    """Small replicas of all topics filled them up, and the large ones stayed where they were: 85 % above the share."""
    sizes = np.array([6] * 200 + [1] * 1800)
    target = Brokers.of(list(range(1, 201)))
    asked = replace(problem({"orders": [[1]] * 2000}, target), size_bytes=sizes, tolerance_ratio=0.02)
    after = FEWEST.place(asked)[:, 0]
    held = np.bincount(after - 1, weights=sizes, minlength=200)
    assert (held.min(), held.max()) == (15.0, 15.0)
    # Not a byte more is copied than leaves the first one with its share.
    assert sizes[after != 1].sum() == sizes.sum() - 15
