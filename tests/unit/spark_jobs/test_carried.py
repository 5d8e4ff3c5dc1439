"""Large arrays travel in files, each once; Spark itself is in tests/spark."""

from __future__ import annotations

import gc
import pickle
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from spark_jobs.carried import MAX_OPENED, Cargo


class SentBroadcast:
    """What a Python worker makes of a broadcast."""

    def __init__(self, value: Any) -> None:
        data = pickle.dumps(value)
        self.size, self.value = len(data), pickle.loads(data)  # noqa: S301 - it was dumped the line before


@dataclass
class Context:
    """Copies files to where executors find them, as Spark does."""

    folder: Path
    files: list[str] = field(default_factory=list)

    def addFile(self, path: str) -> None:
        shutil.copy(path, self.folder)
        self.files.append(Path(path).name)

    broadcast = staticmethod(SentBroadcast)


@pytest.fixture
def context(tmp_path, monkeypatch):
    monkeypatch.setattr("pyspark.SparkFiles.get", lambda name: str(tmp_path / name))
    return Context(tmp_path)


def test_an_array_travels_once_and_as_it_lies_in_memory(context):
    rates = np.arange(60_000, dtype=np.float32).reshape(300, 200)
    by_column = np.asfortranarray(np.arange(12_000.0).reshape(100, 120))
    part, small = rates[:, 3:150], np.arange(5)
    cargo = Cargo(context)
    first = cargo.pack({"rates": rates, "by_column": by_column, "part": part, "small": small})
    second = cargo.pack((small, rates))
    assert len(context.files) == 1
    assert Path(context.folder, context.files[0]).stat().st_size < 1.01 * (
        rates.nbytes + by_column.nbytes + part.nbytes
    )
    found = first.open()
    for name, array in {"rates": rates, "by_column": by_column, "part": part, "small": small}.items():
        assert type(found[name]) is np.ndarray
        np.testing.assert_array_equal(found[name], array)
    assert found["by_column"].flags.f_contiguous
    assert found["rates"].ctypes.data % 64 == 0
    np.testing.assert_array_equal(second.open()[1], rates)
    assert first._body.size < 5_000


def test_an_arrow_table_travels_in_a_file_too(context):
    table = pa.table({"topic": [f"topic-{row // 7}" for row in range(20_000)], "partition": range(20_000)})
    packed = Cargo(context).pack({"replicas": table, "few": table.slice(0, 3).combine_chunks()})
    assert packed._body.size < 5_000
    assert packed.open()["replicas"].equals(table)
    assert packed.open()["few"].to_pylist() == table.to_pylist()[:3]


def test_what_a_worker_writes_is_its_own(context):
    rates = np.ones(60_000)
    cargo = Cargo(context)
    mine, others = (cargo.pack([rates]).open()[0] for _ in range(2))
    mine[:] = 2.0
    assert others.sum() == len(rates)
    assert cargo.pack([rates]).open()[0].sum() == len(rates)


def test_a_process_opens_the_same_once_and_keeps_no_more_than_a_few(context):
    cargo = Cargo(context)
    packed = [cargo.pack([number]) for number in range(MAX_OPENED + 1)]
    first = packed[0].open()
    assert packed[0].open() is first
    for one in packed[1:]:
        one.open()
    assert packed[-1].open() == [MAX_OPENED]
    again = packed[0].open()
    assert again == first
    assert again is not first


def test_what_is_there_when_a_task_begins_is_not_searched_for_garbage_after_it(context):
    packed = Cargo(context).pack(["any"])
    packed.open()
    try:
        assert len(gc.get_objects()) < gc.get_freeze_count() / 100
    finally:
        gc.unfreeze()
