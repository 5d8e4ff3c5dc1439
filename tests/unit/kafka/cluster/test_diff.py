"""The difference of two assignments, against sets and against Kafka's own rules."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.conformance.models.reassignment_rules import ReassignmentReplicas, proposed_moves
from kafka_capacity.kafka.cluster.assignment import replica_lists, replica_matrix, replication_factors
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.diff import (
    bytes_per_broker,
    diff_assignments,
    preferred_leaders_per_broker,
    replicas_per_broker,
)
from tests.properties.strategies import repeatable

REPLICAS = st.lists(st.integers(0, 6), min_size=1, max_size=4, unique=True)
PAIRS = st.lists(st.tuples(REPLICAS, REPLICAS, st.integers(0, 1000)), min_size=1, max_size=12)
BROKERS = Brokers.of(range(7))


def diff_of(pairs):
    before, after = (replica_matrix([pair[side] for pair in pairs]) for side in (0, 1))
    return diff_assignments(before, after), np.array([pair[2] for pair in pairs], dtype=np.int64)


def chosen(matrix, flags):
    return [
        [b for b, is_chosen in zip(row, marks, strict=True) if is_chosen]
        for row, marks in zip(matrix.tolist(), flags.tolist(), strict=True)
    ]


@repeatable(200)
@given(PAIRS)
def test_added_and_removed_are_the_differences_of_sets(pairs):
    diff, size = diff_of(pairs)

    assert chosen(diff.after, diff.added) == [[b for b in after if b not in before] for before, after, _ in pairs]
    assert chosen(diff.before, diff.removed) == [[b for b in before if b not in after] for before, after, _ in pairs]
    assert diff.is_changed.tolist() == [before != after for before, after, _ in pairs]
    assert diff.leader_changed.tolist() == [before[0] != after[0] for before, after, _ in pairs]
    assert diff.moved_bytes(size) == sum(len(set(after) - set(before)) * amount for before, after, amount in pairs)


@repeatable(200)
@given(PAIRS)
def test_a_diff_carried_out_gives_the_target(pairs):
    diff, _ = diff_of(pairs)
    for row, (before, after, _) in enumerate(pairs):
        added = {b for b, is_added in zip(diff.after[row], diff.added[row], strict=True) if is_added}
        removed = {b for b, is_removed in zip(diff.before[row], diff.removed[row], strict=True) if is_removed}
        assert (set(before) | added) - removed == set(after)
    growth = sum(len(after) - len(before) for before, after, _ in pairs)
    assert diff.moved_replicas - np.count_nonzero(diff.removed) == growth


@repeatable(200)
@given(PAIRS)
def test_what_comes_in_goes_out_somewhere(pairs):
    diff, size = diff_of(pairs)
    leader = diff.before[:, 0]

    assert diff.in_bytes(BROKERS, size).sum() == diff.out_bytes(BROKERS, leader, size).sum() == diff.moved_bytes(size)
    held = bytes_per_broker(BROKERS, diff.before, size), bytes_per_broker(BROKERS, diff.after, size)
    rows, columns = np.nonzero(diff.removed)
    gone = np.bincount(diff.before[rows, columns], weights=size[rows], minlength=7)
    assert (held[1] - held[0]).tolist() == (diff.in_bytes(BROKERS, size) - gone).tolist()


@repeatable(200)
@given(PAIRS)
def test_the_way_back_is_the_same_the_other_way_round(pairs):
    diff, _ = diff_of(pairs)
    back = diff_assignments(diff.after, diff.before)

    assert (back.added == diff.removed).all()
    assert (back.removed == diff.added).all()
    assert back.changed_partitions == diff.changed_partitions


@repeatable(200)
@given(PAIRS)
def test_kafkas_moves_go_where_replicas_are_added(pairs):
    diff, _ = diff_of(pairs)
    keys = [("orders", row) for row in range(len(pairs))]
    current = {key: pair[0] for key, pair in zip(keys, pairs, strict=True)}
    target = {key: pair[1] for key, pair in zip(keys, pairs, strict=True)}

    moves = proposed_moves({}, current, target)
    controller = [ReassignmentReplicas.between(pair[0], pair[1]) for pair in pairs]

    added = [sorted(row) for row in chosen(diff.after, diff.added)]
    assert [list(moves[key].destinations) for key in keys] == added
    assert [list(one.adding) for one in controller] == added
    assert [list(one.removing) for one in controller] == [sorted(row) for row in chosen(diff.before, diff.removed)]


def test_a_changed_order_moves_nothing():
    diff, size = diff_of([([1, 2, 3], [3, 2, 1], 100)])

    assert (diff.moved_replicas, diff.moved_bytes(size), diff.changed_partitions) == (0, 0, 1)
    assert diff.preferred_leaders_changed == 1


def test_what_nobody_leads_is_in_no_brokers_sum():
    diff, size = diff_of([([1, 2], [1, 3], 100), ([1, 2], [1, 4], 10)])

    assert diff.out_bytes(BROKERS, np.array([-1, 2]), size).tolist() == [0, 0, 10, 0, 0, 0, 0]
    assert diff.in_bytes(BROKERS, size).tolist() == [0, 0, 0, 100, 10, 0, 0]


def test_brokers_outside_the_list_are_in_no_sum():
    matrix = replica_matrix([[1, 9], [9, 1]])

    assert replicas_per_broker(BROKERS, matrix).tolist() == [0, 2, 0, 0, 0, 0, 0]
    assert preferred_leaders_per_broker(BROKERS, matrix).tolist() == [0, 1, 0, 0, 0, 0, 0]


def test_an_empty_assignment_has_an_empty_diff():
    empty = replica_matrix([])
    diff = diff_assignments(empty, empty)

    assert (diff.moved_replicas, diff.changed_partitions) == (0, 0)
    assert preferred_leaders_per_broker(BROKERS, empty).tolist() == [0] * 7


@repeatable(100)
@given(st.lists(REPLICAS, max_size=8))
def test_a_matrix_gives_its_lists_back(rows):
    matrix = replica_matrix(rows)

    assert replica_lists(matrix) == rows
    assert replication_factors(matrix).tolist() == [len(row) for row in rows]
