"""Records go round as Kafka's partitioner sends them."""

import pytest

from kafka_capacity.conformance.models.partitioners import RoundRobinPartitioner, TopicMetadata
from kafka_capacity.errors import RequestError


def test_each_topic_has_a_counter_of_its_own():
    partitioner, topic = RoundRobinPartitioner(), TopicMetadata.of(3)

    assert [partitioner.partition(name, topic) for name in "aabab"] == [0, 1, 0, 2, 1]


def test_the_counter_goes_on_when_a_partition_loses_its_leader():
    partitioner = RoundRobinPartitioner()
    before = [partitioner.partition("t", TopicMetadata.of(3)) for _ in range(2)]

    assert before == [0, 1]
    # Count 2 of the two left is the first: partition 0 is served again, before 2 was served at all.
    assert partitioner.partition("t", TopicMetadata.of(3, [0, 2])) == 0


def test_without_leaders_all_partitions_are_served():
    partitioner, topic = RoundRobinPartitioner(), TopicMetadata.of(3, [])

    assert [partitioner.partition("t", topic) for _ in range(4)] == [0, 1, 2, 0]


def test_the_counter_wraps_with_its_sign_bit_masked():
    partitioner, topic = RoundRobinPartitioner(counts={"t": 2**31 - 1}), TopicMetadata.of(5)

    assert [partitioner.partition("t", topic) for _ in range(3)] == [(2**31 - 1) % 5, 0, 1]


def test_a_partition_that_is_not_there_is_refused():
    with pytest.raises(RequestError, match=r"^available partitions must be numbered from 0 to 2, not \[1, 3\]$"):
        TopicMetadata.of(3, [3, 1])
