"""How much each broker gives and takes, and which replicas that makes."""

import numpy as np
import pytest

from kafka_capacity.kafka.placement.apportionment import first_in_sequence, one_a_row, within_amount
from kafka_capacity.kafka.placement.shares import drawn, poured


def array(*values):
    return np.array(values, dtype=float)


@pytest.mark.parametrize(
    ("load", "width", "total", "gets"),
    [
        ((6, 1, 2), (1, 1, 1), 1, (0, 1, 0)),
        ((6, 1, 2), (1, 1, 1), 3, (0, 2, 1)),
        ((6, 1, 2), (1, 1, 1), 12, (1, 6, 5)),
        ((6, 1, 2), (1, 1, 2), 7, (0, 7 / 3, 14 / 3)),
        ((6, 1, 2), (1, 0, 1), 4, (0, 0, 4)),
        ((6, 1, 2), (1, 1, 1), 0, (0, 0, 0)),
        ((), (), 3, ()),
    ],
)
def test_what_is_poured_goes_to_the_emptiest_until_they_are_level(load, width, total, gets):
    assert poured(array(*load), array(*width), total).tolist() == pytest.approx(list(gets))


def test_a_vessel_that_is_full_takes_no_more():
    assert poured(array(6, 1, 2), array(1, 1, 1), 4.0, array(9, 2, 9)).tolist() == pytest.approx([0, 1, 3])
    assert poured(array(6, 1, 2), array(1, 1, 1), 99.0, array(7, 2, 3)).tolist() == [1, 1, 1]


def test_what_is_drawn_comes_from_the_fullest_down_to_what_each_must_keep():
    assert drawn(array(6, 1, 4), array(1, 1, 1), 4.0).tolist() == pytest.approx([3, 0, 1])
    assert drawn(array(6, 1, 4), array(1, 1, 1), 4.0, array(5, 0, 0)).tolist() == pytest.approx([1, 0, 3])
    assert drawn(array(6, 1, 4), array(1, 1, 1), 99.0, array(5, 1, 3)).tolist() == pytest.approx([1, 0, 1])


@pytest.mark.parametrize("seed", range(20))
def test_what_is_poured_adds_up_and_leaves_nobody_who_got_something_above_the_others(seed):
    rng = np.random.default_rng(seed)
    load, width = rng.integers(0, 50, 9).astype(float), rng.integers(1, 4, 9).astype(float)
    most = load + rng.integers(0, 30, 9)
    total = float(rng.integers(0, int((most - load).sum()) + 1))

    got = poured(load, width, total, most)

    level = (load + got) / width
    assert got.sum() == pytest.approx(total)
    assert (got >= 0).all()
    assert (load + got <= most + 1e-9).all()
    can_take = load + got < most - 1e-9
    if (got > 1e-9).any() and can_take.any():
        assert level[got > 1e-9].max() <= level[can_take].min() + 1e-9


def test_a_group_takes_items_in_order_until_one_overflows():
    group = np.array([0, 1, 0, 0, 1], dtype=np.int32)

    assert within_amount(group, array(2, 9, 3, 1, 8), array(5, 8)).tolist() == [True, False, True, False, True]
    assert not within_amount(group, array(6, 9, 6, 6, 9), array(5, 8)).any()


@pytest.mark.parametrize("length", [0, 1, 2, 7, 8, 100, 1001])
def test_a_sequence_has_every_place_once(length):
    assert sorted(first_in_sequence(length).tolist()) == list(range(length))


def test_the_first_part_of_a_sequence_is_spread_over_the_whole():
    in_each_tenth = np.bincount(first_in_sequence(1000)[:100] // 100)

    assert 8 <= in_each_tenth.min() <= in_each_tenth.max() <= 13


def test_of_a_partition_one_replica_goes_at_a_time():
    assert one_a_row(np.array([4, 2, 4, 2, 1])).tolist() == [True, True, False, False, True]
