"""Topics that grow alike: by the user's patterns, else by the start of their names."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafka_capacity.demand.settings import ClassPattern
from kafka_capacity.kafka.arrays import Floats, Int32s

INTERNAL_CLASS = "internal"
OTHER_CLASS = "other"
SMALLEST_SHARE = 0.05  # a class with less of the traffic is pooled: its own noise would be larger than what it adds

_SEPARATOR = re.compile(r"[._-]")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TopicClasses:
    """Which topics grow alike."""

    names: tuple[str, ...]  # of the C classes, sorted
    class_of_topic: Int32s  # int32[T], in the order of `Partitions.topics`
    patterns: tuple[ClassPattern, ...] = ()  # by which topics were classed

    def place_of(self, topic: str) -> int | None:
        """Return the class that another topic would belong to, ``None`` where there is none for it."""
        found = [name for name in (_label(topic, self.patterns), OTHER_CLASS) if name in self.names]
        return self.names.index(found[0]) if found else None


def class_topics(
    topics: Sequence[str], rate_bytes_per_second: Floats, patterns: Sequence[ClassPattern] = ()
) -> TopicClasses:
    """Class topics.

    A topic belongs to the first pattern that matches, an internal one (``__…``) to ``internal``, any other to the class
    named by its name up to the first ``.``, ``-`` or ``_``. Classes that no pattern made and that carry less than
    :data:`SMALLEST_SHARE` of all traffic are pooled as ``other``; ``rate_bytes_per_second`` is float64[T].
    """
    label = np.array([_label(topic, patterns) for topic in topics], dtype=object)
    least = SMALLEST_SHARE * float(rate_bytes_per_second.sum())
    for name in set(label) - {pattern.name for pattern in patterns}:
        if float(rate_bytes_per_second[label == name].sum()) < least:
            label[label == name] = OTHER_CLASS
    names, class_of_topic = np.unique(label, return_inverse=True)
    return TopicClasses(
        names=tuple(names.tolist()), class_of_topic=class_of_topic.astype(np.int32), patterns=tuple(patterns)
    )


def matching(topics: Sequence[str], pattern: str) -> list[int]:
    """Return the places of the topics whose whole name matches; capital and small letters differ, as in Kafka."""
    return [index for index, topic in enumerate(topics) if fnmatch.fnmatchcase(topic, pattern)]


def _label(topic: str, patterns: Sequence[ClassPattern]) -> str:
    for pattern in patterns:
        if fnmatch.fnmatchcase(topic, pattern.topics):
            return pattern.name
    if topic.startswith("__"):
        return INTERNAL_CLASS
    return _SEPARATOR.split(topic, maxsplit=1)[0] or OTHER_CLASS
