"""Partitions found by name."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.inventory.column_values import PartitionIndex

NAMES = st.tuples(st.sampled_from("abcd"), st.integers(-1, 3))


@given(st.sets(NAMES), st.lists(NAMES, max_size=40), st.booleans(), st.integers(0, 40), st.integers(0, 3))
def test_partitions_are_found_in_any_order_and_any_chunks(known, asked, is_sorted, cut, skipped):
    listed = sorted(known)
    topics = sorted({topic for topic, _ in listed})
    index = PartitionIndex.of(
        topics,
        np.array([topics.index(topic) for topic, _ in listed], dtype=np.int64),
        np.array([number for _, number in listed], dtype=np.int64),
    )
    asked = sorted(asked) if is_sorted else asked
    columns = [
        pa.chunked_array([pa.array(values[:cut], kind), pa.array(values[cut:], kind)], kind).slice(skipped)
        for values, kind in (([a[0] for a in asked], pa.string()), ([a[1] for a in asked], pa.int32()))
    ]

    expected = [listed.index(one) if one in known else -1 for one in asked[skipped:]]
    assert index.find(*columns).tolist() == expected
