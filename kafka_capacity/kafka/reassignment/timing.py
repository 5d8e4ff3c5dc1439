"""How long every wave takes, and what each broker sends, receives and holds meanwhile: all waves in one go.

What a broker does in a wave is a *cell*; there are only as many cells as brokers that take part in each wave. The
closed form of :mod:`.flow` is worked out for the two gates of each cell, in and out,
and for the fetcher between two brokers where its limit is known. Traffic, disks and leaders at the start of a wave are
what the waves before it leave.
"""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass
from functools import partial

import numpy as np

from kafka_capacity.kafka.arrays import Floats, Indices, Int32s, Ints
from kafka_capacity.kafka.reassignment.cells import Cells, Flows, disk_levels
from kafka_capacity.kafka.reassignment.clock import Clock, gates_seconds
from kafka_capacity.kafka.reassignment.flow import copy_seconds, gate_seconds, throttle_needed
from kafka_capacity.kafka.reassignment.hops import Hops
from kafka_capacity.kafka.reassignment.problem import BAND, EXPECTED, LOW, MoveProblem
from kafka_capacity.kafka.reassignment.schedule import BrokerTimeline, LogDirTimeline, Overrun
from kafka_capacity.kafka.reassignment.traffic import BrokerThrottles, Carried, sent_by_leader


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gates:
    """What copies pass, G gates."""

    wave: Indices  # intp[G]
    broker: Indices  # intp[G], position
    direction: Indices  # intp[G], 0 in, 1 out, 2 fetch
    amount_bytes: Floats  # float64[G]
    load: Floats  # float64[3, G], what is produced to the moving partitions and passes too
    by_throttle: Floats  # float64[3, G], the rate at which throttle or fetcher let it close its gap
    by_network: Floats  # float64[3, G], the same of the network; NaN where that is not known
    of_copy: Indices  # intp[copies, K], the gates that each copy passes

    @property
    def needed(self) -> Floats:
        """The throttle above which each ends: float64[3, G], infinite where its network or fetcher has nothing left."""
        is_throttled = self.direction < 2
        others = np.where(is_throttled, self.by_network, self.by_throttle)
        return throttle_needed(self.amount_bytes, np.where(is_throttled, self.load, 0.0), others)

    @property
    def closing(self) -> Floats:
        """The rate at which each closes its gap: float64[3, G]."""
        return np.fmin(self.by_throttle, self.by_network)

    def closing_at(self, ratio: Floats, gates: Indices) -> Floats:
        """Return float64[N, R], the rate of some gates at traffic of R ratios of the mean."""
        return np.fmin(*(at_traffic(rates[:, gates], ratio) for rates in (self.by_throttle, self.by_network)))


