"""What a wave may use up: room on disks, moves at once, seconds and traffic of each broker and direction.

All of it adds up over the hops of a wave, time too: a gate with throttle T closes n bytes, of which w a second are
produced again, within L seconds if n + L·w ≤ L·T.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Floats, Indices, Int32s
from kafka_capacity.kafka.reassignment.cells import Flows
from kafka_capacity.kafka.reassignment.cut import Uses
from kafka_capacity.kafka.reassignment.hops import Hops
from kafka_capacity.kafka.reassignment.problem import EXPECTED, MoveProblem
from kafka_capacity.kafka.reassignment.traffic import BrokerThrottles, Carried


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Budgets:
    """What hops of one problem may use. The first B resources are the brokers' disks, the next D the directories."""

    budget: Floats  # float64[R], infinite where nothing limits
    is_ration: Flags  # bool[R], new in every wave
    throttles: BrokerThrottles  # of the brokers
    # float64[B], what each network takes beside the traffic for which waves are cut, NaN where it is not known
    spare_in: Floats
    spare_out: Floats  # float64[B]

    def with_left(self, left: Floats) -> Floats:
        """Return the budget of the next wave, stocks as they are left."""
        return np.where(self.is_ration, self.budget, left)


def budgets_of(problem: MoveProblem, throttles: BrokerThrottles, before: Carried) -> Budgets:
    """Work out what the waves of a problem may use; ``before`` is what brokers carry at the start."""
    brokers, settings = problem.brokers, problem.settings
    traffic = problem.cutting_ratio
    spare_in = brokers.network_in_bytes_per_second - traffic * before.written_bytes_per_second[EXPECTED]
    spare_out = brokers.network_out_bytes_per_second - traffic * before.sent_bytes_per_second[EXPECTED]
    t_in, t_out = throttles.in_bytes_per_second, throttles.out_bytes_per_second
    limits = (settings.max_concurrent_moves_per_broker, problem.max_wave_seconds, settings.max_traffic_ratio)
    count, span, share = (np.inf if limit is None else float(limit) for limit in limits)

    def times(amount: Floats, factor: float) -> Floats:
        return np.maximum(amount, 0.0) * factor if np.isfinite(factor) else np.full(len(amount), np.inf)

    stocks = [problem.disk_limit_bytes - before.held_bytes, problem.log_dir_limit_bytes - before.dir_bytes]
    rations = [
        np.full(2 * len(brokers), count),
        times(np.fmin(t_in, spare_in), span),
        times(t_out, span),
        times(spare_out, span),
        times(t_in, share),
        times(t_out, share),
    ]
    budget = np.concatenate([*stocks, *rations])
    return Budgets(
        budget=np.where(np.isnan(budget), np.inf, budget),
        is_ration=np.arange(len(budget)) >= sum(len(each) for each in stocks),
        throttles=throttles,
        spare_in=spare_in,
        spare_out=spare_out,
    )


def uses_of(problem: MoveProblem, hops: Hops, flows: Flows, budget: Floats) -> tuple[Uses, Uses]:
    """Return what hops use of budgets that are limited, and what they give back when their wave is over."""
    brokers, dirs = len(problem.brokers), len(problem.log_dirs.path)
    span = problem.max_wave_seconds or 0.0
    rate = problem.cutting_ratio * problem.bytes_in_bytes_per_second[EXPECTED, hops.row]
    size = problem.size_bytes[hops.row].astype(np.float64)
    copied, followers = size * flows.joining, hops.followers + flows.joining
    arriving = problem.cutting_ratio * flows.rate[EXPECTED]
    one, all_hops = np.ones(len(flows.size)), np.arange(len(hops))
    first = brokers + dirs
    parts = [
        (flows.copy_hop, flows.destination, flows.size),
        (flows.copy_hop, np.where(flows.copy_dir >= 0, flows.copy_dir + brokers, -1), flows.size),
        (flows.copy_hop, flows.destination + first, one),
        (all_hops, _at(flows.leader, first + brokers), flows.joining.astype(np.float64)),
        (flows.copy_hop, flows.destination + first + 2 * brokers, flows.size + span * arriving),
        (all_hops, _at(flows.leader, first + 3 * brokers), copied + span * rate * followers),
        (all_hops, _at(flows.leader, first + 4 * brokers), copied + span * rate * flows.joining),
        (flows.copy_hop, flows.destination + first + 5 * brokers, arriving),
        (all_hops, _at(flows.leader, first + 6 * brokers), rate * followers),
    ]
    back = [
        (flows.gone_hop, flows.gone, flows.gone_size),
        (flows.gone_hop, np.where(flows.gone_dir >= 0, flows.gone_dir + brokers, -1), flows.gone_size),
    ]
    return _joined(parts, budget), _joined(back, budget)


def is_endless(problem: MoveProblem, hops: Hops, flows: Flows, budgets: Budgets) -> Flags:
    """Return which hops never end even alone, at the expected rates: bool[M]."""
    rate = problem.cutting_ratio * problem.bytes_in_bytes_per_second[EXPECTED, hops.row]
    arriving = problem.cutting_ratio * flows.rate[EXPECTED]
    throttles = budgets.throttles
    received = np.fmin(throttles.in_bytes_per_second, budgets.spare_in)[flows.destination] - arriving
    led = np.maximum(flows.leader, 0)
    sent = np.fmin(
        throttles.out_bytes_per_second[led] - rate * (hops.followers + flows.joining),
        budgets.spare_out[led] - rate * flows.joining,
    )
    endless = (sent <= 0) & (flows.joining > 0) & (problem.size_bytes[hops.row] > 0)
    stuck = (received <= 0) & (flows.size > 0)
    endless[flows.copy_hop[stuck]] = True
    return np.asarray(endless, dtype=np.bool_)


def _at(broker: Int32s, first: int) -> Indices:
    return np.where(broker >= 0, broker + first, -1).astype(np.intp)


def _joined(parts: list[tuple[Indices, Indices, Floats]], budget: Floats) -> Uses:
    kept = []
    for hop, resource, cost in parts:
        is_limited = np.isfinite(budget[resource]) & (resource >= 0) & (cost > 0)
        kept.append((hop[is_limited], resource[is_limited], cost[is_limited]))
    hop, resource, cost = (np.concatenate(columns) for columns in zip(*kept, strict=True))
    return Uses(hop=hop, resource=resource.astype(np.intp), cost=cost.astype(np.float64))


def lacking_room(problem: MoveProblem, hops: Hops, left: Floats) -> tuple[Flags, Flags]:
    """Return which joining replicas have no room on their disk, and in their directory: bool[M, V] each.

    ``left`` is float64[R], what is left of each resource.
    """
    is_added, dirs = hops.diff().added, hops.after_dir
    size = problem.size_bytes[hops.row].astype(np.float64)[:, None]
    index = problem.brokers.index_of(hops.after)
    on_disk = is_added & (index >= 0) & (size > left[np.maximum(index, 0)])
    return on_disk, is_added & (dirs >= 0) & (size > left[len(problem.brokers) + np.maximum(dirs, 0)])
