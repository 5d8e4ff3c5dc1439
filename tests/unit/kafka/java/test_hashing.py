"""Hash codes and string order, against values that Java prints."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.kafka.java import hashing


def test_strings_are_hashed_by_utf_16_unit():
    assert hashing.string_hash("") == 0
    assert hashing.string_hash("Aa") == hashing.string_hash("BB") == 2112
    assert hashing.string_hash("polygenelubricants") == -(2**31)
    assert hashing.string_hash("\U0001f600") == 31 * 0xD83D + 0xDE00
    assert hashing.string_hash("\ud83d") == 0xD83D  # a lone surrogate is a Java string too


def test_strings_sort_by_utf_16_unit():
    assert sorted(["\uffff", "\U0001f600", "a", "ab", "B"], key=hashing.utf16_key) == [
        "B",
        "a",
        "ab",
        "\U0001f600",
        "\uffff",
    ]


def test_an_empty_optional_hashes_as_an_empty_string():
    assert hashing.optional_string_hash(None) == hashing.optional_string_hash("") == 0


@pytest.mark.parametrize(("value", "code"), [(-1, 0), (2**31, -(2**31)), (2**32, 1), (-(2**63), -(2**31))])
def test_longs_are_hashed_by_halves(value, code):
    assert hashing.long_hash(value) == code


def test_ids_compare_as_signed_numbers():
    low, high = "_____________________w", "AAAAAAAAAAAAAAAAAAAAAQ"

    assert hashing.uuid_halves(low) == (-1, -1)
    assert sorted([high, low], key=hashing.uuid_halves) == [low, high]


@pytest.mark.parametrize("text", ["", "abc", "AAAA"])
def test_a_text_that_is_no_id_is_refused(text):
    with pytest.raises(ValueError, match="is not a Kafka id"):
        hashing.uuid_hash(text)


@given(st.lists(st.tuples(st.text(max_size=5), st.integers(0, 2**31 - 1)), min_size=1, max_size=10))
def test_topic_partitions_are_hashed_alike_one_by_one_and_in_bulk(keys):
    topics = np.array([hashing.string_hash(topic) for topic, _ in keys], dtype=np.int32)
    partitions = np.array([partition for _, partition in keys], dtype=np.int32)

    bulk = hashing.topic_partition_hashes(topics, partitions)
    assert bulk.tolist() == [hashing.topic_partition_hash(key) for key in keys]


@given(st.lists(st.text(max_size=8), max_size=60), st.lists(st.text(st.characters(max_codepoint=127)), min_size=16))
def test_strings_are_hashed_alike_one_by_one_and_in_bulk(any_texts, ascii_texts):
    for texts in (any_texts, ascii_texts):
        assert hashing.string_hashes(texts).tolist() == [hashing.string_hash(text) for text in texts]