def at_traffic(rates: Floats, ratio: Floats) -> Floats:
    """Return float64[G, R], rates of G gates at R ratios of the mean traffic, from float64[3, G] of those of a band."""
    none, mean = rates[LOW, :, None], rates[EXPECTED, :, None]
    return np.asarray(none + ratio * (mean - none))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pace:
    """How long each of N waves takes, and what that was worked out from."""

    seconds: Floats  # float64[3, N]: low, expected, high; infinite for never
    cells: Cells  # which broker takes part in which wave
    gates: Gates  # what copies pass; the first two for each cell are its in and out
    flows: Flows  # the copies

    def in_bytes(self) -> Floats:
        """Return float64[C], what the broker of each cell copies to itself."""
        return self.gates.amount_bytes[: len(self.cells)]

    def out_bytes(self) -> Floats:
        """Return float64[C], what it sends."""
        return self.gates.amount_bytes[len(self.cells) : 2 * len(self.cells)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Timing:
    """The other figures of all waves, N of them, and of their cells, C of them."""

    copied_bytes: Floats  # float64[N], what is to be copied when a wave begins
    in_flight_bytes: Floats  # float64[N], what is copied until it ends at the expected rates, new records among it
    bottleneck_broker: Int32s  # int32[N], -1 where nothing is copied
    # of each wave: `in`, `out`, or `fetch` where the fetcher from one leader decides
    bottleneck_direction: tuple[str | None, ...]
    # float64[3, N], a wave ends with any throttle above, low, expected, high; infinite where none helps
    smallest_throttle_bytes_per_second: Floats
    brokers: BrokerTimeline  # what each broker carries
    log_dirs: LogDirTimeline  # the same for log directories


_ROUNDING_SECONDS = 1e-3


def pace_of(
    problem: MoveProblem, hops: Hops, flows: Flows, wave_count: int, throttles: BrokerThrottles, before: Carried
) -> Pace:
    """Time hops that are in waves 0 to ``wave_count`` - 1, all of them in one."""
    cells = Cells.of(wave_count, len(problem.brokers), flows.broker_cells(hops))
    gates = _gates(problem, hops, flows, cells, throttles, _spare(problem, hops, flows, cells, before))
    seconds, closing = np.zeros((len(BAND), wave_count)), gates.closing
    for band in range(len(BAND)):
        np.maximum.at(seconds[band], gates.wave, gate_seconds(gates.amount_bytes, closing[band]))
    return Pace(seconds=seconds, cells=cells, gates=gates, flows=flows)


def paced_by(clock: Clock, pace: Pace, pauses: Floats) -> tuple[Floats, Pace]:
    """Place waves by a clock: return float64[3, N], when each begins, and the pace that they then have.

    The expected time is that at the traffic of the hours in which a wave runs; low and high are at none and at the peak
    whatever the hour. ``pauses`` is float64[N], how long to wait after each wave.
    """
    gates, slowest = pace.gates, _slowest(clock, pace)

    def expected(wave: int, at: float) -> float:
        return float(_by_the_hour(clock, gates, slowest[wave], at).max(initial=0.0))

    def at_any_hour(band: int, wave: int, at: float) -> float:
        del at
        return float(pace.seconds[band, wave])

    starts, seconds = np.zeros_like(pace.seconds), np.zeros_like(pace.seconds)
    for band in range(len(BAND)):
        took = expected if band == EXPECTED else partial(at_any_hour, band)
        starts[band], seconds[band] = clock.place(pauses, took)
    return starts, dataclasses.replace(pace, seconds=seconds)


def _slowest(clock: Clock, pace: Pace) -> list[Indices]:
    """Return the gates of each wave that may be its slowest at some traffic between the least and the most."""
    gates, count = pace.gates, pace.seconds.shape[1]
    used = np.flatnonzero(gates.amount_bytes > 0)
    used = used[np.argsort(gates.wave[used], kind="stable")]
    extremes = gates.closing_at(np.array([clock.rate_ratio.min(), clock.rate_ratio.max()]), used)
    soonest, latest = (gate_seconds(gates.amount_bytes[used], each) for each in extremes.T)
    least = np.zeros(count)
    np.maximum.at(least, gates.wave[used], soonest)
    used = used[latest >= least[gates.wave[used]]]
    bounds = np.searchsorted(gates.wave[used], np.arange(count + 1)).tolist()
    return [used[first:last] for first, last in itertools.pairwise(bounds)]


def _by_the_hour(clock: Clock, gates: Gates, chosen: Indices, at: float) -> Floats:
    """Return how long some gates take that begin at some time, in seconds since Monday 0:00."""
    return gates_seconds(gates.amount_bytes[chosen], gates.closing_at(clock.rate_ratio, chosen), at)


def overruns_of(clock: Clock, pace: Pace) -> tuple[Overrun, ...]:
    """List the waves that take longer than a window, each with the throttle that would do."""
    gates, traffic = pace.gates, np.array([clock.busiest_ratio])
    seconds = pace.seconds[EXPECTED]
    found = []
    for wave in np.flatnonzero(np.isfinite(seconds) & (seconds > clock.window.seconds + _ROUNDING_SECONDS)).tolist():
        used = np.flatnonzero((gates.wave == wave) & (gates.amount_bytes > 0))
        needed = gates.amount_bytes[used] / clock.window.seconds
        is_throttled = gates.direction[used] < 2
        limits = [at_traffic(rates[:, used], traffic)[:, 0] for rates in (gates.by_throttle, gates.by_network)]
        is_too_slow = np.where(is_throttled, limits[1], limits[0]) < needed  # whatever the throttle
        throttle = (needed + traffic * gates.load[EXPECTED, used])[is_throttled].max()
        found.append(
            Overrun(
                wave=wave + 1,
                seconds=float(seconds[wave]),
                throttle_bytes_per_second=None if is_too_slow.any() else float(throttle),
            )
        )
    return tuple(found)


def timing_of(problem: MoveProblem, hops: Hops, pace: Pace, starts: Floats, before: Carried) -> Timing:
    """Work out all figures of waves whose pace is known, and when each is expected to begin, float64[N]."""
    flows, cells, gates = pace.flows, pace.cells, pace.gates
    wave_count = pace.seconds.shape[1]
    smallest = np.zeros((len(BAND), wave_count))
    needed = gates.needed
    if problem.clock is not None:
        # Waves run in hours with less traffic, in which networks may have something left: the throttle is what is told.
        needed[EXPECTED] = np.where(
            np.isinf(needed[EXPECTED]), gates.load[EXPECTED] * (gates.direction < 2), needed[EXPECTED]
        )
    for band in range(len(BAND)):
        np.maximum.at(smallest[band], gates.wave, needed[band])
    broker, direction = _bottlenecks(problem, pace, starts)
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
    spare: tuple[Floats, Floats],
) -> Gates:
    count = len(cells)
    dest = cells.at(hops.wave[flows.copy_hop], flows.destination)
    source = cells.at(hops.wave[flows.copy_hop], flows.source)
    fetchers = hops.followers + flows.joining
    rate = problem.bytes_in_bytes_per_second[:, hops.row]

    copy_wave = hops.wave[flows.copy_hop]
    throttle = np.concatenate([throttles.in_bytes_per_second[cells.thing], throttles.out_bytes_per_second[cells.thing]])
    in_bytes = cells.sum(copy_wave, flows.destination, flows.size)
    in_load = cells.sums(copy_wave, flows.destination, flows.rate)
    out_load = cells.sums(hops.wave, flows.leader, rate * fetchers)
    joining_load = cells.sums(hops.wave, flows.leader, rate * flows.joining)
    load = np.concatenate([in_load, out_load], axis=1)
    gates = Gates(
        wave=np.tile(cells.wave, 2),
        broker=np.tile(cells.thing, 2),
        direction=np.repeat([0, 1], count),
        amount_bytes=np.concatenate([in_bytes, cells.sum(copy_wave, flows.source, flows.size)]),
        load=load,
        by_throttle=throttle - load,
        # What followers in sync fetch is in the traffic already.
        by_network=np.concatenate(spare, axis=1) - np.concatenate([in_load, joining_load], axis=1),
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
    pair_load = load + _pair_traffic(problem, hops, *np.divmod(keys, brokers * brokers))
    first = len(gates.wave)
    copies = np.arange(len(flows.size))
    return Gates(
        wave=np.concatenate([gates.wave, keys // (brokers * brokers), wave]).astype(np.intp),
        broker=np.concatenate([gates.broker, keys % brokers, flows.destination]).astype(np.intp),
        direction=np.concatenate([gates.direction, np.full(len(keys) + len(copies), 2)]),
        amount_bytes=np.concatenate([gates.amount_bytes, amount, flows.size]),
        load=np.concatenate([gates.load, load, flows.rate], axis=1),
        by_throttle=np.concatenate(
            [gates.by_throttle, limit * problem.settings.fetchers - pair_load, limit - flows.rate], axis=1
        ),
        by_network=np.pad(gates.by_network, ((0, 0), (0, len(keys) + len(copies))), constant_values=np.nan),
        of_copy=np.concatenate(
            [gates.of_copy, first + which[:, None], first + len(keys) + copies[:, None]], axis=1
        ).astype(np.intp),
    )


def _pair_traffic(problem: MoveProblem, hops: Hops, wave: Indices, pair: Indices) -> Floats:
    """Return float64[3, K], what the broker of each pair fetches from its leader already when a wave begins."""
    count, rate = len(problem.brokers), problem.bytes_in_bytes_per_second
    row, fetch = _fetches(problem, problem.before, problem.leader)
    first = np.stack([np.bincount(fetch, weights=each[row], minlength=count * count) for each in rate])[:, pair]
    (gone, old), (come, new) = (
        _fetches(problem, *each) for each in ((hops.before, hops.leader), (hops.after, hops.leader_after))
    )
    # Changes in order of pairs, then waves: those of a pair in earlier waves follow each other.
    waves = int(hops.wave.max(initial=0)) + 1
    at = np.concatenate([old, new]) * waves + hops.wave[np.concatenate([gone, come])]
    order = np.argsort(at, kind="stable")
    changes = np.concatenate([-rate[:, hops.row[gone]], rate[:, hops.row[come]]], axis=1)[:, order]
    total = np.pad(np.cumsum(changes, axis=1), ((0, 0), (1, 0)))
    begins, ends = (np.searchsorted(at[order], keys) for keys in (pair * waves, pair * waves + wave))
    return np.asarray(first + total[:, ends] - total[:, begins])


def _fetches(problem: MoveProblem, replicas: Int32s, leader: Int32s) -> tuple[Indices, Indices]:
    """Return the row of each replica that follows, intp[F], and its pair: leader · B + broker."""
    index, led = problem.brokers.index_of(replicas), problem.brokers.index_of(leader)
    rows, columns = np.nonzero((index >= 0) & (led >= 0)[:, None] & (replicas != leader[:, None]))
    return rows, led[rows].astype(np.intp) * len(problem.brokers) + index[rows, columns]


def _spare(problem: MoveProblem, hops: Hops, flows: Flows, cells: Cells, before: Carried) -> tuple[Floats, Floats]:
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


def _gates_expected(problem: MoveProblem, pace: Pace, starts: Floats) -> Floats:
    """Return float64[G], how long each gate takes: in a window by the hour, 0 there for what cannot be the slowest."""
    gates, clock = pace.gates, problem.clock
    seconds = gate_seconds(gates.amount_bytes, gates.closing[EXPECTED])
    if clock is None:
        return seconds
    begins = np.isfinite(starts)
    seconds[begins[gates.wave]] = 0.0
    slowest = _slowest(clock, pace)
    for wave in np.flatnonzero(begins).tolist():
        seconds[slowest[wave]] = _by_the_hour(clock, gates, slowest[wave], clock.begins + float(starts[wave]))
    return seconds


def _bottlenecks(problem: MoveProblem, pace: Pace, starts: Floats) -> tuple[Int32s, tuple[str | None, ...]]:
    """Name the slowest gate of each wave; among those that never end, the one that needs the largest throttle."""
    gates, wave_count = pace.gates, len(starts)
    used = np.flatnonzero(gates.amount_bytes > 0)
    seconds = _gates_expected(problem, pace, starts)[used]
    needed = np.where(np.isinf(seconds), gates.needed[EXPECTED, used], 0.0)
    order = np.lexsort((-used, needed, seconds, gates.wave[used]))
    sorted_wave = gates.wave[used][order]
    is_last = np.append(sorted_wave[1:] != sorted_wave[:-1], True)[: len(sorted_wave)]
    worst = used[order[is_last]]
    broker = np.full(wave_count, -1, dtype=np.int32)
    broker[gates.wave[worst]] = problem.brokers.ids[gates.broker[worst]]
    direction: list[str | None] = [None] * wave_count
    for wave, name in zip(gates.wave[worst].tolist(), gates.direction[worst].tolist(), strict=True):
        direction[wave] = ("in", "out", "fetch")[name]
    return broker, tuple(direction)


def _leaders(hops: Hops, flows: Flows, cells: Cells, before: Carried) -> Ints:
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
