"""Manifests: what a complete dataset holds, and reads that are checked against it.

A manifest holds the hash of itself and of every file. What arrives otherwise is read again a few times; then either
the manifest has changed meanwhile, or something is damaged, and the two are different errors.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import NoneType
from typing import Any, TypeVar

from kafka_capacity import __version__
from kafka_capacity.errors import (
    ConflictError,
    DamagedObjectError,
    MissingManifestError,
    MissingObjectError,
    StorageError,
)
from kafka_capacity.objects.keys import Kind, day_prefix, is_day, list_days
from kafka_capacity.objects.object_store import ObjectStore, attempts, try_again

MANIFEST = "manifest.json"
KEPT_FOLDER = "kept/"  # below a dataset: the manifests of versions that somebody still reads, by their hash
OWN_HASH = "own_sha256"
_EARLIER_FIELDS = {"kind", "schema_version", "code_version", "tables", "documents", "facts"}
"""Of manifests that were written before they held a hash of their own."""

T = TypeVar("T")

_WRITERS = 40  # attempts to change a document that others change as well; of those who try at once one gets through


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
    ``share`` is that of which it was read or written, ``None`` for the whole.
    """

    prefix: str
    kind: str
    schema_version: int
    code_version: str
    tables: Mapping[str, tuple[Part, ...]]
    documents: Mapping[str, Part]
    facts: Mapping[str, Any]
    sha256: str
    share: str | None = None

    def parts(self) -> list[Part]:
        """Return all files, those of tables first."""
        return [*(part for parts in self.tables.values() for part in parts), *self.documents.values()]


def manifest_name(share: str | None = None) -> str:
    """Name the manifest of a dataset, or of one share of it."""
    return MANIFEST if share is None else f"{share}.{MANIFEST}"


