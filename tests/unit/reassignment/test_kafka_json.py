"""Kafka's reassignment file."""

import json

import numpy as np

from kafka_capacity.cluster.assignment import Partitions, replica_matrix
from kafka_capacity.inventory.tool_output import current_assignment
from kafka_capacity.reassignment.kafka_json import reassignment_json

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
