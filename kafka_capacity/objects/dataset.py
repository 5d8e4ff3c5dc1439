"""A folder of Parquet tables and documents that is either complete or not there.

Parts are named by their content and the manifest is written last, so that a writer that died leaves nothing that a
reader takes, the same tables give the same keys and bytes, and writing again over an older version never mixes the two.

Several writers may share a folder, each with a share of the tables and a manifest of its own; :func:`seal_dataset`
then writes the one manifest that readers ask for. Until it does, they see what was sealed before.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kafka_capacity import __version__
from kafka_capacity.errors import MissingManifestError, StorageError
from kafka_capacity.objects.store import ObjectStore

MANIFEST = "manifest.json"
PART_ROWS = 2_000_000  # ~50-100 MB of Parquet a part for our widest table: well inside one PUT

_CONTENT_TYPES = {
    ".json": "application/json",
    ".html": "text/html; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".png": "image/png",
    ".parquet": "application/vnd.apache.parquet",
    ".eml": "message/rfc822",
    ".sh": "text/x-shellscript; charset=utf-8",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One file of a dataset: its key below the dataset's prefix, rows (None for a document), size and hash."""

    key: str
    rows: int | None
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a complete dataset holds.

    ``sha256`` is the hash of the manifest's own bytes: it names this version of the data, and is not part of them.
    """

    prefix: str
    kind: str
    schema_version: int
    code_version: str
    tables: Mapping[str, tuple[Part, ...]]
    documents: Mapping[str, Part]
    facts: Mapping[str, Any]
    sha256: str


def content_type_of(name: str) -> str:
    """Return the media type of a file by its ending."""
    return _CONTENT_TYPES.get("." + name.rpartition(".")[2], "application/octet-stream")


def canonical_json(value: Any) -> bytes:
    """Return the one JSON text of a value: sorted keys, UTF-8, a newline at the end, no NaN."""
    return (json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def parquet_bytes(table: pa.Table) -> bytes:
    """Write a table as Parquet; the same table gives the same bytes."""
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd", row_group_size=256_000, store_schema=False)
    return sink.getvalue()


def _table_parts(name: str, table: pa.Table) -> list[tuple[Part, bytes]]:
    parts = []
    for start in range(0, max(len(table), 1), PART_ROWS):
        chunk = table.slice(start, PART_ROWS)
        data = parquet_bytes(chunk)
        digest = hashlib.sha256(data).hexdigest()
        key = f"{name}/part-{start // PART_ROWS:05d}-{digest[:16]}.parquet"
        parts.append((Part(key=key, rows=len(chunk), bytes=len(data), sha256=digest), data))
    return parts


def _content_key(name: str, digest: str) -> str:
    stem, dot, ending = name.rpartition(".")
    return f"{stem}-{digest[:16]}.{ending}" if dot else f"{name}-{digest[:16]}"


def _part_json(part: Part) -> dict[str, Any]:
    return {"key": part.key, "rows": part.rows, "bytes": part.bytes, "sha256": part.sha256}


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
) -> Manifest:
    """Write tables and documents below a prefix, the manifest last, then drop what it no longer names.

    Args:
        store: where to.
        prefix: with a trailing ``/``.
        kind: what it is, such as ``inventory``; a reader asks for it.
        schema_version: of the tables.
        tables: each becomes ``<name>/part-….parquet``; sort them first, since the bytes follow the order of rows.
        documents: each is stored under its name with its content's hash in it, and read back by its plain name.
        facts: plain data about it that a reader may want without opening a table.
        has_plain_names: store the documents under their plain names, for people to find (reports); then writing
            other content over an older version is only safe because a prefix that names its content never does.
        kept_folders: folders below the prefix that have manifests of their own, each with a trailing ``/``.
        share: write it as this share of a dataset that others write to as well, for :func:`seal_dataset`; then nothing
            is dropped, of this share or of another.

    Returns:
        The manifest that stands there now.
    """
    listed_tables: dict[str, tuple[Part, ...]] = {}
    for name, table in tables.items():
        parts = _table_parts(name, table)
        for part, data in parts:
            store.write_bytes(prefix + part.key, data, content_type=content_type_of(part.key))
        listed_tables[name] = tuple(part for part, _ in parts)
    listed_documents: dict[str, Part] = {}
    for name, data in documents.items():
        digest = hashlib.sha256(data).hexdigest()
        key = name if has_plain_names else _content_key(name, digest)
        store.write_bytes(prefix + key, data, content_type=content_type_of(name))
        listed_documents[name] = Part(key=key, rows=None, bytes=len(data), sha256=digest)
    body = _manifest_body(kind, schema_version, listed_tables, listed_documents, facts)
    store.write_bytes(prefix + manifest_name(share), body, content_type="application/json")
    manifest = _parse(prefix, body)
    if share is None:
        _drop_orphans(store, manifest, tuple(kept_folders), {MANIFEST})
    return manifest


def manifest_name(share: str | None = None) -> str:
    """Name the manifest of a dataset, or of one share of it."""
    return MANIFEST if share is None else f"{share}.{MANIFEST}"


def seal_dataset(
    store: ObjectStore,
    prefix: str,
    *,
    shares: Sequence[str],
    kind: str,
    schema_version: int,
    facts: Mapping[str, Any],
) -> Manifest:
    """Make one dataset of shares that were written apart, then drop what none of them names.

    Args:
        store: where they are.
        prefix: with a trailing ``/``.
        shares: the names of all of them.
        kind: what the whole is.
        schema_version: of the tables.
        facts: plain data about the whole; ``shares`` is added: by name, the hash of each one's manifest.

    Returns:
        The manifest that stands there now.

    Raises:
        MissingManifestError: a share is not complete.
        StorageError: two shares have a table or a document of the same name.
    """
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
    body = _manifest_body(kind, schema_version, tables, documents, {**facts, "shares": hashes})
    store.write_bytes(prefix + MANIFEST, body, content_type="application/json")
    sealed = _parse(prefix, body)
    _drop_orphans(store, sealed, (), {MANIFEST, *(manifest_name(share) for share in shares)})
    return sealed


def _manifest_body(
    kind: str,
    schema_version: int,
    tables: Mapping[str, Sequence[Part]],
    documents: Mapping[str, Part],
    facts: Mapping[str, Any],
) -> bytes:
    return canonical_json(
        {
            "kind": kind,
            "schema_version": schema_version,
            "code_version": __version__,
            "tables": {name: [_part_json(part) for part in parts] for name, parts in tables.items()},
            "documents": {name: _part_json(part) for name, part in documents.items()},
            "facts": dict(facts),
        }
    )


def _drop_orphans(store: ObjectStore, manifest: Manifest, kept_folders: tuple[str, ...], manifests: set[str]) -> None:
    """Remove parts of earlier versions; a reader that still holds the older manifest gets a clear error."""
    named = {part.key for parts in manifest.tables.values() for part in parts}
    named |= {part.key for part in manifest.documents.values()} | manifests
    for key in store.list_keys(manifest.prefix):
        below = key.removeprefix(manifest.prefix)
        if below not in named and not below.startswith(kept_folders):
            store.delete(key)


def _part(raw: Mapping[str, Any]) -> Part:
    """Read what a manifest says of one file.

    Raises:
        TypeError: a field is missing, or of another type.
    """
    part = Part(**raw)
    is_part = isinstance(part.key, str) and isinstance(part.sha256, str)
    if not is_part or type(part.bytes) is not int or type(part.rows) not in (int, NoneType):
        msg = f"{raw!r:.200} is no file of a dataset"
        raise TypeError(msg)
    return part


def _parse(prefix: str, body: bytes) -> Manifest:
    try:
        raw = json.loads(body)
        if type(raw["schema_version"]) is not int:
            raise TypeError("schema_version is no number")
        return Manifest(
            prefix=prefix,
            kind=raw["kind"],
            schema_version=raw["schema_version"],
            code_version=raw["code_version"],
            tables={name: tuple(map(_part, parts)) for name, parts in raw["tables"].items()},
            documents={name: _part(part) for name, part in raw["documents"].items()},
            facts=dict(raw["facts"]),
            sha256=hashlib.sha256(body).hexdigest(),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        msg = f"the manifest below {prefix} cannot be read ({error!r}); write the dataset again"
        raise StorageError(msg) from error


def has_manifest(store: ObjectStore, prefix: str, *, share: str | None = None) -> bool:
    """Return whether the dataset below a prefix, or one share of it, is complete."""
    return store.exists(prefix + manifest_name(share))


def read_manifest(
    store: ObjectStore,
    prefix: str,
    *,
    kind: str | None = None,
    schema_version: int | None = None,
    share: str | None = None,
) -> Manifest:
    """Read what a dataset holds.

    Args:
        store: where from.
        prefix: with a trailing ``/``.
        kind: what the reader expects.
        schema_version: the newest that the reader knows; it reads the one before as well.
        share: read the manifest of this share alone.

    Raises:
        MissingManifestError: nobody has finished writing it.
        StorageError: it is of another kind, or of a schema version that this reader does not know.
    """
    name = manifest_name(share)
    if not has_manifest(store, prefix, share=share):
        msg = f"{store.uri(prefix)} has no {name}, so it is not complete; run the task that writes it again"
        raise MissingManifestError(msg)
    manifest = _parse(prefix, store.read_bytes(prefix + name))
    if kind is not None and manifest.kind != kind:
        msg = f"{store.uri(prefix)} holds {manifest.kind!r}, not {kind!r}"
        raise StorageError(msg)
    if schema_version is not None and not schema_version - 1 <= manifest.schema_version <= schema_version:
        msg = (
            f"{store.uri(prefix)} has schema version {manifest.schema_version}, this program reads "
            f"{max(1, schema_version - 1)} to {schema_version}; use the matching release"
        )
        raise StorageError(msg)
    return manifest


def _checked(store: ObjectStore, manifest: Manifest, part: Part) -> bytes:
    data = store.read_bytes(manifest.prefix + part.key)
    if hashlib.sha256(data).hexdigest() != part.sha256:
        msg = f"{store.uri(manifest.prefix + part.key)} is not what its manifest says (sha256 differs); write it again"
        raise StorageError(msg)
    return data


def check_parts(store: ObjectStore, manifest: Manifest) -> None:
    """Check every file of a dataset against its hash.

    Raises:
        StorageError: one is away or is not what the manifest says.
    """
    for part in (*manifest.documents.values(), *(part for parts in manifest.tables.values() for part in parts)):
        _checked(store, manifest, part)


def read_table(store: ObjectStore, manifest: Manifest, name: str) -> pa.Table:
    """Read one table whole, every part checked against its hash."""
    if name not in manifest.tables:
        msg = f"{store.uri(manifest.prefix)} has no table {name!r}; it has {sorted(manifest.tables)}"
        raise StorageError(msg)
    try:
        return pa.concat_tables(
            [pq.read_table(io.BytesIO(_checked(store, manifest, part))) for part in manifest.tables[name]]
        )
    except pa.ArrowException as error:
        msg = f"{store.uri(manifest.prefix)}: the parts of {name!r} are no table ({error!s:.200}); write it again"
        raise StorageError(msg) from error


def read_document(store: ObjectStore, manifest: Manifest, name: str) -> bytes:
    """Read one document, checked against its hash."""
    if name not in manifest.documents:
        msg = f"{store.uri(manifest.prefix)} has no document {name!r}; it has {sorted(manifest.documents)}"
        raise StorageError(msg)
    return _checked(store, manifest, manifest.documents[name])