def canonical_json(value: Any) -> bytes:
    """Return the one JSON text of a value: sorted keys, UTF-8, a newline at the end, no NaN."""
    return (json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def manifest_body(
    kind: str,
    schema_version: int,
    tables: Mapping[str, Sequence[Part]],
    documents: Mapping[str, Part],
    facts: Mapping[str, Any],
) -> bytes:
    """Return the bytes of a manifest."""
    return with_own_hash(
        {
            "kind": kind,
            "schema_version": schema_version,
            "code_version": __version__,
            "tables": {name: [asdict(part) for part in parts] for name, parts in tables.items()},
            "documents": {name: asdict(part) for name, part in documents.items()},
            "facts": dict(facts),
        }
    )


def with_own_hash(document: Mapping[str, Any]) -> bytes:
    """Return the one JSON text of a document that holds the hash of all the rest of it."""
    return canonical_json({**document, OWN_HASH: hashlib.sha256(canonical_json(dict(document))).hexdigest()})


def read_with_own_hash(store: ObjectStore, key: str, parse: Callable[[bytes], T]) -> T:
    """Read a document of :func:`with_own_hash` and parse its bytes.

    Raises:
        MissingObjectError: there is none.
        DamagedObjectError: it is not what was written, however often it is read.
    """

    def check(body: bytes) -> T:
        try:
            document = json.loads(body)
            is_whole = with_own_hash({name: document[name] for name in document if name != OWN_HASH}) == body
            if is_whole or OWN_HASH not in document:
                return parse(body)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            pass
        msg = f"{store.uri(key)} cannot be read: it is damaged (its hash does not match); write it again"
        raise DamagedObjectError(msg)

    return _read_checked(store, key, check)


def change_with_own_hash(
    store: ObjectStore, key: str, change: Callable[[dict[str, Any] | None], Mapping[str, Any]]
) -> dict[str, Any]:
    """Change a document of :func:`with_own_hash`, once more where somebody else wrote it meanwhile.

    ``change`` returns what it shall be of what it is, which is ``None`` where there is none.

    Raises:
        DamagedObjectError: it is not what was written, however often it is read.
        ConflictError: somebody else was faster every time.
    """
    for _ in attempts(_WRITERS):
        try:
            body = read_with_own_hash(store, key, lambda found: found)
        except MissingObjectError:
            body = None
        before = None if body is None else {k: v for k, v in json.loads(body).items() if k != OWN_HASH}
        after = dict(change(before))
        if after == before:
            return after
        expected = None if body is None else hashlib.sha256(body).hexdigest()
        new = with_own_hash(after)
        if store.replace_bytes(key, new, expected_sha256=expected, content_type="application/json"):
            return after
    raise ConflictError(f"{store.uri(key)} is being written by other processes continuously; try again later")


def _read_checked(store: ObjectStore, key: str, check: Callable[[bytes], T]) -> T:
    """Read an object until it is what it ought to be; the error of the last attempt counts."""
    return try_again(lambda: check(store.read_bytes(key)), DamagedObjectError)


def _part(raw: Mapping[str, Any]) -> Part:
    """Read what a manifest says of one file; a ``TypeError`` for a field that is missing, or of another type."""
    part = Part(**raw)
    is_part = isinstance(part.key, str) and isinstance(part.sha256, str)
    if not is_part or type(part.bytes) is not int or type(part.rows) not in (int, NoneType):
        raise TypeError(f"{raw!r:.200} is not a file of a dataset")
    return part


def parse_manifest(prefix: str, body: bytes, *, share: str | None = None) -> Manifest:
    """Parse a manifest that is whole.

    Raises:
        ValueError: or another error of the form; it is none.
    """
    raw = json.loads(body)
    if OWN_HASH not in raw and set(raw) != _EARLIER_FIELDS:
        raise ValueError("a manifest in another format")
    if type(raw["schema_version"]) is not int:
        raise TypeError("schema_version is not a number")
    return Manifest(
        prefix=prefix,
        kind=raw["kind"],
        schema_version=raw["schema_version"],
        code_version=raw["code_version"],
        tables={name: tuple(map(_part, parts)) for name, parts in raw["tables"].items()},
        documents={name: _part(part) for name, part in raw["documents"].items()},
        facts=dict(raw["facts"]),
        sha256=hashlib.sha256(body).hexdigest(),
        share=share,
    )


def has_manifest(store: ObjectStore, prefix: str, *, share: str | None = None) -> bool:
    """Return whether the dataset below a prefix, or one share of it, is complete."""
    return store.exists(prefix + manifest_name(share))


def complete_days(store: ObjectStore, cluster: str, kind: Kind, *, up_to: str = "9999-12-31") -> Iterator[str]:
    """Yield the days of a kind, up to one that counts, whose dataset is complete, the newest first."""
    for day in reversed(list_days(store, cluster, kind)):
        if is_day(day) and day <= up_to and has_manifest(store, day_prefix(kind, cluster, day)):
            yield day


def read_manifest(
    store: ObjectStore,
    prefix: str,
    *,
    kind: str | None = None,
    schema_version: int | None = None,
    share: str | None = None,
    version: str | None = None,
) -> Manifest:
    """Read what a dataset holds, or one ``share`` of it.

    ``prefix`` ends with ``/``. ``kind`` is what the reader expects, ``schema_version`` the newest that it knows: it
    reads the one before as well. ``version`` is the hash of the version to read, where another may have been written
    over it since.

    Raises:
        MissingManifestError: nobody has finished writing it.
        ConflictError: another version was written over the one asked for, which nobody kept.
        DamagedObjectError: it is not what was written.
        StorageError: it is of another kind, or of a schema version that this reader does not know.
    """
    name = manifest_name(share)
    try:
        manifest = read_with_own_hash(store, prefix + name, lambda body: parse_manifest(prefix, body, share=share))
    except MissingObjectError:
        msg = f"{store.uri(prefix)} has no {name}, so it is not complete; run the task that writes it again"
        raise MissingManifestError(msg) from None
    if version not in (None, manifest.sha256):
        manifest = _read_kept(store, manifest, str(version))
    if kind is not None and manifest.kind != kind:
        raise StorageError(f"{store.uri(prefix)} holds {manifest.kind!r}, not {kind!r}")
    if schema_version is not None and not schema_version - 1 <= manifest.schema_version <= schema_version:
        raise StorageError(
            f"{store.uri(prefix)} has schema version {manifest.schema_version}, this release reads "
            f"{max(1, schema_version - 1)} to {schema_version}; use the matching release"
        )
    return manifest


def kept_key(prefix: str, version: str) -> str:
    """Return where the manifest of a version is kept."""
    return f"{prefix}{KEPT_FOLDER}{version}.json"


def keep_version(store: ObjectStore, manifest: Manifest) -> None:
    """Keep a version readable for as long as a run can last, whatever is written over it.

    Raises:
        ConflictError: another one was written over it already.
    """
    key = manifest.prefix + manifest_name(manifest.share)

    def check(body: bytes) -> bytes:
        if hashlib.sha256(body).hexdigest() == manifest.sha256:
            return body
        raise DamagedObjectError(f"{store.uri(key)} differs from what was read before; start again")

    try:
        body = _read_checked(store, key, check)
    except (DamagedObjectError, MissingObjectError) as error:
        if _was_replaced(store, manifest):
            raise ConflictError(f"{store.uri(manifest.prefix)} was written again meanwhile; start again") from error
        raise
    store.write_bytes(kept_key(manifest.prefix, manifest.sha256), body, content_type="application/json")


def _read_kept(store: ObjectStore, standing: Manifest, version: str) -> Manifest:
    key = kept_key(standing.prefix, version)
    try:
        return read_with_own_hash(store, key, lambda body: parse_manifest(standing.prefix, body, share=standing.share))
    except MissingObjectError:
        raise ConflictError(
            f"{store.uri(standing.prefix)} was written again (manifest {standing.sha256[:12]}, pinned "
            f"{version[:12]}), and the pinned version is no longer kept; start the run again"
        ) from None


def read_part(store: ObjectStore, manifest: Manifest, part: Part) -> bytes:
    """Read one file of a dataset, checked against its size and hash.

    Raises:
        ConflictError: the dataset was written again since its manifest was read.
        DamagedObjectError: it is gone, or is not what the manifest says, however often it is read.
    """
    key = manifest.prefix + part.key

    def check(data: bytes) -> bytes:
        if len(data) == part.bytes and hashlib.sha256(data).hexdigest() == part.sha256:
            return data
        what = f"{len(data):,} of {part.bytes:,} bytes" if len(data) != part.bytes else "sha256 differs"
        msg = f"{store.uri(key)} is damaged: it does not match its manifest ({what}); delete it and write it again"
        raise DamagedObjectError(msg)

    try:
        return _read_checked(store, key, check)
    except (DamagedObjectError, MissingObjectError) as error:
        if _was_replaced(store, manifest):
            msg = f"{store.uri(manifest.prefix)} was written again while it was read; start again"
            raise ConflictError(msg) from error
        if isinstance(error, DamagedObjectError):
            raise
        raise DamagedObjectError(f"{store.uri(key)} is gone although its manifest names it; write it again") from error


def _was_replaced(store: ObjectStore, manifest: Manifest) -> bool:
    """Return whether another manifest stands where this one was read, so far as that can be told."""
    try:
        standing = read_manifest(store, manifest.prefix, share=manifest.share)
    except StorageError:
        return False
    return standing.sha256 != manifest.sha256
