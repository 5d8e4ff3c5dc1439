"""How the tests call Java."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Djava.net.preferIPv4Stack=true")
"""For short lives on few cores: no time is spent on compiling well or on collecting in parallel."""


def java_command(
    main_class: str, *arguments: str, class_path: str, heap: str = "128m", options: Sequence[str] = ()
) -> list[str]:
    """Spell the command that runs one class."""
    return [_java(), f"-Xmx{heap}", *QUICK, *options, "-cp", class_path, main_class, *arguments]


def _java() -> str:
    try:
        from local.java_home import java_home
    except ModuleNotFoundError:
        java = shutil.which("java")
        if java is None:
            raise RuntimeError("there is no Java here") from None
        return java
    return str(Path(java_home()) / "bin" / "java")
