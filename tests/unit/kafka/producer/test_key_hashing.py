"""Keys hash as Kafka hashes them, many at a time as one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.producer import compiled_hashing, key_hashing
from kafka_capacity.kafka.producer.compiled_hashing import compiled
from kafka_capacity.kafka.producer.key_hashing import (
    POSITIVE,
    Keys,
    murmur2,
    murmur2_of_keys,
    partitions_of_keys,
)
from tests.properties.strategies import repeatable

KEYS = st.lists(st.binary(max_size=40), max_size=60)


@given(KEYS, st.integers(1, 2**31 - 1))
def test_many_keys_hash_as_one_by_one(keys, partitions):
    joined = Keys.of(keys)

    assert murmur2_of_keys(joined).tolist() == [murmur2(key) for key in keys]
    assert partitions_of_keys(joined, partitions).tolist() == [(murmur2(key) & POSITIVE) % partitions for key in keys]


@given(st.integers(0, 12), st.integers(17, 40), st.binary(min_size=52, max_size=52))
def test_keys_of_one_length_hash_side_by_side(length, count, content):
    keys = [content[index : index + length] for index in range(count)]

    assert murmur2_of_keys(Keys.of(keys)).tolist() == [murmur2(key) for key in keys]


@given(KEYS, st.integers(1, 5))
def test_the_size_of_a_block_changes_nothing(keys, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(key_hashing, "_BLOCK", block)
        patch.setattr(key_hashing, "_FEW", 0)
        hashes = murmur2_of_keys(Keys.of(keys)).tolist()

    assert hashes == [murmur2(key) for key in keys]


@repeatable(60)
@given(KEYS)
def test_compiled_code_gives_the_same_hashes(keys):
    joined, found = Keys.of(keys), np.zeros(len(keys), dtype=np.uint32)

    compiled()(joined.buffer, joined.offsets, found)

    assert found.view(np.int32).tolist() == [murmur2(key) for key in keys]


def test_very_many_keys_are_hashed_by_compiled_code_and_without_numba_by_arrays(monkeypatch):
    keys = Keys.of([b"21", b"foobar", b"kafka"])
    expected = murmur2_of_keys(keys).tolist()
    asked = []
    monkeypatch.setattr(compiled_hashing, "PAYS_FROM", 3)
    monkeypatch.setattr(compiled_hashing, "compiled", lambda: asked.append("numba"))

    assert murmur2_of_keys(keys).tolist() == expected
    assert asked == ["numba"]


def test_a_key_of_a_megabyte_among_short_ones():
    keys = [b"a" * 3, bytes(range(256)) * 4096, *(b"%d" % number for number in range(100))]

    assert murmur2_of_keys(Keys.of(keys)).tolist() == [murmur2(key) for key in keys]


def test_keys_may_be_a_part_of_a_buffer():
    buffer = np.frombuffer(b"..kafkaabc...", dtype=np.uint8)

    assert murmur2_of_keys(Keys(buffer=buffer, offsets=np.array([2, 7, 10]))).tolist() == [-798503068, 479470107]


def test_an_empty_key_has_a_hash():
    assert murmur2(b"") == 275646681
    assert murmur2_of_keys(Keys.of([b""])).tolist() == [275646681]
    assert len(murmur2_of_keys(Keys.of([]))) == 0


def test_the_sign_is_masked_not_negated():
    # -798503068 negated leaves 8 of 10, with the sign bit off it leaves 0.
    assert partitions_of_keys(Keys.of([b"kafka"]), 10).tolist() == [0]


def test_bytes_are_unsigned():
    assert murmur2(b"\xff\xfe\xfd") == murmur2_of_keys(Keys.of([b"\xff\xfe\xfd"])).item()
    assert murmur2(b"\xff") != murmur2(b"\x7f")


@pytest.mark.parametrize("partitions", [0, -1, 2**31])
def test_a_topic_without_partitions_is_refused(partitions):
    message = f"a topic has from 1 to 2147483647 partitions, not {partitions}"
    with pytest.raises(RequestError, match=f"^{message}$"):
        partitions_of_keys(Keys.of([b"kafka"]), partitions)


@pytest.mark.parametrize("offsets", [[], [0, 6], [3, 2], [-1, 2]])
def test_offsets_out_of_the_buffer_are_refused(offsets):
    message = "offsets of keys must rise from 0 to at most the 5 bytes there are, with one more offset than keys"
    with pytest.raises(RequestError, match=f"^{message}$"):
        Keys(buffer=np.frombuffer(b"kafka", dtype=np.uint8), offsets=np.array(offsets, dtype=np.int64))
