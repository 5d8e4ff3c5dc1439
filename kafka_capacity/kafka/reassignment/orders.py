"""In which order partitions move, and how soon that relieves the broker that is worst off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Floats, Indices
from kafka_capacity.kafka.reassignment.cells import Flows
from kafka_capacity.kafka.reassignment.hops import Hops
from kafka_capacity.kafka.reassignment.problem import EXPECTED, HIGH, MoveProblem, Order
from kafka_capacity.kafka.reassignment.traffic import Carried, sent_by_leader


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pressure:
    """How full and how busy brokers are, and which is the worst of those that the move relieves."""

    ratio: Floats  # float64[B], the fullest or busiest resource of each broker that the move relieves, 0 for the others
    broker: int | None  # position of the worst broker, `None` where the move relieves nobody
    resource: str  # what it is short of: `disk`, `network_in` or `network_out`


def pressure(problem: MoveProblem, before: Carried, after: Carried) -> Pressure:
    """Find the broker that most needs the move.

    Each resource is looked at as a share of what there is, at the high rates; a broker counts where the move leaves it
    with less. Where nobody's capacity is known, the bytes it holds count, as a share of the most that one holds.
    """
    brokers = problem.brokers
    sides = [
        (each.held_bytes, each.written_bytes_per_second[HIGH], each.sent_bytes_per_second[HIGH])
        for each in (before, after)
    ]
    limits = (problem.disk_limit_bytes, brokers.network_in_bytes_per_second, brokers.network_out_bytes_per_second)
    ratios = np.zeros((3, len(brokers)))
    for resource, (now, then, limit) in enumerate(zip(sides[0], sides[1], limits, strict=True)):
        known = np.isfinite(limit) & (limit > 0) & (then < now)
        ratios[resource] = np.where(known, now / np.where(known, limit, 1.0), 0.0)
    if not ratios.any():
        held, kept = sides[0][0], sides[1][0]
        ratios[0] = np.where(kept < held, held / max(1.0, float(held.max(initial=0.0))), 0.0)
    if not ratios.any():
        return Pressure(ratio=np.zeros(len(brokers)), broker=None, resource="disk")
    number, broker = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
    return Pressure(
        ratio=ratios.max(axis=0), broker=int(broker), resource=("disk", "network_in", "network_out")[int(number)]
    )


def in_order(problem: MoveProblem, hops: Hops, flows: Flows, order: Order, worst: Pressure) -> Indices:
    """Return the positions of hops in an order; equals stay as the partitions stand."""
    size = problem.size_bytes[hops.row].astype(np.float64)
    if order is Order.SMALLEST_FIRST:
        return np.argsort(size * flows.joining, kind="stable")
    if order is Order.HOTTEST_FIRST:
        rate = problem.bytes_in_bytes_per_second[EXPECTED] + problem.bytes_out_bytes_per_second[EXPECTED]
        return np.lexsort((size, -rate[hops.row]))
    leaves = np.zeros(len(hops))
    known = flows.gone >= 0
    np.maximum.at(leaves, flows.gone_hop[known], worst.ratio[flows.gone[known]])
    yields = np.where((flows.leader_after != flows.leader) & (flows.leader >= 0), worst.ratio[flows.leader], 0.0)
    return np.lexsort((-size, -np.maximum(leaves, yields)))


def relieving_wave(problem: MoveProblem, hops: Hops, flows: Flows, wave_count: int, worst: Pressure) -> int | None:
    """Return the first wave after which the worst broker has no more than at the end, ``None`` where none does that."""
    if worst.broker is None or not wave_count:
        return None
    rate_in, rate_out = problem.bytes_in_bytes_per_second[HIGH], problem.bytes_out_bytes_per_second[HIGH]
    change = np.zeros(len(hops))
    if worst.resource == "network_out":
        for leader, matrix, sign in ((flows.leader_after, hops.after, 1.0), (flows.leader, hops.before, -1.0)):
            led = np.flatnonzero(leader == worst.broker)
            rows = hops.row[led]
            change[led] += sign * sent_by_leader(matrix[led], rate_in[rows], rate_out[rows])
    else:
        weight = problem.size_bytes.astype(np.float64) if worst.resource == "disk" else rate_in
        arrives = flows.copy_hop[flows.destination == worst.broker]
        goes = flows.gone_hop[flows.gone == worst.broker]
        change[arrives] += weight[hops.row[arrives]]
        change[goes] -= weight[hops.row[goes]]
    level = np.cumsum(np.bincount(hops.wave, weights=change, minlength=wave_count))
    if level[-1] >= 0:
        return None
    return int(np.argmax(level <= level[-1] * (1 - 1e-9)))
