"""The files under docker/, read into plain data."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"
DOCKERFILES = sorted(DOCKER.glob("*.Dockerfile"))
OURS = [path for path in DOCKERFILES if path.name != "kafka.Dockerfile"]
"""Those that start from plain Python."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction of a Dockerfile: its continuation lines joined, its comments left out."""

    word: str
    arguments: str


def instructions(path: Path) -> Iterator[Instruction]:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        if line.strip():
            word, _, arguments = line.strip().partition(" ")
            yield Instruction(word.upper(), " ".join(arguments.split()))


def arguments_of(path: Path, word: str) -> list[str]:
    return [found.arguments for found in instructions(path) if found.word == word]


def copied(path: Path) -> list[str]:
    """What a Dockerfile copies from the build context."""
    sources = []
    for arguments in arguments_of(path, "COPY"):
        if "--from=" not in arguments:
            sources += [part for part in arguments.split()[:-1] if not part.startswith("--")]
    return sources


def compose() -> dict[str, Any]:
    return yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))


def load_script(name: str) -> ModuleType:
    """Import a script of docker/, which is no package."""
    spec = importlib.util.spec_from_file_location(f"docker_{name}", DOCKER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def assignments(text: str) -> dict[str, str]:
    """Read an env file; single quotes go."""
    pairs = re.findall(r"^([A-Za-z_][A-Za-z0-9_]*)=(.*)$", text, re.MULTILINE)
    return {name: value.strip().removeprefix("'").removesuffix("'") for name, value in pairs}


def deployment_env() -> dict[str, str]:
    return assignments((DOCKER / "deployment.env").read_text(encoding="utf-8"))
