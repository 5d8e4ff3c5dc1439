"""How long a move takes, in closed form and as measured on real brokers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.kafka.cluster.assignment import replica_matrix
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.diff import diff_assignments
from kafka_capacity.kafka.reassignment.flow import move_duration
from tests.properties.strategies import repeatable

MB = 10**6


def duration(before, after, *, throttle, size, rate=0.0, leader=None, followers=None, **spare):
    rows = len(before)
    return move_duration(
        diff_assignments(replica_matrix(before), replica_matrix(after)),
        brokers=Brokers.of(range(10)),
        leader=np.array(leader if leader is not None else [row[0] for row in before], dtype=np.int32),
        in_sync_followers=np.array(followers if followers is not None else [len(row) - 1 for row in before]),
        size_bytes=np.full(rows, size, dtype=np.int64),
        bytes_in_bytes_per_second=np.full(rows, float(rate)),
        throttle_bytes_per_second=float(throttle),
        **spare,
    )


def test_one_replica_in_the_docstrings_figures():
    moved = duration([[1, 2]], [[1, 3]], throttle=10 * MB, size=100 * MB, rate=MB)

    assert moved.seconds == pytest.approx(12.5)
    assert (moved.bottleneck_broker, moved.bottleneck_direction) == (1, "out")
    assert moved.smallest_throttle_bytes_per_second == 2 * MB


def test_five_megabytes_a_second_never_end_at_factor_three_and_two_produced():
    moved = duration([[1, 2, 3]], [[1, 2, 4]], throttle=5 * MB, size=139 * MB, rate=2 * MB)

    assert moved.seconds is None
    assert (moved.bottleneck_broker, moved.bottleneck_direction) == (1, "out")
    assert moved.smallest_throttle_bytes_per_second == 6 * MB


def test_eight_megabytes_a_second_take_what_was_measured():
    # Measured on four real brokers: 139 MB took 69.5 s.
    moved = duration([[1, 2, 3]], [[1, 2, 4]], throttle=8 * MB, size=139 * MB, rate=2 * MB)

    assert moved.seconds == pytest.approx(69.5)


def test_the_smallest_throttle_is_a_sharp_edge():
    at_the_edge = duration([[1, 2, 3]], [[1, 2, 4]], throttle=6 * MB, size=1, rate=2 * MB)
    above = duration([[1, 2, 3]], [[1, 2, 4]], throttle=6 * MB + 1, size=1, rate=2 * MB)

    assert at_the_edge.seconds is None
    assert above.seconds == pytest.approx(1.0)


def test_no_throttle_is_large_enough_where_a_network_has_nothing_left():
    # Broker 3 has 1 MB/s left, which is what is produced; broker 1 sends more, but has the room for it.
    left = dict(spare_in_bytes_per_second=np.full(10, MB), spare_out_bytes_per_second=np.full(10, 9 * MB))
    moved = duration([[1, 2]], [[1, 3]], throttle=10 * MB, size=100 * MB, rate=MB, **left)

    assert (moved.seconds, moved.smallest_throttle_bytes_per_second) == (None, np.inf)
    assert (moved.bottleneck_broker, moved.bottleneck_direction) == (3, "in")


def test_a_receiver_of_two_is_the_bottleneck():
    moved = duration([[1], [2]], [[3], [3]], throttle=10.0, size=100, followers=[0, 0])

    assert moved.seconds == pytest.approx(20.0)
    assert (moved.bottleneck_broker, moved.bottleneck_direction) == (3, "in")


def test_a_sender_of_two_is_the_bottleneck():
    moved = duration([[1], [1]], [[2], [3]], throttle=10.0, size=100, followers=[0, 0])

    assert moved.seconds == pytest.approx(20.0)
    assert (moved.bottleneck_broker, moved.bottleneck_direction) == (1, "out")


def test_the_leader_sends_and_not_who_goes_away():
    moved = duration([[1, 2]], [[1, 3]], throttle=10.0, size=100, leader=[2], followers=[1])

    assert (moved.bottleneck_broker, moved.bottleneck_direction) in {(2, "out"), (3, "in")}
    assert moved.seconds == pytest.approx(10.0)


def test_nothing_to_copy_takes_no_time():
    moved = duration([[1, 2]], [[2, 1]], throttle=1.0, size=100, rate=50.0)

    assert moved.seconds == 0.0
    assert (moved.bottleneck_broker, moved.bottleneck_direction) == (None, None)
    assert moved.smallest_throttle_bytes_per_second == 0.0


def test_what_nobody_leads_is_counted_and_the_rest_is_timed():
    moved = duration([[1, 2], [1, 2]], [[1, 3], [1, 4]], throttle=10.0, size=100, leader=[-1, 1], followers=[1, 1])

    assert moved.unreachable_partitions == 1
    assert moved.seconds == pytest.approx(10.0)


@repeatable(100)
@given(
    st.lists(st.tuples(st.permutations(range(5)), st.permutations(range(5))), min_size=1, max_size=8),
    st.integers(1, 100),
    st.integers(0, 5),
    st.integers(1, 50),
)
def test_a_larger_throttle_is_never_slower(pairs, throttle, rate, more):
    before, after = [pair[0][:3] for pair in pairs], [pair[1][:3] for pair in pairs]
    slow = duration(before, after, throttle=throttle, size=1000, rate=rate)
    fast = duration(before, after, throttle=throttle + more, size=1000, rate=rate)

    if slow.seconds is not None:
        assert fast.seconds is not None
        assert fast.seconds <= slow.seconds
    if slow.bottleneck_broker is not None:
        assert (slow.seconds is None) == (throttle <= slow.smallest_throttle_bytes_per_second)
