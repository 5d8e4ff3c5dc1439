"""Keys load partitions unevenly, by as much as they are uneven themselves."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.producer import Keys, load_of_keys, load_of_top_keys, partition_of_key, zipf_shares, zipf_skew


@given(
    st.lists(st.tuples(st.binary(max_size=12), st.integers(0, 2**30)), max_size=30),
    st.integers(1, 20),
    st.integers(0, 2**30),
)
def test_each_partition_gets_its_keys_and_its_part_of_the_rest(keys, partitions, other_bytes):
    expected = [other_bytes / partitions] * partitions
    for key, size in keys:
        expected[partition_of_key(key, partitions)] += size

    top_bytes = np.array([size for _, size in keys], dtype=np.int64)
    load = load_of_top_keys(Keys.of(key for key, _ in keys), top_bytes, partitions, other_bytes=other_bytes)

    assert load.partition_bytes.tolist() == pytest.approx(expected)
    assert load.largest_over_mean >= 1 - 1e-9


def test_one_key_loads_one_partition():
    load = load_of_keys(np.array([2, 2]), np.array([3, 4]), 5)

    assert (load.partition_bytes.tolist(), load.largest, load.largest_over_mean) == ([0, 0, 7, 0, 0], 2, 5)


def test_nothing_sent_is_even():
    assert load_of_keys(np.array([], dtype=np.int64), np.array([]), 3).largest_over_mean == 1


def test_zipf_shares_fall_by_the_exponent():
    assert zipf_shares(3, 1.0).tolist() == pytest.approx([6 / 11, 3 / 11, 2 / 11])
    assert zipf_shares(4, 0.0).tolist() == [0.25] * 4
    assert zipf_shares(2, 2.0).tolist() == pytest.approx([0.8, 0.2])


@given(st.integers(1, 50), st.floats(0, 3), st.integers(1, 20), st.integers(0, 2**32))
def test_a_placement_is_between_the_largest_key_and_everything_on_one(key_count, exponent, partitions, seed):
    skew = zipf_skew(key_count=key_count, exponent=exponent, partitions=partitions, seed=seed, runs=5)
    again = zipf_skew(key_count=key_count, exponent=exponent, partitions=partitions, seed=seed, runs=5)

    assert (skew.largest_over_mean >= skew.least - 1e-9).all()
    assert (skew.largest_over_mean <= partitions + 1e-9).all()
    assert (np.diff(skew.largest_over_mean) >= 0).all()
    assert skew.largest_over_mean.tolist() == again.largest_over_mean.tolist()


def test_two_alike_keys_on_two_partitions_meet_half_the_time():
    skew = zipf_skew(key_count=2, exponent=0.0, partitions=2, seed=1, runs=2000)

    assert set(skew.largest_over_mean.tolist()) == {1.0, 2.0}
    assert skew.largest_over_mean.mean() == pytest.approx(1.5, abs=0.04)
    assert skew.least == 1


def test_another_seed_places_otherwise():
    first, second = (zipf_skew(key_count=50, exponent=1.0, partitions=7, seed=seed, runs=3) for seed in (1, 2))

    assert first.largest_over_mean.tolist() != second.largest_over_mean.tolist()


def test_more_partitions_do_not_help_a_hot_key():
    few, many = (zipf_skew(key_count=1000, exponent=1.5, partitions=count, seed=1, runs=50) for count in (4, 40))

    assert many.quantile(0.5) > few.quantile(0.5)
    assert many.least == pytest.approx(40 * zipf_shares(1000, 1.5)[0])


def test_a_quantile_is_a_placement_that_was_made():
    skew = zipf_skew(key_count=100, exponent=1.0, partitions=7, seed=1, runs=4)

    assert [skew.quantile(share) for share in (0.25, 0.5, 0.75, 1.0)] == skew.largest_over_mean.tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"key_count": 0}, "key_count must be at least 1, not 0"),
        ({"exponent": -0.5}, "exponent must be finite and not negative, not -0.5"),
        ({"exponent": math.nan}, "exponent must be finite and not negative, not nan"),
        ({"partitions": 0}, "a topic has from 1 to 2147483647 partitions, not 0"),
        ({"runs": 0}, "runs must be at least 1, not 0"),
    ],
)
def test_arguments_out_of_range_are_refused(change, message):
    with pytest.raises(RequestError, match=f"^{message}$"):
        zipf_skew(**{"key_count": 5, "exponent": 1.0, "partitions": 3, "seed": 1, "runs": 2} | change)


@pytest.mark.parametrize("other_bytes", [-1, math.inf, math.nan])
def test_other_bytes_out_of_range_are_refused(other_bytes):
    with pytest.raises(RequestError, match=f"^other_bytes must be finite and not negative, not {other_bytes}$"):
        load_of_top_keys(Keys.of([b"a"]), np.array([1]), 3, other_bytes=other_bytes)
