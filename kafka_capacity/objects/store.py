"""Read and write objects by key, in S3 or below a local folder, with one interface."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kafka_capacity.errors import StorageError
from kafka_capacity.objects.local_store import LocalStore
from kafka_capacity.objects.object_store import Listed, ObjectStore
from kafka_capacity.objects.s3_store import S3Store

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

__all__ = ["Listed", "LocalStore", "ObjectStore", "S3Store", "open_store"]

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


def open_store(uri: str, *, s3_client: S3Client | None = None) -> ObjectStore:
    """Open the store behind an address.

    It is ``s3://bucket/prefix`` (``s3a://`` is understood too), a local path, or ``file:///path``. Without a client for
    S3 boto3's own chain of credentials and endpoints is asked.

    Raises:
        StorageError: the address names no bucket, or is of a scheme that is not known here.
    """
    parts = urlsplit(uri)
    if parts.scheme in {"s3", "s3a"}:
        if not _BUCKET.fullmatch(parts.netloc):
            raise StorageError(f"{uri!r} does not name a valid bucket; write it as s3://bucket/prefix")
        return S3Store(parts.netloc, parts.path, s3_client if s3_client is not None else _default_client())
    if parts.scheme == "file":
        return LocalStore(Path(parts.path))
    if "://" in uri:
        raise StorageError(f"{uri!r} is neither an s3:// address nor a path; write s3://bucket/prefix or a folder")
    return LocalStore(Path(uri))


def _default_client() -> S3Client:
    import boto3
    from botocore.config import Config

    # Path style where an endpoint is set, since few S3 look-alikes resolve bucket hosts.
    style: Any = "path" if os.environ.get("AWS_ENDPOINT_URL") or os.environ.get("AWS_ENDPOINT_URL_S3") else "auto"
    return boto3.client("s3", config=Config(retries={"mode": "standard"}, s3={"addressing_style": style}))
