"""The jars of a real Kafka broker and of its command line tools, pinned by coordinates and sha256.

``kafka_jars.lock`` names every jar, one a line: ``group:artifact:version sha256``. They are fetched by Maven where
there is one, else by the Ivy that comes inside PySpark, and kept in ``.state/kafka-jars``. Nothing is used whose sum
differs from the lock.

    python -m tests.live.kafka_jars          fetch what is missing and print the class path
    python -m tests.live.kafka_jars ivy      the same, although there is a Maven
    python -m tests.live.kafka_jars lock     resolve ROOTS anew and write the lock
"""

from __future__ import annotations

import fcntl
import functools
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
from tests.live.java import STATE

ROOTS = (
    "org.apache.kafka:kafka_2.13:4.3.1",
    "org.apache.kafka:kafka-tools:4.3.1",
    "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4",
)
LOCK = Path(__file__).with_name("kafka_jars.lock")
CACHE = STATE / "kafka-jars"

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
        """Say whether the folder holds this jar, with the right bytes."""
        path = folder / self.file_name
        return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == self.sha256


def read_lock() -> list[Jar]:
    lines = LOCK.read_text(encoding="utf-8").splitlines()
    return [Jar(*line.split()) for line in lines if line and not line.startswith("#")]


@functools.cache
def class_path() -> str:
    """Give the class path of Kafka, after fetching the jars that are not in the cache."""
    jars = read_lock()
    printed = ""
    with _one_at_a_time():
        missing = [jar for jar in jars if not jar.is_in(CACHE)]
        for fetch in jar_fetchers.fetchers():
            if missing:
                missing, printed = _fetch(missing, fetch)
    if missing:
        names = ", ".join(jar.coordinates for jar in missing[:5])
        message = f"{len(missing)} of Kafka's {len(jars)} jars could not be fetched as locked: {names}"
        raise RuntimeError(f"{message}\n{printed[-2000:]}")
    return os.pathsep.join(str(CACHE / jar.file_name) for jar in jars)


def _fetch(jars: list[Jar], fetch: Fetcher) -> tuple[list[Jar], str]:
    """Fetch jars, keep those with the locked sum, and give the others back, with what was printed."""
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="fetch-") as folder:
        printed = fetch([jar.coordinates for jar in jars], Path(folder))
        good = [jar for jar in jars if jar.is_in(Path(folder))]
        for jar in good:
            (Path(folder) / jar.file_name).replace(CACHE / jar.file_name)
    return [jar for jar in jars if jar not in good], printed


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def write_lock() -> None:
    """Resolve :data:`ROOTS` with everything that they need at run time, and pin it."""
    with tempfile.TemporaryDirectory() as folder:
        coordinates = jar_fetchers.resolve_by_ivy(list(ROOTS), Path(folder))
        sums = {
            name: hashlib.sha256((Path(folder) / jar_fetchers.file_name(name)).read_bytes()).hexdigest()
            for name in coordinates
        }
    head = "# Kafka's jars. Written by: python -m tests.live.kafka_jars lock\n"
    LOCK.write_text(head + "".join(f"{name} {sums[name]}\n" for name in sorted(sums)), encoding="utf-8")


def main(words: list[str]) -> None:
    began = time.monotonic()
    if words == ["lock"]:
        write_lock()
        done = f"{len(read_lock())} jars locked"
    else:
        if words == ["ivy"]:
            os.environ["PATH"] = os.pathsep.join(
                folder for folder in os.environ["PATH"].split(os.pathsep) if not shutil.which("mvn", path=folder)
            )
        print(class_path())
        done = "all jars are here"
    print(f"{done}, {time.monotonic() - began:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
