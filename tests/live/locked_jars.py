"""Public jars, pinned by coordinates and sha256.

A lock names every jar, one a line: ``group:artifact:version sha256``. They are fetched by Maven where there is one,
else by the Ivy that comes inside PySpark, and kept below ``.state``. Nothing is used whose sum differs from the lock.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.live import jar_fetchers

ATTEMPTS = 3
Fetcher = Callable[[list[str], Path], str]
"""Copies jars by their coordinates into a folder, as many as it can, and gives what it printed."""


@dataclass(frozen=True, slots=True)
class Jar:
    """One line of the lock."""

    coordinates: str
    sha256: str

    @property
    def file_name(self) -> str:
        return jar_fetchers.file_name(self.coordinates)

    def is_in(self, folder: Path) -> bool:
        """Return whether the folder holds this jar, with the right bytes."""
        path = folder / self.file_name
        return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == self.sha256


@dataclass(frozen=True, kw_only=True)
class LockedJars:
    """What is needed for one purpose.

    Attributes:
        what: whose jars these are, in messages.
        roots: coordinates of what is wanted; the lock has all that they need at run time, and those with a classifier
            alone.
        left_out: of these, ``group:artifact`` of what is not taken.
        lock: the file.
        cache: where the jars are kept.
        module: the one to run for a new lock.
    """

    what: str
    roots: tuple[str, ...]
    lock: Path
    cache: Path
    module: str
    left_out: tuple[str, ...] = ()

    def read_lock(self) -> list[Jar]:
        lines = self.lock.read_text(encoding="utf-8").splitlines()
        return [Jar(*line.split()) for line in lines if line and not line.startswith("#")]

    def paths(self) -> list[Path]:
        """Return the jars, after fetching those that are not in the cache."""
        jars = self.read_lock()
        printed = ""
        with self._one_at_a_time():
            missing = [jar for jar in jars if not jar.is_in(self.cache)]
            # A network that fails once is tried again; what came is kept.
            for fetch in jar_fetchers.fetchers() * ATTEMPTS:
                if missing:
                    missing, printed = self._fetch(missing, fetch)
        if missing:
            names = ", ".join(jar.coordinates for jar in missing[:5])
            message = f"{len(missing)} of the {len(jars)} jars of {self.what} could not be fetched as locked: {names}"
            raise RuntimeError(f"{message}\n{printed[-2000:]}")
        return [self.cache / jar.file_name for jar in jars]

    def _fetch(self, jars: list[Jar], fetch: Fetcher) -> tuple[list[Jar], str]:
        """Fetch jars, keep those with the locked sum, and give the others back, with what was printed."""
        with tempfile.TemporaryDirectory(dir=self.cache, prefix="fetch-") as folder:
            printed = fetch([jar.coordinates for jar in jars], Path(folder))
            good = [jar for jar in jars if jar.is_in(Path(folder))]
            for jar in good:
                (Path(folder) / jar.file_name).replace(self.cache / jar.file_name)
        return [jar for jar in jars if jar not in good], printed

    @contextmanager
    def _one_at_a_time(self) -> Iterator[None]:
        self.cache.mkdir(parents=True, exist_ok=True)
        with (self.cache / ".lock").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield

    def write_lock(self) -> None:
        """Resolve the roots with everything that they need at run time, and pin it."""
        with tempfile.TemporaryDirectory() as folder:
            alone = [name for name in self.roots if name.count(":") > 2]
            roots = [name for name in self.roots if name not in alone]
            coordinates = [*jar_fetchers.resolve_by_ivy(roots, Path(folder), left_out=self.left_out), *alone]
            jar_fetchers.fetch_by_ivy(alone, Path(folder))
            sums = {
                name: hashlib.sha256((Path(folder) / jar_fetchers.file_name(name)).read_bytes()).hexdigest()
                for name in coordinates
            }
        head = f"# The jars of {self.what}. Written by: python -m {self.module} lock\n"
        self.lock.write_text(head + "".join(f"{name} {sums[name]}\n" for name in sorted(sums)), encoding="utf-8")

    def main(self, words: list[str]) -> None:
        """Do what the command line asks: fetch and print the class path, by Ivy alone, or write the lock."""
        began = time.monotonic()
        if words == ["lock"]:
            self.write_lock()
            done = f"{len(self.read_lock())} jars locked"
        else:
            if words == ["ivy"]:
                os.environ["PATH"] = os.pathsep.join(
                    folder for folder in os.environ["PATH"].split(os.pathsep) if not shutil.which("mvn", path=folder)
                )
            print(os.pathsep.join(map(str, self.paths())))
            done = "all jars are here"
        print(f"{done}, {time.monotonic() - began:.1f} s", file=sys.stderr)
