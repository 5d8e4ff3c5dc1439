"""The cluster that losses happen to: as it is today, or as a placement leaves it."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.workload import Traffic
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.proposal.growing import Grown
from kafka_capacity.proposal.scenario import PlacementResult
from kafka_capacity.questions.failures.ground import placed_snapshot


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Standing:
    """What a failure scenario stands on.

    Attributes:
        snapshot: the cluster.
        load: traffic of its partitions.
        traffic: the same hour by hour.
    """

    snapshot: Snapshot
    load: PartitionLoad
    traffic: Traffic

    def after(self, placed: PlacementResult) -> Standing:
        """Stand on a placement of this cluster, once all of it is done.

        Raises:
            RequestError: Kafka refuses the placement, so that there is none.
        """
        snapshot = placed_snapshot(self.snapshot, placed)
        grown = placed.grown
        if grown is None:
            return dataclasses.replace(self, snapshot=snapshot)
        return Standing(snapshot=snapshot, load=grown.load, traffic=shared_traffic(self.traffic, grown))


def shared_traffic(traffic: Traffic, grown: Grown) -> Traffic:
    """Share the hours of topics that get more partitions evenly by all of them, as their load is shared."""
    topic = grown.snapshot.partitions.topic
    raised = np.unique(topic[grown.is_new])

    def shared(hours: NDArray[np.float32]) -> NDArray[np.float32]:
        wide = np.zeros((len(topic), hours.shape[1]), dtype=np.float32)
        wide[~grown.is_new] = hours
        for one in raised.tolist():
            rows = topic == one
            wide[rows] = wide[rows].mean(axis=0)
        return wide

    return dataclasses.replace(traffic, bytes_in=shared(traffic.bytes_in), bytes_out=shared(traffic.bytes_out))
