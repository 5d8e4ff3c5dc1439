"""A proxy in front of an S3 endpoint that breaks answers: errors, resets, half bodies, flipped bits, delays."""

from __future__ import annotations

import http.client
import random
import socket
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

FAULTS = ("error", "reset", "truncate", "flip", "delay")
_UNAVAILABLE = b"<Error><Code>ServiceUnavailable</Code><Message>made up</Message></Error>"


class FaultyS3:
    """Use it as a context manager.

    Args:
        endpoint: of the S3 behind it.
        ratio: of answers that are broken.
        seed: of the choice of which and how.
    """

    def __init__(self, endpoint: str, *, ratio: float, seed: int) -> None:
        self.made: Counter[str] = Counter()
        self._behind = urlsplit(endpoint).netloc
        self._ratio, self._chance, self._lock = ratio, random.Random(seed), threading.Lock()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self) -> None:
                proxy.serve(self)

            do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = _serve  # the names that the base class calls

            def log_message(self, *_: Any) -> None:
                """Print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True

    @property
    def endpoint(self) -> str:
        """The URL to give to S3 clients."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> FaultyS3:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _fault(self) -> tuple[str, float]:
        with self._lock:
            self.made["answers"] += 1
            fault = self._chance.choice(FAULTS) if self._chance.random() < self._ratio else ""
            return fault, self._chance.random()

    def serve(self, request: BaseHTTPRequestHandler) -> None:
        """Pass one request on, and its answer back, broken or not."""
        length = int(request.headers.get("Content-Length") or 0)
        body = request.rfile.read(length)
        fault, where = self._fault()
        if fault == "error":
            self.made[fault] += 1
            self._answer(request, 503, {"Content-Type": "application/xml"}, _UNAVAILABLE)
            return
        behind = http.client.HTTPConnection(self._behind, timeout=60)
        # The endpoint answers under its own name alone, and checks no signature that the name is part of.
        sent = {name: value for name, value in request.headers.items() if name.lower() != "host"}
        behind.request(request.command, request.path, body, sent)
        found = behind.getresponse()
        data = found.read()
        behind.close()
        headers = {k: v for k, v in found.getheaders() if k.lower() not in {"content-length", "connection", "server"}}
        if fault == "delay":
            self.made[fault] += 1
            time.sleep(0.2 * where)
        elif fault == "reset" or (fault == "truncate" and not data):
            self.made["reset"] += 1
            request.close_connection = True
            request.connection.shutdown(socket.SHUT_RDWR)
            return
        elif fault == "flip" and data:
            self.made[fault] += 1
            place = int(where * len(data))
            data = data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :]
        elif fault == "truncate":
            self.made[fault] += 1
            self._answer(request, found.status, headers, data, sent=int(where * len(data)))
            request.close_connection = True
            return
        head = found.getheader("Content-Length") if request.command == "HEAD" else None
        self._answer(request, found.status, headers, data, length=head)

    def _answer(
        self,
        request: BaseHTTPRequestHandler,
        status: int,
        headers: dict[str, str],
        data: bytes,
        *,
        sent: int | None = None,
        length: str | None = None,
    ) -> None:
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", length or str(len(data)))
        request.end_headers()
        if request.command != "HEAD":
            request.wfile.write(data if sent is None else data[:sent])
