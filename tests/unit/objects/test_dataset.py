"""Datasets are complete or not there."""

import json
import os
import sys
import time

import pyarrow as pa
import pytest

from kafka_capacity.errors import ConflictError, DamagedObjectError, MissingManifestError, StorageError
from kafka_capacity.objects import dataset, object_store
from kafka_capacity.objects.dataset import (
    arrow_reader,
    canonical_json,
    has_manifest,
    keep_version,
    read_document,
    read_manifest,
    read_table,
    seal_dataset,
    write_dataset,
)
from kafka_capacity.objects.manifest import kept_key
from kafka_capacity.objects.store import open_store

PREFIX = "plans/cluster=c/"
TABLE = pa.table({"id": pa.array([1, 2, 3], pa.int32()), "name": ["a", None, "c"]})


def test_arrow_holds_nothing_of_python_while_it_reads():
    data = dataset.parquet_bytes(TABLE)
    held = sys.getrefcount(data)
    with arrow_reader(data) as reader:
        assert sys.getrefcount(data) == held
        assert reader.read() == data


def write(store, table=TABLE, *, documents=None, **options):
    return write_dataset(
        store,
        PREFIX,
        kind="plan",
        schema_version=options.pop("schema_version", 2),
        tables={"moves": table},
        documents={"facts.json": b'{"a": 1}'} if documents is None else documents,
        facts={"cluster": "c"},
        **options,
    )


class DyingStore:
    """Lets some writes pass, then dies like a process that is killed."""

    def __init__(self, store, writes):
        self._store, self._left = store, writes

    def __getattr__(self, name):
        return getattr(self._store, name)

    def write_bytes(self, key, data, **options):
        if not self._left:
            raise KeyboardInterrupt
        self._left -= 1
        self._store.write_bytes(key, data, **options)


def test_what_is_written_is_read_and_checked(store):
    written = write(store)
    manifest = read_manifest(store, PREFIX, kind="plan", schema_version=2)

    assert manifest == written
    assert read_table(store, manifest, "moves").equals(TABLE)
    assert read_document(store, manifest, "facts.json") == b'{"a": 1}'
    assert manifest.facts == {"cluster": "c"}
    assert [part.rows for part in manifest.tables["moves"]] == [3]


def test_the_manifest_is_written_last_and_names_every_object(store):
    order = []

    class Watching(DyingStore):
        def write_bytes(self, key, data, **options):
            order.append(key)
            super().write_bytes(key, data, **options)

    manifest = write(Watching(store, 99))

    assert order[-1] == PREFIX + "manifest.json"
    named = {part.key for parts in manifest.tables.values() for part in parts}
    named |= {part.key for part in manifest.documents.values()}
    assert {PREFIX + key for key in named} == set(order[:-1])


@pytest.mark.parametrize("writes", [0, 1, 2])
def test_a_writer_that_died_leaves_nothing_that_a_reader_takes(store, writes):
    with pytest.raises(KeyboardInterrupt):
        write(DyingStore(store, writes))

    assert not has_manifest(store, PREFIX)
    with pytest.raises(MissingManifestError, match=r"has no manifest\.json, so it is not complete"):
        read_manifest(store, PREFIX)

    manifest = write(store)
    assert read_table(store, manifest, "moves").equals(TABLE)
    assert len(store.list_objects(PREFIX)) == 3


@pytest.mark.parametrize("writes", [0, 1, 2])
def test_a_writer_that_died_over_an_older_version_leaves_that_readable(store, writes):
    write(store)
    with pytest.raises(KeyboardInterrupt):
        write(DyingStore(store, writes), TABLE.slice(1), documents={"facts.json": b"{}"})

    manifest = read_manifest(store, PREFIX)
    assert read_table(store, manifest, "moves").equals(TABLE)
    assert read_document(store, manifest, "facts.json") == b'{"a": 1}'


def test_the_same_tables_give_the_same_keys_and_bytes(store):
    first = write(store)
    before = {key: store.read_bytes(key) for key in store.list_objects(PREFIX)}
    second = write(store, pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1)]))

    assert second == first
    assert {key: store.read_bytes(key) for key in store.list_objects(PREFIX)} == before


@pytest.fixture
def old_orphans(monkeypatch):
    """Every orphan is older than a run can last."""
    monkeypatch.setattr(dataset, "ORPHAN_SECONDS", -1.0)


@pytest.mark.usefixtures("old_orphans")
def test_writing_again_leaves_no_mixture(store):
    write(store)
    manifest = write(store, TABLE.slice(2), documents={"other.json": b"{}"})

    assert read_table(store, manifest, "moves").to_pylist() == [{"id": 3, "name": "c"}]
    keys = {key.removeprefix(PREFIX).split("-")[0] for key in store.list_objects(PREFIX)}
    assert keys == {"moves/part", "other", "manifest.json"}
    with pytest.raises(StorageError, match=r"has no document 'facts\.json'; it has \['other\.json'\]"):
        read_document(store, manifest, "facts.json")


