"""The controller quorum: random courses against the invariants, and the time without a leader after failures.

    python -m benchmarks.quorum --courses 10000 --runs 400

Takes about a minute for 1,500 courses. Prints what was checked, then a Markdown table.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from kafka_capacity.kafka.controller.quorum.messages import Rpc
from kafka_capacity.kafka.controller.quorum.settings import Spread
from kafka_capacity.kafka.controller.quorum.simulation import FailureKind
from tests.failovers import fail_leader
from tests.unit.kafka.controller.quorum.random_traces import random_trace


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--courses", type=int, default=10_000, help="random courses; one that breaks a rule ends it all"
    )
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--runs", type=int, default=400, help="of each failure")
    parser.add_argument("--least-delay-ms", type=float, default=0.2, help="of a message one way")
    parser.add_argument("--max-delay-ms", type=float, default=1.0)
    given = parser.parse_args()
    _check(given.first_seed, given.courses)
    delay = Spread(given.least_delay_ms / 1000, given.max_delay_ms / 1000)
    print("| voters | failure | leaderless, s: 5 % | 50 % | 95 % | 99 % | more than one election | requests, mean |")
    print("|---:|---|---:|---:|---:|---:|---:|---|")
    for voters in (3, 5):
        for failure in FailureKind:
            found = fail_leader(voters, failure, runs=given.runs, seed=1, delay=delay)
            times = " | ".join(f"{found.quantile(share):.3f}" for share in (0.05, 0.5, 0.95, 0.99))
            counts = ", ".join(f"{rpc} {np.mean(found.rpcs[rpc]):.0f}" for rpc in Rpc if found.rpcs[rpc].any())
            print(f"| {voters} | {failure} | {times} | {found.split_vote_ratio:.0%} | {counts} |", flush=True)


def _check(first_seed: int, courses: int) -> None:
    start = time.monotonic()
    done = [random_trace(seed) for seed in range(first_seed, first_seed + courses)]
    print(
        f"{len(done):,} random courses with {sum(course.faults for course in done):,} faults, "
        f"{sum(course.elections for course in done):,} elections and {sum(course.committed for course in done):,} "
        f"committed records: every invariant held. Back at work after {max(c.recovery_seconds for c in done):.1f} s "
        f"at most ({time.monotonic() - start:.0f} s)\n",
        flush=True,
    )


if __name__ == "__main__":
    main()
