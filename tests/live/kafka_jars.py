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

JARS = LockedJars(
    what="Kafka",
    roots=(
        "org.apache.kafka:kafka_2.13:4.3.1",
        "org.apache.kafka:kafka-tools:4.3.1",
        "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4",
    ),
    lock=Path(__file__).with_name("kafka_jars.lock"),
    cache=STATE / "kafka-jars",
    module="tests.live.kafka_jars",
)


@functools.cache
def class_path() -> str:
    """Return the class path of Kafka, after fetching the jars that are not in the cache."""
    return os.pathsep.join(map(str, JARS.paths()))


if __name__ == "__main__":
    JARS.main(sys.argv[1:])
