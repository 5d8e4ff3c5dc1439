"""Kafka's own code, asked over pipes: compiled with the machine's JDK against the jars from Maven."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from signal import SIGKILL
from threading import Timer
from types import TracebackType

HERE = Path(__file__).parent / "java"
OPTIONS = ("-Xms2g", "-Xmx4g")


def resolve_class_path(folder: Path, source: Path = HERE) -> str:
    """Let Maven fetch Kafka's jars, by the coordinates in ``source/pom.xml``; give their class path."""
    found = folder / "class-path.txt"
    goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"
    subprocess.run(["mvn", "-q", "-B", "-f", source / "pom.xml", goal, f"-Dmdep.outputFile={found}"], check=True)
    return found.read_text(encoding="utf-8").strip()


def compile_driver(class_path: str, folder: Path, driver: Path = HERE / "AssignorTimes.java") -> str:
    """Compile a driver against Kafka's jars; give the class path of both."""
    subprocess.run(["javac", "-cp", class_path, "-d", folder, driver], check=True)
    return f"{folder}{os.pathsep}{class_path}"


class TooSlowError(Exception):
    """Java took longer than allowed for one command; the process was ended."""


class JavaSide:
    """The Java process.

    Args:
        class_path: the driver and Kafka's jars.
        max_seconds: for one command.
        driver: the class that answers.
    """

    def __init__(self, class_path: str, max_seconds: float, driver: str = "AssignorTimes") -> None:
        self._max_seconds = max_seconds
        command = ["java", *OPTIONS, "-cp", class_path, driver]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def __enter__(self) -> JavaSide:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()

    def load(self, path: Path) -> None:
        """Read a case."""
        self.ask(f"load\t{path}")

    def run_seconds(self) -> float:
        """Assign once; give the time."""
        return self.ask("run") / 1e9

    def answer(self, path: Path) -> list[str]:
        """Return the last answer, a line a member."""
        self.ask(f"save\t{path}")
        return path.read_text(encoding="utf-8").splitlines()

    def ask(self, command: str) -> int:
        """Say a command; give the number that it is answered with."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the Java process has no pipes")
        end = Timer(self._max_seconds, self._process.kill)
        end.start()
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        end.cancel()
        if not line and self._process.wait() == -SIGKILL:
            raise TooSlowError(command)
        if not line:
            raise RuntimeError(f"the Java process ended at {command!r}")
        return int(line)
