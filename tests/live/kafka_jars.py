"""The jars of a real Kafka broker and of its command line tools.

python -m tests.live.kafka_jars          fetch what is missing and print the class path
python -m tests.live.kafka_jars ivy      the same, although there is a Maven
python -m tests.live.kafka_jars lock     resolve the roots again and write the lock
"""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

from tests.live.java import STATE
from tests.live.locked_jars import LockedJars

VERSION = "4.3.1"
"""What live tests run unless they say another, and all command line tools."""


def _jars(version: str, *more: str) -> LockedJars:
    return LockedJars(
        what=f"Kafka {version}",
        roots=(f"org.apache.kafka:kafka_2.13:{version}", *more, "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4"),
        lock=Path(__file__).with_name(f"kafka_jars_{version}.lock"),
        cache=STATE / "kafka-jars",
        module="tests.live.kafka_jars",
    )


JARS = {
    VERSION: _jars(VERSION, f"org.apache.kafka:kafka-tools:{VERSION}"),
    "4.4.0": _jars("4.4.0"),  # of which there are no tools yet
}


@functools.cache
def class_path(version: str = VERSION) -> str:
    """Return the class path of Kafka, after fetching the jars that are not in the cache."""
    return os.pathsep.join(map(str, JARS[version].paths()))


if __name__ == "__main__":
    for jars in JARS.values():
        jars.main(sys.argv[1:])