def test_a_reader_of_the_version_before_reads_on(store):
    old = write(store)
    write(store, TABLE.slice(2))

    assert read_table(store, old, "moves").equals(TABLE)


@pytest.mark.usefixtures("old_orphans")
def test_a_reader_of_a_version_that_is_gone_is_told_so_and_gets_no_mixture(store):
    old = write(store)
    write(store, TABLE.slice(2))

    with pytest.raises(ConflictError, match="was written again while it was read; start again"):
        read_table(store, old, "moves")


@pytest.mark.parametrize(("days", "is_there"), [(0, True), (8, False)])
def test_a_version_that_is_kept_outlives_its_age_for_as_long_as_a_run_can_last(tmp_path, days, is_there):
    store, now = open_store(str(tmp_path)), time.time()
    old = write(store)
    for part in old.parts():
        os.utime(tmp_path / (PREFIX + part.key), (now - 30 * 86_400,) * 2)
    keep_version(store, old)
    os.utime(tmp_path / kept_key(PREFIX, old.sha256), (now - days * 86_400,) * 2)
    write(store, TABLE.slice(2))

    assert [store.exists(PREFIX + part.key) for part in old.tables["moves"]] == [is_there]
    if is_there:
        assert read_table(store, read_manifest(store, PREFIX, version=old.sha256), "moves").equals(TABLE)


def test_a_kept_version_that_is_damaged_keeps_nobody_from_writing(store):
    old = write(store)
    store.write_bytes(kept_key(PREFIX, old.sha256), b"{}")
    new = write(store, TABLE.slice(2))
    assert read_manifest(store, PREFIX) == new


@pytest.mark.usefixtures("old_orphans")
def test_folders_with_manifests_of_their_own_are_kept(store):
    store.write_bytes(PREFIX + "reassignment/manifest.json", b"{}")
    write(store, kept_folders=("reassignment/",))
    assert store.exists(PREFIX + "reassignment/manifest.json")

    write(store)
    assert not store.exists(PREFIX + "reassignment/manifest.json")


def test_reports_have_plain_names(store):
    manifest = write(store, documents={"index.html": b"<p>"}, has_plain_names=True)

    assert store.exists(PREFIX + "index.html")
    assert read_document(store, manifest, "index.html") == b"<p>"


def test_a_tampered_part_is_refused(store):
    manifest = write(store)
    part = manifest.tables["moves"][0]
    store.write_bytes(PREFIX + part.key, dataset.parquet_bytes(TABLE.slice(1)))

    with pytest.raises(DamagedObjectError, match=r"is damaged: it does not match its manifest \(\d+ of \d+ bytes\)"):
        read_table(store, manifest, "moves")


def test_a_part_that_is_gone_is_told_apart_from_one_that_was_replaced(store):
    manifest = write(store)
    store.delete(PREFIX + manifest.tables["moves"][0].key)

    with pytest.raises(DamagedObjectError, match="is gone although its manifest names it"):
        read_table(store, manifest, "moves")


def test_a_manifest_with_any_bit_flipped_is_refused(store, monkeypatch):
    monkeypatch.setattr(object_store, "ATTEMPTS", 1)
    write(store)
    body = store.read_bytes(PREFIX + "manifest.json")
    for place in range(0, 8 * len(body), 17):
        flipped = bytearray(body)
        flipped[place // 8] ^= 1 << place % 8
        store.write_bytes(PREFIX + "manifest.json", bytes(flipped))
        with pytest.raises(DamagedObjectError):
            read_manifest(store, PREFIX)


def test_a_manifest_of_the_version_before_has_no_hash_of_its_own_and_is_read(store):
    write(store)
    earlier = json.loads(store.read_bytes(PREFIX + "manifest.json"))
    del earlier["own_sha256"]
    store.write_bytes(PREFIX + "manifest.json", canonical_json(earlier))

    assert read_table(store, read_manifest(store, PREFIX), "moves").equals(TABLE)


class Flaky:
    """Damages the first reads of each object."""

    def __init__(self, store, times, damage):
        self._store, self._times, self._damage, self.reads = store, times, damage, {}

    def __getattr__(self, name):
        return getattr(self._store, name)

    def read_bytes(self, key):
        data = self._store.read_bytes(key)
        self.reads[key] = self.reads.get(key, 0) + 1
        return self._damage(data) if self.reads[key] <= self._times else data


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-3], lambda data: bytes([data[0] ^ 4]) + data[1:], lambda _: b""]
)
def test_what_arrives_damaged_is_read_again(store, damage):
    write(store)
    flaky = Flaky(store, 2, damage)

    assert read_table(flaky, read_manifest(flaky, PREFIX), "moves").equals(TABLE)
    assert set(flaky.reads.values()) == {3}


