"""Settings of topics that turn one failure into an outage or a loss."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_capacity.health.cluster_view import ClusterView
from kafka_capacity.health.problem import Code, Problem, serious, warning
from kafka_capacity.kafka.cluster.snapshot import (
    INTERNAL_TOPICS,
    OFFSETS_TOPIC,
    USUAL_FACTOR,
    USUAL_MIN_ISR,
    PartitionLoad,
    Snapshot,
    usual_factor,
)
from kafka_capacity.text import plural

_AT_MIN_ISR = (
    "have min.insync.replicas equal to their replication factor: any single loss, any rolling restart, makes writes "
    "with acks=all fail",
    "lower min.insync.replicas by one, or add a replica",
)
"""What is wrong, and its remedy."""


def lower_factor_problems(snapshot: Snapshot, load: PartitionLoad, replication_factor: int | None) -> list[Problem]:
    """Return what a smaller replication factor that is proposed would bring about; ``None`` proposes none."""
    if replication_factor is None:
        return []
    view = ClusterView.of(snapshot, load)
    least = snapshot.topics.min_insync_replicas[snapshot.partitions.topic]
    is_brought = (replication_factor > 1) & (least == replication_factor) & (view.factor > least)
    what, remedy = _AT_MIN_ISR
    return list(view.problems(serious, Code.MIN_ISR_EQUALS_RF, is_brought, f"would {what}", remedy))


def check_settings(view: ClusterView) -> Iterator[Problem]:
    """Look at replication factors, min.insync.replicas and unclean elections."""
    snapshot, factor = view.snapshot, view.factor
    topic = snapshot.partitions.topic
    least = snapshot.topics.min_insync_replicas[topic]
    what = "have one replica: losing its broker stops them, losing its disk loses their data"
    remedy = "add brokers: a single broker cannot hold a second replica"
    if len(snapshot.brokers) > 1:
        remedy = f"raise the replication factor to {usual_factor(len(snapshot.brokers))}"
    yield from view.problems(serious, Code.SINGLE_REPLICA, factor == 1, what, remedy)
    what = (
        "have min.insync.replicas above their replication factor: brokers before 3.7 reject every write with acks=all, "
        "later ones once a replica is lost"
    )
    remedy = "lower min.insync.replicas below the replication factor, to 1 for a single replica, or add replicas"
    yield from view.problems(warning, Code.MIN_ISR_ABOVE_RF, least > factor, what, remedy)
    is_at = (factor > 1) & (least == factor)
    yield from view.problems(warning, Code.MIN_ISR_EQUALS_RF, is_at, *_AT_MIN_ISR)
    what = (
        "have three or more replicas but min.insync.replicas 1: the leader alone may acknowledge a write with acks=all "
        "and then be lost with it"
    )
    is_one = (factor >= USUAL_FACTOR) & (least == 1) & ~snapshot.topics.is_min_isr_assumed[topic]
    yield from view.problems(warning, Code.MIN_ISR_ONE, is_one, what, "set min.insync.replicas to 2")
    what = (
        "allow unclean elections: when all in-sync replicas are lost, one that lags takes over, and the records it "
        "lacks are lost for good"
    )
    remedy = "set unclean.leader.election.enable to false, unless availability matters more than the records"
    allowed = snapshot.topics.allows_unclean_election[topic]
    yield from view.problems(warning, Code.UNCLEAN_ELECTION, allowed, what, remedy)
    yield from _internal(view)


def _internal(view: ClusterView) -> Iterator[Problem]:
    snapshot, partitions = view.snapshot, view.snapshot.partitions
    usual = usual_factor(len(snapshot.brokers))
    for name, purpose in INTERNAL_TOPICS.items():
        if name not in partitions.topics or usual < 2:
            continue
        place = partitions.topics.index(name)
        rows = partitions.topic == place
        factor, least = int(view.factor[rows].min()), int(snapshot.topics.min_insync_replicas[place])
        depend = f"{plural(len(snapshot.groups), 'group')} depend{'s' if len(snapshot.groups) == 1 else ''}"
        groups = f", on which {depend}" if name == OFFSETS_TOPIC and snapshot.groups else ""
        more = {"topics": (name,), "partitions": int(rows.sum())}
        if factor < usual:
            # Kafka writes to these with acks=all: where both of two replicas must be in sync, one loss is enough.
            loss = "one loss stops" if factor == 1 else "one loss stops writes to" if least > 1 else "two losses stop"
            message = (
                f"{name}, {purpose}, has {plural(factor, 'replica')} where {usual} are standard{groups}: {loss} its "
                "partitions"
            )
            remedy = f"raise its replication factor to {usual}"
            yield serious(Code.INTERNAL_TOPIC_REPLICAS, name, message, remedy, **more)
        if factor >= USUAL_FACTOR and least < USUAL_MIN_ISR and not snapshot.topics.is_min_isr_assumed[place]:
            message = (
                f"{name}, {purpose}, has min.insync.replicas {least}{groups}: a single broker may acknowledge a write "
                "and then be lost with it"
            )
            remedy = f"set its min.insync.replicas to {USUAL_MIN_ISR}"
            yield warning(Code.INTERNAL_TOPIC_MIN_ISR, name, message, remedy, **more)
