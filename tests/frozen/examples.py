"""The examples as snapshot folders, as ``kafka-capacity example`` writes them."""

from __future__ import annotations

from pathlib import Path

from kafka_capacity.example import EXAMPLES, make_example
from kafka_capacity.inventory.files import write_snapshot_files


def write_examples(folder: Path) -> dict[str, Path]:
    """Write every example below a folder and return where each is."""
    found = {}
    for name in EXAMPLES:
        found[name] = folder / name
        write_snapshot_files(make_example(name), str(found[name]), file_format="parquet")
    return found
