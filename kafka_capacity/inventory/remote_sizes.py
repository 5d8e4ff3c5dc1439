"""What the object store holds of topics in tiered storage (KIP-405): as brokers measure it, else as it comes out.

Brokers measure it topic by topic, of the partitions that they lead (``RemoteLogSizeBytes``, KIP-963). Without that, it
is what is produced on average over the whole retention, less the time by which uploads are held back (KIP-1241, Kafka
4.4): a closed segment is uploaded as soon as it is as old as ``remote.copy.lag.ms`` or as far from the end of the log
as ``remote.copy.lag.bytes``, whichever comes first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_capacity.inventory.column_values import Flags, Floats
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.sizing_workload import kept_seconds, topic_column, unlimited
from kafka_capacity.kafka.cluster.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RemoteSizes:
    """What the object store holds of T topics."""

    held: Floats  # float64[T], bytes; infinite or NaN where that is not known
    is_measured: Flags  # bool[T], whether brokers measured it


def remote_sizes(raw: RawInventory, snapshot: Snapshot, rate: Floats) -> RemoteSizes:
    """Return what the object store holds of each topic, if all of it is tiered; ``rate`` is produced, float64[P]."""
    topics, topic = snapshot.topics, snapshot.partitions.topic
    local = kept_seconds(raw, snapshot)
    lag = np.nan_to_num(topic_column(raw, snapshot, "remote_copy_lag_ms")) / 1000
    held_back = np.where(lag < 0, local, np.minimum(lag, local))[topic]
    lag_bytes = topic_column(raw, snapshot, "remote_copy_lag_bytes")
    beyond = np.where(lag_bytes >= 0, lag_bytes, np.inf)[topic]
    is_moving = rate > 0

    def produced(seconds: Floats) -> Floats:
        return np.multiply(rate, seconds, out=np.zeros(len(rate)), where=is_moving)

    whole = np.fmin(produced(unlimited(topics.retention_seconds)[topic]), topics.retention_bytes[topic])
    kept_back = np.minimum(np.minimum(produced(held_back), beyond), whole)
    left = whole - np.where(np.isinf(whole), 0.0, kept_back)
    estimate = np.bincount(topic, weights=left, minlength=len(snapshot.partitions.topics))
    measured = topic_column(raw, snapshot, "remote_bytes")
    is_measured = np.asarray(measured >= 0, dtype=np.bool_)  # not known is not
    return RemoteSizes(held=np.where(is_measured, measured, estimate), is_measured=is_measured)
