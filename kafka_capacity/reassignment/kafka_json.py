"""Kafka's reassignment file: what ``kafka-reassign-partitions.sh --execute`` takes.

Source: ``ReassignPartitionsCommand.formatAsReassignmentJson`` (Kafka 4.3.1): sorted by topic and partition, the first
replica is the preferred leader, one ``log_dirs`` entry a replica, ``any`` where the broker may choose.
"""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.cluster.assignment import Partitions


def reassignment_json(partitions: Partitions, matrix: NDArray[np.int32], rows: NDArray[np.intp] | None = None) -> bytes:
    """Write an assignment as Kafka's reassignment file.

    Args:
        partitions: the partitions, sorted.
        matrix: int32[P, W], replicas padded with -1.
        rows: which partitions to write; all of them without it.

    Returns:
        JSON, one partition a line so that two files can be compared by eye; the same assignment gives the same bytes.
    """
    chosen = range(len(partitions)) if rows is None else rows.tolist()
    quoted = [json.dumps(topic) for topic in partitions.topics]
    topic, number, replicas = partitions.topic.tolist(), partitions.partition.tolist(), matrix.tolist()
    lines = []
    endings: dict[tuple[int, ...], str] = {}  # many partitions share a replica list
    for row in chosen:
        brokers = tuple(replicas[row])
        if brokers not in endings:
            endings[brokers] = _ending([broker for broker in brokers if broker >= 0])
        lines.append(f'{{"topic":{quoted[topic[row]]},"partition":{number[row]},{endings[brokers]}')
    body = ",\n".join(lines)
    return f'{{"version":1,"partitions":[\n{body}\n]}}\n'.encode() if lines else b'{"version":1,"partitions":[]}\n'


def _ending(brokers: list[int]) -> str:
    any_dirs = ",".join(['"any"'] * len(brokers))
    return f'"replicas":[{",".join(map(str, brokers))}],"log_dirs":[{any_dirs}]}}'
