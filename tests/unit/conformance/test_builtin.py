"""Records without key go where Kafka's own partitioner sends them."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.conformance.models.partitioners import (
    BuiltInPartitioner,
    LoadStats,
    TopicMetadata,
    has_enough,
    load_stats,
)
from kafka_capacity.errors import RequestError


def partitioner(batch, *draws, partitions=4):
    return BuiltInPartitioner(sticky_batch_size=batch, draw=iter(draws).__next__, topic=TopicMetadata.of(partitions))


def test_the_record_that_crosses_the_limit_still_sticks():
    sending = partitioner(100, 1, 2)

    assert [sending.partition(size) for size in (60, 39, 1, 10)] == [1, 1, 1, 2]
    assert sending.produced_bytes == 10


def test_the_next_partition_is_drawn_at_once_and_from_what_is_known_then():
    sending = partitioner(10, 0, 3)
    sending.partition(10)
    sending.topic = TopicMetadata.of(4, [0])

    assert sending.partition(1) == 3


def test_the_same_partition_may_be_drawn_again():
    sending = partitioner(10, 3, 3, 0)

    assert [sending.partition(10) for _ in range(2)] == [3, 3]


def test_an_unfinished_batch_sticks_up_to_twice_the_size():
    sending = partitioner(100, 1, 2)

    assert [sending.partition(99, enable_switch=False) for _ in range(2)] == [1, 1]
    assert sending.partition(2, enable_switch=False) == 1
    assert sending.partition(1, enable_switch=False) == 2


def test_a_record_of_no_bytes_does_not_switch_before_the_limit_but_does_when_one_waited():
    sending = partitioner(100, 1, 2)

    assert [sending.partition(size, enable_switch=size == 0) for size in (0, 100, 0, 0)] == [1, 1, 1, 2]


def test_a_batch_size_whose_double_wraps_switches_every_time():
    assert has_enough(0, 2**30, enable_switch=False)
    assert not has_enough(0, 2**30 - 1, enable_switch=False)


def test_produced_bytes_wrap():
    sending = partitioner(2**30 - 1, 1, 2)

    assert sending.partition(2**31 - 1) == 1
    sending = partitioner(2**30 - 1, 1, 2)
    sending.partition(2**30 - 2)
    assert [sending.partition(2**31 - 1), sending.partition(1)] == [1, 1]


@pytest.mark.parametrize(
    ("sizes", "length", "ends"),
    [
        ([0, 3, 1], 3, (4, 5, 8)),
        ([2, 2, 2], 3, None),
        ([2, 2, 2], 2, (1, 2)),
        ([2, 2, 2], 1, (1,)),
        ([0, 5, 9], 2, (6, 7)),
        ([7], 1, None),
        ([0, 5], 0, None),
        ([], 0, None),
    ],
)
def test_load_stats_count_only_where_they_say_something(sizes, length, ends):
    stats = load_stats(sizes, range(len(sizes)), length)

    assert (stats and stats.ends) == ends


@given(st.lists(st.integers(0, 20), min_size=2, max_size=8))
def test_a_run_of_draws_meets_each_partition_as_often_as_it_weighs(sizes):
    stats = load_stats(sizes, range(100, 100 + len(sizes)))

    if stats is None:
        assert len(set(sizes)) == 1
    else:
        met = Counter(stats.pick(number) for number in range(stats.ends[-1]))
        assert met == {100 + index: max(sizes) + 1 - size for index, size in enumerate(sizes)}


def test_stats_decide_before_leaders_do():
    sending = partitioner(1, 5)
    sending.topic = TopicMetadata.of(4, [0])
    sending.stats = LoadStats(ends=(4, 5, 8), partition_ids=(1, 2, 3))
    sending.draw = iter([5, 0]).__next__

    assert sending.partition(1) == 3


@pytest.mark.parametrize(
    ("sizes", "ids", "length", "message"),
    [
        ([1, 2], [0], None, "2 queue sizes, 1 partition ids and length 2 do not fit together"),
        ([1, 2], [0, 1], 3, "2 queue sizes, 2 partition ids and length 3 do not fit together"),
        (
            [0, 2**31 - 1],
            [0, 1],
            None,
            "queue sizes up to 2147483647 give weights of 2147483649 in all, beyond a Java int",
        ),
    ],
)
def test_load_stats_that_cannot_be_are_refused(sizes, ids, length, message):
    with pytest.raises(RequestError, match=f"^{re.escape(message)}$"):
        load_stats(sizes, ids, length)


def test_a_batch_of_no_bytes_is_refused():
    with pytest.raises(RequestError, match=r"^sticky_batch_size must be at least 1, not 0$"):
        partitioner(0)


def test_a_rack_aware_producer_stays_in_its_rack_while_somebody_leads_there():
    sending = partitioner(10, 1, 1, 1, 1)
    sending.rack, sending.topic = "a", TopicMetadata.of(4, leader_racks=["a", None, "b", "a"])

    assert sending.partition(10) == 3
    sending.topic = TopicMetadata.of(4, [1, 2], leader_racks=["a", None, "b", "a"])
    assert [sending.partition(10) for _ in range(2)] == [3, 2]


def test_queues_elsewhere_do_not_weigh_on_those_near():
    assert load_stats([9, 3, 1], [10, 11, 12], is_near=[False, True, True]) == LoadStats(
        ends=(1, 4), partition_ids=(11, 12)
    )
    assert load_stats([9, 3], [10, 11], is_near=[False, False]) == load_stats([9, 3], [10, 11])
    assert load_stats([3, 3], [10, 11], is_near=[False, True]) is None
