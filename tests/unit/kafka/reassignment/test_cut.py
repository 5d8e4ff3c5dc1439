"""Cutting a sequence of hops into waves."""

import doctest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kafka_capacity.kafka.reassignment.cut
import kafka_capacity.kafka.reassignment.flow
import kafka_capacity.kafka.reassignment.kafka_json
import kafka_capacity.kafka.reassignment.waves
from kafka_capacity.kafka.reassignment.cut import Uses, cut
from tests.properties.strategies import repeatable


@pytest.mark.parametrize(
    "module",
    [
        kafka_capacity.kafka.reassignment.cut,
        kafka_capacity.kafka.reassignment.flow,
        kafka_capacity.kafka.reassignment.kafka_json,
        kafka_capacity.kafka.reassignment.waves,
    ],
    ids=lambda module: module.__name__.rpartition(".")[2],
)
def test_worked_examples(module):
    assert doctest.testmod(module).failed == 0


def uses(*rows):
    hop, resource, cost = zip(*rows, strict=True) if rows else ((), (), ())
    return Uses(
        hop=np.array(hop, dtype=np.intp),
        resource=np.array(resource, dtype=np.intp),
        cost=np.array(cost, dtype=np.float64),
    )


def test_everything_that_fits_goes_at_once():
    done = cut(
        np.arange(3), uses((0, 0, 3), (1, 0, 3), (2, 0, 4)), uses(), np.array([10.0]), is_ration=np.array([False])
    )

    assert done.wave.tolist() == [0, 0, 0]
    assert done.left.tolist() == [0.0]


def test_the_first_of_the_order_goes_first():
    done = cut(
        np.array([2, 1, 0]), uses((0, 0, 1), (1, 0, 1), (2, 0, 1)), uses(), np.array([1.0]), is_ration=np.array([True])
    )

    assert done.wave.tolist() == [2, 1, 0]


def test_who_takes_more_than_a_ration_gets_a_wave_in_which_it_is_the_only_one_to_take_of_it():
    done = cut(np.arange(3), uses((0, 0, 1), (1, 0, 9), (2, 0, 1)), uses(), np.array([2.0]), is_ration=np.array([True]))

    assert done.wave.tolist() == [0, 1, 0]


def test_what_goes_gives_room_to_the_next_wave_and_not_to_its_own():
    done = cut(
        np.arange(2), uses((0, 1, 5), (1, 0, 5)), uses((0, 0, 5)), np.array([0.0, 5.0]), is_ration=np.array([False] * 2)
    )

    assert done.wave.tolist() == [0, 1]


def test_what_never_fits_is_stuck_and_holds_nobody_up():
    done = cut(np.arange(2), uses((0, 0, 7), (1, 0, 5)), uses(), np.array([5.0]), is_ration=np.array([False]))

    assert done.wave.tolist() == [-1, 0]


def test_a_disk_that_is_too_full_already_takes_nothing_but_empty_replicas():
    done = cut(np.arange(2), uses((0, 0, 1), (1, 0, 0)), uses(), np.array([-3.0]), is_ration=np.array([False]))

    assert done.wave.tolist() == [-1, 0]


@repeatable(150)
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), min_size=1, max_size=3, unique_by=lambda use: use[0]),
        min_size=1,
        max_size=30,
    ),
    st.lists(st.integers(0, 12), min_size=4, max_size=4),
)
def test_no_wave_takes_more_than_there_is_and_what_is_stuck_fits_nowhere(hops, budgets):
    rows = [(hop, resource, cost) for hop, listed in enumerate(hops) for resource, cost in listed]
    is_ration = np.array([False, False, True, True])
    budget = np.array(budgets, dtype=np.float64)
    done = cut(np.arange(len(hops)), uses(*rows), uses(), budget, is_ration=is_ration)

    left = budget.copy()
    for wave in range(done.wave_count):
        taken = np.zeros(4)
        for hop, resource, cost in rows:
            if done.wave[hop] == wave:
                taken[resource] += min(cost, budget[resource]) if is_ration[resource] else cost
        left[is_ration] = budget[is_ration]
        assert (taken <= left).all()
        left -= np.where(is_ration, 0.0, taken)
    for hop in np.flatnonzero(done.wave < 0).tolist():
        assert any(cost > left[resource] for resource, cost in hops[hop] if not is_ration[resource])
