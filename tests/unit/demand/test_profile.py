from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.demand.profile import profile_groups

rates = st.floats(min_value=0, max_value=1e9, width=32)


@given(groups=st.lists(st.lists(rates, max_size=30), max_size=8), quantile=st.sampled_from([0.0, 0.5, 0.99, 1.0]))
def test_percentile_is_numpys_linear_one(groups, quantile):
    group = np.array([index for index, values in enumerate(groups) for _ in values], dtype=np.int64)
    values = np.array([value for values in groups for value in values], dtype=np.float32)
    profile = profile_groups(group, values, len(groups), quantile=quantile)
    for index, own in enumerate(groups):
        expected = np.percentile(np.array(own, dtype=np.float64), quantile * 100) if own else 0.0
        assert profile.peak[index] == expected
        assert profile.mean[index] == pytest.approx(np.mean(own) if own else 0.0)
        assert profile.count[index] == len(own)


@given(values=st.lists(rates, min_size=1, max_size=50), seed=st.integers(0, 100))
def test_the_order_of_the_values_does_not_show(values, seed):
    given_order = np.array(values, dtype=np.float32)
    shuffled = np.random.default_rng(seed).permutation(given_order)
    group = np.zeros(len(values), dtype=np.int64)
    one, other = profile_groups(group, given_order, 1), profile_groups(group, shuffled, 1)
    assert one.mean.tobytes() == other.mean.tobytes()
    assert one.peak.tobytes() == other.peak.tobytes()


def test_a_negative_zero_is_zero():
    profile = profile_groups(np.zeros(2, dtype=np.int64), np.array([-0.0, 3.0], dtype=np.float32), 1, quantile=0.0)
    assert profile.peak.tolist() == [0.0]
    assert profile.mean.tolist() == [1.5]


def test_no_values_at_all():
    profile = profile_groups(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32), 3)
    assert profile.mean.tolist() == profile.peak.tolist() == [0.0, 0.0, 0.0]
