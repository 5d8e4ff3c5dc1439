"""Hourly traffic of every broker, as it is and after each loss, and its peaks at each date.

A broker's peak is the 99th percentile of its own hourly totals. The totals of an hour are linear in the traffic of the
partitions, and traffic grows by class; so the hours are summed once by (broker, class), and each date weighs the
classes again. After a loss only the partitions that had a replica there change: their difference is added.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kafka_capacity.demand.profile import PEAK_QUANTILE
from kafka_capacity.demand.workload import Traffic
from kafka_capacity.hardware.cpu import CpuCosts
from kafka_capacity.hardware.limits import MIB, Resource
from kafka_capacity.kafka.arrays import Flags, Float32s, Floats, Int32s, Ints


def read_shares(
    replicas: Int32s, alive: Flags, leader: Float32s, rack_of: Int32s, readers: Float32s | None = None
) -> Float32s:
    """Return which replicas consumers read from in their own rack, and from the leader where it has none (KIP-392).

    Shares of what is read, float32[N, W], as ``leader`` is, 1 for who leads. ``replicas``, int[N, W], are positions of
    brokers, -1 for padding; ``alive``, bool[N, W], which of them live; ``rack_of``, int32[B], where brokers are;
    ``readers``, float32[N, R], how much of each partition is read from each rack, ``None`` for the same from all.
    """
    racks = int(rack_of.max(initial=-1)) + 1
    asked, total = (readers, 1) if readers is not None else (np.ones((len(replicas), racks), np.float32), max(1, racks))
    share = np.zeros(replicas.shape, dtype=np.float32)
    rack = np.where(alive, rack_of[replicas.clip(min=0)], -1)
    for one in range(racks):
        is_there, wanted = rack == one, asked[:, one]
        has_one = is_there.any(axis=1)
        share += np.where(has_one[:, None], 0.0, leader) * wanted[:, None]
        share[has_one, is_there.argmax(axis=1)[has_one]] += wanted[has_one]
    return share / np.float32(total)


_MAX_CELLS = 1 << 24  # how many hourly figures of one flow are held at once: 64 MiB

_CLIENT_IN, _FOLLOWER_IN, _CLIENT_OUT, _REPLICATION_OUT = range(4)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Placed:
    """Replicas on brokers, ready to be summed."""

    replicas: Int32s  # int32[P, W], positions of brokers, -1 for padding
    rack_of: Int32s  # int32[B]
    class_of: Int32s  # int32[P]
    class_count: int  # how many classes there are
    is_read_in_rack: bool  # whether consumers read from followers in their rack

    @property
    def broker_count(self) -> int:
        """How many brokers there are."""
        return len(self.rack_of)

    def roles(self, rows: Ints | slice, alive: Flags) -> Float32s:
        """Return float32[4, N, W], shares of the traffic of partitions by place in their lists, in the order of flows.

        Of what is produced 1 for the leader, 1 for each other replica that is alive, bool[N, W]; of what consumers
        read; and how often what is produced is sent to followers.
        """
        replicas = self.replicas[rows]
        leader = np.zeros(replicas.shape, dtype=np.float32)
        if replicas.shape[1]:
            is_led = alive.any(axis=1)
            leader[is_led, alive.argmax(axis=1)[is_led]] = 1.0
        follower = alive.astype(np.float32) - leader
        read = read_shares(replicas, alive, leader, self.rack_of) if self.is_read_in_rack else leader
        return np.stack([leader, follower, read, leader * follower.sum(axis=1, keepdims=True)])


PEAKS = (Resource.NETWORK_IN, Resource.NETWORK_OUT, Resource.CLIENT_IN, Resource.CLIENT_OUT, Resource.CPU)
"""Of what :func:`peaks` gives the peaks: written, sent, produced to a broker, read from it, and cores for all that."""


def normal_flows(placed: Placed, traffic: Traffic) -> Float32s:
    """Return float32[4, B, C, H]: produced, replicated to it, read by consumers, sent to followers."""
    row = np.arange(len(placed.replicas))
    shares = placed.roles(slice(None), placed.replicas >= 0)
    return _summed(placed, traffic, row, np.zeros_like(row), [(shares, 1.0)], 1)[:, 0]


def flows_after_losses(
    placed: Placed, traffic: Traffic, normal: Float32s, unit_of: Int32s
) -> Iterator[tuple[int, Float32s]]:
    """Yield, for the loss of each unit, the flows as in :func:`normal_flows`, those of what is lost being 0.

    ``unit_of`` is int32[B], what is lost together: each broker for itself, or racks.
    """
    units = int(unit_of.max(initial=-1)) + 1
    held = np.where(placed.replicas >= 0, unit_of[placed.replicas.clip(min=0)], -1)
    at_once = max(1, _MAX_CELLS // max(1, int(np.prod(normal.shape[1:]))))
    for start in range(0, units, at_once):
        group = range(start, min(units, start + at_once))
        rows = [np.nonzero((held == unit).any(axis=1))[0] for unit in group]
        row = np.concatenate(rows)
        state = np.repeat(np.arange(len(rows)), [len(one) for one in rows])
        had = placed.replicas[row] >= 0
        alive = had & (held[row] != (state + start)[:, None])
        # What is taken away from the lost itself need not be summed: they have nothing in the end.
        before = placed.roles(row, had) * alive
        change = _summed(placed, traffic, row, state, [(placed.roles(row, alive), 1.0), (before, -1.0)], len(rows))
        for place, unit in enumerate(group):
            after = normal + change[:, place]
            after[:, unit_of == unit] = 0.0
            # What was taken away again may leave a rounding error below zero.
            yield unit, np.maximum(after, 0.0, out=after)


def _summed(
    placed: Placed, traffic: Traffic, row: Ints, state: Ints, parts: list[tuple[Float32s, float]], states: int
) -> Float32s:
    """Return float32[4, S, B, C, H]: the traffic of partitions, shared out by their roles, one state after another."""
    from scipy.sparse import csr_matrix

    brokers, classes = placed.broker_count, placed.class_count
    cell = placed.replicas[row].astype(np.int64)
    key = ((state * brokers)[:, None] + cell) * classes + placed.class_of[row].astype(np.int64)[:, None]
    column = np.broadcast_to(row[:, None], cell.shape)
    hours = traffic.bytes_in.shape[1]
    shape = (states * brokers * classes, len(placed.replicas))
    found = np.empty((4, states, brokers, classes, hours), dtype=np.float32)
    for flow, rates in enumerate((traffic.bytes_in, traffic.bytes_in, traffic.bytes_out, traffic.bytes_in)):
        weight = np.zeros(cell.shape, dtype=np.float32)
        for shares, sign in parts:
            weight += np.float32(sign) * shares[flow]
        is_used = (weight != 0) & (cell >= 0)
        matrix = csr_matrix((weight[is_used], (key[is_used], column[is_used])), shape=shape)
        found[flow] = (matrix @ rates).reshape(states, brokers, classes, hours)
    return found


def peaks(
    flows: Float32s, ratios: Floats, costs: CpuCosts, *, has_clients: bool = True, known: Floats | None = None
) -> Floats:
    """Return float64[5, 2, D, B], the :data:`PEAKS` of each broker at each date.

    Flows are float32[4, B, C, H], ratios float64[C, 2, D], traffic over today's. Without ``has_clients`` peaks of what
    clients produce and read are 0. What is not above ``known``, float64[5, 2, D, B], may be given as 0, which takes a
    fraction of the time.
    """
    written = flows[_CLIENT_IN] + flows[_FOLLOWER_IN]
    sent = flows[_CLIENT_OUT] + flows[_REPLICATION_OUT]
    busy = (
        np.float32(costs.leader_in_seconds_per_mib / MIB) * flows[_CLIENT_IN]
        + np.float32(costs.follower_in_seconds_per_mib / MIB) * flows[_FOLLOWER_IN]
        + np.float32(costs.out_seconds_per_mib / MIB) * sent
    )
    classes, *shape = ratios.shape
    # Many dates weigh the classes alike, and are reckoned once.
    weights, back = np.unique(ratios.reshape(classes, -1), axis=1, return_inverse=True)
    weights, back = weights.astype(np.float32), back.reshape(-1)

    def peak(hourly: Float32s, known: Floats | None) -> Floats:
        """Return float64[2, D, B], the percentile of each broker's hourly totals."""
        if classes == 1:
            today = percentile(hourly[:, 0])
            return np.asarray(ratios[0][:, :, None] * today, dtype=np.float64)
        above = None
        if known is not None:
            above = np.full((weights.shape[1], len(hourly)), np.inf)
            np.minimum.at(above, back, known.reshape(len(back), -1))
            above = above.T
        found = percentile(np.einsum("bch,ce->beh", hourly, weights), above)
        return np.ascontiguousarray(found[:, back].T.reshape(*shape, len(hourly)))

    found = np.zeros((len(PEAKS), *shape, len(written)))
    bounds = [None] * len(PEAKS) if known is None else [*known[:-1], known[-1] - costs.base_cores]
    carried = (written, sent, flows[_CLIENT_IN], flows[_CLIENT_OUT], busy)
    for place, (resource, hourly, bound) in enumerate(zip(PEAKS, carried, bounds, strict=True)):
        if has_clients or resource not in (Resource.CLIENT_IN, Resource.CLIENT_OUT):
            found[place] = peak(hourly, bound)
    found[-1] += costs.base_cores
    return found


