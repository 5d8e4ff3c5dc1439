"""A store in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping

from kafka_capacity.errors import MissingObjectError
from kafka_capacity.objects.object_store import Listed


class Objects(dict[str, bytes]):
    """Objects by key."""

    def read_bytes(self, key: str) -> bytes:
        if key not in self:
            raise MissingObjectError(f"{self.uri(key)} is not there")
        return self[key]

    def write_bytes(self, key: str, data: bytes, *, content_type: str = "") -> None:
        self[key] = data

    def write_together(self, files: Mapping[str, bytes], *, drop: Collection[str] = ()) -> None:
        self.update(files)
        for key in drop:
            self.delete(key)

    def replace_bytes(self, key: str, data: bytes, *, expected_sha256: str | None, content_type: str = "") -> bool:
        standing = hashlib.sha256(self[key]).hexdigest() if key in self else None
        if standing != expected_sha256:
            return False
        self[key] = data
        return True

    def list_objects(self, prefix: str) -> dict[str, Listed]:
        return {key: Listed(bytes=len(self[key]), written=0.0) for key in sorted(self) if key.startswith(prefix)}

    def list_folders(self, prefix: str) -> list[str]:
        below = (key.removeprefix(prefix).partition("/") for key in self if key.startswith(prefix))
        return sorted({name for name, slash, _ in below if slash})

    def exists(self, key: str) -> bool:
        return key in self

    def delete(self, key: str) -> None:
        self.pop(key, None)

    def uri(self, key: str) -> str:
        return f"memory/{key}"
