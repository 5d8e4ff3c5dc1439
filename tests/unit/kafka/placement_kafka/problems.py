"""Placement problems in one line."""

import numpy as np

from kafka_capacity.kafka.cluster.assignment import Partitions, replica_matrix
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.placement import Balance, PlacementProblem, RackRule


def problem(before, target, *, factors=None, seed=1, rack_rule=RackRule.STRICT):
    """Make a problem of ``{topic: [replicas of each partition]}`` and target brokers; factors as now by default."""
    names = tuple(sorted(before))
    rows = [replicas for name in names for replicas in before[name]]
    wanted = [len(row) for row in rows] if factors is None else factors
    return PlacementProblem(
        partitions=Partitions(
            topics=names,
            topic=np.repeat(np.arange(len(names)), [len(before[name]) for name in names]).astype(np.int32),
            partition=np.array([number for name in names for number in range(len(before[name]))], dtype=np.int32),
        ),
        before=replica_matrix(rows),
        leader=np.array([row[0] if row else -1 for row in rows], dtype=np.int32),
        size_bytes=np.full(len(rows), 100, dtype=np.int64),
        bytes_in_bytes_per_second=np.ones(len(rows)),
        target=target if isinstance(target, Brokers) else Brokers.of(target),
        replication_factor=np.array(wanted, dtype=np.int32),
        seed=seed,
        rack_rule=rack_rule,
        balance=Balance.BYTES,
        tolerance_ratio=0.1,
    )
