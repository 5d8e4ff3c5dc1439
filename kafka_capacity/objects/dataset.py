"""A folder of Parquet tables and documents that is either complete or not there.

Parts are named by their content and the manifest is written last, so that a writer that died leaves nothing that a
reader takes, the same tables give the same keys and bytes, and writing again over an older version never mixes the two.

Of writers at the same time the last one counts. None takes away what is younger than a run can last, and each looks,
after its last change, whether what stands is whole, and writes again where it is not: so whoever changed something
last has seen it whole.

Several writers may share a folder, each with a share of the tables and a manifest of its own; :func:`seal_dataset`
then writes the one manifest that readers ask for. Until it does, they see what was sealed before.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kafka_capacity.errors import ConflictError, MissingManifestError, MissingObjectError, StorageError
from kafka_capacity.objects.manifest import (
    KEPT_FOLDER,
    MANIFEST,
    Manifest,
    Part,
    canonical_json,
    has_manifest,
    keep_version,
    manifest_body,
    manifest_name,
    parse_manifest,
    read_manifest,
    read_part,
)
from kafka_capacity.objects.object_store import Listed, ObjectStore, attempts, content_type_of

__all__ = [
    "MANIFEST",
    "Manifest",
    "Part",
    "canonical_json",
    "content_type_of",
    "has_manifest",
    "keep_version",
    "manifest_name",
    "read_manifest",
]

PART_ROWS = 2_000_000  # ~50-100 MB of Parquet a part for our widest table: well inside one PUT

ORPHAN_SECONDS = 7 * 86_400.0
"""What no manifest names is taken away once it is older, by the clock of the store: no run takes as long."""


def parquet_bytes(table: pa.Table) -> bytes:
    """Write a table as Parquet; the same table gives the same bytes."""
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd", row_group_size=256_000, store_schema=False)
    return sink.getvalue()


def arrow_reader(data: bytes) -> pa.BufferReader:
    """Return what Arrow reads a file from: a copy of the bytes that is Arrow's own.

    Threads of Arrow may let go of a file after the table is there. If that needs Python's lock while Python exits, the
    process is aborted (CPython 3.11 ends such a thread within C++ destructors).
    """
    with pa.BufferOutputStream() as copy:
        copy.write(data)
        return pa.BufferReader(copy.getvalue())


def _table_parts(name: str, table: pa.Table) -> list[tuple[Part, bytes]]:
    parts = []
    for start in range(0, max(len(table), 1), PART_ROWS):
        chunk = table.slice(start, PART_ROWS).combine_chunks()  # how it lies in memory must not show in the bytes
        data = parquet_bytes(chunk)
        digest = hashlib.sha256(data).hexdigest()
        key = f"{name}/part-{start // PART_ROWS:05d}-{digest[:16]}.parquet"
        parts.append((Part(key=key, rows=len(chunk), bytes=len(data), sha256=digest), data))
    return parts


def write_dataset(
    store: ObjectStore,
    prefix: str,
    *,
    kind: str,
    schema_version: int,
    tables: Mapping[str, pa.Table],
    documents: Mapping[str, bytes],
    facts: Mapping[str, Any],
    has_plain_names: bool = False,
    kept_folders: Sequence[str] = (),
    share: str | None = None,
    replaces: str | None = None,
) -> Manifest:
    """Write tables and documents below a prefix, the manifest last, then drop what has long been named by none.

    ``prefix`` ends with ``/``; a reader asks for the ``kind``, such as ``inventory``. A table is
    ``<name>/part-….parquet``.
    Sort the tables first, since the bytes follow the order of rows; a document is stored under its name with the hash
    of its content in it, and read back by its plain name. ``facts`` are plain data that a reader may want without
    opening a table. ``kept_folders`` below the prefix, each with a trailing ``/``, have manifests of their own.

    With ``has_plain_names`` the documents are stored under their plain names, for people to find (reports), and what is
    not named is dropped at once: over other content nothing is readable until the last writer is done. As a ``share``
    of a dataset that others write to as well, for :func:`seal_dataset`, nothing is dropped, of this share or of
    another. With ``replaces`` it is only written over the version with this hash, or where there is none (empty).

    Raises:
        ConflictError: another version stands there than the one to replace, or others write all the time.
    """
    files: dict[str, bytes] = {}
    listed_tables: dict[str, tuple[Part, ...]] = {}
    for name, table in tables.items():
        parts = _table_parts(name, table)
        files |= {part.key: data for part, data in parts}
        listed_tables[name] = tuple(part for part, _ in parts)
    listed_documents: dict[str, Part] = {}
    for name, data in documents.items():
        digest = hashlib.sha256(data).hexdigest()
        stem, ending = posixpath.splitext(name)
        key = name if has_plain_names else f"{stem}-{digest[:16]}{ending}"
        files[key] = data
        listed_documents[name] = Part(key=key, rows=None, bytes=len(data), sha256=digest)
    body = manifest_body(kind, schema_version, listed_tables, listed_documents, facts)
    manifest = parse_manifest(prefix, body, share=share)

    def write() -> Manifest:
        for key, data in files.items():
            store.write_bytes(prefix + key, data, content_type=content_type_of(key))
        key, form = prefix + manifest_name(share), content_type_of(MANIFEST)
        if replaces is None:
            store.write_bytes(key, body, content_type=form)
        elif not store.replace_bytes(key, body, expected_sha256=replaces or None, content_type=form):
            raise ConflictError(f"{store.uri(key)} was overwritten by another writer meanwhile; read it again")
        return manifest

    upkeep = _Upkeep(store, prefix, share, has_plain_names, tuple(kept_folders), frozenset({manifest_name(share)}))
    return _write_until_whole(upkeep, write)


@dataclass(frozen=True, slots=True)
class _Upkeep:
    """What a writer looks after once its manifest stands."""

    store: ObjectStore
    prefix: str
    share: str | None
    has_plain_names: bool
    kept_folders: tuple[str, ...]
    manifests: frozenset[str]

    def look(self) -> tuple[Manifest | None, bool]:
        """Return the manifest that stands, if any, and whether all that it names does; drop what is long orphaned."""
        while True:
            try:
                standing = read_manifest(self.store, self.prefix, share=self.share)
            except MissingManifestError:
                return None, False
            found = self.store.list_objects(self.prefix)
            orphans = [] if self.share is not None else self._orphans(standing, found)
            for key in orphans:
                self.store.delete(key)
            if not orphans:
                return standing, self._is_whole(standing, found)

    def _orphans(self, standing: Manifest, found: Mapping[str, Listed]) -> list[str]:
        stands = found.get(self.prefix + MANIFEST)
        now = stands.written if stands is not None else 0.0
        named = {part.key for part in standing.parts()} | self.manifests
        for key, listed in found.items():
            if key.startswith(self.prefix + KEPT_FOLDER) and now - listed.written <= ORPHAN_SECONDS:
                version = key.removeprefix(self.prefix + KEPT_FOLDER).removesuffix(".json")
                with contextlib.suppress(StorageError):  # one that nobody can read keeps nothing
                    named |= {part.key for part in read_manifest(self.store, self.prefix, version=version).parts()}
        return [
            key
            for key, listed in found.items()
            if (below := key.removeprefix(self.prefix)) not in named
            and not below.startswith(self.kept_folders)
            and (self.has_plain_names or now - listed.written > ORPHAN_SECONDS)
        ]

    def _is_whole(self, standing: Manifest, found: Mapping[str, Listed]) -> bool:
        if not _are_listed(standing, found):
            return False
        if self.has_plain_names:  # what has the name may be of another version
            for part in standing.parts():
                try:
                    data = self.store.read_bytes(self.prefix + part.key)
                except MissingObjectError:
                    return False
                if hashlib.sha256(data).hexdigest() != part.sha256:
                    return False
        return True


def _write_until_whole(upkeep: _Upkeep, write: Callable[[], Manifest]) -> Manifest:
    """Write until what stands is whole, be it one's own version or that of another writer."""
    mine, standing = None, None
    for is_last in attempts():
        # The version of somebody else is theirs to complete, as long as they live.
        if mine is None or standing is None or standing.sha256 == mine.sha256 or is_last:
            mine = write()
        standing, is_whole = upkeep.look()
        if is_whole:
            return mine
    raise ConflictError(
        f"{upkeep.store.uri(upkeep.prefix)} is being written by other processes continuously; write it again once "
        "they are done"
    )


