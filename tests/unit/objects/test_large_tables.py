"""Large tables are joined without a copy of all their rows, to the same bytes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from kafka_capacity.objects import dataset, tables
from kafka_capacity.objects.store import open_store
from kafka_capacity.plan.packing import pack_tables
from spark_jobs import fetching

SCHEMA = pa.schema([("scenario_id", pa.string()), ("partition", pa.int64()), ("moved_bytes", pa.float64())])
KNOWN = {"moves": (SCHEMA, ("scenario_id", "partition"))}


def bundle(*scenarios, rows=500, is_sorted=True):
    rng = np.random.default_rng(len(scenarios))
    names = np.repeat(scenarios, rows)
    partition = np.tile(np.arange(rows), len(scenarios))
    order = np.arange(len(names)) if is_sorted else rng.permutation(len(names))
    return {"moves": pa.table([names[order], partition[order], rng.random(len(names))], schema=SCHEMA)}


def stored(folder, found):
    store = open_store(str(folder))
    manifest = dataset.write_dataset(
        store, "plan/", kind="plan", schema_version=1, tables=found, documents={}, facts={}
    )
    return manifest.sha256


@pytest.mark.parametrize(
    "bundles",
    [
        [bundle("c", "d"), bundle("é"), bundle("a", "b", "z", is_sorted=False)],
        [bundle("c", "d"), bundle("a", "c")],
        [bundle("b", rows=0), bundle("a")],
    ],
    ids=["apart", "shared", "empty"],
)
def test_the_bytes_are_those_of_a_sort_of_all(bundles, tmp_path, monkeypatch):
    monkeypatch.setattr(dataset, "PART_ROWS", 700)
    expected = tables.merge_tables(bundles, KNOWN)
    monkeypatch.setattr(tables, "LARGE_ROWS", 0)
    found = tables.merge_tables(bundles, KNOWN)
    assert found["moves"].equals(expected["moves"])
    assert stored(tmp_path / "found", found) == stored(tmp_path / "expected", expected)


def test_nothing_is_copied_of_rows_that_are_sorted(monkeypatch):
    monkeypatch.setattr(tables, "LARGE_ROWS", 0)
    bundles = [bundle("c", "d", rows=20_000), bundle("a", "b", rows=20_000)]
    before = pa.total_allocated_bytes()
    found = tables.merge_tables(bundles, KNOWN)
    assert pa.total_allocated_bytes() - before < bundles[0]["moves"].nbytes / 10
    assert found["moves"].column("scenario_id").chunk(0).buffers()[2].address in {
        one["moves"].column("scenario_id").chunk(0).buffers()[2].address for one in bundles
    }


def test_a_large_result_stays_in_a_file(monkeypatch):
    (data,) = pack_tables(bundle("a", rows=100_000)).values()
    before = pa.total_allocated_bytes()
    found = fetching.kept_table(data)
    assert found.equals(bundle("a", rows=100_000)["moves"])
    del data
    assert pa.total_allocated_bytes() - before < 100_000
    (small,) = pack_tables(bundle("a", rows=10)).values()
    assert fetching.kept_table(small).equals(bundle("a", rows=10)["moves"])
