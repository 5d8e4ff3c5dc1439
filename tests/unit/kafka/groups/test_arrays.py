"""What is worked out for all members at once is what going one by one gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.kafka.groups import TopicPartitions
from kafka_capacity.kafka.groups.codes import Codes, order_by
from kafka_capacity.kafka.groups.coordinator import held_partitions
from kafka_capacity.kafka.groups.held import walk
from kafka_capacity.kafka.groups.loads import fill_from_below
from kafka_capacity.kafka.groups.range_ import cut_into_runs
from kafka_capacity.kafka.groups.subscriptions import Subscribers
from kafka_capacity.kafka.java.hash_map import copied_set_capacities, copied_set_capacity, table_size, table_sizes
from kafka_capacity.kafka.java.hashing import utf16_keys, uuid_hash, uuid_hashes
from tests.unit.kafka.groups.made_up import group, member, topic_id

IDS = tuple(topic_id(2**100 * n + 7 * n) for n in range(1, 20))


@given(st.integers(0, 60), st.lists(st.integers(0, 9), min_size=1, max_size=8).map(sorted), st.randoms())
def test_filling_from_below_always_gives_to_the_least_loaded(count, sizes, random):
    places = list(range(len(sizes)))
    random.shuffle(places)
    now, expected = list(sizes), []
    for _ in range(count):
        least = min(range(len(now)), key=lambda i: (now[i], places[i]))
        now[least] += 1
        expected.append(least)

    assert fill_from_below(count, np.array(sizes), np.array(places)).tolist() == expected


# Multiples of 16 crowd one bucket, so that a small table doubles early.
PARTITIONS = st.one_of(st.integers(0, 40), st.integers(0, 14).map(lambda n: 16 * n), st.integers(-3, 70_000))
LISTS = st.lists(st.tuples(st.sampled_from(IDS), PARTITIONS), max_size=50).map(TopicPartitions.of)


@given(st.lists(LISTS, min_size=1, max_size=4))
def test_a_walk_over_many_members_is_the_walk_over_each(lists):
    found = walk(lists)
    for i, owned in enumerate(lists):
        mine = found.member == i
        pairs = zip(found.topic[mine].tolist(), found.partition[mine].tolist(), strict=True)
        expected = [(topic, number) for topic, numbers in held_partitions(owned).items() for number in numbers]
        assert [(found.topics[topic], number) for topic, number in pairs] == expected


def test_a_set_with_nine_numbers_in_one_bucket_has_doubled():
    crowded = TopicPartitions.of((IDS[0], 16 * n) for n in (*range(7, 0, -1), 9, 11))

    assert walk([crowded]).partition.tolist() == [96, 64, 32, 112, 80, 48, 16, 144, 176]


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-(2**61), 2**61)), unique=True))
def test_rows_sort_by_several_keys_however_wide(rows):
    keys = np.array(rows, dtype=np.int64).reshape(-1, 2).T

    assert [rows[i] for i in order_by(*keys)] == sorted(rows)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=5), st.integers(1, 9))
def test_all_topics_are_cut_as_each_alone(counts, readers):
    members = np.arange(readers)[::-1].copy()
    none = np.zeros(len(counts), dtype=np.int64)
    shared = Subscribers(member=members, first=none, count=none + readers)
    shares = [[count // readers + (place < count % readers) for place in range(readers)] for count in counts]
    expected = [owner for share in shares for owner in np.repeat(members, share).tolist()]

    assert cut_into_runs(Codes(np.array(counts)), shared).tolist() == expected


def test_subscribers_are_listed_once_a_mention_and_sorted_once_each():
    given_ = group([member("a", "t", "u", "t"), member("b", "u"), member("c", "gone")], t=1, u=1)
    found = Subscribers.of(given_, [1, 0, 2], {"t": 0, "u": 1})
    once = found.sorted_by(np.arange(3))

    assert [found.of_topic(i).tolist() for i in range(2)] == [[0, 0], [1, 0]]
    assert [once.of_topic(i).tolist() for i in range(2)] == [[0], [0, 1]]
    assert found.are_readers(np.array([0, 1, 2]), np.array([0, 0, 1])).tolist() == [True, False, False]


@given(st.lists(st.integers(0, 2**128 - 1).map(topic_id), max_size=5))
def test_ids_hash_as_one_by_one(ids):
    assert uuid_hashes(ids).tolist() == [uuid_hash(text) for text in ids]


@pytest.mark.parametrize("text", ["short", "!" * 22, "é" * 22, "A" * 21 + "?"])
def test_what_is_no_id_is_refused(text):
    with pytest.raises(ValueError, match=r"is not a Kafka id|ASCII"):
        uuid_hashes([IDS[0], text])


@given(st.lists(st.integers(0, 100_000), min_size=1, max_size=9))
def test_tables_have_the_sizes_of_javas(sizes):
    capacities = copied_set_capacities(np.array(sizes))

    assert capacities.tolist() == [copied_set_capacity(size) for size in sizes]
    assert table_sizes(capacities).tolist() == [table_size(int(capacity)) for capacity in capacities]


def test_names_sort_as_java_sorts_them():
    names = ["\ue000", "😀", "b", "B"]

    assert sorted(names, key=dict(zip(names, utf16_keys(names), strict=True)).get) == ["B", "b", "😀", "\ue000"]
    assert list(utf16_keys(["b", "a"])) == ["b", "a"]
