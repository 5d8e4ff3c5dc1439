"""What every store does, wherever its objects are."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

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

    def list_keys(self, prefix: str) -> list[str]:
        """List the keys below a prefix, sorted."""

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
