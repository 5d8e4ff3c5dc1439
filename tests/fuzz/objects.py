"""A store in memory."""

from __future__ import annotations

from kafka_capacity.errors import StorageError


class Objects(dict[str, bytes]):
    """Objects by key."""

    def read_bytes(self, key: str) -> bytes:
        if key not in self:
            raise StorageError(f"{self.uri(key)} is not there")
        return self[key]

    def write_bytes(self, key: str, data: bytes, *, content_type: str = "") -> None:
        self[key] = data

    def list_keys(self, prefix: str) -> list[str]:
        return sorted(key for key in self if key.startswith(prefix))

    def list_folders(self, prefix: str) -> list[str]:
        below = (key.removeprefix(prefix).partition("/") for key in self if key.startswith(prefix))
        return sorted({name for name, slash, _ in below if slash})

    def exists(self, key: str) -> bool:
        return key in self

    def delete(self, key: str) -> None:
        self.pop(key, None)

    def uri(self, key: str) -> str:
        return f"memory/{key}"
