"""A writer's clock does not matter, and a disk that is full at any write leaves what stood before."""

import os
import time

import pytest

from kafka_capacity.objects import dataset
from kafka_capacity.objects.store import LocalStore
from tests.reliability.kills import check_what_is_complete, contents, inventory_phase

WEEK = 7 * 86_400


@pytest.mark.parametrize("years", [-10, 10])
def test_what_is_too_young_to_go_is_told_by_the_clock_of_the_store(tmp_path, monkeypatch, years):
    store = LocalStore(tmp_path)
    store.write_bytes("p/young.json", b"1")
    store.write_bytes("p/old.json", b"1")
    os.utime(tmp_path / "p" / "old.json", times=(0, time.time() - WEEK - 3600))
    wrong = time.time() + years * 365 * 86_400
    monkeypatch.setattr(time, "time", lambda: wrong)
    dataset.write_dataset(store, "p/", kind="x", schema_version=1, tables={}, documents={}, facts={})

    assert list(store.list_objects("p/")) == ["p/manifest.json", "p/young.json"]


def test_a_disk_that_is_full_at_any_write_leaves_what_is_complete_whole(tmp_path, monkeypatch):
    inventory_phase(LocalStore(tmp_path / "whole"))
    expected = contents(tmp_path / "whole")
    write = type(tmp_path).write_bytes
    for room in range(0, len(expected) - 1, 3):
        left = [room]

        def full(path, data, left=left):
            left[0] -= 1
            if left[0] < 0:
                write(path, data[: len(data) // 2])
                raise OSError(28, "No space left on device")
            return write(path, data)

        store = LocalStore(tmp_path / str(room))
        with monkeypatch.context() as patch:
            patch.setattr("pathlib.Path.write_bytes", full)
            with pytest.raises(OSError, match="No space left"):
                inventory_phase(store)
        check_what_is_complete(tmp_path / str(room))
        inventory_phase(store)
        assert contents(tmp_path / str(room)) == expected
