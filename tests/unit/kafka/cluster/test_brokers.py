"""Brokers as arrays."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.kafka.cluster.assignment import Partitions
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.snapshot import LogDirs, PartitionLoad, Snapshot, Topics
from tests.properties.strategies import repeatable


@repeatable(60)
@given(st.permutations([3, 1, 7, 5]))
def test_the_order_in_which_brokers_are_given_does_not_show(ids):
    made = Brokers.of(
        ids,
        [f"rack-{i}" for i in ids],
        is_fenced=[i == 7 for i in ids],
        disk_capacity_bytes=[None if i == 5 else float(i) for i in ids],
        memory_bytes=[None if i == 7 else 10.0 * i for i in ids],
    )

    assert made.ids.tolist() == [1, 3, 5, 7]
    assert made.racks == ("rack-1", "rack-3", "rack-5", "rack-7")
    assert made.is_fenced.tolist() == [False, False, False, True]
    assert np.isnan(made.disk_capacity_bytes).tolist() == [False, False, True, False]
    assert made.disk_capacity_bytes[[0, 1, 3]].tolist() == [1.0, 3.0, 7.0]
    assert made.memory_bytes[:3].tolist() == [10.0, 30.0, 50.0]
    assert np.isnan(made.memory_bytes).tolist() == [False, False, False, True]
    assert np.isnan(made.network_in_bytes_per_second).all()


def test_a_broker_is_found_by_its_id_and_no_other():
    brokers = Brokers.of([1, 3, 7])

    assert brokers.index_of(np.array([7, 2, 1, -1, 99])).tolist() == [2, -1, 0, -1, -1]
    assert Brokers.of([]).index_of(np.array([[1, -1]])).tolist() == [[-1, -1]]


@given(
    st.sets(st.integers(0, 20), min_size=1),
    st.one_of(st.lists(st.integers(-4, 30), max_size=5), st.lists(st.integers(-4, 30), min_size=25, max_size=40)),
    st.sampled_from([np.int32, np.int64]),
)
def test_places_of_few_ids_and_of_many_are_found_alike(ids, asked, kind):
    # Many are looked up in a table, few searched for.
    ids = sorted(ids)
    places = Brokers.of(ids).index_of(np.array(asked, dtype=kind))

    assert places.tolist() == [ids.index(broker) if broker in ids else -1 for broker in asked]
    assert places.dtype == np.int32


def test_brokers_without_a_rack_are_racks_of_their_own():
    brokers = Brokers.of([1, 2, 3, 4], ["b", None, "a", ""])

    assert brokers.racks == ("b", None, "a", None)
    assert brokers.rack_indexes().tolist() == [1, 2, 0, 3]
    assert brokers.rack_names() == ("a", "b")
    assert brokers.brokers_by_rack() == {"a": (3,), "b": (1,), None: (2, 4)}


def test_partitions_name_themselves_as_kafka_does():
    partitions = Partitions(topics=("a", "b"), topic=np.array([0, 0, 1]), partition=np.array([0, 1, 0]))

    assert [partitions.name(row) for row in range(3)] == ["a-0", "a-1", "b-0"]
    assert partitions.topic_slices() == [slice(0, 2), slice(2, 3)]


def test_a_copy_is_as_large_as_the_leader_or_else_as_the_largest_replica():
    replicas = np.array([[1, 2], [1, 2], [1, -1]], dtype=np.int32)
    snapshot = Snapshot(
        cluster="c",
        ds="2026-11-20",
        brokers=Brokers.of([1, 2]),
        log_dirs=LogDirs(broker_id=np.array([]), path=(), total_bytes=np.array([]), usable_bytes=np.array([])),
        partitions=Partitions(topics=("a",), topic=np.zeros(3, dtype=int), partition=np.arange(3)),
        topics=Topics(
            min_insync_replicas=np.ones(1),
            is_min_isr_assumed=np.zeros(1),
            is_internal=np.zeros(1),
            retention_bytes=np.ones(1),
            retention_seconds=np.ones(1),
            is_compacted=np.zeros(1),
            allows_unclean_election=np.zeros(1),
            is_unclean_assumed=np.zeros(1),
        ),
        replicas=replicas,
        in_sync=replicas >= 0,
        size_bytes=np.array([[10, 30], [10, 30], [5, 0]]),
        log_dir=np.zeros((3, 2)),
        leader=np.array([1, -1, 1]),
    )

    assert snapshot.partition_size_bytes().tolist() == [10, 30, 5]
    assert PartitionLoad.unknown(3).hours == 0