def seal_dataset(
    store: ObjectStore, prefix: str, *, shares: Sequence[str], kind: str, schema_version: int, facts: Mapping[str, Any]
) -> Manifest:
    """Make one dataset of shares that were written apart, then drop what none of them names.

    To ``facts``, plain data about the whole, ``shares`` is added: by name, the hash of each one's manifest. Returns the
    manifest that stands there now.

    Raises:
        MissingManifestError: a share is not complete.
        StorageError: two shares have a table or a document of the same name.
    """

    def write() -> Manifest:
        found = {share: read_manifest(store, prefix, share=share) for share in shares}
        tables: dict[str, tuple[Part, ...]] = {}
        documents: dict[str, Part] = {}
        for share, manifest in found.items():
            twice = sorted({*tables, *documents} & {*manifest.tables, *manifest.documents})
            if twice:
                msg = f"{store.uri(prefix)}: {share} and a share before it both have {twice[0]!r}; rename one"
                raise StorageError(msg)
            tables |= manifest.tables
            documents |= manifest.documents
        hashes = {share: manifest.sha256 for share, manifest in found.items()}
        body = manifest_body(kind, schema_version, tables, documents, {**facts, "shares": hashes})
        store.write_bytes(prefix + MANIFEST, body, content_type="application/json")
        return parse_manifest(prefix, body)

    manifests = frozenset({MANIFEST, *(manifest_name(share) for share in shares)})
    return _write_until_whole(_Upkeep(store, prefix, None, False, (), manifests), write)


