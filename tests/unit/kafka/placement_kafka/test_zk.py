"""Placement in the days of ZooKeeper."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.errors import PlacementError, RequestError
from kafka_capacity.kafka.java.random import JavaRandom
from kafka_capacity.kafka.placement.modulo import modulo_placement
from kafka_capacity.kafka.placement.zk import ZkRelease, rack_alternated, zk_placement


def ids(count):
    return np.arange(count, dtype=np.int32)


def placed_plainly(row, racks, partition, count, factor, start):
    """Place one replica after another; ``racks`` maps each broker of the row to its rack."""
    rows, shift, rack_count, n = [], start, len(set(racks.values())), len(row)
    for number in range(partition, partition + count):
        shift += number > 0 and number % n == 0
        first = (number + start) % n
        chosen, tries = [row[first]], 0
        while len(chosen) < factor:
            broker = row[(first + 1 + (shift * rack_count + tries) % (n - 1)) % n]
            tries += 1
            used = {racks[other] for other in chosen}
            if broker not in chosen and (racks[broker] not in used or len(used) == rack_count):
                chosen.append(broker)
        rows.append(chosen)
    return rows


@given(
    st.lists(st.sampled_from("aaaaaaaaaaaabcd"), min_size=1, max_size=30),
    st.integers(1, 5),
    st.integers(0, 120),
    st.integers(0, 50),
    st.integers(0, 40),
)
def test_arrays_place_as_one_replica_after_another(racks, factor, count, partition, start):
    factor, count = min(factor, len(racks)), count + 1
    expected = placed_plainly(
        rack_alternated(ids(len(racks)), racks), dict(enumerate(racks)), partition, count, factor, start
    )

    placed = zk_placement(ids(len(racks)), racks, count, factor, fixed_start_index=start, start_partition=partition)
    assert placed.tolist() == expected
    assert placed.dtype == np.int32


@given(st.integers(1, 12), st.integers(1, 5), st.integers(1, 300), st.integers(0, 2**48))
def test_rows_keep_their_factor_and_name_no_broker_twice(brokers, factor, count, seed):
    factor = min(factor, brokers)
    placed = zk_placement(ids(brokers), [None] * brokers, count, factor, random=JavaRandom(seed))

    assert placed.shape == (count, factor)
    assert (np.diff(np.sort(placed, axis=1), axis=1) > 0).all()
    leaders = np.bincount(placed[:, 0], minlength=brokers)
    assert leaders.max() - leaders.min() <= 1


def test_the_answer_repeats_only_after_all_shifts():
    long = zk_placement(ids(4), [None] * 4, 40, 2, fixed_start_index=2)

    assert long[:12].tolist() == long[12:24].tolist() == long[24:36].tolist()
    assert long[:4].tolist() != long[4:8].tolist()


def test_start_then_shift_are_drawn():
    random = JavaRandom(9)
    start, shift = random.next_int_bound(5), random.next_int_bound(5)
    placed = zk_placement(ids(5), [None] * 5, 1, 2, random=JavaRandom(9))

    assert placed.tolist() == [[start, (start + 1 + shift % 4) % 5]]


def test_without_racks_the_order_of_brokers_counts():
    backwards = np.array([3, 2, 1], dtype=np.int32)

    assert zk_placement(backwards, [None] * 3, 2, 2, fixed_start_index=0).tolist() == [[3, 2], [2, 1]]


def test_racks_are_sorted_as_java_sorts():
    assert rack_alternated(ids(2), ["\uffff", "\U0001f600"]) == [1, 0]


INVALID_FACTOR = "org.apache.kafka.common.errors.InvalidReplicationFactorException"


@pytest.mark.parametrize(
    ("racks", "count", "factor", "message", "kafka_type"),
    [
        (
            [None],
            0,
            0,
            "partition count 0 is not positive; a topic needs at least 1 partition",
            "org.apache.kafka.common.errors.InvalidPartitionsException",
        ),
        ([None], 1, 0, "replication factor 0 is not positive; a partition needs at least 1 replica", INVALID_FACTOR),
        (
            [None, "a"],
            1,
            3,
            "replication factor 3 needs at least as many brokers, but there are 2; lower the factor or add brokers",
            INVALID_FACTOR,
        ),
        (
            [None, "a", "b"],
            1,
            1,
            "2 of 3 brokers have a rack; give every broker a rack or none",
            "kafka.admin.AdminOperationException",
        ),
    ],
)
def test_what_kafka_refuses_is_refused(racks, count, factor, message, kafka_type):
    with pytest.raises(PlacementError) as refused:
        zk_placement(ids(len(racks)), racks, count, factor, fixed_start_index=0, release=ZkRelease.V0_10)
    assert str(refused.value) == message
    assert refused.value.kafka_type == kafka_type


def test_the_class_thrown_for_mixed_racks_follows_the_release():
    with pytest.raises(PlacementError) as refused:
        zk_placement(ids(2), [None, "a"], 1, 1, fixed_start_index=0)
    assert refused.value.kafka_type == "org.apache.kafka.server.common.AdminOperationException"


def test_a_request_that_cannot_be_asked_of_kafka_is_refused():
    with pytest.raises(RequestError, match="there must be a source of draws"):
        zk_placement(ids(2), [None] * 2, 1, 1)
    with pytest.raises(RequestError, match="2 ids, of which only 1 are different"):
        zk_placement(np.zeros(2, dtype=np.int32), ["a", "b"], 1, 1, fixed_start_index=0)
    with pytest.raises(RequestError, match="exceed Kafka's integers"):
        zk_placement(ids(2), [None] * 2, 1, 1, fixed_start_index=2**31 - 1)


def test_modulo_puts_replica_y_of_partition_x_on_broker_x_plus_y():
    backwards = np.array([7, 5, 3, 1], dtype=np.int32)

    assert modulo_placement(backwards, ids(5), 2).tolist() == [[1, 3], [3, 5], [5, 7], [7, 1], [1, 3]]


def test_modulo_refuses_more_replicas_than_brokers():
    with pytest.raises(
        PlacementError, match=r"^replication factor 3 needs at least as many brokers, but there are 2; "
    ):
        modulo_placement(ids(2), ids(1), 3)
