"""Compressed files: read up to a limit, and refused above it before they take the memory."""

import gzip
import io
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafka_capacity.errors import DamagedInputError, RequestError
from kafka_capacity.inventory.decoding import LIMIT_VARIABLE, decompressed, file_limit_bytes, read_parquet

GIB = 2**30
REFUSED = "holds more than {} GiB when decoded; write several smaller files, or raise KAFKA_CAPACITY_MAX_FILE_BYTES"

# The peak that the kernel counts for a process is at first that of whoever started it; VmHWM begins anew.
MEASURED = """
import pathlib, re, sys
from kafka_capacity.errors import DamagedInputError
from kafka_capacity.inventory.metrics_files import with_metrics_files
from kafka_capacity.objects.store import LocalStore
from tests.builders import cluster

folder, name = sys.argv[1:]
raw = cluster(hours=0)
try:
    with_metrics_files(raw, LocalStore(pathlib.Path(folder)), name=name, end=0, days=14)
except DamagedInputError as error:
    print(error)
status = pathlib.Path("/proc/self/status").read_text()
print(int(re.search(r"VmHWM:\\s*(\\d+) kB", status)[1]) * 1024, file=sys.stderr)
"""


def parquet(table, **options):
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def rate_bomb():
    """Return rows without a value, told by their number alone."""
    table = pa.table({"bytes_in_bytes_per_second": pa.nulls(1_000_000, pa.float64())})
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, table.schema) as writer:
        for _ in range(140):
            writer.write_table(table)
    return sink.getvalue()


def text_bomb():
    """Return rows that refer to one text of a MiB, which stands in the file once."""
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 9000, pa.int32()), ["x" * 2**20])
    return parquet(pa.table({"topic": column}), store_schema=False)


def prefix_bomb():
    """Return texts of a MiB, each told to be as the one before."""
    table = pa.table({"topic": ["x" * 2**20] * 250})
    sink = io.BytesIO()
    encoding = {"use_dictionary": False, "column_encoding": {"topic": "DELTA_BYTE_ARRAY"}, "compression": "zstd"}
    with pq.ParquetWriter(sink, table.schema, **encoding) as writer:
        for _ in range(5):
            writer.write_table(table)
    return sink.getvalue()


def gzip_bomb():
    """Return zeros in members that were each compressed once."""
    return gzip.compress(b"\0" * 2**28, mtime=0) * 5


BOMBS = {
    "rates.parquet": rate_bomb,
    "texts.parquet": text_bomb,
    "prefixes.parquet": prefix_bomb,
    "zeros.csv.gz": gzip_bomb,
}


@pytest.fixture(scope="module")
def bombs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bombs")
    maker = "import sys; sys.path[:0] = ['.']; from tests.unit.inventory import test_decoding as t; "
    for name in BOMBS:
        # Made in a process of their own: what it takes to make one is given back.
        code = f"{maker}open({str(folder / name)!r}, 'wb').write(t.BOMBS[{name!r}]())"
        subprocess.run([sys.executable, "-c", code], check=True)
    return folder


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_within_512_megabytes(bombs, name):
    assert (bombs / name).stat().st_size < 20 * 2**20
    limit = {} if name == "texts.parquet" else {LIMIT_VARIABLE: "1GiB"}
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(bombs), name],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **limit},
    )
    said = REFUSED.format("1.0" if limit else "4.0")
    assert done.stdout.strip() == f"{bombs / name}: {said} if that is intended"
    assert int(done.stderr.splitlines()[-1]) < 512 * 10**6


def test_the_limit_is_an_amount_of_the_environment(monkeypatch):
    assert file_limit_bytes() == 4 * GIB
    monkeypatch.setenv(LIMIT_VARIABLE, "1kB")
    data = gzip.compress(b"a" * 1000)
    assert decompressed(data, "a.gz") == b"a" * 1000
    with pytest.raises(DamagedInputError, match=r"a\.gz: holds more than 1,000 B when decoded"):
        decompressed(gzip.compress(b"a" * 1001), "a.gz")
    for wrong in ("much", "-1", "0", "nan", "1e400"):
        monkeypatch.setenv(LIMIT_VARIABLE, wrong)
        with pytest.raises(RequestError, match=f"{LIMIT_VARIABLE}: '{wrong}' is invalid"):
            file_limit_bytes()


def test_nested_texts_count_as_often_as_they_stand(monkeypatch):
    table = pa.table({"subscribed": [["orders" * 100] * 50] * 40, "topic": ["orders" * 100] * 40})
    data = parquet(table)
    assert read_parquet(data, "m.parquet").equals(table)
    monkeypatch.setenv(LIMIT_VARIABLE, "1MB")
    with pytest.raises(DamagedInputError, match=r"m\.parquet: holds more than"):
        read_parquet(data, "m.parquet")
    monkeypatch.setenv(LIMIT_VARIABLE, "2MB")
    assert read_parquet(data, "m.parquet").equals(table)


def test_texts_with_shared_prefixes_are_read(monkeypatch):
    table = pa.table({"topic": [f"{'orders' * 1000}-{i}" for i in range(50)]})
    data = parquet(table, use_dictionary=False, column_encoding={"topic": "DELTA_BYTE_ARRAY"})
    monkeypatch.setenv(LIMIT_VARIABLE, "310kB")
    assert read_parquet(data, "t.parquet").equals(table)
    monkeypatch.setenv(LIMIT_VARIABLE, "290kB")
    with pytest.raises(DamagedInputError, match=r"t\.parquet: holds more than"):
        read_parquet(data, "t.parquet")


def test_what_is_cut_off_is_no_gzip_file():
    data = gzip.compress(b"topic,partition\n" * 1000)
    for broken in (data[:-9], data[:20], data[:-1], b"\x1f\x8b" + b"\xff" * 40, data[:30] + b"\0" * 20 + data[50:]):
        with pytest.raises(DamagedInputError, match=r"m\.csv\.gz: is not a gzip file that can be read \("):
            decompressed(broken, "m.csv.gz")
