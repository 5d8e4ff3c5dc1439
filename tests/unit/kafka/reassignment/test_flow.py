"""How copies share gates: the closed form, event by event, and what disks hold meanwhile."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.kafka.reassignment.flow import copy_seconds, disk_peaks, gate_seconds
from tests.properties.strategies import repeatable
from tests.unit.kafka.reassignment.replayed_flow import fair_rates, replay


@st.composite
def copies(draw):
    brokers = draw(st.integers(2, 5))
    count = draw(st.integers(1, 12))
    sources = draw(st.lists(st.integers(0, brokers - 1), min_size=count, max_size=count))
    gates = [[brokers + s, draw(st.integers(0, brokers - 1).filter(lambda d, s=s: d != s))] for s in sources]
    size = draw(st.lists(st.integers(0, 50), min_size=count, max_size=count))
    closing = draw(st.lists(st.integers(-2, 10), min_size=2 * brokers, max_size=2 * brokers))
    return np.array(gates), np.array(size, dtype=np.float64), np.array(closing, dtype=np.float64)


def slowest(gates, size, closing):
    amount = sum(np.bincount(gates[:, k], weights=size, minlength=len(closing)) for k in range(gates.shape[1]))
    return float(gate_seconds(amount, closing).max())


def test_one_gate_shared_evenly():
    gates, size = np.zeros((3, 1), dtype=np.intp), np.array([10.0, 30.0, 20.0])

    assert copy_seconds(gates, size, np.array([2.0])).tolist() == [15.0, 30.0, 25.0]
    assert replay(gates, size, np.array([2.0])) == pytest.approx([15.0, 30.0, 25.0])


def test_a_gate_that_closes_nothing_never_lets_anyone_through():
    gates, size = np.array([[0, 1], [0, 2]]), np.array([10.0, 10.0])

    assert copy_seconds(gates, size, np.array([5.0, 0.0, 5.0])).tolist() == [np.inf, 4.0]
    assert replay(gates, size, np.array([5.0, 0.0, 5.0])).tolist() == [np.inf, 2.0]


def test_an_empty_copy_is_there_at_once_even_where_nothing_closes():
    gates = np.array([[0], [0]])

    assert copy_seconds(gates, np.array([0.0, 0.0]), np.array([-1.0])).tolist() == [0.0, 0.0]
    assert replay(gates, np.array([0.0, 0.0]), np.array([-1.0])).tolist() == [0.0, 0.0]


def test_what_one_gate_holds_back_others_may_use():
    gates = np.array([[0, 1], [0, 2]])

    assert fair_rates(gates, np.array([True, True]), np.array([10.0, 2.0, 20.0])).tolist() == [2.0, 8.0]


@repeatable(200)
@given(copies())
def test_the_last_copy_is_done_when_the_slowest_gate_is(drawn):
    assert copy_seconds(*drawn).max() == pytest.approx(slowest(*drawn))


@repeatable(200)
@given(copies())
def test_a_replay_never_beats_the_closed_form_and_never_takes_twice_as_long(drawn):
    end, bound = float(replay(*drawn).max()), slowest(*drawn)

    assert end >= bound * (1 - 1e-9)
    # Whoever is late was held back, at every moment, by one of its two gates, and that gate was busy.
    assert end <= 2 * bound * (1 + 1e-9)


@repeatable(100)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=10), st.integers(1, 9))
def test_where_one_gate_binds_a_replay_is_the_closed_form_copy_by_copy(sizes, rate):
    count = len(sizes)
    gates = np.stack([np.zeros(count, dtype=np.intp), np.arange(1, count + 1)], axis=1)
    closing = np.concatenate([[float(rate)], np.full(count, 2.0 * rate * count)])
    size = np.array(sizes, dtype=np.float64)

    assert replay(gates, size, closing) == pytest.approx(copy_seconds(gates, size, closing))


def plain_disk_peaks(copies, removals, count):
    """Look at every disk at every moment that something happens."""
    moments = sorted({t for t in [*copies[2], *removals[2]] if np.isfinite(t)} | {0.0})
    peaks = [0.0] * count
    for now in [*moments, np.inf]:
        level = [0.0] * count
        for disk, size, end in zip(*copies, strict=True):
            gradual = np.isfinite(end) and end > 0
            level[disk] += size * (1.0 if not gradual else min(1.0, now / end))
        for disk, size, end in zip(*removals, strict=True):
            level[disk] -= size if end < now else 0.0
        peaks = [max(pair) for pair in zip(peaks, level, strict=True)]
    return peaks


@repeatable(200)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 20), st.sampled_from([0.0, 1.0, 2.0, 5.0, np.inf])), max_size=8
    ),
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 20), st.sampled_from([0.0, 1.0, 2.0, 5.0, np.inf])), max_size=8
    ),
)
def test_disks_hold_what_a_look_at_every_moment_finds(copies, removals):
    def columns(rows):
        disk, size, end = zip(*rows, strict=True) if rows else ((), (), ())
        return np.array(disk, dtype=np.intp), np.array(size, dtype=np.float64), np.array(end, dtype=np.float64)

    arrays = columns(copies), columns(removals)
    assert disk_peaks(*arrays, 3) == pytest.approx(plain_disk_peaks(*arrays, 3))
