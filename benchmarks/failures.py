"""Every single broker of a large cluster lost: who leads, what is offline, what refuses writes.

    python -m benchmarks.failures [--brokers 500] [--partitions 1000000]

Replication factor 3 in three racks, all replicas in sync, placed by draw. *Elections* is the controller's part alone;
*the whole matrix* adds topics, the load of the survivors and the time to rebuild.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from kafka_capacity.kafka.cluster.assignment import Partitions
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.snapshot import LogDirs, PartitionLoad, Snapshot, Topics
from kafka_capacity.kafka.controller.failing import ElectionRules, losses
from kafka_capacity.kafka.controller.partition_states import PartitionStates
from kafka_capacity.questions.failures.evaluate import evaluate_failures
from kafka_capacity.questions.failures.scenario import FailureScenario, SetKind

FACTOR = 3
PARTITIONS_OF_A_TOPIC = 100


def drawn_states(brokers: int, partitions: int, seed: int = 0) -> PartitionStates:
    """Place partitions by draw, a replica in each rack."""
    rng = np.random.default_rng(seed)
    per_rack = brokers // FACTOR
    order = np.argsort(rng.random((partitions, FACTOR)), axis=1)
    replicas = (rng.integers(per_rack, size=(partitions, FACTOR)) * FACTOR + order).astype(np.int32)
    return PartitionStates.of(
        replicas,
        np.ones(replicas.shape, dtype=np.bool_),
        replicas[:, 0],
        min_insync_replicas=np.full(partitions, 2, dtype=np.int32),
        is_unclean_allowed=np.zeros(partitions, dtype=np.bool_),
        is_live=np.ones(brokers, dtype=np.bool_),
    )


def drawn_cluster(states: PartitionStates, seed: int = 0) -> tuple[Snapshot, PartitionLoad]:
    """Return the same partitions as a cluster, 100 to a topic, with traffic by draw."""
    rng = np.random.default_rng(seed)
    count, brokers = len(states), len(states.is_live)
    topic = np.arange(count, dtype=np.int32) // PARTITIONS_OF_A_TOPIC
    topics = int(topic[-1]) + 1
    network = [1.25e9] * brokers
    rates = rng.lognormal(10.0, 1.0, size=(2, count))
    flags = np.zeros(topics, dtype=np.bool_)
    snapshot = Snapshot(
        cluster="drawn",
        ds="2026-11-20",
        brokers=Brokers.of(
            range(brokers),
            [f"rack-{broker % FACTOR}" for broker in range(brokers)],
            network_in_bytes_per_second=network,
            network_out_bytes_per_second=network,
        ),
        log_dirs=LogDirs(
            broker_id=np.empty(0, dtype=np.int32), path=(), total_bytes=np.empty(0), usable_bytes=np.empty(0)
        ),
        partitions=Partitions(
            topics=tuple(f"topic-{place:06}" for place in range(topics)),
            topic=topic,
            partition=np.arange(count, dtype=np.int32) % PARTITIONS_OF_A_TOPIC,
        ),
        topics=Topics(
            min_insync_replicas=np.full(topics, 2, dtype=np.int32),
            is_internal=flags,
            retention_bytes=np.full(topics, np.nan),
            retention_seconds=np.full(topics, np.nan),
            is_compacted=flags,
            allows_unclean_election=flags,
            is_min_isr_assumed=flags,
            is_unclean_assumed=flags,
        ),
        replicas=states.replicas,
        in_sync=states.in_sync,
        size_bytes=np.full(states.replicas.shape, 1 << 30, dtype=np.int64),
        log_dir=np.full(states.replicas.shape, -1, dtype=np.int32),
        leader=states.replicas[:, 0],
    )
    load = PartitionLoad(
        bytes_in_mean_bytes_per_second=rates[0] / 2,
        bytes_in_peak_bytes_per_second=rates[0],
        bytes_out_mean_bytes_per_second=rates[1] / 2,
        bytes_out_peak_bytes_per_second=rates[1],
        hours=1,
    )
    return snapshot, load


def elections(states: PartitionStates, rules: ElectionRules) -> int:
    """Lose every broker by itself; returns how many leaders are elected in all."""
    elected = 0
    for part in losses(states, [[broker] for broker in range(len(states.is_live))], rules):
        elected += int((part.after.leader != part.before.leader).sum())
    return elected


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Print how long something takes: on the clock, and of processors."""
    clock, processor = time.perf_counter(), time.process_time()
    yield
    seconds, busy = time.perf_counter() - clock, time.process_time() - processor
    sys.stdout.write(f"{what}: {seconds:.1f} s, {busy:.1f} processor s\n")
    sys.stdout.flush()


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--brokers", type=int, default=500)
    parser.add_argument("--partitions", type=int, default=1_000_000)
    chosen = parser.parse_args(words)
    states = drawn_states(chosen.brokers, chosen.partitions)
    for rules in ElectionRules:
        with timed(f"elections, {rules}: {chosen.brokers:,} losses"):
            elections(states, rules)
    snapshot, load = drawn_cluster(states)
    for kinds in ((SetKind.BROKER,), (SetKind.RACK,), (SetKind.RACK_AND_BROKER,), (SetKind.PAIR,)):
        with timed(f"the whole matrix, {kinds[0]}"):
            evaluate_failures(snapshot, load, FailureScenario(kinds=kinds))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    sys.stdout.write(f"at most {peak:.2f} GiB\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