def test_only_who_replaces_the_version_that_stands_writes(store):
    first = write(store, replaces="")
    with pytest.raises(ConflictError, match="was overwritten by another writer meanwhile"):
        write(store, TABLE.slice(1), replaces="")
    second = write(store, TABLE.slice(1), replaces=first.sha256)
    with pytest.raises(ConflictError):
        write(store, TABLE.slice(2), replaces=first.sha256)
    assert read_manifest(store, PREFIX) == second


@pytest.mark.parametrize(("written", "read", "is_readable"), [(2, 2, True), (1, 2, True), (1, 3, False), (3, 2, False)])
def test_a_reader_reads_its_own_version_and_the_one_before(store, written, read, is_readable):
    write(store, schema_version=written)

    if is_readable:
        assert read_manifest(store, PREFIX, schema_version=read).schema_version == written
    else:
        with pytest.raises(
            StorageError, match=f"has schema version {written}, this release reads {read - 1} to {read}"
        ):
            read_manifest(store, PREFIX, schema_version=read)


def test_another_kind_is_refused(store):
    write(store)

    with pytest.raises(StorageError, match="holds 'plan', not 'inventory'"):
        read_manifest(store, PREFIX, kind="inventory")


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"kind": "plan"}', b"\xff"])
def test_a_manifest_that_is_none_is_our_error(store, body):
    store.write_bytes(PREFIX + "manifest.json", body)

    with pytest.raises(StorageError, match="cannot be read"):
        read_manifest(store, PREFIX)


def test_large_tables_have_several_parts_and_come_back_in_order(store, monkeypatch):
    monkeypatch.setattr(dataset, "PART_ROWS", 2)
    manifest = write(store)

    assert [part.rows for part in manifest.tables["moves"]] == [2, 1]
    assert read_table(store, manifest, "moves").equals(TABLE)


def test_an_empty_table_keeps_its_schema(store):
    manifest = write(store, TABLE.slice(0, 0))

    assert read_table(store, manifest, "moves").schema == TABLE.schema


def test_json_has_one_text():
    value = {"b": [1, 2.5, None], "a": "ü"}

    assert canonical_json(value) == canonical_json(dict(reversed(value.items())))
    assert json.loads(canonical_json(value)) == value
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(float("nan"))


def write_share(store, share, table, **documents):
    return write_dataset(
        store,
        PREFIX,
        kind=share,
        schema_version=2,
        tables={f"{share}_rows": table},
        documents={f"{share}.json": body for body in documents.values()},
        facts={},
        share=share,
    )


def seal(store, *shares):
    return seal_dataset(store, PREFIX, shares=shares, kind="plan", schema_version=2, facts={"cluster": "c"})


def test_shares_become_one_dataset_when_all_are_there(store):
    first = write_share(store, "left", TABLE, facts=b"{}")
    with pytest.raises(MissingManifestError, match=r"has no right\.manifest\.json, so it is not complete"):
        seal(store, "left", "right")
    with pytest.raises(MissingManifestError, match=r"has no manifest\.json, so it is not complete"):
        read_manifest(store, PREFIX)
    second = write_share(store, "right", TABLE.slice(1))
    sealed = seal(store, "left", "right")

    assert read_manifest(store, PREFIX, kind="plan", schema_version=2) == sealed
    assert sealed.facts == {"cluster": "c", "shares": {"left": first.sha256, "right": second.sha256}}
    assert read_table(store, sealed, "left_rows").equals(TABLE)
    assert read_table(store, sealed, "right_rows").equals(TABLE.slice(1))
    assert read_document(store, sealed, "left.json") == b"{}"


def test_a_share_that_is_written_again_leaves_what_was_sealed_readable_until_it_is_sealed_again(store, monkeypatch):
    write_share(store, "left", TABLE)
    write_share(store, "right", TABLE)
    before = seal(store, "left", "right")
    write_share(store, "left", TABLE.slice(2))

    assert read_manifest(store, PREFIX) == before
    assert read_table(store, before, "left_rows").equals(TABLE)
    monkeypatch.setattr(dataset, "ORPHAN_SECONDS", -1.0)
    after = seal(store, "left", "right")
    assert read_table(store, after, "left_rows").equals(TABLE.slice(2))
    assert len(store.list_objects(PREFIX)) == 5


def test_shares_in_any_order_and_again_give_the_same_bytes(store):
    for share in ("left", "right"):
        write_share(store, share, TABLE)
    seal(store, "left", "right")
    before = {key: store.read_bytes(key) for key in store.list_objects(PREFIX)}
    for share in ("right", "left"):
        write_share(store, share, TABLE)
    seal(store, "left", "right")

    assert {key: store.read_bytes(key) for key in store.list_objects(PREFIX)} == before


def test_two_shares_with_one_name_are_refused(store):
    for share in ("left", "right"):
        write_dataset(
            store,
            PREFIX,
            kind="x",
            schema_version=1,
            tables={"rows": TABLE},
            documents={},
            facts={},
            share=share,
        )
    with pytest.raises(StorageError, match="right and a share before it both have 'rows'; rename one"):
        seal(store, "left", "right")
