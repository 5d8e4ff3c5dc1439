"""Topics stick to partitions as in Kafka's cache."""

from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.conformance.models.partitioners import (
    StickyPartitionCache,
    ThreadRandom,
    TopicMetadata,
    after_new_batch,
)


def scripted(*numbers):
    return iter(numbers).__next__


def test_a_topic_sticks_until_its_batch_is_full():
    cache = StickyPartitionCache(draw=scripted(1, 1, 4))

    first = [cache.partition("t", TopicMetadata.of(3)) for _ in range(3)]

    assert first == [1, 1, 1]
    # The second draw is 1 again, so a third one is made.
    assert cache.next_partition("t", TopicMetadata.of(4), 1) == 0


def test_a_full_batch_of_another_partition_changes_nothing():
    assert after_new_batch(2, 1, TopicMetadata.of(3), scripted()) == 2


def test_a_lone_leader_is_taken_without_a_draw():
    assert after_new_batch(4, 4, TopicMetadata.of(6, [4]), scripted()) == 4
    assert after_new_batch(0, 0, TopicMetadata.of(6, [4]), scripted()) == 4


def test_without_leaders_one_draw_decides_even_for_the_same():
    assert after_new_batch(2, 2, TopicMetadata.of(6, []), scripted(8)) == 2


def test_a_partition_that_lost_its_leader_is_kept():
    cache = StickyPartitionCache(draw=scripted(2), partitions={})

    assert cache.partition("t", TopicMetadata.of(3)) == 2
    assert cache.partition("t", TopicMetadata.of(3, [0, 1])) == 2


def test_negative_draws_lose_their_sign_bit():
    # -1 is 2**31 - 1 without it: 1 of 3; as a plain remainder it would be 2.
    assert after_new_batch(None, -1, TopicMetadata.of(3), scripted(-1)) == 1


def test_each_topic_sticks_to_its_own():
    cache = StickyPartitionCache(draw=scripted(0, 1))

    assert [cache.partition(name, TopicMetadata.of(2)) for name in "abab"] == [0, 1, 0, 1]


@given(st.integers(0, 2**63), st.integers(2, 9), st.data())
def test_a_new_batch_always_changes_between_two_leaders(seed, partitions, data):
    leaders = data.draw(st.sets(st.integers(0, partitions - 1), min_size=2))
    current = data.draw(st.integers(0, partitions - 1))

    chosen = after_new_batch(current, current, TopicMetadata.of(partitions, leaders), ThreadRandom(seed).next_int)

    assert chosen in leaders - {current}
