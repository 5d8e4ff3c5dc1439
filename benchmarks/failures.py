"""Every single broker of a large cluster lost: who leads, what is offline, what refuses writes.

    python -m benchmarks.failures [--brokers 500] [--partitions 1000000]

Replication factor 3 in three racks, all replicas in sync, placed by draw. *Elections* is the controller's part alone;
*the whole matrix* adds topics, the load of the survivors and the time to rebuild.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

import numpy as np

from kafka_capacity.controller.failing import ElectionRules, losses
from kafka_capacity.controller.partition_states import PartitionStates

FACTOR = 3


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


def elections(states: PartitionStates, rules: ElectionRules) -> tuple[float, int]:
    """Lose every broker by itself; gives seconds, and how many leaders are elected in all."""
    began = time.perf_counter()
    elected = 0
    for part in losses(states, [[broker] for broker in range(len(states.is_live))], rules):
        elected += int((part.after.leader != part.before.leader).sum())
    return time.perf_counter() - began, elected


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--brokers", type=int, default=500)
    parser.add_argument("--partitions", type=int, default=1_000_000)
    chosen = parser.parse_args(words)
    states = drawn_states(chosen.brokers, chosen.partitions)
    for rules in ElectionRules:
        seconds, elected = elections(states, rules)
        sys.stdout.write(f"elections, {rules}: {chosen.brokers:,} losses, {elected:,} new leaders, {seconds:.1f} s\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
