"""Objects in S3."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from kafka_capacity.errors import MissingObjectError, StorageError
from kafka_capacity.objects.object_store import Listed, attempts, content_type_of

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

T = TypeVar("T")

_NOT_THERE = frozenset({"404", "NoSuchKey", "NotFound"})
_PASSES = frozenset({"SlowDown", "RequestTimeout", "RequestTimeTooSkewed", "Throttling", "ThrottlingException"})
"""Codes below 500 that come and go; the same goes for what a broken connection makes of a body."""


class S3Store:
    """Objects in one S3 bucket below one prefix.

    What fails in a way that may pass (a server error, a broken connection, a body that ends too early) is tried again.
    """

    def __init__(self, bucket: str, prefix: str, client: S3Client) -> None:
        self._bucket = bucket
        self._prefix = prefix.strip("/") + "/" if prefix.strip("/") else ""
        self._client = client

    def _try(self, doing: str, key: str, action: Callable[[], T]) -> T:
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError

        for is_last in attempts():
            try:
                return action()
            except (ClientError, BotoCoreError, ResponseParserError, ValueError, KeyError) as error:
                if _code(error) in _NOT_THERE and doing in {"read", "look for"}:
                    raise MissingObjectError(f"there is no object {self.uri(key)}") from error
                if is_last or not _may_pass(error):
                    raise StorageError(f"could not {doing} {self.uri(key)}: {error}") from error
        raise AssertionError("the last attempt returns or raises")

    def _get(self, key: str) -> tuple[bytes, str]:
        found = self._client.get_object(Bucket=self._bucket, Key=self._prefix + key)
        return found["Body"].read(), found["ETag"]

    def read_bytes(self, key: str) -> bytes:
        """Get one object."""
        return self._try("read", key, lambda: self._get(key))[0]

    def write_bytes(self, key: str, data: bytes, *, content_type: str = "application/octet-stream") -> None:
        """Put one object; S3 shows it whole or not at all."""
        self._put(key, data, content_type)

    def _put(self, key: str, data: bytes, content_type: str, **condition: Any) -> bool:
        """Put one object; returns whether the condition held."""
        from botocore.exceptions import ClientError

        def put() -> bool:
            try:
                self._client.put_object(
                    Bucket=self._bucket, Key=self._prefix + key, Body=data, ContentType=content_type, **condition
                )
            except ClientError as error:
                if condition and _code(error) in {"PreconditionFailed", "412", *_NOT_THERE}:
                    return False
                raise
            return True

        return self._try("write", key, put)

    def write_together(self, files: Mapping[str, bytes], *, drop: Collection[str] = ()) -> None:
        """Delete what is replaced or dropped, then put the objects in their order."""
        for key in {*drop, *files}:
            self.delete(key)
        for key, data in files.items():
            self.write_bytes(key, data, content_type=content_type_of(key))

    def replace_bytes(
        self, key: str, data: bytes, *, expected_sha256: str | None, content_type: str = "application/octet-stream"
    ) -> bool:
        """Put one object with ``If-None-Match: *``, or with ``If-Match`` of the version that has that hash."""
        if expected_sha256 is None:
            return self._put(key, data, content_type, IfNoneMatch="*")
        try:
            found, etag = self._try("read", key, lambda: self._get(key))
        except MissingObjectError:
            return False
        if hashlib.sha256(found).hexdigest() != expected_sha256:
            return False
        return self._put(key, data, content_type, IfMatch=etag)

    def _pages(self, prefix: str, **options: Any) -> list[Any]:
        paginator = self._client.get_paginator("list_objects_v2")
        full = self._prefix + prefix
        return list(paginator.paginate(Bucket=self._bucket, Prefix=full, **options))

    def list_objects(self, prefix: str) -> dict[str, Listed]:
        """List the objects below the prefix, all pages of them."""

        def listed() -> dict[str, Listed]:
            found = [item for page in self._pages(prefix) for item in page.get("Contents", [])]
            return {
                item["Key"][len(self._prefix) :]: Listed(item["Size"], item["LastModified"].timestamp())
                for item in sorted(found, key=lambda item: item["Key"])
            }

        return self._try("list", prefix, listed)

    def list_folders(self, prefix: str) -> list[str]:
        """List the common prefixes directly below the prefix."""
        start = len(self._prefix) + len(prefix)
        pages = self._try("list", prefix, lambda: self._pages(prefix, Delimiter="/"))
        return sorted(item["Prefix"][start:].rstrip("/") for page in pages for item in page.get("CommonPrefixes", []))

    def exists(self, key: str) -> bool:
        """Ask for the object's head."""
        try:
            self._try("look for", key, lambda: self._client.head_object(Bucket=self._bucket, Key=self._prefix + key))
        except MissingObjectError:
            return False
        return True

    def delete(self, key: str) -> None:
        """Delete the object."""
        self._try("delete", key, lambda: self._client.delete_object(Bucket=self._bucket, Key=self._prefix + key))

    def uri(self, key: str) -> str:
        """Return the object's ``s3://`` address."""
        return f"s3://{self._bucket}/{self._prefix}{key}"


def _code(error: Exception) -> str:
    """Return the code of an answer of S3; empty where it is none."""
    response = getattr(error, "response", None)  # errors of connections have one as well, of another kind or none
    return str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else ""


def _may_pass(error: Exception) -> bool:
    from botocore.exceptions import ClientError, FlexibleChecksumError, HTTPClientError, IncompleteReadError
    from botocore.parsers import ResponseParserError

    if isinstance(error, ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return status >= 500 or _code(error) in _PASSES
    # An answer that arrives damaged is no XML, or has no number or name where one belongs.
    damaged = (HTTPClientError, IncompleteReadError, FlexibleChecksumError, ResponseParserError, ValueError, KeyError)
    return isinstance(error, damaged)
