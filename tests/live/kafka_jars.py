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
"""Of all command line tools, and of the nodes of live tests that name no other."""
NODES = os.environ.get("KAFKA_CAPACITY_TEST_KAFKA", VERSION)
"""Of the nodes, as whoever runs the tests wants it."""


_LOGGING = "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4"


def _jars(version: str, *more: str) -> LockedJars:
    return LockedJars(
        what=f"Kafka {version}",
        roots=(f"org.apache.kafka:kafka_2.13:{version}", *more, _LOGGING),
        lock=Path(__file__).with_name(f"kafka_jars_{version}.lock"),
        cache=STATE / "kafka-jars",
        module="tests.live.kafka_jars",
    )


JARS = {
    # Among Kafka's tests is a store for tiered storage that is a folder.
    VERSION: _jars(
        VERSION, f"org.apache.kafka:kafka-tools:{VERSION}", f"org.apache.kafka:kafka-storage:{VERSION}:test"
    ),
    "4.4.0": _jars("4.4.0"),  # of which there are no tools yet
}
STREAMS = LockedJars(
    what="Kafka Streams and its examples",
    roots=(f"org.apache.kafka:kafka-streams-examples:{VERSION}", _LOGGING),
    lock=Path(__file__).with_name("streams_jars.lock"),
    cache=STATE / "kafka-jars",
    module="tests.live.kafka_jars",
)


@functools.cache
def class_path(version: str = VERSION) -> str:
    """Return the class path of Kafka, after fetching the jars that are not in the cache."""
    return os.pathsep.join(map(str, JARS[version].paths()))


@functools.cache
def streams_class_path() -> str:
    """Return the class path of an application of Kafka Streams, as above."""
    return os.pathsep.join(map(str, STREAMS.paths()))


if __name__ == "__main__":
    for jars in (*JARS.values(), STREAMS):
        jars.main(sys.argv[1:])
