"""Hash maps iterate as Java's do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.kafka.java.hash_map import (
    JavaHashMap,
    JavaHashSet,
    computed_order,
    copied_map_capacity,
    put_order,
    table_size,
)
from kafka_capacity.kafka.java.hashing import integer_hash

# Multiples of 64 fall into one bucket of any table below 128 buckets.
HASHES = st.lists(
    st.one_of(st.integers(-(2**31), 2**31 - 1), st.integers(0, 30), st.integers(0, 20).map(lambda n: 64 * n)),
    unique=True,
    max_size=120,
)
CAPACITIES = st.sampled_from([0, 1, 2, 16, 17, 64, 200])


def filled(hashes, capacity=None):
    table = JavaHashMap[int, None](integer_hash, capacity)
    for code in hashes:
        table.put(code, None)
    return table


@given(HASHES, CAPACITIES)
def test_ordering_in_bulk_is_putting_one_by_one(hashes, capacity):
    assert [hashes[i] for i in put_order(hashes, capacity)] == list(filled(hashes, capacity))


@given(HASHES, CAPACITIES, st.booleans())
def test_ordering_computed_keys_in_bulk_is_computing_one_by_one(hashes, capacity, is_called_again):
    table = JavaHashMap[int, None](integer_hash, capacity)
    for code in [*hashes, *hashes[: int(is_called_again)]]:
        table.compute_if_absent(code, lambda: None)
    order = computed_order(hashes, capacity, is_called_again=is_called_again and bool(hashes))

    assert [hashes[i] for i in order] == list(table)


@pytest.mark.parametrize("size", [12, 13, 24, 25, 48, 49, 96, 97])
@pytest.mark.parametrize("is_called_again", [False, True])
def test_both_ways_agree_where_the_table_doubles(size, is_called_again):
    hashes = [7 * n * n for n in range(size)]
    table = JavaHashMap[int, None](integer_hash)
    for code in [*hashes, *hashes[: int(is_called_again)]]:
        table.compute_if_absent(code, lambda: None)

    assert [hashes[i] for i in computed_order(hashes, is_called_again=is_called_again)] == list(table)
    assert [hashes[i] for i in put_order(hashes)] == list(filled(hashes))


def test_put_appends_and_compute_goes_to_the_front_of_the_bucket():
    assert list(filled([32, 16, 0])) == [32, 16, 0]
    assert computed_order([32, 16, 0]).tolist() == [2, 1, 0]


def test_the_table_doubles_after_the_thirteenth_put():
    assert list(filled([16, *range(12)])) == [*range(12), 16]
    assert list(filled([16, *range(11)]))[:2] == [16, 0]


def test_computing_doubles_at_the_next_call_even_for_a_known_key():
    hashes = [0, 16, *range(1, 12)]
    assert [hashes[i] for i in computed_order(hashes)][:2] == [16, 0]
    again = [hashes[i] for i in computed_order(hashes, is_called_again=True)]
    assert again == [*range(12), 16]


def test_nine_keys_in_a_bucket_double_a_small_table():
    long_bucket = [16 * n for n in range(9)]

    assert list(filled(long_bucket[:8])) == long_bucket[:8]
    assert list(filled(long_bucket)) == [0, 32, 64, 96, 128, 16, 48, 80, 112]


def test_a_bucket_that_java_makes_a_tree_stays_a_list():
    table = filled([64 * n for n in range(9)], 64)

    assert list(table) == [64 * n for n in range(9)]


def test_removing_keeps_the_table_and_the_others_in_place():
    table = filled(range(13))
    assert table.remove(3) is None
    assert table.remove(99) is None
    for code in range(4, 13):
        table.remove(code)
    table.put(32, None)
    table.put(16, None)

    assert list(table) == [0, 32, 1, 2, 16]


@pytest.mark.parametrize(("size", "buckets"), [(1, 2), (3, 8), (11, 16), (12, 32), (48, 128)])
def test_a_copy_has_the_table_that_java_sizes_for_it(size, buckets):
    assert table_size(copied_map_capacity(size)) == buckets


def test_a_copy_has_a_table_of_its_own_size():
    table = JavaHashMap[int, str](integer_hash)
    for code in range(13):
        table.put(code, "gone")
    for code in range(4, 13):
        table.remove(code)
    table.put(32, "a")
    table.put(16, "b")

    assert list(table) == [0, 32, 1, 2, 3, 16]
    assert list(table.copy()) == [0, 32, 16, 1, 2, 3]
    assert list(table.copy().values()) == ["gone", "a", "b", "gone", "gone", "gone"]
    assert list(filled([]).copy()) == []


def test_a_set_of_a_collection_is_sized_for_it():
    assert list(JavaHashSet(integer_hash, [16, 0])) == [16, 0]
    assert list(JavaHashSet(integer_hash, [16, *range(11)])) == [*range(11), 16]


def test_a_set_holds_an_item_once():
    members = JavaHashSet[int](integer_hash)

    members.add(4)
    members.add(4)
    assert 4 in members
    assert len(members) == 1
    members.discard(4)
    members.discard(4)
    assert 4 not in members
    assert len(members) == 0
