"""Moves, throttles and the end of a reassignment, by Kafka's rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.conformance.models.reassignment_rules import (
    CompletedReassignment,
    PartitionMove,
    ReassignmentReplicas,
    follower_throttles,
    leader_throttles,
    proposed_moves,
    reassigning_brokers,
)
from kafka_capacity.errors import PlacementError

REPLICAS = st.lists(st.integers(0, 9), min_size=1, max_size=5, unique=True)


def test_a_proposal_keeps_the_sources_of_the_reassignment_that_it_replaces():
    under_way = ReassignmentReplicas(replicas=(1, 2, 3), adding=(3,), removing=(1,))
    moves = proposed_moves({("orders", 0): under_way}, {("orders", 0): [1, 2, 3]}, {("orders", 0): [3, 4]})

    assert moves == {("orders", 0): PartitionMove(sources=(1, 2), destinations=(3, 4))}


def test_throttle_lists_sort_as_text_and_name_every_moving_topic():
    moves = proposed_moves({}, {("orders", 0): [10, 2], ("audit", 1): [2, 3]}, {("orders", 0): [9], ("audit", 1): [3]})

    assert leader_throttles(moves) == {"audit": "1:2,1:3", "orders": "0:10,0:2"}
    assert follower_throttles(moves) == {"audit": "", "orders": "0:9"}
    assert reassigning_brokers(moves) == [2, 3, 9, 10]


def test_a_partition_without_replicas_cannot_move():
    with pytest.raises(PlacementError) as refused:
        proposed_moves({}, {}, {("orders", 3): [1]})
    assert str(refused.value) == "partition orders-3 is proposed to move to [1] but has no replicas now"
    assert refused.value.kafka_type == "java.lang.RuntimeException"


@pytest.mark.parametrize(
    ("current", "target", "isr", "completed"),
    [
        ([1, 2], [1, 2], [1, 2], None),  # nothing to do
        ([1, 2], [2, 1], [1, 2], None),  # neither is another order
        ([1, 2, 3], [1, 2, 4], [1, 3, 4], ([1, 2, 4], [1, 4])),  # replica 2 may lag
        ([1, 2, 3], [1, 2, 4], [1, 2, 3], None),  # the added replica may not
        ([1, 2, 3], [1, 2], [1, 3], None),  # fewer replicas: all of the target in sync
        ([1, 2, 3], [1, 2], [2, 1], ([1, 2], [2, 1])),
        ([1], [1, 2], [2], ([1, 2], [2])),
        ([1, 2], [1], [2], None),  # nobody would be left in sync
        ([1, 2], [], [1, 2], None),  # nobody would be left at all
    ],
)
def test_when_a_reassignment_is_over(current, target, isr, completed):
    expected = completed and CompletedReassignment(replicas=tuple(completed[0]), isr=tuple(completed[1]))

    assert ReassignmentReplicas.between(current, target).completed_by(isr) == expected


@given(REPLICAS, REPLICAS)
def test_a_full_isr_always_completes_a_change(current, target):
    begun = ReassignmentReplicas.between(current, target)
    completed = begun.completed_by(begun.replicas)

    assert (completed is None) == (set(current) == set(target))
    assert completed is None or completed == CompletedReassignment(replicas=tuple(target), isr=tuple(target))
