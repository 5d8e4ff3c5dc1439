"""Read and write objects by key, in S3 or below a local folder, with one interface."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from kafka_capacity.errors import StorageError

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


class ObjectStore(Protocol):
    """Objects by key. Keys are relative, with ``/`` between their parts."""

    def read_bytes(self, key: str) -> bytes:
        """Read one object whole; :class:`StorageError` where there is none."""

    def write_bytes(self, key: str, data: bytes, *, content_type: str = "application/octet-stream") -> None:
        """Write one object whole: a reader sees all of it or what was there before."""

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


class LocalStore:
    """Objects as files below one folder."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    def _path(self, key: str) -> Path:
        path = (self._root / key).resolve()
        if path != self._root and self._root not in path.parents:
            msg = f"key {key!r} leaves the folder {self._root}; use a key without '..'"
            raise StorageError(msg)
        return path

    def read_bytes(self, key: str) -> bytes:
        """Read one file whole."""
        path = self._path(key)
        try:
            return path.read_bytes()
        except FileNotFoundError:
            msg = f"there is no file {path}"
            raise StorageError(msg) from None

    def write_bytes(self, key: str, data: bytes, *, content_type: str = "application/octet-stream") -> None:
        """Write beside the target, then rename: a reader never sees half a file."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    def list_keys(self, prefix: str) -> list[str]:
        """List the files whose key starts with the prefix."""
        folder = self._path(prefix.rpartition("/")[0])
        if not folder.is_dir():
            return []
        keys = (path.relative_to(self._root).as_posix() for path in folder.rglob("*") if path.is_file())
        return sorted(key for key in keys if key.startswith(prefix) and not Path(key).name.startswith(".writing-"))

    def list_folders(self, prefix: str) -> list[str]:
        """List the folders directly below the prefix."""
        folder = self._path(prefix)
        return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []

    def exists(self, key: str) -> bool:
        """Return whether the file is there."""
        return self._path(key).is_file()

    def delete(self, key: str) -> None:
        """Remove the file if it is there."""
        self._path(key).unlink(missing_ok=True)

    def uri(self, key: str) -> str:
        """Return the file's path."""
        return str(self._root / key)


class S3Store:
    """Objects in one S3 bucket below one prefix."""

    def __init__(self, bucket: str, prefix: str, client: S3Client) -> None:
        self._bucket = bucket
        self._prefix = prefix.strip("/") + "/" if prefix.strip("/") else ""
        self._client = client

    def _fail(self, doing: str, key: str, error: Exception) -> StorageError:
        return StorageError(f"could not {doing} {self.uri(key)}: {error}")

    def read_bytes(self, key: str) -> bytes:
        """Get one object."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return self._client.get_object(Bucket=self._bucket, Key=self._prefix + key)["Body"].read()
        except (ClientError, BotoCoreError) as error:
            raise self._fail("read", key, error) from error

    def write_bytes(self, key: str, data: bytes, *, content_type: str = "application/octet-stream") -> None:
        """Put one object; S3 shows it whole or not at all."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            self._client.put_object(Bucket=self._bucket, Key=self._prefix + key, Body=data, ContentType=content_type)
        except (ClientError, BotoCoreError) as error:
            raise self._fail("write", key, error) from error

    def _pages(self, prefix: str, **options: Any) -> list[Any]:
        from botocore.exceptions import BotoCoreError, ClientError

        paginator = self._client.get_paginator("list_objects_v2")
        try:
            return list(paginator.paginate(Bucket=self._bucket, Prefix=self._prefix + prefix, **options))
        except (ClientError, BotoCoreError) as error:
            raise self._fail("list", prefix, error) from error

    def list_keys(self, prefix: str) -> list[str]:
        """List the objects below the prefix, all pages of them."""
        pages = self._pages(prefix)
        return sorted(item["Key"][len(self._prefix) :] for page in pages for item in page.get("Contents", []))

    def list_folders(self, prefix: str) -> list[str]:
        """List the common prefixes directly below the prefix."""
        start = len(self._prefix) + len(prefix)
        pages = self._pages(prefix, Delimiter="/")
        return sorted(item["Prefix"][start:].rstrip("/") for page in pages for item in page.get("CommonPrefixes", []))

    def exists(self, key: str) -> bool:
        """Ask for the object's head."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            self._client.head_object(Bucket=self._bucket, Key=self._prefix + key)
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") in {"404", "NoSuchKey", "NotFound"}:
                return False
            raise self._fail("look for", key, error) from error
        except BotoCoreError as error:
            raise self._fail("look for", key, error) from error
        return True

    def delete(self, key: str) -> None:
        """Delete the object."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            self._client.delete_object(Bucket=self._bucket, Key=self._prefix + key)
        except (ClientError, BotoCoreError) as error:
            raise self._fail("delete", key, error) from error

    def uri(self, key: str) -> str:
        """Return the object's ``s3://`` address."""
        return f"s3://{self._bucket}/{self._prefix}{key}"


def open_store(uri: str, *, s3_client: S3Client | None = None) -> ObjectStore:
    """Open the store behind an address.

    Args:
        uri: ``s3://bucket/prefix`` (``s3a://`` is understood too), or a local path, or ``file:///path``.
        s3_client: used for S3; without it boto3's own chain of credentials and endpoints is asked.

    Raises:
        StorageError: the address names no bucket, or is of a scheme that is not known here.
    """
    parts = urlsplit(uri)
    if parts.scheme in {"s3", "s3a"}:
        if not _BUCKET.fullmatch(parts.netloc):
            msg = f"{uri!r} names no valid bucket; write it as s3://bucket/prefix"
            raise StorageError(msg)
        return S3Store(parts.netloc, parts.path, s3_client if s3_client is not None else _default_client())
    if parts.scheme == "file":
        return LocalStore(Path(parts.path))
    if "://" in uri:
        msg = f"{uri!r} is neither an s3:// address nor a path; write s3://bucket/prefix or a folder"
        raise StorageError(msg)
    return LocalStore(Path(uri))


def _default_client() -> S3Client:
    import boto3
    from botocore.config import Config

    # Retries are botocore's own; path style where an endpoint is set, since few S3 look-alikes resolve bucket hosts.
    style: Any = "path" if os.environ.get("AWS_ENDPOINT_URL") or os.environ.get("AWS_ENDPOINT_URL_S3") else "auto"
    return boto3.client("s3", config=Config(retries={"mode": "standard"}, s3={"addressing_style": style}))
