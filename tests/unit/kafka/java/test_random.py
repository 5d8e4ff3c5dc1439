"""The generator draws what Java's draws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.kafka.java.random import JavaRandom

SEEDS = st.integers(min_value=-(2**63), max_value=2**63 - 1)
# The bound just above 2**30 is refused in nearly half of all draws.
BOUNDS = st.one_of(st.integers(1, 1000), st.sampled_from([1, 2, 64, 2**30, 2**30 + 1, 2**31 - 1]))


@given(SEEDS, st.lists(BOUNDS, max_size=60))
def test_drawing_in_bulk_is_drawing_one_by_one(seed, bounds):
    bulk, single = JavaRandom(seed), JavaRandom(seed)

    assert bulk.next_ints_bound(bounds).tolist() == [single.next_int_bound(bound) for bound in bounds]
    assert bulk.next_long() == single.next_long()


def test_a_power_of_two_takes_the_high_bits():
    assert [JavaRandom(42).next_int_bound(2**power) for power in (1, 4, 30)] == [1, 11, 781215565]


def test_bound_1_still_draws():
    random, other = JavaRandom(5), JavaRandom(5)
    assert random.next_int_bound(1) == 0
    other.next_int()

    assert random.next_int() == other.next_int()


def test_only_48_bits_of_the_seed_count():
    assert JavaRandom(7).next_int() == JavaRandom(7 + (1 << 48)).next_int()


@pytest.mark.parametrize("bound", [0, -1])
def test_a_bound_that_is_not_positive_is_refused(bound):
    with pytest.raises(ValueError, match=f"^bound must be positive, not {bound}$"):
        JavaRandom(0).next_int_bound(bound)
    with pytest.raises(ValueError, match=f"^bound must be positive, not {bound}$"):
        JavaRandom(0).next_ints_bound([3, bound])


@given(SEEDS, st.integers(0, 40))
def test_shuffling_keeps_all_items(seed, size):
    items = list(range(size))
    JavaRandom(seed).shuffle(items)

    assert sorted(items) == list(range(size))
