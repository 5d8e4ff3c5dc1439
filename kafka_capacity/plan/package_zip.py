"""Our packages as a zip, which Spark brings to executors."""

from __future__ import annotations

import importlib.util
import zipfile
from pathlib import Path

PACKAGES = ("kafka_capacity", "spark_jobs")
STAYS_HERE = frozenset({"kafka_capacity/cli", "kafka_capacity/conformance", "kafka_capacity/example"})
"""What no job imports."""
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)  # the same files give the same zip


def package_folder(name: str) -> Path:
    """Return the folder of one of our packages; raises ModuleNotFoundError where it is not on the path."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"the package {name} is not on the path; add the project to PYTHONPATH")
    return Path(next(iter(spec.submodule_search_locations)))


def build_zip(target: Path) -> Path:
    """Pack the pure Python that executors need; the same sources give the same bytes."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in PACKAGES:
            folder = package_folder(package)
            for path in sorted(folder.rglob("*")):
                name = f"{package}/{path.relative_to(folder).as_posix()}"
                is_left_out = "__pycache__" in path.parts or "/".join(name.split("/")[:2]) in STAYS_HERE
                if path.is_file() and not is_left_out:
                    archive.writestr(zipfile.ZipInfo(name, _FIXED_TIME), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return target