def _are_listed(manifest: Manifest, found: Mapping[str, Listed]) -> bool:
    return all(
        (listed := found.get(manifest.prefix + part.key)) is not None and listed.bytes == part.bytes
        for part in manifest.parts()
    )


def are_parts_there(store: ObjectStore, manifest: Manifest) -> bool:
    """Return whether every file of a dataset is there and has its size, without reading any."""
    return _are_listed(manifest, store.list_objects(manifest.prefix))


def check_parts(store: ObjectStore, manifest: Manifest) -> None:
    """Check every file of a dataset against its hash.

    Raises:
        StorageError: one is away or is not what the manifest says.
    """
    for part in manifest.parts():
        read_part(store, manifest, part)


def read_table(store: ObjectStore, manifest: Manifest, name: str) -> pa.Table:
    """Read one table whole, every part checked against its hash."""
    parts = list(read_parts(store, manifest, name))
    with _told_as_damage(store, manifest, name):
        return pa.concat_tables(parts)


def read_parts(store: ObjectStore, manifest: Manifest, name: str) -> Iterator[pa.Table]:
    """Read one table a part after another, each checked against its hash."""
    if name not in manifest.tables:
        raise StorageError(f"{store.uri(manifest.prefix)} has no table {name!r}; it has {sorted(manifest.tables)}")
    for part in manifest.tables[name]:
        with _told_as_damage(store, manifest, name):
            table = pq.read_table(arrow_reader(read_part(store, manifest, part)))
        yield table


@contextlib.contextmanager
def _told_as_damage(store: ObjectStore, manifest: Manifest, name: str) -> Iterator[None]:
    try:
        yield
    except pa.ArrowException as error:
        msg = f"{store.uri(manifest.prefix)}: the parts of {name!r} are not a table ({error!s:.200}); write it again"
        raise StorageError(msg) from error


def read_document(store: ObjectStore, manifest: Manifest, name: str) -> bytes:
    """Read one document, checked against its hash."""
    if name not in manifest.documents:
        msg = f"{store.uri(manifest.prefix)} has no document {name!r}; it has {sorted(manifest.documents)}"
        raise StorageError(msg)
    return read_part(store, manifest, manifest.documents[name])
