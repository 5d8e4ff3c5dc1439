"""The clusters that the placers are timed on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.cluster.assignment import Partitions
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.placement import Balance, PlacementProblem, RackRule

PARTITIONS_A_TOPIC = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A cluster, every partition on random brokers of different racks, and how many brokers come or go."""

    partitions: int
    brokers: int
    change: int
    racks: int
    balance: Balance
    tolerance_ratio: float
    factor: int = 3
    sigma: float = 1.0

    def label(self) -> str:
        """Describe it in a table."""
        kind = f"{self.balance.value}, within {self.tolerance_ratio:.0%}"
        skew = "" if self.sigma == 1.0 else f", sizes σ {self.sigma:g}"
        return f"{self.partitions:,} × {self.brokers} {self.change:+d}, {self.racks} racks | {kind}{skew}"

    def problem(self) -> PlacementProblem:
        """Draw it; sizes are log-normal by topic and by partition."""
        rng = np.random.default_rng(7)
        racks = np.argsort(rng.random((self.partitions, self.racks)), axis=1)[:, : self.factor]
        sizes = np.bincount(np.arange(self.brokers) % self.racks, minlength=self.racks)
        before = racks + self.racks * (rng.random(racks.shape) * sizes[racks]).astype(np.int64)
        topics = self.partitions // PARTITIONS_A_TOPIC
        topic = np.repeat(np.arange(topics), PARTITIONS_A_TOPIC).astype(np.int32)
        size = rng.lognormal(0.0, self.sigma, topics)[topic] * rng.lognormal(0.0, self.sigma / 2, self.partitions)
        ids = range(self.brokers + self.change)
        return PlacementProblem(
            partitions=Partitions(
                topics=tuple(f"topic-{number:06d}" for number in range(topics)),
                topic=topic,
                partition=np.tile(np.arange(PARTITIONS_A_TOPIC), topics).astype(np.int32),
            ),
            before=before.astype(np.int32),
            leader=before[:, 0].astype(np.int32),
            size_bytes=(size * 2e9).astype(np.int64),
            bytes_in_bytes_per_second=rng.lognormal(0.0, 1.0, topics)[topic] * 1e5,
            target=Brokers.of(list(ids), [f"rack{i % self.racks}" for i in ids]),
            replication_factor=np.full(self.partitions, self.factor, dtype=np.int32),
            seed=0,
            rack_rule=RackRule.STRICT,
            balance=self.balance,
            tolerance_ratio=self.tolerance_ratio,
        )
