"""Whole cents that sum to the cent."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.questions.chargeback.split import in_cents, shared_cents

WEIGHTS = st.lists(st.one_of(st.just(0.0), st.floats(1e-6, 1e12)), min_size=1, max_size=200)


@given(st.integers(0, 10**12), WEIGHTS)
def test_shares_sum_to_the_cent_and_are_within_a_cent_of_their_due(cents, weights):
    weights = np.array([*weights, 1.0])
    found = shared_cents(cents, weights)
    due = weights / weights.sum() * cents
    assert int(found.sum()) == cents
    assert (found[weights == 0.0] == 0).all()
    assert (np.abs(found - due) <= 1.0 + 1e-3).all()
    assert (found >= 0).all()


def test_nothing_is_shared_out_among_nobody():
    assert shared_cents(0, np.zeros(3)).tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="7 cents cannot be split: no weight is above 0"):
        shared_cents(7, np.zeros(3))


def test_the_largest_remainders_get_the_cents_that_are_left():
    # Due are 2.5, 1.666… and 0.833…: whole cents are 2, 1 and 0, and of two that are left the largest remainders are
    # those of the last and the second.
    assert shared_cents(5, np.array([3.0, 2.0, 1.0])).tolist() == [2, 2, 1]
    assert in_cents(0.1 + 0.2) == 30
