"""How long every wave takes, and what each broker sends, receives and holds meanwhile: all waves in one go.

What a broker does in a wave is a *cell*; there are only as many cells as brokers that take part in each wave. The
closed form of :mod:`.flow` is worked out for the two gates of each cell, in and out,
and for the fetcher between two brokers where its limit is known. Traffic, disks and leaders at the start of a wave are
what the waves before it leave.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.reassignment.cells import Cells, Flows, disk_levels
from kafka_capacity.kafka.reassignment.flow import closing_rates, copy_seconds, gate_seconds
from kafka_capacity.kafka.reassignment.hops import Hops
from kafka_capacity.kafka.reassignment.problem import BAND, EXPECTED, MoveProblem
from kafka_capacity.kafka.reassignment.schedule import BrokerTimeline, LogDirTimeline
from kafka_capacity.kafka.reassignment.traffic import BrokerThrottles, Carried, sent_by_leader


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gates:
    """What copies pass, G gates."""

    wave: NDArray[np.intp]  # intp[G]
    broker: NDArray[np.intp]  # intp[G], position
    direction: NDArray[np.intp]  # intp[G], 0 in, 1 out, 2 fetch
    amount_bytes: NDArray[np.float64]  # float64[G]
    load: NDArray[np.float64]  # float64[3, G], what is produced to the moving partitions and passes too
    closing: NDArray[np.float64]  # float64[3, G]
    of_copy: NDArray[np.intp]  # intp[copies, K], the gates that each copy passes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pace:
    """How long each of N waves takes, and what that was worked out from."""

    seconds: NDArray[np.float64]  # float64[3, N]: low, expected, high; infinite for never
    cells: Cells  # which broker takes part in which wave
    gates: Gates  # what copies pass; the first two for each cell are its in and out
    flows: Flows  # the copies

    def in_bytes(self) -> NDArray[np.float64]:
        """Return float64[C], what the broker of each cell copies to itself."""
        return self.gates.amount_bytes[: len(self.cells)]

    def out_bytes(self) -> NDArray[np.float64]:
        """Return float64[C], what it sends."""
        return self.gates.amount_bytes[len(self.cells) : 2 * len(self.cells)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Timing:
    """The other figures of all waves, N of them, and of their cells, C of them."""

    copied_bytes: NDArray[np.float64]  # float64[N], what is to be copied when a wave begins
    # float64[N], what is copied until it ends at the expected rates, new records among it
    in_flight_bytes: NDArray[np.float64]
    bottleneck_broker: NDArray[np.int32]  # int32[N], -1 where nothing is copied
    # of each wave: `in`, `out`, or `fetch` where the fetcher from one leader decides
    bottleneck_direction: tuple[str | None, ...]
    # float64[3, N], a wave ends with any throttle above, low, expected, high
    smallest_throttle_bytes_per_second: NDArray[np.float64]
    brokers: BrokerTimeline  # what each broker carries
    log_dirs: LogDirTimeline  # the same for log directories


def pace_of(
    problem: MoveProblem, hops: Hops, flows: Flows, wave_count: int, throttles: BrokerThrottles, before: Carried
) -> Pace:
    """Time hops that are in waves 0 to ``wave_count`` - 1, all of them in one."""
    cells = Cells.of(wave_count, len(problem.brokers), flows.broker_cells(hops))
    gates = _gates(problem, hops, flows, cells, throttles, _spare(problem, hops, flows, cells, before))
    seconds = np.zeros((len(BAND), wave_count))
    for band in range(len(BAND)):
        np.maximum.at(seconds[band], gates.wave, gate_seconds(gates.amount_bytes, gates.closing[band]))
    return Pace(seconds=seconds, cells=cells, gates=gates, flows=flows)


def timing_of(problem: MoveProblem, hops: Hops, pace: Pace, before: Carried) -> Timing:
    """Work out all figures of waves whose pace is known."""
    flows, cells, gates = pace.flows, pace.cells, pace.gates
    wave_count = pace.seconds.shape[1]
    smallest = np.zeros((len(BAND), wave_count))
    is_throttled = (gates.amount_bytes > 0) & (gates.direction < 2)
    for band in range(len(BAND)):
        np.maximum.at(smallest[band], gates.wave[is_throttled], gates.load[band, is_throttled])
    broker, direction = _bottlenecks(problem, gates, wave_count)
    done = copy_seconds(gates.of_copy, flows.size, gates.closing[EXPECTED])
    arriving = flows.rate[EXPECTED] * np.where(np.isfinite(done), done, 0.0)
    copy_wave = hops.wave[flows.copy_hop]
    start, peak, expected, end = disk_levels(hops, flows, cells, before.held_bytes, done)
    return Timing(
        copied_bytes=np.bincount(copy_wave, weights=flows.size, minlength=wave_count).astype(np.float64),
        in_flight_bytes=np.bincount(copy_wave, weights=flows.size + arriving, minlength=wave_count).astype(np.float64),
        bottleneck_broker=broker,
        bottleneck_direction=direction,
        smallest_throttle_bytes_per_second=smallest,
        brokers=BrokerTimeline(
            wave=(cells.wave + 1).astype(np.int32),
            broker_id=problem.brokers.ids[cells.thing],
            in_bytes=pace.in_bytes(),
            out_bytes=pace.out_bytes(),
            disk_start_bytes=start,
            disk_end_bytes=end,
            disk_peak_bytes=peak,
            disk_expected_bytes=expected,
            disk_limit_bytes=problem.disk_limit_bytes[cells.thing],
            leaders=_leaders(hops, flows, cells, before),
        ),
        log_dirs=_log_dirs(problem, hops, flows, wave_count, before),
    )


def _gates(
    problem: MoveProblem,
    hops: Hops,
    flows: Flows,
    cells: Cells,
    throttles: BrokerThrottles,
    spare: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> Gates:
    count = len(cells)
    dest = cells.at(hops.wave[flows.copy_hop], flows.destination)
    source = cells.at(hops.wave[flows.copy_hop], flows.source)
    fetchers = hops.followers + flows.joining
    rate = problem.bytes_in_bytes_per_second[:, hops.row]

    copy_wave = hops.wave[flows.copy_hop]
    throttle = np.concatenate([throttles.in_bytes_per_second[cells.thing], throttles.out_bytes_per_second[cells.thing]])
    in_bytes = cells.sum(copy_wave, flows.destination, flows.size)
    loads, closings = [], []
    for band in range(len(BAND)):
        in_load = cells.sum(copy_wave, flows.destination, flows.rate[band])
        out_load = cells.sum(hops.wave, flows.leader, rate[band] * fetchers)
        joining_load = cells.sum(hops.wave, flows.leader, rate[band] * flows.joining)
        loads.append(np.concatenate([in_load, out_load]))
        free = np.concatenate([spare[0][band], spare[1][band]])
        closings.append(closing_rates(throttle, loads[-1], free, np.concatenate([in_load, joining_load])))
    gates = Gates(
        wave=np.tile(cells.wave, 2),
        broker=np.tile(cells.thing, 2),
        direction=np.repeat([0, 1], count),
        amount_bytes=np.concatenate([in_bytes, cells.sum(copy_wave, flows.source, flows.size)]),
        load=np.array(loads),
        closing=np.array(closings),
        of_copy=np.stack([dest, source + count], axis=1),
    )
    return _with_fetchers(problem, hops, flows, gates)


def _with_fetchers(problem: MoveProblem, hops: Hops, flows: Flows, gates: Gates) -> Gates:
    """Add a gate for each pair of brokers in a wave, and for each copy, since one fetcher brings it."""
    limit = problem.settings.fetcher_bytes_per_second
    if limit is None or not len(flows.size):
        return gates
    brokers = len(problem.brokers)
    wave = hops.wave[flows.copy_hop].astype(np.int64)
    pair = flows.source.astype(np.int64) * brokers + flows.destination
    keys, which = np.unique(wave * brokers * brokers + pair, return_inverse=True)
    amount = np.bincount(which, weights=flows.size, minlength=len(keys))
    load = np.stack([np.bincount(which, weights=rate, minlength=len(keys)) for rate in flows.rate])
    pair_load = load + _pair_traffic(problem)[:, keys % (brokers * brokers)]
    first = len(gates.wave)
    copies = np.arange(len(flows.size))
    return Gates(
        wave=np.concatenate([gates.wave, keys // (brokers * brokers), wave]).astype(np.intp),
        broker=np.concatenate([gates.broker, keys % brokers, flows.destination]).astype(np.intp),
        direction=np.concatenate([gates.direction, np.full(len(keys) + len(copies), 2)]),
        amount_bytes=np.concatenate([gates.amount_bytes, amount, flows.size]),
        load=np.concatenate([gates.load, load, flows.rate], axis=1),
        closing=np.concatenate(
            [gates.closing, limit * problem.settings.fetchers - pair_load, limit - flows.rate], axis=1
        ),
        of_copy=np.concatenate(
            [gates.of_copy, first + which[:, None], first + len(keys) + copies[:, None]], axis=1
        ).astype(np.intp),
    )


def _pair_traffic(problem: MoveProblem) -> NDArray[np.float64]:
    """Return float64[3, B·B], what each broker (second) fetches from each leader (first) already."""
    brokers = len(problem.brokers)
    index, leader = problem.brokers.index_of(problem.before), problem.brokers.index_of(problem.leader)
    rows, columns = np.nonzero((index >= 0) & (leader >= 0)[:, None] & (problem.before != problem.leader[:, None]))
    pair = leader[rows].astype(np.intp) * brokers + index[rows, columns]
    return np.stack(
        [
            np.bincount(pair, weights=rate[rows], minlength=brokers * brokers)
            for rate in problem.bytes_in_bytes_per_second
        ]
    )


def _spare(
    problem: MoveProblem, hops: Hops, flows: Flows, cells: Cells, before: Carried
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return float64[3, C] twice: what each network can take beside its traffic when a wave begins, in and out."""
    limit_in = problem.brokers.network_in_bytes_per_second[cells.thing]
    limit_out = problem.brokers.network_out_bytes_per_second[cells.thing]
    spare_in, spare_out = np.tile(limit_in, (len(BAND), 1)), np.tile(limit_out, (len(BAND), 1))
    if not (np.isfinite(limit_in).any() or np.isfinite(limit_out).any()):
        return spare_in, spare_out
    is_resized = (hops.before >= 0).sum(axis=1) != (hops.after >= 0).sum(axis=1)
    moved = np.flatnonzero((hops.leader != hops.leader_after) | is_resized)
    row, wave = hops.row[moved], hops.wave[moved]
    old, new = flows.leader[moved], flows.leader_after[moved]
    for band in range(len(BAND)):
        rate, read = problem.bytes_in_bytes_per_second[band], problem.bytes_out_bytes_per_second[band]
        if not (rate.any() or read.any()):
            continue
        change_in = cells.sum(hops.wave[flows.copy_hop], flows.destination, flows.rate[band])
        change_in -= cells.sum(hops.wave[flows.gone_hop], flows.gone, rate[hops.row[flows.gone_hop]])
        change_out = cells.sum(wave, new, sent_by_leader(hops.after[moved], rate[row], read[row]))
        change_out -= cells.sum(wave, old, sent_by_leader(hops.before[moved], rate[row], read[row]))
        spare_in[band] -= before.written_bytes_per_second[band, cells.thing] + cells.earlier(change_in)
        spare_out[band] -= before.sent_bytes_per_second[band, cells.thing] + cells.earlier(change_out)
    return spare_in, spare_out


