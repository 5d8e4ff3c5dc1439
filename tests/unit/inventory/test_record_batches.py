"""Record batches: read as brokers store them, and as large as other codecs would make them."""

from __future__ import annotations

import contextlib
import gzip
import struct

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.cli.sampled_records import (
    compression_document,
    compression_headline,
    compression_options,
    print_samples,
)
from kafka_capacity.errors import SourceError
from kafka_capacity.inventory.compression import sample_of
from kafka_capacity.inventory.record_batches import CODECS, Batch, batches_in, size_with

HEADER_BYTES = 61
RECORDS = b"the same line again and again; " * 3_000  # 93,000 bytes: two blocks of lz4, three of snappy


def snapped(plain):
    codec = pa.Codec("snappy")
    blocks = [codec.compress(plain[at : at + 32_768]).to_pybytes() for at in range(0, len(plain), 32_768)]
    return b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1) + b"".join(struct.pack(">i", len(b)) + b for b in blocks)


STORED = {
    "uncompressed": lambda plain: plain,
    "gzip": gzip.compress,
    "snappy": snapped,
    "lz4": lambda plain: pa.compress(plain, "lz4", asbytes=True),
    "zstd": lambda plain: pa.compress(plain, "zstd", asbytes=True),
}


def batch(codec, plain=RECORDS, *, offset=0, count=3_000, magic=2, attributes=0):
    stored = STORED[codec](plain)
    number = list(STORED).index(codec) | attributes
    length = HEADER_BYTES - 12 + len(stored)
    head = struct.pack(">qiibIhiqqqhii", offset, length, 0, magic, 0, number, count - 1, 0, 0, -1, -1, -1, count)
    assert len(head) == HEADER_BYTES
    return head + stored


@pytest.mark.parametrize("codec", STORED)
def test_records_of_every_codec_are_read(codec):
    (found,) = batches_in(batch(codec, offset=7))
    assert (found.base_offset, found.codec, found.record_count) == (7, codec, 3_000)
    assert found.plain() == RECORDS
    assert found.size_bytes == len(batch(codec))


@given(
    plain=st.binary(max_size=200_000) | st.integers(0, 200_000).map(lambda count: bytes(range(256)) * (count // 256))
)
def test_what_snappy_java_blocks_is_as_large_as_is_said(plain):
    assert size_with("snappy", plain) == HEADER_BYTES + len(snapped(plain))
    assert Batch(0, "snappy", 1, snapped(plain)).plain() == plain


def test_sizes_are_those_of_kafkas_formats():
    assert size_with("gzip", RECORDS) == HEADER_BYTES + len(gzip.compress(RECORDS, 6))
    # Two blocks of lz4, their lengths, and 11 bytes of the frame.
    raw = [len(pa.compress(part, "lz4_raw")) for part in (RECORDS[:65_536], RECORDS[65_536:])]
    assert size_with("lz4", RECORDS) == HEADER_BYTES + 11 + sum(raw) + 8
    # What does not compress is not blown up.
    assert size_with("lz4", bytes(range(256))) <= HEADER_BYTES + 11 + 4 + 256


def test_a_batch_that_is_cut_off_and_one_that_ends_a_transaction_are_left_out():
    whole = batch("gzip") + batch("zstd", offset=9, attributes=0x20) + batch("lz4", offset=10)
    assert [one.base_offset for one in batches_in(whole)] == [0, 10]
    assert [one.base_offset for one in batches_in(whole[:-1])] == [0]
    assert list(batches_in(b"")) == list(batches_in(whole[:60])) == []


@pytest.mark.parametrize(
    ("fetched", "said"),
    [
        (batch("gzip", offset=5, magic=1), "offset 5 is of message format 1; only 2"),
        (batch("zstd", offset=5, attributes=0x07), "offset 5 has the unknown codec 7"),
        (struct.pack(">qi", 5, -3) + batch("gzip")[12:], "offset 5 is of message format 2"),
    ],
)
def test_what_cannot_be_read_is_named(fetched, said):
    with pytest.raises(SourceError, match=said):
        list(batches_in(fetched))


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("stored", [b"", b"\x00" * 50, b"\xff" * 50, b"\x82SNAPPY\x00" + b"\x00" * 8 + b"\x7f" * 9])
def test_damaged_records_end_in_no_other_error(codec, stored):
    with contextlib.suppress(SourceError):
        Batch(5, codec, 1, stored).plain()


@pytest.mark.parametrize("codec", CODECS)
def test_a_bomb_is_refused(monkeypatch, codec):
    monkeypatch.setattr("kafka_capacity.inventory.record_batches._LARGEST_BYTES", 30_000)
    with pytest.raises(SourceError, match=f"offset 5 is not {codec}: .*bytes"):
        Batch(5, codec, 1, STORED[codec](RECORDS)).plain()


def test_a_sample_keeps_what_is_stored_with_a_codec_already():
    found = sample_of("clicks", list(batches_in(batch("gzip") + batch("uncompressed", offset=3_000))))
    assert found.codecs == {"gzip": 1, "uncompressed": 1}
    assert found.bytes_by_codec["gzip"] == len(batch("gzip")) + size_with("gzip", RECORDS)
    assert found.bytes_by_codec[found.best] == min(found.bytes_by_codec.values())
    # At least what a parameter can say.
    assert found.ratio(found.best) < 0.01
    assert compression_options([found]) == ["--compression 'clicks=0.01'"]


def test_what_does_not_compress_is_no_option(monkeypatch):
    import random

    noise = random.Random(1).randbytes(50_000)
    found = sample_of("noise", list(batches_in(batch("uncompressed", noise))))
    assert compression_options([found]) == []
    assert compression_headline([found]).startswith("Compression would save little: ")
    assert compression_headline([]) == "Nothing was sampled: no topic has records."


def test_the_answer_comes_first_then_every_topic_then_what_to_do_next(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    found = [
        sample_of(name, list(batches_in(batch(codec))))
        for name, codec in (("clicks", "uncompressed"), ("logs", "zstd"))
    ]
    print_samples(found, is_quiet=False)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == compression_headline(found)
    assert [line.split()[1] for line in lines if line.startswith("│")] == ["clicks", "logs"]
    assert lines[-1].startswith("Next: kafka-capacity savings SNAPSHOT --compression 'clicks=0.0")
    print_samples(found, is_quiet=True)
    assert capsys.readouterr().out == f"{compression_headline(found)}\n"
    assert [one["topic"] for one in compression_document(found)["topics"]] == ["clicks", "logs"]
