"""What every broker carries at one moment: traffic, bytes on disk, leaders."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Floats, Int32s
from kafka_capacity.kafka.reassignment.problem import BAND, HIGH, MoveProblem


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Carried:
    """What each broker carries."""

    written_bytes_per_second: Floats  # float64[3, B], as leader and follower: low, expected, high
    sent_bytes_per_second: Floats  # float64[3, B], to consumers and, as leader, once to each follower
    held_bytes: Floats  # float64[B], in use on its disks: of replicas, and other data that is known of
    leaders: Floats  # float64[B]
    dir_bytes: Floats  # float64[D], in use in each log directory, likewise


def sent_by_leader(matrix: Int32s, bytes_in: Floats, bytes_out: Floats) -> Floats:
    """Return float64[P], what the leader of each partition sends: to consumers, and once to each follower."""
    return np.asarray(bytes_out + bytes_in * np.maximum((matrix >= 0).sum(axis=1) - 1, 0), dtype=np.float64)


def carried(problem: MoveProblem, replicas: Int32s, leader: Int32s, log_dir: Int32s | None) -> Carried:
    """Sum up what brokers carry with an assignment; directories stay at 0 without ``log_dir``, that of each replica."""
    count, dirs = len(problem.brokers), len(problem.log_dirs.path)
    # Position 0 takes what belongs to nobody.
    held_by = problem.brokers.index_of(replicas).astype(np.intp).ravel() + 1
    led_by = problem.brokers.index_of(leader).astype(np.intp) + 1

    def held(each: Floats) -> Floats:
        weights = np.repeat(each, replicas.shape[1])
        return np.bincount(held_by, weights=weights, minlength=count + 1)[1:].astype(np.float64)

    def led(each: Floats | None) -> Floats:
        return np.bincount(led_by, weights=each, minlength=count + 1)[1:].astype(np.float64)

    size = problem.size_bytes.astype(np.float64)
    writes, sends = np.zeros((len(BAND), count)), np.zeros((len(BAND), count))
    for band in range(len(BAND)):
        rate, read = problem.bytes_in_bytes_per_second[band], problem.bytes_out_bytes_per_second[band]
        if rate.any() or read.any():
            writes[band], sends[band] = held(rate), led(sent_by_leader(replicas, rate, read))
    by_dir = np.zeros(dirs)
    if log_dir is not None and dirs:
        where = np.where(replicas >= 0, log_dir, -1).astype(np.intp).ravel() + 1
        weights = np.repeat(size, replicas.shape[1])
        by_dir = np.bincount(where, weights=weights, minlength=dirs + 1)[1:] + problem.log_dirs.known_other_bytes
    return Carried(
        written_bytes_per_second=writes,
        sent_bytes_per_second=sends,
        held_bytes=held(size) + problem.brokers.known_other_bytes,
        leaders=led(None),
        dir_bytes=by_dir,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BrokerThrottles:
    """The throttles of every broker."""

    in_bytes_per_second: Floats  # float64[B], `follower.replication.throttled.rate`, what it receives
    out_bytes_per_second: Floats  # float64[B], `leader.replication.throttled.rate`, what it sends


def broker_throttles(problem: MoveProblem, before: Carried, after: Carried) -> BrokerThrottles:
    """Work out the throttles: an automatic one takes the worse of before and after the move as the peak.

    Worked example: a broker whose network takes 100 MB/s, with 50 MB/s on it at peak and a fifth to stay free, gets
    100 · 0.8 − 50 = 30 MB/s. Where its disks take 60 MB/s and write 30 at peak, 60 · 0.8 − 30 = 18.
    """
    throttle, brokers = problem.throttle, problem.brokers
    fixed = np.full(len(brokers), float(throttle.bytes_per_second))
    if not throttle.is_automatic:
        return BrokerThrottles(in_bytes_per_second=fixed, out_bytes_per_second=fixed.copy())
    writes = np.maximum(before.written_bytes_per_second[HIGH], after.written_bytes_per_second[HIGH])
    sends = np.maximum(before.sent_bytes_per_second[HIGH], after.sent_bytes_per_second[HIGH])
    usable = 1.0 - throttle.headroom_ratio
    disk = problem.disk_bytes_per_second * usable - writes
    received = np.fmin(brokers.network_in_bytes_per_second * usable - writes, disk)
    given = np.fmin(brokers.network_out_bytes_per_second * usable - sends, disk)
    return BrokerThrottles(
        in_bytes_per_second=np.maximum(np.where(np.isnan(received), fixed, received), 0.0),
        out_bytes_per_second=np.maximum(np.where(np.isnan(given), fixed, given), 0.0),
    )
