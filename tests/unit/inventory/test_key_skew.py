"""Keys of a topic: read out of batches that kafka-python has built, weighed, and hashed as Kafka does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record import MemoryRecordsBuilder

from kafka_capacity.cli.sampled_records import key_sentences, keys_document, print_skews
from kafka_capacity.errors import SourceError
from kafka_capacity.inventory.batch_sampling import PartitionSample
from kafka_capacity.inventory.key_skew import FACTORS, SALTS, skew_of
from kafka_capacity.inventory.record_batches import batches_in, records_in
from kafka_capacity.kafka.producer.key_hashing import Keys, partitions_of_keys


def built(records):
    """Batches as a producer makes them, of keys and values."""
    builder = MemoryRecordsBuilder(magic=2, compression_type=0, batch_size=1 << 24)
    for key, value in records:
        assert builder.append(timestamp=1_700_000_000_000, key=key, value=value, headers=[("h", b"1")]) is not None
    builder.close()
    return tuple(batches_in(bytes(builder.buffer())))


@given(st.lists(st.tuples(st.none() | st.binary(max_size=300), st.none() | st.binary(max_size=300)), min_size=1))
def test_keys_are_read_as_they_were_written(records):
    (batch,) = built(records)
    assert [key for key, _ in records_in(batch.plain())] == [key for key, _ in records]
    assert batch.record_count == len(records)
    assert sum(size for _, size in records_in(batch.plain())) == len(batch.plain())


@given(st.binary(max_size=200))
def test_what_is_no_record_ends_in_no_other_error(plain):
    try:
        assert sum(size for _, size in records_in(plain)) == len(plain)
    except SourceError:
        return


def skew(records, *, partitions=6, offsets=None):
    """The skew of a topic, all of whose records are in the logs that their keys lead to."""
    by_partition = {}
    for key, value in records:
        place = 0 if key is None else int(partitions_of_keys(Keys.of([key]), partitions)[0])
        by_partition.setdefault(place, []).append((key, value))
    parts = [
        PartitionSample((offsets or {}).get(place, len(mine)), built(mine))
        for place, mine in sorted(by_partition.items())
    ]
    return skew_of("orders", partitions, parts)


def test_one_key_binds_whatever_the_partitions_are():
    value = b"x" * 100
    found = skew([(b"hot", value)] * 300 + [(b"%06d" % number, value) for number in range(700)])
    assert found.keys == 701
    key, share = found.top[0]
    assert (key, round(share, 2)) == (b"hot", 0.3)
    assert found.is_bound_by_a_key
    assert all(0.3 <= found.fullest[6 * factor] <= 0.3 + 1.3 * 0.7 / (6 * factor) for factor in FACTORS)
    assert found.salted[6] < found.fullest[6]
    (said,) = key_sentences([found])
    assert said.startswith("orders: the fullest of 6 partitions gets 4")
    assert (
        f"More partitions won't help: the key hot alone has 29.5 %. If it were spread over {SALTS} salted keys" in said
    )


def test_keys_that_share_a_partition_by_chance_are_parted_by_more():
    value = b"x" * 100
    pair = [b"%d" % number for number in range(100) if int(partitions_of_keys(Keys.of([b"%d" % number]), 4)[0]) == 0]
    found = skew([(key, value) for key in pair] * 10, partitions=4)
    assert found.fullest[4] == 1.0
    assert found.fullest[8] < 1.0
    assert not found.is_bound_by_a_key
    assert "with 8 partitions it would get" in key_sentences([found])[0]


def test_a_partition_counts_as_much_as_its_log_is_long():
    keys = {int(partitions_of_keys(Keys.of([b"%d" % number]), 2)[0]): b"%d" % number for number in range(20)}
    records = [(keys[0], b"x" * 100)] * 10 + [(keys[1], b"x" * 100)] * 10
    assert skew(records, partitions=2).fullest[2] == pytest.approx(0.5, abs=0.01)
    assert skew(records, partitions=2, offsets={0: 300, 1: 100}).fullest[2] == pytest.approx(0.75, abs=0.01)


def test_records_without_a_key_are_told_apart():
    found = skew([(None, b"x" * 100)] * 30 + [(b"a", b"x" * 100)] * 10)
    assert found.without_key_ratio == pytest.approx(0.75, abs=0.01)
    assert found.top[0][1] == 1.0
    nothing = skew([(None, b"x")])
    assert (nothing.top, nothing.fullest, nothing.without_key_ratio) == ((), {}, 1.0)
    assert key_sentences([nothing]) == ["The keys of 1 topic spread evenly over partitions, or records have no keys."]
    assert keys_document([nothing])["topics"][0]["top"] == []


def test_the_worst_comes_first_then_every_topic(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    found = [skew([(None, b"x")]), skew([(b"hot", b"x" * 100)] * 9)]
    print_skews(found, is_quiet=False)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("orders: the fullest of 6 partitions gets 100 % of the bytes with a key, 6.0× the mean.")
    assert sum(line.startswith("│ orders") for line in lines) == len(found)
    print_skews(found, is_quiet=True)
    assert capsys.readouterr().out.splitlines() == lines[:1]
