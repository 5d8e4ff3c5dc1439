"""How much memory processes take at most, by what they are: pages that several share count for each in part."""

from __future__ import annotations

import contextlib
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

EVERY_SECONDS = 0.5
DRIVER, EXECUTOR = "driver", "executor"


@contextlib.contextmanager
def peaks_of(driver: int) -> Iterator[dict[str, int]]:
    """Watch a driver and all Spark executors of this machine; yields their peaks, bytes by role, filled in as it goes.

    Args:
        driver: the process that submits.
    """
    peaks: dict[str, int] = defaultdict(int)
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(EVERY_SECONDS):
            for role, size in _now(driver).items():
                peaks[role] = max(peaks[role], size)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peaks
    finally:
        is_over.set()
        watcher.join()


def _now(driver: int) -> dict[str, int]:
    """Return the bytes of the driver with its Python, and of the largest executor with its Python workers."""
    parents = {int(path.name): _parent(path) for path in Path("/proc").iterdir() if path.name.isdigit()}
    roots = {driver: DRIVER} | {
        process: EXECUTOR for process in parents if "CoarseGrainedExecutorBackend" in _read(process, "cmdline")
    }
    sums: dict[int, int] = defaultdict(int)
    for process in parents:
        above = process
        while above not in roots and above in parents:
            above = parents[above]
        if above in roots:
            sums[above] += _bytes(process)
    found: dict[str, int] = defaultdict(int)
    for root, size in sums.items():
        found[roots[root]] = max(found[roots[root]], size)
    return found


def _parent(path: Path) -> int:
    status = _read(int(path.name), "stat")
    return int(status.rpartition(")")[2].split()[1]) if status else 0


def _bytes(process: int) -> int:
    lines = _read(process, "smaps_rollup").splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


def _read(process: int, name: str) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/{name}").read_bytes().decode(errors="replace")
    return ""
