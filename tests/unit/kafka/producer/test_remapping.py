"""A new partition count sends as many keys elsewhere as hash elsewhere."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.producer.key_hashing import even_share_remapped

COUNTS = st.integers(1, 60)


@given(COUNTS, COUNTS)
def test_the_even_share_is_that_of_one_round_of_hashes(before, after):
    hashes = np.arange(math.lcm(before, after))

    assert even_share_remapped(before, after) == pytest.approx((hashes % before != hashes % after).mean())


def test_doubling_moves_half_and_the_way_back_too():
    assert even_share_remapped(12, 24) == 0.5
    assert even_share_remapped(24, 12) == 0.5
    assert even_share_remapped(12, 12) == 0
    assert even_share_remapped(12, 13) == pytest.approx(12 / 13)


def test_a_topic_has_partitions():
    with pytest.raises(RequestError, match="a topic has from 1 to 2147483647 partitions, not 0"):
        even_share_remapped(0, 3)
