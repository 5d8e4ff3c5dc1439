"""An S3 endpoint on loopback whose objects outlive it.

moto answers the S3 API but keeps objects in memory. Every change that succeeds is also written below a folder, one file
an object, and read back at the next start, which writes nothing: the files of a report can be opened where they are.

It answers S3 clients on this machine, and a browser that follows a link to a report; what a page of another origin asks
for is refused.
"""

from __future__ import annotations

import datetime
import json
import logging
import mimetypes
import os
import threading
from collections.abc import Callable, Iterable
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote
from xml.sax.saxutils import escape

from werkzeug.serving import BaseWSGIServer, make_server

BUCKET = "kafka-capacity"
ACCESS_KEY = "local-only"
SECRET_KEY = "local-only"  # noqa: S105  # moto checks no signatures; both only make boto3 sign
# A browser that follows the link to a report signs nothing.
_REPORTS = f"arn:aws:s3:::{BUCKET}/*/reports/*"
_REPORTS_CAN_BE_READ = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": _REPORTS}],
}
_STOP_SECONDS = 0.05  # how often the server looks whether it is to stop
_CHANGES = frozenset({"PUT", "POST", "DELETE"})


def file_of(folder: Path, bucket: str, key: str) -> Path:
    """Return the file of an object; what could leave the folder, or is an escape itself, is encoded."""
    dots = {".": "%2E", "..": "%2E%2E"}
    return folder.joinpath(bucket, *(dots.get(part) or quote(part, safe="=+@,:") for part in key.split("/")))


def _key_of(folder: Path, bucket: str, file: Path) -> str:
    """Undo :func:`file_of`."""
    return "/".join(unquote(part) for part in file.relative_to(folder / bucket).parts)


def _refused(start_response: Callable[..., Any], status: HTTPStatus, code: str, message: str) -> Iterable[bytes]:
    """Answer with an error as S3 writes them."""
    body = f"<Error><Code>{code}</Code><Message>{escape(message)}</Message></Error>".encode()
    headers = [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))]
    start_response(f"{status.value} {status.phrase}", headers)
    return [body]


class _OwnClientsOnly:
    """WSGI middleware: refuses what comes from a page of another origin, or was sent to another name."""

    def __init__(self, app: Callable[..., Iterable[bytes]], port: int) -> None:
        self._app = app
        self._hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if why := self._why_not(environ):
            return _refused(start_response, HTTPStatus.FORBIDDEN, "AccessDenied", why)
        return self._app(environ, start_response)

    def _why_not(self, environ: dict[str, Any]) -> str:
        """Describe why a request is refused; empty where it is not."""
        if environ.get("HTTP_HOST") not in self._hosts:
            return "this endpoint has no such name"  # a page whose name was made to lead here
        if "HTTP_ORIGIN" in environ:
            return "no page may use this endpoint"  # clients of S3 have no origin
        if environ.get("HTTP_SEC_FETCH_SITE", "none") not in {"none", "same-origin"}:
            # A browser asks for another page: following a link to a report is all that may be.
            names = ("REQUEST_METHOD", "HTTP_SEC_FETCH_MODE", "HTTP_SEC_FETCH_DEST")
            if tuple(map(environ.get, names)) != ("GET", "navigate", "document"):
                return "no page may use this endpoint"
        return ""


class _Mirror:
    """WSGI middleware: after a change that succeeded, the object's file follows.

    Where the file cannot be written, as on a full disk, the change is taken back and refused.
    """

    def __init__(self, app: Callable[..., Iterable[bytes]], folder: Path) -> None:
        self._app = app
        self._folder = folder
        self._lock = threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        answer: list[Any] = []

        def start(*line_and_headers: Any) -> None:
            answer[:] = line_and_headers

        # One after another: moto's objects do not bear being read while they are replaced, and its conditions are
        # only held where nobody writes between the look and the write.
        with self._lock:
            body = list(self._app(environ, start))
            if environ["REQUEST_METHOD"] in _CHANGES and answer[0].startswith("2"):
                try:
                    self._follow(environ)
                except OSError as error:
                    reason = error.strerror or str(error)
                    return _refused(start_response, HTTPStatus.INSUFFICIENT_STORAGE, "InsufficientStorage", reason)
        start_response(*answer)
        return body

    def _follow(self, environ: dict[str, Any]) -> None:
        bucket, _, key = environ["PATH_INFO"].encode("latin-1").decode("utf-8").lstrip("/").partition("/")
        if key:
            self._write(bucket, key)
        elif environ["REQUEST_METHOD"] == "PUT":
            (self._folder / bucket).mkdir(parents=True, exist_ok=True)
        elif "delete" in environ.get("QUERY_STRING", ""):
            self._drop_deleted(bucket)

    def _write(self, bucket: str, key: str) -> None:
        keys = _backend().buckets[bucket].keys
        file = file_of(self._folder, bucket, key)
        stored = keys.get(key)
        if stored is None:
            file.unlink(missing_ok=True)
            return
        temporary = file.with_name(file.name + ".writing")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(stored.value)
            temporary.replace(file)
        except OSError:
            temporary.unlink(missing_ok=True)
            keys.pop(key)
            if file.is_file():
                _load_object(bucket, key, file)
            raise

    def _drop_deleted(self, bucket: str) -> None:
        """A bulk delete names its keys in the body: compare instead."""
        keys = _backend().buckets[bucket].keys
        for file in (self._folder / bucket).rglob("*"):
            if file.is_file() and _key_of(self._folder, bucket, file) not in keys:
                file.unlink()


def _backend() -> Any:
    """Return what moto keeps buckets in."""
    from moto.s3.models import s3_backends

    return s3_backends["123456789012"]["aws"]


def _load_object(bucket: str, key: str, file: Path) -> None:
    """Take an object from its file, without a request that would write the file again."""
    stored = _backend().put_object(bucket, key, file.read_bytes())
    stored.set_metadata({"Content-Type": mimetypes.guess_type(file.name)[0] or "application/octet-stream"})
    # It is as old as its file: what is newest is told by this.
    stored.last_modified = datetime.datetime.fromtimestamp(file.stat().st_mtime, datetime.UTC).replace(tzinfo=None)


class LocalS3:
    """The endpoint, which keeps objects in a folder: use it as a context manager. Port 0 takes a free one."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        # Read when moto makes an object: none in a temporary file.
        os.environ["MOTO_S3_DEFAULT_KEY_BUFFER_SIZE"] = str(1 << 40)
        from moto.moto_server import werkzeug_app

        # No header that lets every page in. moto's variable for it counts only where nobody has imported moto before.
        werkzeug_app.DISABLE_GLOBAL_CORS = True

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        # The one service alone: moto's own API, which empties everything on request, belongs to its dispatcher.
        app = _Mirror(werkzeug_app.create_backend_app("s3"), folder)
        self._server: BaseWSGIServer = make_server("127.0.0.1", port, app, threaded=True)
        self._server.app = _OwnClientsOnly(app, self._server.server_port)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(_STOP_SECONDS,), daemon=True)

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
                _load_object(bucket.name, _key_of(self._folder, bucket.name, file), file)
