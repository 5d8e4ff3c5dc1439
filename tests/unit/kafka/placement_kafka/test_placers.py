"""Kafka's placers behind the common interface."""

import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kafka_capacity
from kafka_capacity.errors import PlacementError, RequestError
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.java.hash_map import JavaHashMap
from kafka_capacity.kafka.java.hashing import string_hash, topic_partition_hash
from kafka_capacity.kafka.java.random import JavaRandom
from kafka_capacity.kafka.placement import RackRule, placer, placer_names
from kafka_capacity.kafka.placement.generate import generate_order
from kafka_capacity.kafka.placement.striped import StripedReplicaPlacer
from kafka_capacity.kafka.placement.zk import zk_placement
from tests.unit.kafka.placement_kafka.problems import problem

KAFKA = ["generate", "modulo", "striped", "zk"]
TWO_TOPICS = {"audit": [[0, 1]] * 3, "orders": [[1, 2, 3]] * 8}


def test_the_names_are_those_users_type():
    assert placer_names() == ("fewest-bytes", "generate", "modulo", "striped", "zk")
    assert [placer(name).name for name in KAFKA] == KAFKA


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(RequestError) as refused:
        placer("kraft")
    assert str(refused.value) == (
        "placer: 'kraft' is unknown; choose one of fewest-bytes, generate, modulo, striped, zk"
    )


@pytest.mark.parametrize("name", KAFKA)
def test_rows_keep_their_factor_on_target_brokers_and_repeat_with_the_seed(name):
    asked = problem(TWO_TOPICS, range(10, 17))
    placed = placer(name).place(asked)

    assert placed.dtype == np.int32
    assert placed.shape == (11, 3)
    for row, factor in zip(placed.tolist(), asked.replication_factor.tolist(), strict=True):
        held, padding = row[:factor], row[factor:]
        assert set(held) <= set(range(10, 17))
        assert len(set(held)) == factor
        assert set(padding) <= {-1}
    assert placed.tolist() == placer(name).place(asked).tolist()


@pytest.mark.parametrize("name", ["generate", "striped", "zk"])
def test_another_seed_gives_another_placement(name):
    placed = [placer(name).place(problem(TWO_TOPICS, range(7), seed=seed)).tolist() for seed in (1, 2)]

    assert placed[0] != placed[1]


@pytest.mark.parametrize("name", KAFKA)
def test_a_cluster_without_partitions_gives_an_empty_matrix(name):
    assert placer(name).place(problem({}, range(3))).shape == (0, 0)


@pytest.mark.parametrize("name", KAFKA)
def test_more_replicas_than_brokers_are_refused(name):
    with pytest.raises(
        PlacementError, match=r"^replication factor 3 needs at least as many brokers, but there are 2; "
    ):
        placer(name).place(problem(TWO_TOPICS, range(2)))


@pytest.mark.parametrize("name", ["modulo", "striped", "zk"])
def test_rows_of_one_topic_may_differ_in_factor(name):
    placed = placer(name).place(problem({"orders": [[0]] * 3}, range(4), factors=[1, 3, 2]))

    assert (placed >= 0).sum(axis=1).tolist() == [1, 3, 2]


def test_striped_and_zk_place_topics_by_name_with_one_generator():
    asked, random = problem(TWO_TOPICS, range(5), seed=6), JavaRandom(6)
    placer_of_both = StripedReplicaPlacer(range(5), random=JavaRandom(6))
    striped = [*placer_of_both.place(3, 2).tolist(), *placer_of_both.place(8, 3).tolist()]
    ids = asked.target.ids
    zk = [*zk_placement(ids, [None] * 5, 3, 2, random=random), *zk_placement(ids, [None] * 5, 8, 3, random=random)]

    assert [[b for b in row if b >= 0] for row in placer("striped").place(asked).tolist()] == striped
    assert [[b for b in row if b >= 0] for row in placer("zk").place(asked).tolist()] == [row.tolist() for row in zk]


