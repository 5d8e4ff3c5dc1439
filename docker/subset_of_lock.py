"""Print the entries of some packages of a lock file, hashes included, so that an image need not install all of it.

    python subset_of_lock.py requirements.txt pyspark numpy > subset.txt

The subset must be closed: `pip install --require-hashes` refuses a dependency that is not in it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

_NAME = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==")


def entries(lock: str) -> Iterator[tuple[str, str]]:
    """Give the packages of a lock by name; one with environment markers can come more than once."""
    for entry in re.split(r"^(?=\S)", lock, flags=re.MULTILINE):
        match = _NAME.match(entry)
        if match:
            lines = entry.splitlines(keepends=True)
            yield match[1], "".join(line for line in lines if not line.lstrip().startswith("#"))


def subset(lock: str, names: Iterable[str]) -> str:
    """Give the entries of these packages.

    Raises:
        LookupError: the lock has no entry for one of them.
    """
    found = list(entries(lock))
    wanted = set(names)
    missing = sorted(wanted - {name for name, _ in found})
    if missing:
        msg = f"the lock has no entry for {', '.join(missing)}; its names are in lower case, with hyphens"
        raise LookupError(msg)
    return "".join(text for name, text in found if name in wanted)


if __name__ == "__main__":
    sys.stdout.write(subset(Path(sys.argv[1]).read_text(encoding="utf-8"), sys.argv[2:]))
