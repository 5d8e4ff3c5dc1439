"""Pieces of work of a command: here one after another, and on all cores once that pays."""

from __future__ import annotations

import functools
import itertools
import math
import multiprocessing
import os
import pickle
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NoReturn

from kafka_capacity.cli.console import Steps
from kafka_capacity.plan.packing import Tables
from kafka_capacity.questions.question import Piece, RunPieces, Shared

HERE_SECONDS = 2.0  # what a command does by itself: about what it takes to start other processes
_MAX_PROCESSES = 16  # each holds the cluster once more
_MEMORY_RATIO = 0.5  # of the machine's memory that they may take, if each takes as much as this one has


def run_step_by_step(begin: Steps, *, begun: int) -> RunPieces:
    """Return what does pieces of work and shows each; one more step follows.

    The first of them are done in this process, what is left after :data:`HERE_SECONDS` on all cores. Where a process
    is killed there, as on a machine short of memory, this one does what is left.
    """
    left, others = HERE_SECONDS, _Others()

    def run(
        function: Callable[[Shared, Piece], Tables], shared: Shared, pieces: Sequence[Piece], *, what: str
    ) -> Sequence[Tables]:
        nonlocal begun, left
        before, begun = begun, begun + len(pieces)
        done: list[Tables] = []

        def tell() -> None:
            begin(f"{what}: {len(done) + 1:,} of {len(pieces):,}", steps=before + len(pieces) + 1)

        def do_here(until: float = math.inf) -> None:
            while len(done) < len(pieces) and time.monotonic() < until:
                tell()
                done.append(function(shared, pieces[len(done)]))

        start = time.monotonic()
        do_here(until=start + left)
        left -= time.monotonic() - start
        if len(pieces) - len(done) > 1 and others.count > 1:
            for tables in others.do(function, shared, pieces[len(done) :], tell):
                done.append(tables)
        do_here()
        return done

    return run


class _Others:
    """The processes that work for a command, begun when they are needed; they end with it, however it ends.

    Each is spoken to by a pipe of its own, which ends with it: a queue that several write to is blocked by one that is
    killed while it writes (as in :class:`concurrent.futures.ProcessPoolExecutor`).
    """

    def __init__(self) -> None:
        self._processes: dict[Connection, BaseProcess] = {}  # by the pipe to each

    @functools.cached_property
    def _folder(self) -> tempfile.TemporaryDirectory[str]:
        """Where they find what all pieces need, for their user alone."""
        return tempfile.TemporaryDirectory(prefix="kafka-capacity-")

    @functools.cached_property
    def count(self) -> int:
        """How many are worth it: one a core, as far as memory goes."""
        if sys.platform == "win32":
            return 1
        from resource import RUSAGE_SELF, getrusage

        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        peak = getrusage(RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        return min(core_count(), _MAX_PROCESSES, int(memory * _MEMORY_RATIO / peak))

    def do(
        self, function: Callable[[Any, Any], Tables], shared: Any, pieces: Sequence[Any], tell: Callable[[], None]
    ) -> Iterator[Tables]:
        """Tell of each piece and give what comes of it, in their order: of fewer where one cannot be done elsewhere.

        Whatever the reason is, a killed process or the piece itself, it is met again, or not, where that is done here.
        """
        try:
            self._begin()
            with tempfile.NamedTemporaryFile(dir=self._folder.name) as file:
                pickle.dump(shared, file)
                file.flush()
                yield from self._done(function, file.name, pieces, tell)
        except BaseException as error:
            for connection, process in self._processes.items():
                process.kill()  # what it is doing, nobody waits for any more
                connection.close()
            self._processes.clear()
            if not isinstance(error, Exception):
                raise

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")  # a copy of this process would be without its threads
        while len(self._processes) < self.count:
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, self._folder.name), daemon=True)
            with _uninterrupted():
                process.start()
                self._processes[ours] = process
            theirs.close()

    def _done(
        self, function: Callable[[Any, Any], Tables], path: str, pieces: Sequence[Any], tell: Callable[[], None]
    ) -> Iterator[Tables]:
        todo = iter(enumerate(pieces))
        found: dict[int, Tables] = {}
        doing: dict[Any, int] = {}  # the piece that each process does, by its pipe

        def give(connection: Any) -> None:
            for number, piece in itertools.islice(todo, 1):
                connection.send((function, path, piece))
                doing[connection] = number

        for connection in self._processes:
            give(connection)
        for number in range(len(pieces)):
            tell()
            while number not in found:
                for ready in wait([*doing]):
                    pipe: Any = ready
                    if (tables := pipe.recv()) is None:
                        raise ChildProcessError(f"piece {doing[pipe]} failed there")
                    found[doing.pop(pipe)] = tables
                    give(pipe)
            yield found.pop(number)


def _serve(connection: Connection, folder: str) -> None:
    """Do pieces as they come; an error is met again where the command does the piece itself."""
    threading.Thread(target=_end_after, args=(multiprocessing.parent_process(), folder), daemon=True).start()
    while True:
        try:
            function, path, piece = connection.recv()
        except EOFError:
            _end(folder)
        try:
            tables = function(_shared(path), piece)
        except Exception:
            tables = None
        connection.send(tables)


def core_count() -> int:
    """Return how many cores there are for this process."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let processes that begin now leave Ctrl-C to the command."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_after(command: Any, folder: str) -> None:
    wait([command.sentinel])
    _end(folder)


def _end(folder: str) -> NoReturn:
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


@functools.lru_cache(maxsize=1)
def _shared(path: str) -> Any:
    return pickle.loads(Path(path).read_bytes())  # noqa: S301 - of the command itself, where only its user may write