def percentile(values: Float32s, above: Floats | None = None) -> Floats:
    """Return the 99th percentile over the last axis, as numpy's ``linear`` one does; 0 where there are no values.

    >>> percentile(np.arange(201, dtype=np.float32)[None]).tolist()
    [198.0]

    Args:
        values: float32[..., N], not negative.
        above: float64[...]; a percentile that is not above it may be given as 0.
    """
    count = values.shape[-1]
    if not count:
        return np.zeros(values.shape[:-1])
    place = (count - 1) * PEAK_QUANTILE
    low = int(place)
    high = min(low + 1, count - 1)
    if above is not None:
        # To count what is above takes an eighth of the time of finding a place. One step lower for what was rounded up.
        least = np.nextafter(above.astype(np.float32), np.float32(-np.inf))
        is_above = (values > least[..., None]).sum(axis=-1, dtype=np.int32) >= count - high
        found = np.zeros(above.shape)
        found[is_above] = percentile(values[is_above])
        return found
    # One place is found in a third of the time of two, and the next one is the least of what is above.
    ordered = np.partition(values, low, axis=-1)
    below = ordered[..., low].astype(np.float64)
    over = ordered[..., high:].min(axis=-1).astype(np.float64)
    return np.asarray(below + (over - below) * (place - low), dtype=np.float64)
