"""Lag and catch-up against closed forms and against a simulation in small steps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_capacity.kafka.rebalance.lag import lag_over_time
from kafka_capacity.kafka.rebalance.model import Interruptions


def stopped(*rows):
    """Interruptions of (partition, stop, start, before, after)."""
    table = np.array(rows, dtype=np.float64).reshape(-1, 5)
    return Interruptions(
        partition=table[:, 0].astype(np.int64),
        stop_seconds=table[:, 1],
        start_seconds=table[:, 2],
        before=table[:, 3].astype(np.int64),
        after=table[:, 4].astype(np.int64),
        left_seconds=np.full(len(table), np.nan),
    )


def lag(rate, capacity, interruptions, *, start=None, first=None, last=None):
    count = len(rate)
    first = np.zeros(count, dtype=np.int64) if first is None else np.array(first)
    return lag_over_time(
        rate=np.array(rate, dtype=np.float64),
        start_lag_bytes=np.zeros(count) if start is None else np.array(start, dtype=np.float64),
        capacity=capacity,
        first_owner=first,
        last_owner=first if last is None else np.array(last),
        interruptions=interruptions,
    )


def test_the_slowest_member_decides_not_the_total():
    # Two members of 100 bytes/s: one has 90 bytes/s of load, the other 10; both stop for 10 s.
    found = lag([90, 10], 100.0, stopped((0, 0, 10, 0, 0), (1, 0, 10, 1, 1)), first=[0, 1])
    assert found.catch_up_seconds == pytest.approx(10 + 900 / (100 - 90))
    assert found.catch_up_row == 0
    assert found.max_lag_seconds == 10.0


def test_one_partition_that_stops_is_worked_off_with_what_its_reader_has_to_spare():
    found = lag([10, 10], 30.0, stopped((0, 5, 10, 0, 0)))
    assert found.lag_bytes.max() == pytest.approx(50)
    assert found.catch_up_seconds == pytest.approx(10 + 50 / (30 - 20))


def test_what_waits_at_the_start_is_worked_off_too():
    found = lag([10], 30.0, stopped(), start=[200])
    assert (found.catch_up_seconds, found.max_lag_seconds) == (pytest.approx(10.0), pytest.approx(20.0))


def test_a_member_with_more_than_it_can_do_falls_behind_without_end():
    found = lag([40], 30.0, stopped())
    assert (found.catch_up_seconds, found.max_lag_seconds) == (np.inf, np.inf)
    assert found.lag_bytes[-1] == pytest.approx(10 * 3600)


def test_a_member_that_is_just_full_never_catches_up_but_falls_no_further():
    found = lag([30], 30.0, stopped((0, 0, 5, 0, 0)))
    assert (found.catch_up_seconds, found.max_lag_seconds) == (np.inf, pytest.approx(5.0))


def test_nothing_waits_where_nothing_stops():
    found = lag([10, 0], 30.0, stopped())
    assert (found.catch_up_seconds, found.max_lag_seconds, found.max_lag_row) == (0.0, 0.0, -1)


def test_a_partition_that_is_never_read_again_lags_without_end():
    found = lag([10], 30.0, stopped((0, 2, np.inf, 0, -1)), last=[-1])
    assert (found.catch_up_seconds, found.max_lag_seconds) == (np.inf, np.inf)
    assert found.paused_partitions[-1] == 1


def test_with_unknown_capacity_what_pauses_add_is_known_and_when_it_is_caught_up_is_not():
    found = lag([10], np.inf, stopped((0, 0, 6, 0, 0)))
    assert found.max_lag_seconds == 6.0
    assert np.isnan(found.catch_up_seconds)
    # Whatever members can do, what nobody reads is never caught up, and what never waits has nothing to catch up.
    assert lag([10], np.inf, stopped((0, 2, np.inf, 0, -1)), last=[-1]).catch_up_seconds == np.inf
    assert lag([10], np.inf, stopped()).catch_up_seconds == 0.0


def in_small_steps(rate, capacity, interruptions, start, first, until, step=0.01):
    """Follow every partition in steps of a hundredth of a second; each member shares its work evenly."""
    rate, backlog, owner = np.array(rate, float), np.array(start, float), np.array(first)
    peaks = backlog.copy()
    total = []
    for now in np.arange(0, until, step):
        readers = owner.copy()
        for row in range(len(interruptions)):
            p = interruptions.partition[row]
            if interruptions.stop_seconds[row] <= now + 1e-9 < interruptions.start_seconds[row]:
                readers[p] = -1
            elif now + 1e-9 >= interruptions.start_seconds[row]:
                readers[p] = interruptions.after[row]
        backlog = backlog + rate * step
        for member in set(readers[readers >= 0].tolist()):
            mine = np.flatnonzero(readers == member)
            work = capacity * step
            while work > 1e-12 and (backlog[mine] > 1e-12).any():
                waiting = mine[backlog[mine] > 1e-12]
                share = min(work / len(waiting), backlog[waiting].min())
                backlog[waiting] -= share
                work -= share * len(waiting)
        peaks = np.maximum(peaks, backlog)
        total.append(backlog.sum())
    return np.array(total), peaks


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_the_backlog_is_that_of_small_steps(data):
    count, members = data.draw(st.integers(1, 4)), 2
    rate = data.draw(st.lists(st.integers(1, 10), min_size=count, max_size=count))
    first = data.draw(st.lists(st.integers(0, members - 1), min_size=count, max_size=count))
    loads = [sum(r for r, o in zip(rate, first, strict=True) if o == m) for m in range(members)]
    capacity = float(max(loads) + data.draw(st.integers(3, 20)))
    start = data.draw(st.lists(st.integers(0, 40), min_size=count, max_size=count))
    rows = []
    for partition in range(count):
        if data.draw(st.booleans()):
            stop = data.draw(st.integers(0, 5))
            rows.append((partition, stop, stop + data.draw(st.integers(1, 5)), first[partition], first[partition]))
    interruptions = stopped(*rows)
    found = lag(rate, capacity, interruptions, start=start, first=first)
    total, _ = in_small_steps(rate, capacity, interruptions, start, first, until=found.catch_up_seconds + 1.0)
    is_over = np.flatnonzero(total > 0.5)
    ends = (is_over[-1] + 1) * 0.01 if len(is_over) else 0.0
    # The last partition may have been worked off while another one was still paused.
    assert ends <= found.catch_up_seconds + 0.1
    assert found.lag_bytes.max() == pytest.approx(max(total.max(), sum(start)), abs=0.02 * sum(rate) + 0.5)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 50), st.integers(51, 100), st.integers(1, 50), st.floats(0.5, 60))
def test_more_capacity_never_takes_longer(rate, capacity, more, pause):
    interruptions = stopped((0, 0, pause, 0, 0))
    slow, fast = (lag([rate], float(c), interruptions).catch_up_seconds for c in (capacity, capacity + more))
    assert fast <= slow + 1e-9
    assert slow == pytest.approx(pause + rate * pause / (capacity - rate))
