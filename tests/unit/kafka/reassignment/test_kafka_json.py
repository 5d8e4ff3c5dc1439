"""Kafka's reassignment file."""

import hashlib
import json

import numpy as np

from kafka_capacity.inventory.kafka_tools import current_assignment
from kafka_capacity.kafka.cluster.assignment import Partitions, replica_matrix
from kafka_capacity.kafka.reassignment.kafka_json import files_of, reassignment_json, wave_rows
from kafka_capacity.kafka.reassignment.waves import plan_waves
from tests.properties.move_problems import move_problem_of

PARTITIONS = Partitions(
    topics=('a"b', "orders"), topic=np.array([0, 1, 1], dtype=np.int32), partition=np.array([0, 0, 1], dtype=np.int32)
)
MATRIX = replica_matrix([[3], [1, 2], [2, 1, 3]])


def test_every_partition_with_its_replicas_and_free_log_dirs():
    document = json.loads(reassignment_json(PARTITIONS, MATRIX))

    assert document == {
        "version": 1,
        "partitions": [
            {"topic": 'a"b', "partition": 0, "replicas": [3], "log_dirs": ["any"]},
            {"topic": "orders", "partition": 0, "replicas": [1, 2], "log_dirs": ["any", "any"]},
            {"topic": "orders", "partition": 1, "replicas": [2, 1, 3], "log_dirs": ["any", "any", "any"]},
        ],
    }


def test_some_rows_alone():
    document = json.loads(reassignment_json(PARTITIONS, MATRIX, np.array([2])))

    assert [(p["topic"], p["partition"]) for p in document["partitions"]] == [("orders", 1)]


def test_an_empty_assignment_is_a_document_too():
    assert json.loads(reassignment_json(PARTITIONS, MATRIX, np.array([], dtype=np.intp))) == {
        "version": 1,
        "partitions": [],
    }


def test_an_import_reads_what_is_written():
    text = reassignment_json(PARTITIONS, MATRIX).decode()

    assert current_assignment(text, "a.json") == json.loads(text)


def planned(before, after, **given):
    schedule = plan_waves(move_problem_of(before, after, **given))
    return schedule, [files_of(wave_rows(schedule, wave)) for wave in schedule.waves]


def lists(file):
    return {p["partition"]: (p["replicas"], p["log_dirs"]) for p in json.loads(file.content)["partitions"]}


def test_a_wave_comes_with_its_way_back():
    _, (files,) = planned([[1, 2], [2, 1]], [[1, 3], [2, 1]])

    assert lists(files.execute) == {0: ([1, 3], ["any", "any"])}
    assert lists(files.rollback) == {0: ([1, 2], ["any", "any"])}
    assert (files.execute.name, files.rollback.name) == ("01-copy.json", "01-copy-rollback.json")
    assert files.election is None


def test_files_are_named_by_their_content():
    _, (files,) = planned([[1, 2]], [[1, 3]])

    for each in files.listed():
        assert each.sha256 == hashlib.sha256(each.content).hexdigest()
    assert planned([[1, 2]], [[1, 3]])[1] == [files]


def test_an_election_only_where_the_old_leader_stays_and_is_not_first():
    # Partition 0 changes its order; 1 loses its leader, so that Kafka elects by itself; 2 keeps its leader.
    _, (copies, reorder) = planned([[1, 2], [1, 2], [1, 2]], [[2, 1], [2, 3], [1, 3]])

    assert copies.election is None
    assert json.loads(reorder.election.content) == {"partitions": [{"topic": "orders", "partition": 0}]}


def test_the_way_back_elects_the_leader_there_was():
    _, (copies,) = planned([[1, 2]], [[2, 3]])

    assert copies.election is None
    assert json.loads(copies.rollback_election.content) == {"partitions": [{"topic": "orders", "partition": 0}]}


def test_directories_are_named_where_a_broker_has_several():
    _, (files,) = planned([[1, 3]], [[1, 2]], dirs=[2, 2, 3, 3], log_dir=[[-1, 3]])

    assert lists(files.execute) == {0: ([1, 2], ["any", "/disk0"])}
    assert lists(files.rollback) == {0: ([1, 3], ["any", "/disk3"])}


def test_a_single_directory_is_not_named():
    _, (files,) = planned([[1, 3]], [[1, 2]], dirs=[2], log_dir=[[-1, -1]])

    assert lists(files.execute) == {0: ([1, 2], ["any", "any"])}


def test_the_way_back_makes_nobody_leader_who_was_not():
    # Broker 2 led already, though broker 1 is preferred.
    _, (files,) = planned([[1, 2, 3]], [[3, 2, 4]], leader=[2])

    assert json.loads(files.election.content) == {"partitions": [{"topic": "orders", "partition": 0}]}
    assert files.rollback_election is None