@given(
    st.lists(st.sampled_from("aaab"), min_size=4, max_size=12),
    st.lists(st.tuples(st.integers(1, 90), st.integers(1, 4)), min_size=1, max_size=6),
    st.booleans(),
    st.integers(0, 2**48),
)
def test_zk_places_all_topics_at_once_as_one_by_one(racks, topics, has_racks, seed):
    racks = racks if has_racks else [None] * len(racks)
    before = {f"topic{number}": [[0] * factor] * count for number, (count, factor) in enumerate(topics)}
    asked, random = problem(before, Brokers.of(range(len(racks)), racks), seed=seed), JavaRandom(seed)
    one_by_one = [zk_placement(asked.target.ids, racks, count, factor, random=random) for count, factor in topics]

    placed = placer("zk").place(asked)
    assert [[b for b in row if b >= 0] for row in placed.tolist()] == [
        row.tolist() for rows in one_by_one for row in rows
    ]


def test_striped_knows_fenced_brokers_and_generate_does_not():
    target = Brokers.of([0, 1], is_fenced=[False, True])
    asked = problem({"orders": [[0]] * 40}, target)

    assert set(placer("striped").place(asked).ravel().tolist()) == {0}
    assert set(placer("generate").place(asked).ravel().tolist()) == {0, 1}


def test_to_striped_a_cordoned_broker_does_not_exist():
    brokers, racks = [0, 1, 2, 3, 4], ["a", "b", "b", "a", "c"]
    cordoned = Brokers.of(brokers, racks, is_cordoned=[broker == 4 for broker in brokers])
    rows = {"audit": [[0]] * 7, "orders": [[0]] * 40}

    assert np.array_equal(
        placer("striped").place(problem(rows, cordoned, factors=[2] * 47)),
        placer("striped").place(problem(rows, Brokers.of(brokers[:4], racks[:4]), factors=[2] * 47)),
    )


def test_generate_honours_another_factor():
    placed = placer("generate").place(problem({"orders": [[0]] * 4}, range(4), factors=[3] * 4))

    assert (placed >= 0).sum(axis=1).tolist() == [3] * 4


def test_generate_places_topics_in_the_order_of_the_hash_map():
    names = ("audit", "orders", "payments")
    topic = np.repeat(np.arange(3, dtype=np.int32), 4)
    order, deciding = generate_order(names, topic, np.tile(np.arange(4, dtype=np.int32), 3))
    asked = problem({name: [[0, 1]] * 4 for name in names}, range(6), seed=8)
    together = StripedReplicaPlacer(range(6), random=JavaRandom(8))
    expected = {int(index): together.place(4, 2).tolist() for index in order}

    assert topic[deciding].tolist() == order.tolist()
    assert placer("generate").place(asked).tolist() == [*expected[0], *expected[1], *expected[2]]


@pytest.mark.parametrize("topics", [1, 12, 13, 24, 25, 49])
def test_generate_walks_two_hash_maps(topics):
    keys = [(f"topic{number}", partition) for number in range(topics) for partition in (0, 1)]
    partitions, by_topic = JavaHashMap(topic_partition_hash), JavaHashMap(string_hash)
    for row, key in enumerate(keys):
        partitions.put(key, row)
    for (topic, _), row in partitions.items():
        by_topic.compute_if_absent(topic, lambda row=row: row)

    names = [f"topic{number}" for number in range(topics)]
    rows = np.arange(2 * topics, dtype=np.int32)
    order, deciding = generate_order(names, rows // 2, rows % 2)
    assert [names[index] for index in order] == list(by_topic)
    assert deciding.tolist() == list(by_topic.values())


def test_generate_refuses_mixed_racks_unless_racks_are_off():
    target = Brokers.of([0, 1, 2], ["a", None, None])
    with pytest.raises(PlacementError) as refused:
        placer("generate").place(problem({"orders": [[0]]}, target))
    assert str(refused.value) == ("1 of 3 brokers has a rack; give every broker a rack, or switch the rack rule off")
    assert refused.value.kafka_type == "org.apache.kafka.server.common.AdminOperationException"

    assert placer("generate").place(problem({"orders": [[0]]}, target, rack_rule=RackRule.OFF)).shape == (1, 1)


def test_placers_are_found_from_a_zip_file(tmp_path):
    package = Path(kafka_capacity.__file__).parent
    archive = tmp_path / "kafka_capacity.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted(package.rglob("*.py")):
            file.write(path, Path("kafka_capacity") / path.relative_to(package))

    code = (
        "from kafka_capacity.kafka.placement import placer; "
        "from kafka_capacity.conformance.registry import load_answers; "
        "print(placer('striped').name, placer.__code__.co_filename, len(load_answers()) > 8)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(archive)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    name, where, has_answers = run.stdout.split()
    assert (name, has_answers) == ("striped", "True")
    assert where.startswith(str(archive))
