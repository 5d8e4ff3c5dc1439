"""Lines of JSON from arrays, against ``json.dumps`` line by line."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.kafka.cluster.assignment import Partitions
from kafka_capacity.kafka.reassignment.json_lines import LineNames, partition_lines, replica_lines

PATHS = ("/disks/1", '/odd "2"', "/ä")
TOPICS = ("a", 'b"\\', "c" * 249, "d\x00", "é\U0001f600")


def written(documents):
    return ",\n".join(json.dumps(document, separators=(",", ":")) for document in documents).encode()


@st.composite
def lines(draw):
    count, width = draw(st.integers(0, 12)), draw(st.integers(0, 4))
    replicas = st.lists(st.integers(-1, draw(st.sampled_from([3, 10**6]))), min_size=width, max_size=width)
    places = st.lists(st.integers(-1, len(PATHS) - 1), min_size=width, max_size=width)
    return (
        draw(st.lists(st.integers(0, len(TOPICS) - 1), min_size=count, max_size=count)),
        draw(st.lists(st.sampled_from([0, 1, 9, 10, 12345, 2**31 - 1]), min_size=count, max_size=count)),
        np.array(draw(st.lists(replicas, min_size=count, max_size=count)), dtype=np.int32).reshape(count, width),
        np.array(draw(st.lists(places, min_size=count, max_size=count)), dtype=np.int32).reshape(count, width),
        np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)), dtype=np.bool_),
    )


@given(lines())
def test_lines_are_what_json_writes(given):
    topic, number, matrix, log_dirs, chosen = given
    partitions = Partitions(
        topics=TOPICS, topic=np.array(topic, dtype=np.int32), partition=np.array(number, dtype=np.int32)
    )
    names = LineNames.of(partitions, np.arange(len(topic)))
    named = [{"topic": TOPICS[t], "partition": n} for t, n in zip(topic, number, strict=True)]
    expected = [
        {
            **name,
            "replicas": [broker for broker in row if broker >= 0],
            "log_dirs": [
                PATHS[at] if at >= 0 else "any" for broker, at in zip(row, places, strict=True) if broker >= 0
            ],
        }
        for name, row, places in zip(named, matrix.tolist(), log_dirs.tolist(), strict=True)
    ]

    assert replica_lines(names, matrix, log_dirs, PATHS) == written(expected)
    assert partition_lines(names) == written(named)
    kept = [name for name, is_kept in zip(named, chosen, strict=True) if is_kept]
    assert partition_lines(names.of_lines(chosen)) == written(kept)


@pytest.mark.parametrize("count", [8191, 8192, 8193])
def test_no_line_is_lost_between_chunks(count):
    numbers = np.arange(count, dtype=np.int32)
    partitions = Partitions(topics=("t",), topic=np.zeros(count, dtype=np.int32), partition=numbers)

    text = partition_lines(LineNames.of(partitions, np.arange(count)))
    assert text == written({"topic": "t", "partition": number} for number in range(count))
