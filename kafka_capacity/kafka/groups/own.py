"""Assignors that users bring: Python entry points of the group ``kafka_capacity.assignors``.

A package says in its ``pyproject.toml``

    [project.entry-points."kafka_capacity.assignors"]
    by-size = "my_assignors:BySize"

and ``BySize`` is a class with ``assign(group) -> Assignment`` and, if members keep what they hold while the group
rebalances, ``is_cooperative = True``. Once the package is installed, ``by-size`` is found next to Kafka's. Its
answers are checked: every partition of a subscribed topic to exactly one member that subscribes to it.
"""

from __future__ import annotations

import functools
import sys
from importlib import metadata
from typing import Any

import numpy as np

from kafka_capacity.errors import AssignmentError, RequestError
from kafka_capacity.kafka.groups.assignment import Assignment
from kafka_capacity.kafka.groups.model import Group, concatenated

ENTRY_POINTS = "kafka_capacity.assignors"


class OwnAssignor:
    """A user's assignor behind a check of what it answers."""

    def __init__(self, name: str, inner: Any) -> None:
        self.name = name
        self.is_cooperative = bool(getattr(inner, "is_cooperative", False))
        self._inner = inner

    def assign(self, group: Group) -> Assignment:
        """Assign, and check what comes back.

        Raises:
            AssignmentError: it fails, or what comes back is no assignment of this group.
        """
        try:
            answer = self._inner.assign(group)
        except Exception as error:  # any code of the user's runs here
            raise AssignmentError(f"assignor {self.name!r} failed with {type(error).__name__}: {error}") from error
        if not isinstance(answer, Assignment):
            raise AssignmentError(f"assignor {self.name!r} gave a {type(answer).__name__}, not an Assignment")
        check_assignment(group, answer, self.name, may_leave_out=self.is_cooperative)
        return answer


def own_names() -> frozenset[str]:
    """Name the assignors that installed packages bring."""
    return _names_below(tuple(sys.path))


@functools.cache
def _names_below(_: tuple[str, ...], /) -> frozenset[str]:
    return frozenset(found.name for found in metadata.entry_points(group=ENTRY_POINTS))


def load_own(name: str) -> OwnAssignor:
    """Import a user's assignor.

    Raises:
        RequestError: it cannot be imported, or is no class with a method ``assign``.
    """
    found = next(iter(metadata.entry_points(group=ENTRY_POINTS, name=name)))
    try:
        inner = found.load()()
    except Exception as error:  # any code of the user's runs here
        raise RequestError(f"assignor: {name!r} ({found.value}) cannot be loaded: {error}") from error
    if not callable(getattr(inner, "assign", None)):
        raise RequestError(f"assignor: {name!r} ({found.value}) has no method assign(group)")
    return OwnAssignor(name, inner)


def check_assignment(group: Group, answer: Assignment, name: str, *, may_leave_out: bool = False) -> None:
    """Check that every partition of a subscribed topic goes to exactly one member that subscribes to it.

    Where it ``may_leave_out``, a partition may wait for the next round, as in a cooperative one.

    Raises:
        AssignmentError: it is not so; the message names a partition.
    """
    if answer.member_ids != tuple(member.member_id for member in group.members):
        raise AssignmentError(f"assignor {name!r}: the members are not those of the group, in its order")
    wanted = [topic for topic in group.topics if any(topic.name in member.topics for member in group.members)]
    table = {topic.name: i for i, topic in enumerate(wanted)}
    times = [np.zeros(topic.partitions, dtype=np.int64) for topic in wanted]
    for member, part in zip(group.members, answer.parts().values(), strict=True):
        topics, partitions = concatenated([part], table)
        for topic, number in zip(topics.tolist(), partitions.tolist(), strict=True):
            if topic < 0 or wanted[topic].name not in member.topics or not 0 <= number < wanted[topic].partitions:
                shown = (wanted[topic].name if topic >= 0 else "a topic that nobody subscribes to", number)
                raise AssignmentError(f"assignor {name!r} gave {member.member_id!r} {shown}, which is not for it")
            times[topic][number] += 1
    for topic_found, counted in zip(wanted, times, strict=True):
        wrong = np.flatnonzero(counted > 1 if may_leave_out else counted != 1)
        if len(wrong):
            number = int(wrong[0])
            raise AssignmentError(
                f"assignor {name!r} gave partition {number} of {topic_found.name!r} to {counted[number]} members"
            )
