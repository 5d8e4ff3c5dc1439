"""Objects as files below one folder."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import secrets
import shutil
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from kafka_capacity.errors import MissingObjectError, StorageError
from kafka_capacity.objects.object_store import Listed

_UNFINISHED = ".writing-"
_NO_FILE = frozenset({errno.ENOENT, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG})
_LOCK = ".lock"  # held while an object is replaced on a condition; it stays in the root, empty


class LocalStore:
    """Objects as files below one folder; new ones get the mode that the umask leaves."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._is_tidy = False

    def _path(self, key: str) -> Path:
        path = (self._root / key).resolve()
        if path != self._root and self._root not in path.parents:
            raise StorageError(
                f"key {key!r} leaves the folder {self._root}; it must have no '..', nor be a link to elsewhere"
            )
        return path

    def read_bytes(self, key: str) -> bytes:
        """Read one file whole."""
        path = self._path(key)
        try:
            return path.read_bytes()
        except OSError as error:
            if error.errno not in _NO_FILE:
                raise
            raise MissingObjectError(f"there is no file {path}") from None

    def write_bytes(self, key: str, data: bytes, *, content_type: str = "application/octet-stream") -> None:
        """Write beside the target, then rename: a reader never sees half a file."""
        self._write({key: data})

    def write_together(self, files: Mapping[str, bytes], *, drop: Collection[str] = ()) -> None:
        """Write all files beside their places, then take away what is replaced or dropped, then rename."""
        self._write(files, drop={*files, *drop})

    def _write(self, files: Mapping[str, bytes], *, drop: Collection[str] = ()) -> None:
        paths = {self._path(key): data for key, data in files.items()}
        self._root.mkdir(parents=True, exist_ok=True)
        if not self._is_tidy:
            _tidy(self._root)
            self._is_tidy = True
        with _folder_beside(self._root) as folder:
            written = [folder / str(number) for number in range(len(paths))]
            for temporary, (path, data) in zip(written, paths.items(), strict=True):
                path.parent.mkdir(parents=True, exist_ok=True)
                temporary.write_bytes(data)
            for key in drop:
                self.delete(key)
            for temporary, path in zip(written, paths, strict=True):
                temporary.replace(path)

    def replace_bytes(
        self, key: str, data: bytes, *, expected_sha256: str | None, content_type: str = "application/octet-stream"
    ) -> bool:
        """Compare and write under a lock, which the kernel takes back from a process that dies."""
        self._root.mkdir(parents=True, exist_ok=True)
        with (self._root / _LOCK).open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                found: str | None = hashlib.sha256(self.read_bytes(key)).hexdigest()
            except MissingObjectError:
                found = None
            if found != expected_sha256:
                return False
            self.write_bytes(key, data, content_type=content_type)
            return True

    def list_objects(self, prefix: str) -> dict[str, Listed]:
        """List the files whose key starts with the prefix."""
        folder = self._path(prefix.rpartition("/")[0])
        found = {}
        for path in folder.rglob("*") if folder.is_dir() else ():
            key = path.relative_to(self._root).as_posix()
            if not key.startswith(prefix) or key.startswith((_UNFINISHED, _LOCK)):
                continue
            with contextlib.suppress(FileNotFoundError):  # taken away since
                if path.is_file():
                    stat = path.stat()
                    found[key] = Listed(stat.st_size, stat.st_mtime)
        return dict(sorted(found.items()))

    def list_folders(self, prefix: str) -> list[str]:
        """List the folders directly below the prefix."""
        folder = self._path(prefix)
        found = folder.iterdir() if folder.is_dir() else ()
        return sorted(path.name for path in found if path.is_dir() and not path.name.startswith(_UNFINISHED))

    def exists(self, key: str) -> bool:
        """Return whether the file is there."""
        return self._path(key).is_file()

    def delete(self, key: str) -> None:
        """Remove the file if it is there."""
        self._path(key).unlink(missing_ok=True)

    def uri(self, key: str) -> str:
        """Return the file's path."""
        return str(self._root / key)


@contextlib.contextmanager
def _folder_beside(root: Path) -> Iterator[Path]:
    """Make a folder for unfinished files, gone in the end, and hold a lock on it that ends with this process."""
    while True:
        folder = root / f"{_UNFINISHED}{secrets.token_hex(8)}"
        folder.mkdir()
        with contextlib.suppress(FileNotFoundError):  # it was taken for a dead writer's before it was locked
            descriptor = os.open(folder, os.O_RDONLY)
            with contextlib.suppress(OSError):  # a file system without locks keeps what dead writers leave
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if folder.exists():
                break
            os.close(descriptor)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def _tidy(root: Path) -> None:
    """Remove what writers that died left: whoever may lock it is alone with it."""
    for folder in root.glob(f"{_UNFINISHED}*"):
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(descriptor)
