"""A new partition count sends exactly the keys elsewhere that hash elsewhere."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.producer import Keys, even_share_remapped, keys_remapped, murmur2_of_keys, partition_of_key

COUNTS = st.integers(1, 60)


@given(st.lists(st.tuples(st.binary(max_size=12), st.integers(0, 2**40))), COUNTS, COUNTS)
def test_moved_keys_and_bytes_are_those_of_one_key_after_another(keys, before, after):
    weights = np.array([weight for _, weight in keys], dtype=np.int64)
    moved = [weight for key, weight in keys if partition_of_key(key, before) != partition_of_key(key, after)]
    hashes = murmur2_of_keys(Keys.of(key for key, _ in keys))

    remapped = keys_remapped(hashes, before, after, weights)

    assert (remapped.keys, remapped.moved_keys) == (len(keys), len(moved))
    assert (remapped.weight, remapped.moved_weight) == (int(weights.sum()), sum(moved))
    assert keys_remapped(hashes, before, after).moved_weight == len(moved)


@given(COUNTS, COUNTS)
def test_the_even_share_is_that_of_one_round_of_hashes(before, after):
    hashes = np.arange(math.lcm(before, after), dtype=np.int32)

    assert keys_remapped(hashes, before, after).share == pytest.approx(even_share_remapped(before, after))


def test_doubling_moves_half_and_the_way_back_too():
    assert even_share_remapped(12, 24) == 0.5
    assert even_share_remapped(24, 12) == 0.5
    assert even_share_remapped(12, 12) == 0
    assert even_share_remapped(12, 13) == pytest.approx(12 / 13)


def test_one_hot_key_is_all_or_nothing():
    # 1 of 4 and 5 of 8, 2 of 4 and 2 of 8.
    hashes = np.array([5, 2], dtype=np.int32)

    assert keys_remapped(hashes, 4, 8, np.array([99.0, 1.0])).share == 0.99


def test_negative_hashes_lose_their_sign_bit():
    # -1 is 2**31 - 1: 1 of 3, 3 of 4.
    assert keys_remapped(np.array([-1], dtype=np.int32), 3, 4).moved_keys == 1
    assert keys_remapped(np.array([-(2**31)], dtype=np.int32), 3, 4).moved_keys == 0


def test_no_keys_move_nothing():
    assert keys_remapped(np.array([], dtype=np.int32), 3, 4).share == 0
    assert keys_remapped(np.array([1], dtype=np.int32), 3, 4, np.array([0])).share == 0


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "2 keys need 2 weights in one row, not an array of shape (1,)"),
        ([1.0, -1.0], "weights of keys must be finite and not negative"),
        ([1.0, math.nan], "weights of keys must be finite and not negative"),
    ],
)
def test_weights_that_do_not_fit_are_refused(weights, message):
    with pytest.raises(RequestError, match=f"^{re.escape(message)}$"):
        keys_remapped(np.array([1, 2], dtype=np.int32), 3, 4, np.array(weights))


@pytest.mark.parametrize(("before", "after"), [(0, 4), (4, 0)])
def test_a_topic_without_partitions_is_refused(before, after):
    message = r"^a topic has from 1 to 2147483647 partitions, not 0$"
    with pytest.raises(RequestError, match=message):
        keys_remapped(np.array([1], dtype=np.int32), before, after)
    with pytest.raises(RequestError, match=message):
        even_share_remapped(before, after)
