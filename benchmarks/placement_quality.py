"""Hold the placer against the exact optimum on many small clusters.

    python -m benchmarks.placement_quality --cases 500

By count the optimum is exact; by bytes it is what HiGHS proves in its time. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from kafka_capacity.kafka.cluster.diff import diff_assignments
from kafka_capacity.kafka.placement import Balance, PlacementProblem, placer
from kafka_capacity.kafka.placement.bounds import lower_bound
from kafka_capacity.kafka.placement.shares import balance_limits, broker_loads
from tests.unit.kafka.placement.optimum import proven_bytes, random_problem


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Hold the placer against the exact optimum on small clusters.")
    parser.add_argument("--cases", type=int, default=500, help="of each balance")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seconds", type=float, default=5.0, help="for HiGHS and a case, at most")
    given = parser.parse_args()
    print("| balance | cases | at the bound | ≤ 1.005× | largest | outside the limits | can be inside | s a case |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for balance in Balance:
        ratios, outside, reachable, seconds = [], 0, 0, 0.0
        for seed in range(given.first, given.first + given.cases):
            problem = random_problem(seed, balance)
            start = time.perf_counter()
            after = placer("fewest-bytes").place(problem)
            seconds += time.perf_counter() - start
            is_inside, ratio = _measured(problem, after, given.seconds)
            if is_inside:
                ratios.append(ratio)
                continue
            outside += 1
            limits = balance_limits(problem)
            proven = proven_bytes(problem, limits.lower, limits.upper, limits.unit, seconds=given.seconds)
            reachable += bool(np.isfinite(proven))
        found = np.array(ratios)
        print(
            f"| {balance.value} | {given.cases} | {(found <= 1.00001).mean():.1%} | {(found <= 1.005).mean():.1%} "
            f"| {found.max():.4f} | {outside} | {reachable} | {seconds / given.cases:.3f} |",
            flush=True,
        )


def _measured(problem: PlacementProblem, after: np.ndarray, seconds: float) -> tuple[bool, float]:
    """Return whether a plan is inside the limits, and what it moves as a ratio of what is proven."""
    limits = balance_limits(problem)
    load = broker_loads(problem, limits, after)
    if not ((load >= limits.lower * (1 - 1e-9)) & (load <= limits.upper * (1 + 1e-9))).all():
        return False, np.nan
    moved = diff_assignments(problem.before, after).moved_bytes(problem.size_bytes)
    bound = float(lower_bound(problem, limits).bytes)
    if moved > bound * 1.00001:
        gap = 0.001 if problem.balance is Balance.BYTES else 0.0
        proven = proven_bytes(problem, limits.lower, limits.upper, limits.unit, seconds=seconds, gap_ratio=gap)
        bound = max(bound, proven if np.isfinite(proven) else 0.0)
    return True, moved / bound if bound else 1.0 + moved


if __name__ == "__main__":
    main()
