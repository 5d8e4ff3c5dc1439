"""Range queries against the HTTP API that Prometheus, Thanos, Mimir and VictoriaMetrics share.

A query is cut where a server would refuse it: at 11,000 points a series, which is Prometheus' own limit, and in halves
where the server says that it would load too many samples. What is asked twice gives the same answer, so a request that
failed on the way, or that a busy server put off, is tried again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal

import httpx
import numpy as np
from pydantic import BaseModel, FiniteFloat, ValidationError

from kafka_capacity.errors import SourceError
from kafka_capacity.inventory.prometheus_connection import PrometheusConnection
from kafka_capacity.kafka.arrays import Floats, Ints
from kafka_capacity.text.validation_errors import Text, describe_mistakes, shown_text

MAX_POINTS = 11_000
TRIES = 4
FIRST_PAUSE_SECONDS = 0.5
MAX_ANSWER_BYTES = 1 << 27
"""A longer answer is cut in halves of time, as one that the server refuses: parsed it takes six times as much."""
MAX_SAMPLE = 1e30
"""No counter of bytes, records or seconds is larger; one that is, NaN and the infinities are no samples."""

_PASSING = {429, 500, 502, 503, 504}
_TOO_MUCH = ("too many samples", "exceeded maximum resolution", "exceeds the limit", "limit exceeded", "timed out")
_ABOUT_THE_QUERY = (b'"timeout"', b'"execution"')
"""Kinds of errors that the same query would meet again, whatever the status."""
_REMEDIES = {
    401: "give the user and password, or the token",
    403: "the user is not allowed to query; grant it",
    404: "check that the address is that of the API, with its path before /api/v1",
}

Labels = tuple[tuple[str, str], ...]


class _Matrix(BaseModel):
    """One series of an answer; whatever else a server says of it is left alone."""

    metric: dict[Text, Text]
    values: list[tuple[FiniteFloat, str | float]]


class _Data(BaseModel):
    resultType: Literal["matrix"]
    result: list[_Matrix]


class _Answer(BaseModel):
    data: _Data
    warnings: list[Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Series:
    """One series: its labels, sorted, and float64[N] values at int64[N] places of the grid of its query."""

    labels: Labels
    place: Ints
    value: Floats

    def label(self, name: str) -> str:
        """Return a label, empty where there is none, which means the same."""
        return next((value for key, value in self.labels if key == name), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Moments from ``start`` to ``end``, both included, every ``step`` seconds; since 1970."""

    start: int
    end: int
    step: int

    @property
    def points(self) -> int:
        """How many moments there are."""
        return (self.end - self.start) // self.step + 1

    def moments(self) -> Ints:
        """Return int64[T], the moments."""
        return np.arange(self.points, dtype=np.int64) * self.step + self.start


class _TooMuchError(Exception):
    """The server, or we, would not take that much at once."""