def _bottlenecks(
    problem: MoveProblem, gates: Gates, wave_count: int
) -> tuple[NDArray[np.int32], tuple[str | None, ...]]:
    """Name the slowest gate of each wave; among those that never end, the one that needs the largest throttle."""
    used = np.flatnonzero(gates.amount_bytes > 0)
    seconds = gate_seconds(gates.amount_bytes[used], gates.closing[EXPECTED, used])
    load = np.where(np.isinf(seconds), gates.load[EXPECTED, used], 0.0)
    order = np.lexsort((-used, load, seconds, gates.wave[used]))
    sorted_wave = gates.wave[used][order]
    is_last = np.append(sorted_wave[1:] != sorted_wave[:-1], True)[: len(sorted_wave)]
    worst = used[order[is_last]]
    broker = np.full(wave_count, -1, dtype=np.int32)
    broker[gates.wave[worst]] = problem.brokers.ids[gates.broker[worst]]
    direction: list[str | None] = [None] * wave_count
    for wave, name in zip(gates.wave[worst].tolist(), gates.direction[worst].tolist(), strict=True):
        direction[wave] = ("in", "out", "fetch")[name]
    return broker, tuple(direction)


def _leaders(hops: Hops, flows: Flows, cells: Cells, before: Carried) -> NDArray[np.int64]:
    once = np.ones(len(hops))
    change = cells.sum(hops.wave, flows.leader_after, once) - cells.sum(hops.wave, flows.leader, once)
    return np.asarray(np.rint(before.leaders[cells.thing] + cells.earlier(change) + change), dtype=np.int64)


def _log_dirs(problem: MoveProblem, hops: Hops, flows: Flows, wave_count: int, before: Carried) -> LogDirTimeline:
    cells = Cells.of(wave_count, len(problem.log_dirs.path), flows.dir_cells(hops))
    arrives = cells.sum(hops.wave[flows.copy_hop], flows.copy_dir, flows.size)
    goes = cells.sum(hops.wave[flows.gone_hop], flows.gone_dir, flows.gone_size)
    start = before.dir_bytes[cells.thing] + cells.earlier(arrives - goes)
    return LogDirTimeline(
        wave=(cells.wave + 1).astype(np.int32),
        log_dir=cells.thing,
        start_bytes=start,
        peak_bytes=start + arrives,
        end_bytes=start + arrives - goes,
        limit_bytes=problem.log_dir_limit_bytes[cells.thing],
    )
