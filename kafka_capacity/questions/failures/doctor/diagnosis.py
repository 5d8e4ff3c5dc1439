"""One thing that is wrong, what is at stake, and the mend; and what the examinations share."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.cluster.assignment import replication_factors
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.kafka.controller.partition_states import PartitionStates
from kafka_capacity.questions.failures.ground import states_of
from kafka_capacity.text.wording import few_names, shown_rate

_MOST_NAMES = 5
_OF_ONE = {"have": "has", "are": "is", "allow": "allows", "their": "its", "them": "it", "they": "it"}


class Seriousness(StrEnum):
    """How much a diagnosis matters."""

    SERIOUS = "serious"
    """Something is down or may be lost already, or one failure does that."""
    WARNING = "warning"
    """One failure more than need be stops something."""
    INFO = "info"
    """Good to know."""


_RANK = {Seriousness.SERIOUS: 0, Seriousness.WARNING: 1, Seriousness.INFO: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """One thing that is wrong.

    Attributes:
        severity: how much it matters.
        code: its kind, in kebab case; stable, for machines.
        where: the topics, brokers or racks, a few of them by name.
        message: a sentence with the figure that makes it matter.
        mend: what to do.
        partitions: how many partitions it is about, 0 where it is about none.
        bytes_per_second: what is produced to them on average.
    """

    severity: Seriousness
    code: str
    where: str
    message: str
    mend: str
    partitions: int = 0
    bytes_per_second: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Give plain data."""
        return {
            "severity": str(self.severity),
            "code": self.code,
            "where": self.where,
            "message": self.message,
            "mend": self.mend,
            "partitions": self.partitions,
            "bytes_per_second": self.bytes_per_second,
        }


def in_order(found: Iterable[Diagnosis]) -> tuple[Diagnosis, ...]:
    """Sort diagnoses: the most serious first, of these the one with the most traffic at stake."""
    return tuple(
        sorted(
            found, key=lambda one: (_RANK[one.severity], -one.bytes_per_second, -one.partitions, one.code, one.where)
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Patient:
    """A cluster, with what every examination looks up.

    Attributes:
        snapshot: the cluster.
        load: its traffic.
        states: its partitions as the controller knows them.
        factor: int32[P], how many replicas each has.
    """

    snapshot: Snapshot
    load: PartitionLoad
    states: PartitionStates
    factor: NDArray[np.int32]

    @classmethod
    def of(cls, snapshot: Snapshot, load: PartitionLoad) -> Patient:
        """Look everything up."""
        return cls(
            snapshot=snapshot, load=load, states=states_of(snapshot), factor=replication_factors(snapshot.replicas)
        )

    def diagnosis(self, severity: Seriousness, code: str, rows: NDArray[np.bool_], what: str, mend: str) -> Diagnosis:
        """Make a diagnosis about some partitions.

        Args:
            severity: how much it matters.
            code: its kind.
            rows: bool[P], which.
            what: goes on after ``12 partitions of 3 topics``, with its verb in the plural.
            mend: what to do.
        """
        topics, rate = self.topics(rows), self.rate(rows)
        traffic = f", to which {shown_rate(rate)} go," if rate else ""
        count = int(rows.sum())
        if count == 1:
            what = of_one(what)
        return Diagnosis(
            severity=severity,
            code=code,
            where=some_names(topics),
            message=f"{counted(count, 'partition')} of {counted(len(topics), 'topic')}{traffic} {what}",
            mend=mend,
            partitions=count,
            bytes_per_second=rate,
        )

    def topics(self, rows: NDArray[np.bool_]) -> list[str]:
        """Name the topics of some partitions, in order."""
        partitions = self.snapshot.partitions
        return [partitions.topics[place] for place in np.unique(partitions.topic[rows])]

    def rate(self, rows: NDArray[np.bool_]) -> float:
        """Add up what is produced to some partitions on average."""
        return float(self.load.bytes_in_mean_bytes_per_second[rows].sum())


def of_one(text: str) -> str:
    """Say of one thing what is written of several: its first word, the verb, and what stands for them.

    >>> of_one("have one replica: the loss of its broker stops them")
    'has one replica: the loss of its broker stops it'
    """
    first, *rest = re.split(r"\b", text.strip())[1:]
    others = (_OF_ONE[word] if word in {"their", "them", "they"} else word for word in rest)
    return "".join([_OF_ONE.get(first, first), *others])


def counted(number: int, noun: str) -> str:
    """Write ``1 topic`` or ``2 topics``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def some_names(names: Iterable[object]) -> str:
    """Name a few: ``a, b, c, d, e and 7 more``."""
    return few_names(names, _MOST_NAMES)
