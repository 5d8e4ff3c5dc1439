"""The oracle for clusters too large to try everything: the placement as an integer program of its own, and cases.

Nothing of the placer is used. What HiGHS proves in its time is a bound that no plan is below.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import lil_matrix

from kafka_capacity.kafka.cluster.assignment import Partitions
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.placement import Balance, PlacementProblem, RackRule

KINDS = ("grow", "shrink", "replace", "same", "factor")


def random_problem(seed: int, balance: Balance) -> PlacementProblem:
    """Draw a change of a cluster of up to 10 brokers and 200 partitions."""
    rng = np.random.default_rng([seed, balance is Balance.BYTES])
    observed, kind = int(rng.integers(3, 11)), str(rng.choice(KINDS))
    wanted = {"grow": min(10, observed + int(rng.integers(1, 4))), "shrink": max(3, observed - int(rng.integers(1, 3)))}
    count = wanted.get(kind, observed)
    ids = [*range(1, observed), observed + 1] if kind == "replace" else list(range(1, count + 1))
    racks, partitions = int(rng.choice([0, 2, 3, 5])), int(rng.choice([5, 20, 50, 100, 200]))
    factor = int(min(rng.integers(1, 4), observed, count))
    then = int(np.clip(factor + rng.choice([-1, 1]), 1, count)) if kind == "factor" else factor
    in_turn = np.array([[(p + i) % observed + 1 for i in range(factor)] for p in range(partitions)])
    drawn = np.array([rng.permutation(observed)[:factor] + 1 for _ in range(partitions)])
    before = (in_turn if rng.random() < 0.5 else drawn).astype(np.int32)
    sigma = float(rng.choice([0.0, 0.5, 1.0, 1.5]))
    tolerance = rng.choice([0.02, 0.05, 0.1]) if balance is Balance.BYTES else rng.choice([0.0, 0.0, 0.05])
    return PlacementProblem(
        partitions=Partitions(
            topics=("orders",),
            topic=np.zeros(partitions, dtype=np.int32),
            partition=np.arange(partitions, dtype=np.int32),
        ),
        before=before,
        leader=before[:, 0].copy(),
        size_bytes=(rng.lognormal(0.0, sigma, partitions) * 1e6).astype(np.int64) + 1,
        bytes_in_bytes_per_second=np.ones(partitions),
        target=Brokers.of(ids, [f"r{broker % racks}" if racks else None for broker in ids]),
        replication_factor=np.full(partitions, then, dtype=np.int32),
        seed=0,
        rack_rule=RackRule(rng.choice(["strict", "strict", "two-racks", "off"])),
        balance=balance,
        tolerance_ratio=float(tolerance),
    )


def proven_bytes(
    problem: PlacementProblem,
    lower: np.ndarray,
    upper: np.ndarray,
    unit: np.ndarray,
    *,
    seconds: float,
    gap_ratio: float = 0.0,
) -> float:
    """Return what HiGHS proves that any plan inside the limits copies; infinite where it proves that there is none."""
    partitions, brokers = len(problem.before), len(problem.target)
    names = [rack if rack is not None else f"lone {i}" for i, rack in enumerate(problem.target.racks)]
    racks = sorted(set(names))
    factor = int(problem.replication_factor[0])
    possible = min(factor, len(racks))
    wanted = {"strict": possible, "two-racks": min(2, possible), "off": 1}[problem.rack_rule.value]
    is_home = np.array([[broker in row for broker in problem.target.ids] for row in problem.before])
    scale, unit_scale = float(problem.size_bytes.mean()), float(unit.mean())
    cost = np.where(is_home, 0.0, problem.size_bytes[:, None] / scale)
    rows: list[tuple[np.ndarray, np.ndarray, float, float]] = []
    cell = np.arange(partitions * brokers).reshape(partitions, brokers)
    for p in range(partitions):
        rows.append((cell[p], np.ones(brokers), factor, factor))
        for rack in racks if wanted > 1 else ():
            inside = cell[p][[name == rack for name in names]]
            if wanted == len(racks) and factor > wanted:
                rows.append((inside, np.ones(len(inside)), 1, np.inf))
            else:
                rows.append((inside, np.ones(len(inside)), 0, factor - wanted + 1))
    for b in range(brokers):
        low, high = (side[b] / unit_scale for side in (lower, upper))
        rows.append((cell[:, b], unit / unit_scale, low - 1e-9 * (1 + abs(low)), high + 1e-9 * (1 + abs(high))))
    matrix = lil_matrix((len(rows), partitions * brokers))
    for number, (cells, weights, _, _) in enumerate(rows):
        matrix[number, cells] = weights
    found = milp(
        cost.ravel(),
        constraints=LinearConstraint(matrix.tocsr(), [row[2] for row in rows], [row[3] for row in rows]),
        integrality=np.ones(cost.size),
        bounds=Bounds(0, 1),
        options={"time_limit": seconds, "mip_rel_gap": gap_ratio},
    )
    infeasible = 2
    if found.status == infeasible:
        return float("inf")
    return float(found.mip_dual_bound or 0.0) * scale
