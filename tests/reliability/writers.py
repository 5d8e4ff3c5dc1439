"""Many writers of one dataset at the same time, each kind of dataset by the function that writes it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pyarrow as pa

from kafka_capacity.inventory.history import TABLE, hours_of, keep_history, read_history_manifest
from kafka_capacity.inventory.staging import inventory_manifest, load, load_findings, stage
from kafka_capacity.objects.dataset import (
    check_parts,
    read_document,
    read_manifest,
    seal_dataset,
    write_dataset,
)
from kafka_capacity.objects.keys import day_prefix
from kafka_capacity.objects.store import ObjectStore
from tests.builders import DS, cluster, topic

Write = Callable[[ObjectStore, int], object]
Check = Callable[[ObjectStore, int], None]

P = "plans/cluster=c/ds=2026-11-20/plan=p/"
MIDNIGHT = 1_772_323_200  # 2026-03-01


def at_once(stores: Sequence[ObjectStore], write: Write) -> list[Exception]:
    """Let each store's writer begin at the same moment; returns what they raised."""
    start, raised = threading.Barrier(len(stores)), []

    def run(number: int) -> None:
        start.wait()
        try:
            write(stores[number], number)
        except Exception as error:  # the test says which may be
            raised.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(stores))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def _stage(store: ObjectStore, number: int) -> None:
    stage(cluster(topics=[topic(f"orders-{number}", partitions=2, rf=2)]), store)


def _check_inventory(store: ObjectStore, count: int) -> None:
    found = inventory_manifest(store, "payments", DS)
    raw = load(store, found)
    load_findings(store, found)
    (name,) = set(raw.table("topics").column("topic").to_pylist())
    assert name in {f"orders-{number}" for number in range(count)}


def hour_of_a_topic(hour: int) -> pa.Table:
    """Return one hour of metrics of one partition."""
    return pa.table(
        {
            "topic": ["a"],
            "partition": pa.array([0], pa.int32()),
            "hour": pa.array([MIDNIGHT + hour * 3600], pa.timestamp("s", tz="UTC")),
            "bytes_in_bytes_per_second": [10.0 + hour],
            "bytes_out_bytes_per_second": [1.0],
        }
    )


def _keep(store: ObjectStore, number: int) -> None:
    keep_history(store, "c", hour_of_a_topic(number), captured=f"2026-03-02T{number:02d}")


def _check_history(store: ObjectStore, count: int) -> None:
    manifest = read_history_manifest(store, day_prefix("history", "c", "2026-03-01"))
    from kafka_capacity.objects.dataset import read_table

    hours = hours_of(read_table(store, manifest, TABLE), "bytes_in")[0]
    assert hours[:count].tolist() == [10.0 + hour for hour in range(count)]
    assert len(manifest.facts["merged"]) == count


def _dataset(store: ObjectStore, number: int, share: str | None = None) -> None:
    write_dataset(
        store,
        P,
        kind=share or "plan",
        schema_version=1,
        tables={f"{share}_rows": pa.table({"writer": [number] * 100})},
        documents={f"{share}.json": str(number).encode()},
        facts={"writer": number},
        share=share,
    )


def _share_and_seal(store: ObjectStore, number: int) -> None:
    for share in ("left", "right"):
        _dataset(store, number, share)
    seal_dataset(store, P, shares=["left", "right"], kind="plan", schema_version=1, facts={})


def _report(store: ObjectStore, _: int) -> None:
    documents = {f"{name}.html": f"<p>{name}".encode() * 100 for name in "abcdef"}
    write_dataset(
        store, P, kind="report", schema_version=1, tables={}, documents=documents, facts={}, has_plain_names=True
    )


def _check_whole(store: ObjectStore, _: int) -> None:
    manifest = read_manifest(store, P)
    check_parts(store, manifest)
    for name in manifest.documents:
        read_document(store, manifest, name)


KINDS: dict[str, tuple[Write, Check]] = {
    "inventory, each another one": (_stage, _check_inventory),
    "history, each another hour of one day": (_keep, _check_history),
    "profile or scores, each others": (_dataset, _check_whole),
    "plan: two shares and the seal, each others": (_share_and_seal, _check_whole),
    "report, decision or plan files, the same": (_report, _check_whole),
}
