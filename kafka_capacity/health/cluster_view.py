"""A cluster with everything that its checks look up; what is not known of it is left out, and then not checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kafka_capacity.demand.workload import Lags, Traffic
from kafka_capacity.hardware.cpu import STATED, CpuCosts
from kafka_capacity.hardware.limits import Limits, Resource
from kafka_capacity.health.problem import MAX_TOPICS, Problem, some
from kafka_capacity.kafka.arrays import Flags, Floats, Int32s
from kafka_capacity.kafka.cluster.assignment import replication_factors
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.kafka.controller.partition_states import PartitionStates, states_of
from kafka_capacity.kafka.controller.quorum.voters import Quorum, Voter
from kafka_capacity.text import format_rate, plural

_OF_ONE = {"have": "has", "are": "is", "allow": "allows", "their": "its", "them": "it", "they": "it"}


UNKNOWN_RATE_RATIO = 0.05
"""Partitions without known traffic that hold no more of what is stored are taken for idle: sources leave such out.

As much of what is produced may go to partitions of which it is not known what is read.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RackLoss:
    """What the loss of a rack adds to what is wrong already."""

    rack: str  # its name
    offline: int  # partitions that go offline
    under_min_isr: int  # further partitions that fall under `min.insync.replicas`
    bytes_per_second: float  # what is produced to both on average
    leaderless: int = 0  # partitions without a leader where it leaves no majority of the controllers, else 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClusterView:
    """A cluster as it is, or as a placement would leave it."""

    snapshot: Snapshot  # the cluster
    load: PartitionLoad  # its traffic
    states: PartitionStates  # its partitions as the controller knows them
    factor: Int32s  # int32[P], how many replicas each has
    traffic: Traffic | None = None  # the hours of its traffic; `None` leaves resources that traffic takes unchecked
    has: Mapping[Resource, Floats] | None = None  # float64[B], of each broker; `None` leaves resources unchecked
    are_rates_known: bool = True  # whether partitions of which none is known hold at most `UNKNOWN_RATE_RATIO`
    costs: CpuCosts = STATED  # what traffic takes of processors
    limits: Limits = field(default_factory=Limits)  # how far each resource may be used
    is_read_in_rack: bool = False  # whether consumers read from followers in their rack
    lags: Lags | None = None  # how far groups are behind
    voters: Sequence[Voter] = ()  # of the metadata quorum, where they are known
    quorum: Quorum = field(default_factory=Quorum)  # what an inventory tells of them
    rack_losses: Sequence[RackLoss] = ()  # what the loss of each rack would do, where that was evaluated

    @classmethod
    def of(cls, snapshot: Snapshot, load: PartitionLoad, **known: Any) -> ClusterView:
        """Look everything up; ``known`` are the attributes that have a default."""
        return cls(
            snapshot=snapshot,
            load=load,
            states=states_of(snapshot),
            factor=replication_factors(snapshot.replicas),
            **known,
        )

    def problems(
        self, make: Callable[..., Problem], code: str, rows: Flags, what: str, remedy: str
    ) -> Iterator[Problem]:
        """Make a problem of some partitions, bool[P], where it is of any.

        ``what`` goes on after ``12 partitions of 3 topics``, with its verb in the plural.
        """
        count = int(rows.sum())
        if not count:
            return
        partitions, rate = self.snapshot.partitions, self.rate(rows)
        topics = [partitions.topics[place] for place in np.unique(partitions.topic[rows])]
        receive = "receives" if count == 1 else "receive"
        traffic = f", which {receive} {format_rate(rate)}," if rate else ""
        of = f"{plural(count, 'partition')} of {plural(len(topics), 'topic')}{traffic}"
        message = f"{of} {of_one(what) if count == 1 else what}"
        more = {"partitions": count, "bytes_per_second": rate, "topics": tuple(topics[:MAX_TOPICS])}
        yield make(code, some(topics), message, remedy, **more)

    def rate(self, rows: Flags) -> float:
        """Add up what is produced to some partitions on average."""
        return float(self.load.bytes_in_mean_bytes_per_second[rows].sum())


def of_one(text: str) -> str:
    """Return of one thing what is written of several: its first word, the verb, and what stands for them.

    >>> of_one("have one replica: the loss of its broker stops them")
    'has one replica: the loss of its broker stops it'
    """
    first, *rest = re.split(r"\b", text.strip())[1:]
    others = (_OF_ONE[word] if word in {"their", "them", "they"} else word for word in rest)
    return "".join([_OF_ONE.get(first, first), *others])


def called(what: str, names: Iterable[object]) -> str:
    """Name a few of a kind.

    >>> called("broker", [1]), called("broker", [2, 3])
    ('broker 1', 'brokers 2, 3')
    """
    listed = list(names)
    return f"{what}{'' if len(listed) == 1 else 's'} {some(listed)}"
