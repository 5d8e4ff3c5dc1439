"""Run damaged inputs over a border: input number ``n`` of a seed is always the same, wherever it is run.

A child process does the work, under a limit of memory, and writes down the number it is at: so that an input which
kills it is known, is kept, and the next one goes on.
"""

from __future__ import annotations

import ctypes
import hashlib
import multiprocessing
import random
import resource
import signal
import tempfile
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from kafka_capacity.errors import KafkaCapacityError
from kafka_capacity.objects import object_store
from tests.fuzz.borders import BORDERS, CORPUS, seeds
from tests.fuzz.mutations import mutated

ACCEPTED, REFUSED = "accepted", "refused"
MAX_SECONDS = 20
MAX_MEMORY_BYTES = 6 << 30
_STALLED_SECONDS = 60
_MEMORY = Path("/dev/shm")  # noqa: S108 - folders in it get names of their own; a disk would be the slowest part


class NamelessRefusalError(Exception):
    """A refusal that does not say what is refused."""


class TooSlowError(Exception):
    """An input that takes too long."""


@dataclass(kw_only=True)
class Outcome:
    """What came of the inputs of one border: how many of each kind, and where the failures came from."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: dict[str, list[int]] = field(default_factory=dict)


def outcome(border: str, name: str, data: bytes, scratch: Path) -> str:
    """Run one input; returns whether it is accepted or refused.

    Raises:
        Exception: whatever came out that is no refusal, or a refusal that does not name its place.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            BORDERS[border].take(name, data, scratch)
        except KafkaCapacityError as error:
            place = BORDERS[border].place(name)
            if place not in str(error):
                raise NamelessRefusalError(f"{str(error)[:300]!r} does not name {place!r}") from error
            return REFUSED
    return ACCEPTED


def input_of(border: str, number: int, seed: int) -> tuple[str, bytes]:
    """Make input ``number`` of a border."""
    rng = random.Random(f"{seed}/{border}/{number}")
    kept = _seeds(border)
    name, data = rng.choice(kept)
    return name, mutated(name, data, rng)


_KEPT: dict[str, list[tuple[str, bytes]]] = {}


def _seeds(border: str) -> list[tuple[str, bytes]]:
    # What failed before is run as it is by the tests: new inputs are made of whole ones.
    if border not in _KEPT:
        _KEPT[border] = [(name, data) for name, data in seeds(border) if "~" not in name]
    return _KEPT[border]


def keep(border: str, name: str, data: bytes) -> Path:
    """Write an input that failed into the corpus."""
    stem, dot, ending = name.partition(".")
    path = CORPUS / border / f"{stem.partition('~')[0]}~{hashlib.sha256(data).hexdigest()[:10]}{dot}{ending}"
    path.write_bytes(data)
    return path


def run(border: str, *, first: int, count: int, seed: int) -> Outcome:
    """Run inputs in child processes, one at a time; returns what came of them, every failure once."""
    found = Outcome()
    number, end = first, first + count
    context = multiprocessing.get_context("spawn")
    while number < end:
        at = context.Value(ctypes.c_int64, number)
        receiving, sending = context.Pipe(duplex=False)
        child = context.Process(target=_work, args=(border, number, end, seed, at, sending))
        child.start()
        sending.close()
        number = _watched(child, at, receiving, found)
        if number < end and child.exitcode:
            found.counts["failed"] += 1
            found.failures.setdefault(f"ended with {child.exitcode}", []).append(number)
            number += 1
    return found


def _watched(child: Any, at: Any, receiving: Any, found: Outcome) -> int:
    """Wait for a child as long as it gets on; returns the number after the last input that it did."""
    before = -1
    while True:
        if receiving.poll(_STALLED_SECONDS):
            try:
                kind, what = receiving.recv()
            except EOFError:
                break
            if kind == "counts":
                found.counts.update(what)
            else:
                found.failures.setdefault(kind, []).append(what)
        elif at.value == before:
            child.kill()
            break
        before = at.value
    child.join()
    return int(at.value)


def _work(border: str, number: int, end: int, seed: int, at: Any, sending: Any) -> None:
    prepare()
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    signal.signal(signal.SIGALRM, _too_slow)
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        counts: Counter[str] = Counter()
        while number < end:
            name, data = input_of(border, number, seed)
            signal.setitimer(signal.ITIMER_REAL, MAX_SECONDS)
            try:
                counts[outcome(border, name, data, Path(folder))] += 1
            except Exception as error:
                counts["failed"] += 1
                sending.send((described(error), number))
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            number += 1
            at.value = number
            if not number % 500 or number == end:
                sending.send(("counts", dict(counts)))
                counts.clear()


def prepare() -> None:
    """Leave out what takes long and is the same for all inputs: threads, and trying again."""
    object_store.ATTEMPTS = 1  # what is damaged here stays so
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)


def _too_slow(*_: object) -> None:
    raise TooSlowError(f"more than {MAX_SECONDS} s")


def described(error: BaseException) -> str:
    """Say where an error came from: its kind and the last lines of ours that it passed."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/kafka_capacity/" in frame.filename]
    places = [f"{frame.filename.rpartition('/kafka_capacity/')[2]}:{frame.lineno}" for frame in frames[-2:]]
    return f"{type(error).__name__} at {' > '.join(places) or 'no line of ours'}"
