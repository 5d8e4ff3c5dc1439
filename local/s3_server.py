"""An S3 endpoint on loopback whose objects outlive it.

moto answers the S3 API but keeps objects in memory. Every change that succeeds is also written below a folder, one file
an object, and read back at the next start: the files of a report can be opened where they are.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from werkzeug.serving import BaseWSGIServer, make_server

BUCKET = "kafka-capacity"
ACCESS_KEY = "local-only"
SECRET_KEY = "local-only"  # noqa: S105  # moto checks no signatures; both only make boto3 sign
# A browser that follows the link to a report signs nothing.
_REPORTS_CAN_BE_READ = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": "*",
            "Action": "s3:GetObject",
            "Resource": f"arn:aws:s3:::{BUCKET}/*/reports/*",
        }
    ],
}
_CHANGES = frozenset({"PUT", "POST", "DELETE"})


def file_of(folder: Path, bucket: str, key: str) -> Path:
    """Return the file of an object; what could leave the folder, or is an escape itself, is encoded."""
    parts = [
        quote(part, safe="=+@,:") if part not in {".", ".."} else part.replace(".", "%2E") for part in key.split("/")
    ]
    return folder / bucket / Path(*parts)


def _key_of(folder: Path, bucket: str, file: Path) -> str:
    """Undo :func:`file_of`."""
    return "/".join(unquote(part) for part in file.relative_to(folder / bucket).parts)


class _Mirror:
    """WSGI middleware: after a change that succeeded, the object's file follows."""

    def __init__(self, app: Callable[..., Iterable[bytes]], folder: Path) -> None:
        self._app = app
        self._folder = folder
        self._lock = threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        status: list[str] = []

        def start(line: str, headers: Any, exc_info: Any = None) -> Any:
            status.append(line)
            return start_response(line, headers, exc_info)

        # One after another: moto's objects do not bear being read while they are replaced, and its conditions are
        # only held where nobody writes between the look and the write.
        with self._lock:
            body = list(self._app(environ, start))
            if environ["REQUEST_METHOD"] in _CHANGES and status and status[0].startswith("2"):
                self._follow(environ)
        return body

    def _follow(self, environ: dict[str, Any]) -> None:
        bucket, _, key = environ["PATH_INFO"].encode("latin-1").decode("utf-8").lstrip("/").partition("/")
        if key:
            self._write(bucket, key)
        elif environ["REQUEST_METHOD"] == "PUT":
            (self._folder / bucket).mkdir(parents=True, exist_ok=True)
        elif "delete" in environ.get("QUERY_STRING", ""):
            self._drop_deleted(bucket)

    def _stored(self, bucket: str) -> Any:
        from moto.s3.models import s3_backends

        return s3_backends["123456789012"]["aws"].buckets[bucket].keys

    def _write(self, bucket: str, key: str) -> None:
        file = file_of(self._folder, bucket, key)
        stored = self._stored(bucket).get(key)
        if stored is None:
            file.unlink(missing_ok=True)
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.with_name(file.name + ".writing")
        temporary.write_bytes(stored.value)
        temporary.replace(file)

    def _drop_deleted(self, bucket: str) -> None:
        """A bulk delete names its keys in the body: compare instead."""
        keys = self._stored(bucket)
        for file in (self._folder / bucket).rglob("*"):
            if file.is_file() and _key_of(self._folder, bucket, file) not in keys:
                file.unlink()


class LocalS3:
    """The endpoint: use it as a context manager.

    Args:
        folder: where objects are kept.
        port: to listen on, on 127.0.0.1; 0 takes a free one.
    """

    def __init__(self, folder: Path, port: int = 0) -> None:
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        app = _Mirror(DomainDispatcherApplication(create_backend_app), folder)
        self._server: BaseWSGIServer = make_server("127.0.0.1", port, app, threaded=True)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def endpoint(self) -> str:
        """The URL to give to S3 clients."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def client(self) -> Any:
        """Return a boto3 client of this endpoint."""
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
        )

    def __enter__(self) -> LocalS3:
        self._thread.start()
        self._load()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join(timeout=10)
        self._server.server_close()

    def _load(self) -> None:
        import mimetypes

        client = self.client()
        client.create_bucket(Bucket=BUCKET)
        client.put_bucket_policy(Bucket=BUCKET, Policy=json.dumps(_REPORTS_CAN_BE_READ))
        for bucket in sorted(path for path in self._folder.iterdir() if path.is_dir()):
            if bucket.name != BUCKET:
                client.create_bucket(Bucket=bucket.name)
            for file in sorted(path for path in bucket.rglob("*") if path.is_file()):
                if file.suffix == ".writing":
                    file.unlink()
                    continue
                kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
                client.put_object(
                    Bucket=bucket.name,
                    Key=_key_of(self._folder, bucket.name, file),
                    Body=file.read_bytes(),
                    ContentType=kind,
                )
