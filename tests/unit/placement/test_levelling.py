"""Which items are picked for an amount."""

import numpy as np
import pytest

from kafka_capacity.placement.levelling import pick


@pytest.mark.parametrize(
    ("unit", "amount", "room", "chosen"),
    [
        ([5, 4, 3], 9, 9, [0, 1]),
        ([5, 4, 3], 8, 8, [0, 2]),
        ([9, 4, 3], 8, 8, [1, 2]),
        ([9, 8], 5, 8, [1]),
        ([9, 8], 5, 7, []),
        ([], 5, 7, []),
        ([5, 5], 0, 9, []),
        ([2, 2, 2, 2], 5, 5, [0, 1]),
    ],
)
def test_the_largest_that_fit_then_the_smallest_for_the_rest(unit, amount, room, chosen):
    picked = pick(np.array(unit, dtype=float), amount, room)

    assert picked.tolist() == chosen
