"""Two writers of one dataset, in every order of their store calls: one of the two is readable in the end."""

import contextlib
import json

import pyarrow as pa
import pytest

from kafka_capacity.errors import MissingManifestError
from kafka_capacity.inventory import history
from kafka_capacity.inventory.history import hours_of, keep_history, read_history_manifest
from kafka_capacity.objects import dataset, object_store
from kafka_capacity.objects.dataset import check_parts, read_document, read_manifest, read_table, seal_dataset
from kafka_capacity.objects.keys import day_prefix
from kafka_capacity.objects.manifest import OWN_HASH, change_with_own_hash, read_with_own_hash
from tests.reliability.interleavings import LONG_AGO, Model, after, as_mapping, explore

P = "plans/p/"
TABLE = pa.table({"id": pa.array([1, 2, 3], pa.int32())})


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(object_store, "FIRST_PAUSE_SECONDS", 0.0)


def write(store, name, *, tables=None, **options):
    return dataset.write_dataset(
        store,
        P,
        kind="plan",
        schema_version=1,
        tables=tables or {},
        documents={"a.json": f'"{name} a"'.encode(), "b.json": f'"{name} b"'.encode()},
        facts={"writer": name},
        **options,
    )


def writer(name, **options):
    return lambda store: write(store, name, **options)


def version(content, prefix=P):
    """Return who wrote what stands, every byte of it checked; ``None`` where nothing is complete."""
    store = Model(content)
    try:
        manifest = read_manifest(store, prefix)
    except MissingManifestError:
        return None
    check_parts(store, manifest)
    name = manifest.facts["writer"]
    assert json.loads(read_document(store, manifest, "a.json")) == f"{name} a"
    return name


def whole_at_all_times(content):
    version(content)


def versions_at_the_ends(found):
    return {version(content) for content, _ in found.ends}


def test_parts_named_by_content(record_property):
    tables = {"moves": TABLE}
    found = explore(
        [writer("one", tables=tables), writer("two", tables={"moves": TABLE.slice(1)})],
        at_every_state=whole_at_all_times,
    )
    record_property("orders", found.orders)
    assert found.orders == 924  # 12 calls, 6 of each: all of them
    assert versions_at_the_ends(found) == {"one", "two"}
    assert {how for _, hows in found.ends for how in hows} == {"done"}


def test_over_an_older_version_and_with_writers_that_die_at_any_point(record_property):
    start = after(writer("old"), written=0.0)
    found = explore([writer("one"), writer("two")], start, at_every_state=whole_at_all_times, kills=2)
    record_property("orders", found.orders)
    assert found.orders == 2_086
    assert versions_at_the_ends(found) == {"old", "one", "two"}


@pytest.mark.parametrize("again", ["old", "older"])
def test_one_that_writes_what_the_other_takes_away_as_long_orphaned(again, record_property):
    start = after(writer("old"), after(writer("older")), written=LONG_AGO)
    found = explore([writer(again), writer("two")], start)
    record_property("orders", found.orders)
    assert versions_at_the_ends(found) == {again, "two"}
    assert all("done" in hows for _, hows in found.ends)


def test_plain_names_over_other_content(record_property, monkeypatch):
    monkeypatch.setattr(object_store, "ATTEMPTS", 3)
    start = after(writer("old", has_plain_names=True), written=LONG_AGO)
    found = explore([writer("one", has_plain_names=True), writer("two", has_plain_names=True)], start)
    record_property("orders", found.orders)
    both_done = [content for content, hows in found.ends if set(hows) == {"done"}]
    assert {version(content) for content in both_done} == {"one", "two"}
    # Who gave up after several times leaves it to who runs it again, and says so.
    assert {how for _, hows in found.ends for how in hows} == {"done", "ConflictError"}


def test_plain_names_over_the_same_content(record_property):
    old = after(writer("old", has_plain_names=True), written=LONG_AGO)
    for start in ((), old):
        found = explore([writer("one", has_plain_names=True), writer("one", has_plain_names=True)], start)
        record_property("orders", found.orders)
        assert {(version(content), *hows) for content, hows in found.ends} == {("one", "done", "done")}


def test_shares_and_their_seal(record_property):
    def share(name, which):
        return lambda store: dataset.write_dataset(
            store, P, kind=which, schema_version=1, tables={}, facts={"writer": name},
            documents={f"{which}.json": f'"{name}"'.encode()}, share=which,
        )  # fmt: skip

    def seal(store):
        seal_dataset(store, P, shares=["left", "right"], kind="plan", schema_version=1, facts={})

    def run(name):
        def both(store):
            share(name, "left")(store)
            share(name, "right")(store)
            seal(store)

        return both

    def is_whole(content):
        store = Model(content)
        with contextlib.suppress(MissingManifestError):
            check_parts(store, read_manifest(store, P))

    start = after(run("old"), written=0.0)
    found = explore([run("one"), run("two")], start, at_every_state=is_whole)
    record_property("orders", found.orders)
    assert found.orders > 1_000_000
    for content, hows in found.ends:
        assert set(hows) == {"done"}
        is_whole(content)


HOUR = 1_772_323_200  # 2026-03-01T00:00Z


def metrics(hour, rate):
    return pa.table(
        {
            "topic": ["a"],
            "partition": pa.array([0], pa.int32()),
            "hour": pa.array([HOUR + hour * 3600], pa.timestamp("s", tz="UTC")),
            "bytes_in_bytes_per_second": [rate],
            "bytes_out_bytes_per_second": [rate],
        }
    )


def test_a_day_of_history_has_the_hours_of_both(record_property):
    def keep(hour):
        return lambda store: keep_history(store, "c", metrics(hour, 10.0 + hour), captured=f"2026-03-0{hour + 1}")

    start = after(keep(0), written=0.0)
    found = explore([keep(1), keep(2)], start)
    record_property("orders", found.orders)
    assert found.orders > 1_000
    for content, hows in found.ends:
        assert set(hows) == {"done"}
        store = Model(content)
        manifest = read_history_manifest(store, day_prefix("history", "c", "2026-03-01"))
        table = read_table(store, manifest, history.TABLE)
        assert hours_of(table, "bytes_in")[0, :3].tolist() == [10.0, 11.0, 12.0]


def test_what_was_written_is_what_stands():
    assert sorted(as_mapping(after(writer("one")))) == [
        f"{P}{key}" for key in sorted(part.key for part in write(Model(), "one").parts())
    ] + [f"{P}manifest.json"]


def test_of_those_who_change_one_document_none_is_lost(record_property):
    def adds(name):
        return lambda store: change_with_own_hash(store, P, lambda found: {**(found or {}), name: 1})

    def checked(content):
        for key, _, _ in content:
            read_with_own_hash(Model(content), key, json.loads)

    found = explore([adds("one"), adds("two"), adds("three")], at_every_state=checked)
    record_property("orders", found.orders)
    assert {outcome for _, outcomes in found.ends for outcome in outcomes} == {"done"}
    kept = {
        read_with_own_hash(Model(content), P, lambda body: frozenset(json.loads(body))) for content, _ in found.ends
    }
    assert kept == {frozenset({"one", "two", "three", OWN_HASH})}
