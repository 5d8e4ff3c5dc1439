"""Time murmur2 over arrays of keys against Kafka's own, on the same keys, and compare the hashes.

    python -m benchmarks.key_hashing [--keys 1000000] [--runs 9]

needs a JDK (17 or later) and Maven, which fetches Kafka's jars; ``--class-path`` takes jars that are there already.
Prints a Markdown table: nanoseconds a key, the median of the runs and the best one, with arrays and, where numba is
installed, compiled. Java runs as often before it counts, so that it is compiled.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.java_side import HERE, OPTIONS, compile_driver, resolve_class_path
from kafka_capacity.kafka.producer.compiled_hashing import compiled
from kafka_capacity.kafka.producer.key_hashing import Keys, murmur2_of_keys

LENGTHS = {"8 bytes": (8, 8), "16 bytes": (16, 16), "36 bytes": (36, 36), "1 to 64 bytes": (1, 64)}


def make_keys(count: int, shortest: int, longest: int) -> Keys:
    """Make keys of drawn bytes and lengths."""
    rng = np.random.default_rng(1)
    offsets = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(rng.integers(shortest, longest, count, endpoint=True), out=offsets[1:])
    return Keys(buffer=rng.integers(0, 256, int(offsets[-1]), dtype=np.uint8), offsets=offsets)


def java_seconds(class_path: str, keys: Keys, folder: Path, runs: int) -> tuple[list[float], bytes]:
    """Let Kafka hash the keys; returns the time of each counted run, and the hashes."""
    read, written = folder / "keys", folder / "hashes"
    lengths = np.diff(keys.offsets).astype("<i4")
    read.write_bytes(np.array([len(keys)], dtype="<i4").tobytes() + lengths.tobytes() + keys.buffer.tobytes())
    command = ["java", *OPTIONS, "-cp", class_path, "KeyHashTimes", str(read), str(written), str(2 * runs)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [int(line) / 1e9 for line in done.stdout.split()][runs:], written.read_bytes()


def our_seconds(hash_keys: Callable[[Keys], NDArray[np.int32]], keys: Keys, runs: int) -> tuple[list[float], bytes]:
    """Hash them here."""
    found, hashes = [], hash_keys(keys)
    for _ in range(runs):
        began = time.perf_counter()
        hashes = hash_keys(keys)
        found.append(time.perf_counter() - began)
    return found, hashes.astype("<i4").tobytes()


def hash_compiled(keys: Keys) -> NDArray[np.int32]:
    """Hash by compiled code, however few they are."""
    function, found = compiled(), np.empty(len(keys), dtype=np.uint32)
    if function is None:
        raise ModuleNotFoundError("numba")
    function(keys.buffer, keys.offsets, found)
    return found.view(np.int32)


WAYS = {"arrays": murmur2_of_keys, "compiled": hash_compiled}


def compare(how: str, class_path: str, folder: Path, count: int, runs: int) -> bool:
    """Print a row for each kind of keys; returns whether all hashes were the same."""
    is_same = True
    for label, lengths in LENGTHS.items():
        keys = make_keys(count, *lengths)
        theirs, expected = java_seconds(class_path, keys, folder, runs)
        ours, found = our_seconds(WAYS[how], keys, runs)
        is_same &= found == expected
        figures = [[1e9 * pick(times) / len(keys) for pick in (statistics.median, min)] for times in (ours, theirs)]
        (ours_median, ours_best), (java_median, java_best) = figures
        print(
            f"| {label} | {how} | {ours_median:.0f} | {ours_best:.0f} | {java_median:.0f} | {java_best:.0f} "
            f"| {ours_median / java_median:.1f} | {ours_best / java_best:.1f} "
            f"| {'yes' if found == expected else 'NO'} |"
        )
    return is_same


def main() -> int:
    """Measure, print, and say whether the hashes were the same."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--class-path", help="Kafka's jars; by default Maven fetches them")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        jars = given.class_path or resolve_class_path(folder)
        class_path = compile_driver(jars, folder, HERE / "KeyHashTimes.java")
        print("| keys | how | ours, ns a key | best | Java, ns a key | best | ratio | ratio of best | same hashes |")
        print("|---|---|--:|--:|--:|--:|--:|--:|---|")
        is_same = compare("arrays", class_path, folder, given.keys, given.runs)
        if compiled() is not None:
            is_same &= compare("compiled", class_path, folder, given.keys, given.runs)
    return 0 if is_same else 1


if __name__ == "__main__":
    raise SystemExit(main())
