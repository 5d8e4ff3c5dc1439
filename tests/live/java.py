"""How the tests call Java."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

from local.java_home import java_home

STATE = Path(__file__).resolve().parents[2] / ".state"
"""Where the checkout keeps what is not of it."""
QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Djava.net.preferIPv4Stack=true")
"""For short lives on few cores: no time is spent on compiling well or on collecting in parallel."""


def java_command(
    main_class: str, *arguments: str, class_path: str, heap: str = "128m", options: Sequence[str] = ()
) -> list[str]:
    """Spell the command that runs one class."""
    return [_java(), f"-Xmx{heap}", *QUICK, *options, "-cp", class_path, main_class, *arguments]


@functools.cache
def _java() -> str:
    return str(java_home(STATE) / "bin" / "java")
