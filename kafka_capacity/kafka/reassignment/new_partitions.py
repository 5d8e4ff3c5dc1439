"""The command that gives a topic more partitions, on brokers that are named.

Source: ``TopicCommand`` of Kafka 4: ``--replica-assignment`` lists all partitions, those that exist too, and the tool
passes over as many as there are; every list must have as many replicas as the first. ``--topic`` is a regular
expression there, in which a dot would match other topics as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPartitions:
    """Partitions that a topic gets."""

    topic: str  # its name
    count_before: int  # how many it has
    # of each new partition, the preferred leader first; all lists are of one length
    replicas: tuple[tuple[int, ...], ...]
    moved_keys_ratio: float  # of records with keys, the share that goes to another partition than before

    @property
    def count_after(self) -> int:
        """How many partitions it has then."""
        return self.count_before + len(self.replicas)

    def command(self) -> str:
        r"""Return the command for a shell.

        >>> made = NewPartitions(topic="a.b", count_before=1, replicas=((2, 3), (3, 1)), moved_keys_ratio=0.5)
        >>> print(made.command().partition("--alter ")[2])
        --topic 'a\.b' --partitions 3 --replica-assignment 2:3,2:3,3:1
        """
        lists: Sequence[tuple[int, ...]] = [self.replicas[0]] * self.count_before + list(self.replicas)
        assignment = ",".join(":".join(map(str, brokers)) for brokers in lists)
        name = self.topic.replace(".", r"\.")
        return (
            f"kafka-topics.sh --bootstrap-server $BOOTSTRAP --alter --topic '{name}' --partitions {self.count_after} "
            f"--replica-assignment {assignment}"
        )
