"""Small clusters, loads and groups in a few words."""

import numpy as np

from kafka_capacity.kafka.cluster.assignment import Partitions, replica_matrix
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.snapshot import Group, LogDirs, Member, PartitionLag, PartitionLoad, Snapshot, Topics
from kafka_capacity.questions.failures.scenario import FailureSet, SetKind


def made(
    lists, *, isr=None, leaders=None, racks="aabbcc", min_isr=2, unclean=False, network=1e9, groups=(), sizes=None
):
    """Return a snapshot of one topic a partition list, brokers from 10 on."""
    topics = list(lists)
    rows = [(name, row) for name in sorted(topics) for row in lists[name]]
    replicas = replica_matrix([row for _, row in rows])
    names = tuple(sorted(topics))
    in_sync = replicas >= 0
    if isr is not None:
        in_sync = np.array([[b in keep for b in row] for keep, row in zip(isr, replicas, strict=True)])
    count = len(rows)
    ids = [10 + i for i in range(len(racks))]
    return Snapshot(
        cluster="made",
        ds="2026-11-20",
        brokers=Brokers.of(
            ids,
            list(racks),
            network_in_bytes_per_second=[network] * len(ids),
            network_out_bytes_per_second=[network] * len(ids),
        ),
        log_dirs=LogDirs(broker_id=np.empty(0, np.int32), path=(), total_bytes=np.empty(0), usable_bytes=np.empty(0)),
        partitions=Partitions(
            topics=names,
            topic=np.array([names.index(name) for name, _ in rows], dtype=np.int32),
            partition=np.concatenate([np.arange(len(lists[name])) for name in names]).astype(np.int32),
        ),
        topics=Topics(
            min_insync_replicas=np.full(len(names), min_isr, dtype=np.int32),
            is_min_isr_assumed=np.zeros(len(names), dtype=bool),
            is_internal=np.array([name.startswith("__") for name in names]),
            retention_bytes=np.full(len(names), np.nan),
            retention_seconds=np.full(len(names), np.nan),
            is_compacted=np.zeros(len(names), dtype=bool),
            allows_unclean_election=np.full(len(names), unclean),
            is_unclean_assumed=np.zeros(len(names), dtype=bool),
        ),
        replicas=replicas,
        in_sync=in_sync,
        size_bytes=np.where(replicas >= 0, np.array(sizes or [1000] * count)[:, None], 0),
        log_dir=np.full(replicas.shape, -1, dtype=np.int32),
        leader=replicas[:, 0].copy() if leaders is None else np.array(leaders, dtype=np.int32),
        groups=tuple(groups),
    )


def loaded(count, bytes_in=100.0, bytes_out=300.0):
    into, out = (np.broadcast_to(np.asarray(x, dtype=float), (count,)).copy() for x in (bytes_in, bytes_out))
    return PartitionLoad(
        bytes_in_mean_bytes_per_second=into / 2,
        bytes_in_peak_bytes_per_second=into,
        bytes_out_mean_bytes_per_second=out / 2,
        bytes_out_peak_bytes_per_second=out,
        hours=1,
    )


def group(name, *, subscribed=(), assigned=(), lags=()):
    member = Member(member_id="m", client_id="", instance_id=None, rack=None, subscribed=subscribed, assigned=assigned)
    return Group(
        group_id=name,
        state="",
        group_type="",
        protocol_type="",
        assignor=None,
        members=(member,),
        lags=tuple(PartitionLag(topic=t, partition=p, committed_offset=1, lag_records=0) for t, p in lags),
    )


def lost(*sets):
    """Return sets of brokers that are lost together."""
    return tuple(FailureSet(kind=SetKind.GIVEN, name=str(sorted(one)), brokers=tuple(sorted(one))) for one in sets)
