"""An archive of the classes that Kafka loads: with it a broker or a tool takes about half the processor time to start.

A JVM writes which classes it loads, and another one makes an archive of those, once a class path. A JVM that cannot use
an archive goes on without it.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import subprocess
import tempfile
from pathlib import Path

from tests.live import kafka_jars
from tests.live.java import java_command

FOLDER = kafka_jars.JARS[kafka_jars.VERSION].cache
QUIET = ("-Xlog:disable", "-Xlog:all=error:stderr")  # what tools print is read


@functools.cache
def archive_options() -> tuple[str, ...]:
    """Return the options of a JVM that starts from the archive, after making that where there is none."""
    class_path = kafka_jars.class_path()
    java = java_command("", class_path="")[0]
    name = hashlib.sha256(f"{Path(java).resolve()}\n{class_path}".encode()).hexdigest()[:16]
    archive = FOLDER / f"classes-{name}.jsa"
    with (FOLDER / ".archive-lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if not archive.exists():
            _make(archive, class_path)
    return (f"-XX:SharedArchiveFile={archive}", *QUIET)


def _make(archive: Path, class_path: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        classes = folder / "classes.txt"
        classes.write_text("".join(f"{each}\n" for each in _loaded_classes(folder)), encoding="utf-8")
        made = folder / "made.jsa"
        options = ("-Xshare:dump", f"-XX:SharedClassListFile={classes}", f"-XX:SharedArchiveFile={made}")
        command = java_command("none", class_path=class_path, options=options, heap="512m")
        # A JVM that fails leaves its report where it was started.
        subprocess.run(command, cwd=folder, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if made.exists():
            made.replace(archive)
        else:
            archive.touch()  # a JVM that makes none takes none either


def _loaded_classes(folder: Path) -> list[str]:
    """Return the names of what a broker and a tool load, sorted."""
    from tests.live.cluster import KafkaCluster  # which starts its processes from the archive

    options = (f"-XX:DumpLoadedClassList={folder}/loaded-%p.txt",)
    with KafkaCluster(folder / "kafka", {1: None}, jvm_options=options) as cluster:
        cluster.tool("org.apache.kafka.tools.TopicCommand", "--create", "--topic", "any")
    names = set()
    for each in folder.glob("loaded-*.txt"):
        complete = each.read_text(encoding="utf-8").rpartition("\n")[0]  # the broker was killed while it wrote
        names |= {line.split()[0] for line in complete.splitlines() if line[0] not in "#@" and "source:" not in line}
    return sorted(names)