class PrometheusClient:
    """Asks one server; to be used in a ``with``.

    Attributes:
        warnings: what the server said beside its answers, such as that a part of the data could not be read.
    """

    def __init__(self, connection: PrometheusConnection, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._url = f"{connection.url}/api/v1/query_range"
        self._sleep = sleep
        self._points: dict[str, int] = {}  # how many each query may ask for, where it has been told
        self.warnings: set[str] = set()
        headers = {name: value.get_secret_value() for name, value in connection.headers.items()}
        if connection.token is not None:
            headers["Authorization"] = f"Bearer {connection.token.get_secret_value()}"
        self._has_credentials = bool(connection.username) or "authorization" in map(str.lower, headers)
        secret = connection.password.get_secret_value() if connection.password is not None else ""
        self._client = httpx.Client(
            headers=headers,
            auth=(connection.username, secret) if connection.username else None,
            verify=connection.ssl_context() or True,
            timeout=connection.timeout_seconds,
            # A redirect could carry the password to another host.
            follow_redirects=False,
        )

    def __enter__(self) -> PrometheusClient:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def query_range(self, query: str, span: Span) -> list[Series]:
        """Evaluate a query at each moment of a span; returns the series sorted by their labels.

        Raises:
            SourceError: the server cannot be reached, refuses us, or does not answer as the API does; the message names
                the address, the query and the remedy, never a secret.
        """
        parts: dict[Labels, list[tuple[Ints, Floats]]] = {}
        most = self._points.get(query, MAX_POINTS)
        pieces = [(first, min(first + most, span.points) - 1) for first in range(0, span.points, most)]
        while pieces:
            first, last = pieces.pop()
            start, end = (span.start + place * span.step for place in (first, last))
            try:
                answer = self._ask(query, Span(start=start, end=end, step=span.step))
            except _TooMuchError as error:
                if first == last:
                    raise self._fail(
                        query, f"rejects the query even for a single point in time ({error}); restrict it with labels"
                    ) from None
                middle = (first + last) // 2
                self._points[query] = middle - first + 1
                pieces += [(first, middle), (middle + 1, last)]
                continue
            for labels, moment, value in answer:
                parts.setdefault(labels, []).append(
                    (np.rint((moment - span.start) / span.step).astype(np.int64), value)
                )
        return [_joined(labels, parts[labels]) for labels in sorted(parts)]

    def _ask(self, query: str, span: Span) -> list[tuple[Labels, Floats, Floats]]:
        form = {"query": query, "start": str(span.start), "end": str(span.end), "step": str(span.step)}
        status, body = self._send(query, form)
        try:
            document = httpx.Response(status, content=body).json()
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict) or document.get("status") not in ("success", "error"):
            what = f"answers {status} without an API document; {self._remedy(status, _REMEDIES[404])}"
            raise self._fail(query, what)
        if document["status"] == "error":
            said = shown_text(document.get("error", ""))[:500]
            if any(phrase in said.lower() for phrase in _TOO_MUCH):
                raise _TooMuchError(said)
            remedy = self._remedy(status, "fix the labels or the names of the metrics")
            raise self._fail(query, f"answers {status} {shown_text(document.get('errorType', ''))}: {said}; {remedy}")
        try:
            answer = _Answer.model_validate(document)
            self.warnings.update(shown_text(warning)[:300] for warning in answer.warnings or ())
            return [_parsed(one, span) for one in answer.data.result]
        except (ValidationError, ValueError) as error:
            what = describe_mistakes(error)[0] if isinstance(error, ValidationError) else str(error)
            what = f"returns a result that is not a matrix of numbers ({what}); check what is running at this address"
            raise self._fail(query, what) from None

    def _send(self, query: str, form: Mapping[str, str]) -> tuple[int, bytes]:
        why = ""
        for attempt in range(TRIES):
            if attempt:
                self._sleep(FIRST_PAUSE_SECONDS * 2 ** (attempt - 1))
            try:
                status, body = self._receive(form)
            except (httpx.TransportError, httpx.InvalidURL) as error:
                why = f"cannot be reached: {error or type(error).__name__}"
                continue
            if status not in _PASSING or any(kind in body[:300] for kind in _ABOUT_THE_QUERY):
                if 300 <= status < 400:
                    raise self._fail(query, f"answers {status}, a redirect; give the address that it redirects to")
                return status, body
            why = f"answers {status}: {body[:200].decode(errors='replace').strip()}"
        raise self._fail(query, f"{why} (tried {TRIES} times); check whether it is up, or raise timeout_seconds")

    def _receive(self, form: Mapping[str, str]) -> tuple[int, bytes]:
        with self._client.stream("POST", self._url, data=dict(form)) as response:
            chunks, size = [], 0
            for chunk in response.iter_bytes():
                size += len(chunk)
                if size > MAX_ANSWER_BYTES:
                    raise _TooMuchError(f"an answer of more than {MAX_ANSWER_BYTES} bytes")
                chunks.append(chunk)
            return response.status_code, b"".join(chunks)

    def _remedy(self, status: int, otherwise: str) -> str:
        if status == HTTPStatus.UNAUTHORIZED and self._has_credentials:
            return "it refuses the user and password, or the token, that it was given; correct them"
        return _REMEDIES.get(status, otherwise)

    def _fail(self, query: str, what: str) -> SourceError:
        return SourceError(f"prometheus {self._url} {what} [query: {query}]")


def _parsed(one: _Matrix, span: Span) -> tuple[Labels, Floats, Floats]:
    """Return labels, moments and values of a series.

    A server may move both ends of what is asked to whole steps of its own: samples up to a step outside are left out.

    Raises:
        ValueError: a sample is no number, or is of another time than was asked for.
    """
    moment = np.array([pair[0] for pair in one.values], dtype=np.float64)
    value = np.array([float(pair[1]) for pair in one.values], dtype=np.float64)
    outside = np.maximum(span.start - moment, moment - span.end)
    if (far := outside > span.step).any():
        raise ValueError(f"a sample at {moment[far][0]:.0f}, outside the requested {span.start} to {span.end}")
    is_asked = outside < span.step / 2
    return tuple(sorted(one.metric.items())), moment[is_asked], value[is_asked]


def _joined(labels: Labels, parts: list[tuple[Ints, Floats]]) -> Series:
    place = np.concatenate([part[0] for part in parts])
    value = np.concatenate([part[1] for part in parts])
    order = np.argsort(place, kind="stable")
    is_number = np.abs(value[order]) <= MAX_SAMPLE
    return Series(labels=labels, place=place[order][is_number], value=value[order][is_number])
