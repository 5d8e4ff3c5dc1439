"""Pieces of work that outlast the process that waits for them: a run of a large plan after a failure does the rest.

A share that is done is kept as it is; of a question that was under way, batches of finished pieces are. They lie in a
place of the plan's own under the hash of all that they follow from, and are taken away when the plan is sealed.
"""

from __future__ import annotations

import hashlib
import logging
import pickle  # to hash what travels pickled anyway; nothing is unpickled
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pyarrow as pa

from kafka_capacity import __version__
from kafka_capacity.errors import StorageError
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.plan.packing import Tables, pack_tables, unpack_table
from kafka_capacity.questions.question import Piece, RunPieces, Shared

log = logging.getLogger("kafka_capacity.plan")

MOST_BATCHES = 20
"""A failure costs a twentieth of a question's pieces and what was in the making; a batch is a job and an object."""


class KeptPieces:
    """Does pieces as another does them, and keeps them: a :class:`kafka_capacity.questions.question.RunPieces`.

    They are kept below a prefix where nothing else is. Batches may run at once, as where pieces are done elsewhere.
    """

    def __init__(self, run: RunPieces, store: ObjectStore, prefix: str, *, side_by_side: bool) -> None:
        self._run, self._store, self._prefix, self._side_by_side = run, store, prefix, side_by_side

    def __call__(
        self, function: Callable[[Shared, Piece], Tables], shared: Shared, pieces: Sequence[Piece], *, what: str
    ) -> Sequence[Tables]:
        """Run the batches that are not kept."""
        size = -(-len(pieces) // MOST_BATCHES) or 1
        batches = [pieces[first : first + size] for first in range(0, len(pieces), size)]  # large pieces stay first
        common = _digest((__version__, function.__module__, function.__qualname__, shared))

        def done(batch: Sequence[Piece]) -> Sequence[Tables]:
            key = f"{self._prefix}{_digest((common, *batch))}.arrow"
            kept = self._kept(key)
            if kept is not None:
                log.info("%d %s were done by an earlier try", len(batch), what)
                return kept
            found = self._run(function, shared, batch, what=what)
            self._store.write_bytes(key, _packed(found))
            return found

        with ThreadPoolExecutor(max_workers=max(1, len(batches)) if self._side_by_side else 1) as pool:
            return [tables for found in pool.map(done, batches) for tables in found]

    def _kept(self, key: str) -> list[Tables] | None:
        try:
            return _unpacked(self._store.read_bytes(key))
        except StorageError:
            return None


def remove_kept(store: ObjectStore, prefix: str) -> None:
    """Take away what was kept below a prefix."""
    for key in store.list_objects(prefix):
        store.delete(key)


def _digest(content: object) -> str:
    """Hash what an object is pickled to; equal ones that do not hash alike are only done again."""
    sha256 = hashlib.sha256()
    file: Any = SimpleNamespace(write=sha256.update)  # that only its hash is left of
    pickler = pickle.Pickler(file, protocol=pickle.HIGHEST_PROTOCOL)
    pickler.fast = True  # else it depends on which of equal parts are one object
    pickler.dump(content)
    return sha256.hexdigest()


def _packed(found: Sequence[Tables]) -> bytes:
    schema = pa.schema([("number", pa.int64()), ("name", pa.string()), ("data", pa.large_binary())])
    rows = [
        {"number": number, "name": name, "data": data}
        for number, tables in enumerate(found)
        for name, data in pack_tables(tables).items()
    ]
    body = pack_tables({"all": pa.Table.from_pylist(rows, schema=schema)})["all"]
    return hashlib.sha256(body).digest() + body


def _unpacked(data: bytes) -> list[Tables] | None:
    """Undo :func:`_packed`; ``None`` where it is not what was written."""
    digest, body = data[: hashlib.sha256().digest_size], data[hashlib.sha256().digest_size :]
    if hashlib.sha256(body).digest() != digest:
        return None
    found: dict[int, dict[str, pa.Table]] = {}
    for row in unpack_table(body).to_pylist():
        found.setdefault(row["number"], {})[row["name"]] = unpack_table(row["data"])
    return list(found.values())
