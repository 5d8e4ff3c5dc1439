"""The values that assignors take and give."""

import numpy as np

from kafka_capacity.kafka.groups import Assignment, Group, Topic, TopicPartitions
from kafka_capacity.kafka.groups.model import concatenated
from tests.unit.kafka.groups.made_up import group, listed, member


def test_a_list_of_partitions_keeps_its_order_and_compares_by_what_it_says():
    one = listed(("b", 1), ("a", 0), ("b", 0))
    other = TopicPartitions(topics=("a", "b"), topic=np.array([1, 0, 1]), partition=np.array([1, 0, 0]))

    assert list(one) == [("b", 1), ("a", 0), ("b", 0)]
    assert one == other
    assert hash(one) == hash(other)
    assert one != listed(("a", 0), ("b", 1), ("b", 0))


def test_lists_over_different_tables_are_put_behind_one_another():
    topic, partition = concatenated([listed(("b", 1), ("gone", 7)), listed(("a", 0))], {"a": 0, "b": 1})

    assert topic.tolist() == [1, -1, 0]
    assert partition.tolist() == [1, 7, 0]
    assert [array.tolist() for array in concatenated([], {})] == [[], []]


def test_an_assignment_has_a_list_for_every_member():
    given = group([member("b", "t"), member("a", "t")], t=3)
    answer = Assignment.of(given, {"a": [("t", 2), ("t", 0)]})

    assert answer.lists() == {"b": [], "a": [("t", 2), ("t", 0)]}
    assert answer.counts().tolist() == [0, 2]
    assert answer.owner().tolist() == [1, 1]


def test_a_group_knows_its_topics():
    found = Group(topics=(Topic(name="t", partitions=0),), members=())

    assert found.partition_count("t") == 0
    assert found.partition_count("u") is None
