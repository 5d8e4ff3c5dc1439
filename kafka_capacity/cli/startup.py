"""What makes a short-lived process start sooner; nothing here changes a result."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

_own_process = False


class _NoPandas(MetaPathFinder):
    """Return of pandas that it is not installed."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is kept out of this process", name=fullname)


def own_the_process() -> None:
    """Describe that this process does one command and ends: its modules and its garbage are ours to arrange."""
    global _own_process
    _own_process = True
    # A cold start makes hundreds of thousands of objects that live to the end; looking through them costs a tenth.
    gc.disable()


def keep_pandas_out() -> None:
    """Keep pyarrow from importing pandas, which takes it longer than a plan of 10,000 partitions.

    ``pyarrow.array`` imports pandas where there is one, only to ask whether it was handed a ``Series``, and asks once.
    So it is asked here: afterwards pyarrow knows no pandas in this process, and what needs it, the fit of a forecast,
    finds it. For commands that draw no report.
    """
    if not _own_process or "pandas" in sys.modules:
        return
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        import pyarrow as pa

        pa.array([0])
    finally:
        sys.meta_path.remove(finder)
