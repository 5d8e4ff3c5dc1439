"""Percentiles of hourly totals, with and without what is known of other states."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from kafka_capacity.hardware.flows import percentile

HOURS = npst.arrays(np.float32, st.tuples(st.integers(1, 4), st.integers(0, 250)), elements=st.floats(0, 1e9, width=32))


@given(values=HOURS)
def test_a_percentile_is_that_of_numpy(values):
    expected = np.percentile(values.astype(np.float64), 99, axis=-1) if values.size else np.zeros(len(values))
    np.testing.assert_allclose(percentile(values), expected, rtol=1e-12)


@given(values=HOURS, ratio=st.sampled_from([0.0, 0.5, 1 - 1e-8, 1.0, 1 + 1e-8, 2.0]), less=st.floats(0, 1e9))
@settings(max_examples=300)
def test_what_is_above_something_known_is_found_and_the_rest_is_not_above_it(values, ratio, less):
    whole = percentile(values)
    above = ratio * whole - less
    found = percentile(values, above)
    is_above = whole > above
    assert (found[is_above] == whole[is_above]).all()
    assert (np.isin(found, [0.0]) | (found == whole)).all()
    assert (np.maximum(found, above) == np.maximum(whole, above))[above >= 0].all()
