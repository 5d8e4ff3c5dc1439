"""The cheapest assignment by count as a min-cost flow of OR-Tools; run by ``benchmarks.placement``.

    python benchmarks/placement_flow.py CASE.npz

needs ortools and numpy, nothing of ours. A unit flows from its partition through one of the racks, each of which takes
one, to a broker; it costs the partition's size in MiB where it was not there before. Prints seconds in all, seconds of
the solver, bytes moved.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from ortools.graph.python import min_cost_flow  # type: ignore[import-not-found]  # not in our lock


def main() -> None:
    """Build, solve, print."""
    with np.load(sys.argv[1]) as case:
        home, size, rack, lower, upper = (case[name] for name in ("home", "size", "rack", "lower", "upper"))
    start = time.perf_counter()
    partitions, factor = home.shape
    brokers, racks = len(rack), int(rack.max()) + 1
    price = np.maximum(1, size // 2**20)
    # Nodes: partitions, the racks of each partition, brokers, the end.
    first_rack, first_broker = partitions, partitions * (1 + racks)
    end = first_broker + brokers
    row = np.arange(partitions)
    flow = min_cost_flow.SimpleMinCostFlow()
    of_rack = first_rack + row[:, None] * racks + np.arange(racks)
    flow.add_arcs_with_capacity_and_unit_cost(
        np.repeat(row, racks), of_rack.ravel(), np.ones(partitions * racks), np.zeros(partitions * racks)
    )
    is_home = np.zeros((partitions, brokers + 1), dtype=bool)
    is_home[row[:, None], home] = True
    is_home = is_home[:, :brokers]
    arcs = flow.add_arcs_with_capacity_and_unit_cost(
        (first_rack + row[:, None] * racks + rack).ravel(),
        np.tile(first_broker + np.arange(brokers), partitions),
        np.ones(partitions * brokers),
        np.where(is_home, 0, price[:, None]).ravel(),
    )
    # The lower limit is paid for by a reward larger than all else together would be; counts differ by one at most.
    reward = int(price.max()) * 4
    last = first_broker + np.arange(brokers)
    flow.add_arcs_with_capacity_and_unit_cost(last, np.full(brokers, end), lower, np.full(brokers, -reward))
    flow.add_arcs_with_capacity_and_unit_cost(last, np.full(brokers, end), upper - lower, np.zeros(brokers))
    flow.set_nodes_supplies(np.append(row, end), np.append(np.full(partitions, factor), -partitions * factor))
    solving = time.perf_counter()
    status = flow.solve()
    stop = time.perf_counter()
    if status != flow.OPTIMAL:
        raise SystemExit(f"not solved: {status}")
    used = (flow.flows(arcs) > 0).reshape(partitions, brokers)
    moved = int(((used & ~is_home).sum(axis=1) * size).sum())
    print(stop - start, stop - solving, moved)


if __name__ == "__main__":
    main()
