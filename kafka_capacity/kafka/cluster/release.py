"""Which release of Kafka the brokers run, where what Kafka does depends on it.

>>> kafka_release("4.4.0") >= KAFKA_4_4 > kafka_release("4.3.1"), kafka_release(None)
(True, KafkaRelease(major=4, minor=3))
"""

from __future__ import annotations

import re
from typing import NamedTuple


class KafkaRelease(NamedTuple):
    """A release; releases compare as they follow one another."""

    major: int
    minor: int


KAFKA_3_7 = KafkaRelease(3, 7)
KAFKA_4_1 = KafkaRelease(4, 1)
KAFKA_4_2 = KafkaRelease(4, 2)
KAFKA_4_3 = KafkaRelease(4, 3)
KAFKA_4_4 = KafkaRelease(4, 4)


def kafka_release(version: str | None) -> KafkaRelease:
    """Read the version of brokers as an inventory names it; where it is not known, it is taken for 4.3."""
    found = re.match(r"(\d+)\.(\d+)", version or "")
    return KafkaRelease(int(found[1]), int(found[2])) if found else KAFKA_4_3
