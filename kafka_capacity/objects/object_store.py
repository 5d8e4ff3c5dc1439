"""What every store does, wherever its objects are."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

T = TypeVar("T")

ATTEMPTS = 6
FIRST_PAUSE_SECONDS = 0.1
MAX_PAUSE_SECONDS = 1.6
"""Each pause is up to twice as long as the one before, up to this: six attempts wait 3 s in all at most."""


def attempts(limit: int | None = None) -> Iterator[bool]:
    """Yield once an attempt, after a pause from the second one on: whether it is the last."""
    count = ATTEMPTS if limit is None else limit
    pause = FIRST_PAUSE_SECONDS
    for number in range(count):
        if number:
            # Two that got into each other's way do not meet again.
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, MAX_PAUSE_SECONDS)
        yield number == count - 1


def try_again(action: Callable[[], T], after: type[Exception], limit: int | None = None) -> T:
    """Return what an action does at one of several :func:`attempts`, each after an error of this type; or raise it."""
    for is_last in attempts(limit):
        try:
            return action()
        except after:
            if is_last:
                raise
    raise AssertionError("the last attempt returns or raises")


_CONTENT_TYPES = {
    ".json": "application/json",
    ".html": "text/html; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".png": "image/png",
    ".parquet": "application/vnd.apache.parquet",
    ".eml": "message/rfc822",
    ".sh": "text/x-shellscript; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class Listed:
    """What a listing says of an object: its size, and when it was written by the clock of the store, in seconds."""

    bytes: int
    written: float


class ObjectStore(Protocol):
    """Objects by key. Keys are relative, with ``/`` between their parts."""

    def read_bytes(self, key: str) -> bytes:
        """Read one object whole; :class:`MissingObjectError` where there is none."""

    def write_bytes(self, key: str, data: bytes, *, content_type: str = "application/octet-stream") -> None:
        """Write one object whole: a reader sees all of it or what was there before."""

    def write_together(self, files: Mapping[str, bytes], *, drop: Collection[str] = ()) -> None:
        """Write objects that belong together in their order, and take away others.

        A folder writes all of them beside their places first, so that a full disk leaves what was there; then what is
        replaced or dropped goes before the first one comes, so that no two versions ever stand side by side.
        """

    def replace_bytes(
        self, key: str, data: bytes, *, expected_sha256: str | None, content_type: str = "application/octet-stream"
    ) -> bool:
        """Write one object only where it still has the content of that hash, or is still absent (``None``).

        Returns:
            Whether it was written; of several writers that expect the same only one is told so.
        """

    def list_objects(self, prefix: str) -> dict[str, Listed]:
        """List the objects below a prefix by key, sorted."""

    def list_folders(self, prefix: str) -> list[str]:
        """List the names one level below a prefix that has a trailing ``/``, sorted."""

    def exists(self, key: str) -> bool:
        """Return whether there is an object at this key."""

    def delete(self, key: str) -> None:
        """Remove one object; nothing happens where there is none."""

    def uri(self, key: str) -> str:
        """Return the address of a key as users write it: ``s3://…`` or a path."""


def content_type_of(name: str) -> str:
    """Return the media type of a file by its ending."""
    return _CONTENT_TYPES.get("." + name.rpartition(".")[2], "application/octet-stream")
