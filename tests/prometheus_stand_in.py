"""The part of Prometheus' HTTP API that is asked for: range queries of one selector, over given samples."""

from __future__ import annotations

import json
import re
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import numpy as np

LOOKBACK_SECONDS = 300
_SELECTOR = re.compile(r"([a-zA-Z_:][\w:]*)?\{(.*)\}")
_MATCHER = re.compile(r'(\w+)(=~|!=|=)"((?:[^"\\]|\\.)*)"')


class StandIn:
    """Answers from samples; keeps what it was asked, and can be told to answer otherwise first."""

    def __init__(self, samples, *, certificate=None):
        self.samples = [(labels, np.asarray(moments), np.asarray(values)) for labels, moments, values in samples]
        self.asked = []
        self.headers = []
        self.first_answers = []  # (status, body) to give before the true ones
        self.refuse_points = None  # answer "too many samples" to longer queries
        self.fail_before = None  # answer 500 to queries that begin before this moment
        self.warnings = []
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                length = int(self.headers["Content-Length"])
                form = {name: value[0] for name, value in parse_qs(self.rfile.read(length).decode()).items()}
                stand_in.headers.append({name.lower(): value for name, value in self.headers.items()})
                status, body = stand_in.answer(self.path, form)
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "http://elsewhere.example.com/")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        scheme = "http" if certificate is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, path, form):
        self.asked.append(form)
        if self.first_answers:
            return self.first_answers.pop(0)
        if path != "/api/v1/query_range":
            return 404, b"404 page not found"
        start, end, step = (int(form[name]) for name in ("start", "end", "step"))
        if self.fail_before is not None and start < self.fail_before:
            return 503, b"storage is away"
        points = (end - start) // step + 1
        if points > (self.refuse_points or 11_000):
            error = "query processing would load too many samples into memory in query execution"
            return 422, json.dumps({"status": "error", "errorType": "execution", "error": error}).encode()
        grid = np.arange(points) * step + start
        result = [
            {"metric": labels, "values": values}
            for labels, moments, found in self.samples
            if matches(form["query"], labels) and (values := at(grid, moments, found))
        ]
        data = {"resultType": "matrix", "result": result}
        return 200, json.dumps({"status": "success", "data": data, "warnings": self.warnings}).encode()


def matches(query, labels):
    """Return whether a series is selected; of `a and on (…) (…)` the left side, for series of the same job."""
    left, _, joined = query.partition(" and on ")
    name, matchers = _SELECTOR.fullmatch(left).groups()
    if (name and labels.get("__name__") != name) or (joined and labels.get("job") != "kafka"):
        return False
    for label, operator, value in _MATCHER.findall(matchers):
        given, wanted = labels.get(label, ""), json.loads(f'"{value}"')
        is_same = re.fullmatch(wanted, given) is not None if operator == "=~" else given == wanted
        if is_same == (operator == "!="):
            return False
    return True


def at(grid, moments, values):
    place = np.searchsorted(moments, grid, side="right") - 1
    is_there = (place >= 0) & (grid - moments[np.maximum(place, 0)] < LOOKBACK_SECONDS)
    is_there &= np.isfinite(values[np.maximum(place, 0)])
    return [[int(t), repr(float(values[p]))] for t, p in zip(grid[is_there], place[is_there], strict=True)]
