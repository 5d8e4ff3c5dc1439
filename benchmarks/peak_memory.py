"""How much memory and processor time a Spark application takes, by what its processes are."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

EVERY_SECONDS = 0.5
DRIVER, EXECUTOR = "driver", "executor"
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Watched:
    """What was seen so far; each with the Python processes that it started."""

    driver: int  # the process that submits
    # bytes at most, by role; of the largest executor. Pages that several processes share count for each in part.
    peaks: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    _seconds: dict[int, tuple[str, float]] = field(default_factory=dict)

    def seconds(self, role: str) -> float:
        """Return the processor time of a role, of all executors together."""
        return sum(spent for of, spent in self._seconds.values() if of == role)

    def look(self) -> None:
        """Look at the driver and at all executors of this machine."""
        parents = {int(path.name): _parent(path) for path in Path("/proc").iterdir() if path.name.isdigit()}
        roots = {self.driver: DRIVER} | {
            process: EXECUTOR for process in parents if "CoarseGrainedExecutorBackend" in _read(process, "cmdline")
        }
        sums: dict[int, int] = defaultdict(int)
        for process in parents:
            above = process
            while above not in roots and above in parents:
                above = parents[above]
            if above in roots:
                sums[above] += _bytes(process)
                self._seconds[process] = roots[above], _spent(process) or self._seconds.get(process, ("", 0.0))[1]
        for root, size in sums.items():
            self.peaks[roots[root]] = max(self.peaks[roots[root]], size)


@contextlib.contextmanager
def watched(driver: int) -> Iterator[Watched]:
    """Watch a driver and its executors, twice a second."""
    found = Watched(driver)
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(EVERY_SECONDS):
            found.look()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield found
    finally:
        is_over.set()
        watcher.join()


def _stat(process: int) -> list[str]:
    """Return the fields after the name: the state is the first."""
    return _read(process, "stat").rpartition(")")[2].split()


def _parent(path: Path) -> int:
    return int((_stat(int(path.name)) or [0, 0])[1])


def _spent(process: int) -> float:
    fields = _stat(process)
    return (int(fields[11]) + int(fields[12])) / _TICKS if fields else 0.0


def _bytes(process: int) -> int:
    lines = _read(process, "smaps_rollup").splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


def _read(process: int, name: str) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/{name}").read_bytes().decode(errors="replace")
    return ""
