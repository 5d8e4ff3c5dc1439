"""What states of partitions add up to on each broker: leaders, traffic, and what is to be re-replicated.

A leader is written to by producers, and sends to consumers and to each follower that lives; a follower is written to
by its leader. What nobody leads is neither written nor read. Consumers are taken to read from leaders.

What is to be re-replicated is what brokers that are lost held of partitions that are led. Throttles count it as
:mod:`~kafka_capacity.kafka.reassignment.flow` says: at a destination all that is produced to what it receives, at a
source the same once for each copy and for each follower in sync.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_capacity.demand.workload import Traffic
from kafka_capacity.hardware.cpu import CpuCosts, cores
from kafka_capacity.kafka.arrays import Flags, Float32s, Floats, Ints
from kafka_capacity.kafka.controller.partition_states import PartitionStates
from kafka_capacity.kafka.reassignment.flow import gate_seconds


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PartitionRates:
    """What one replica of each partition takes."""

    traffic: Traffic  # hour by hour
    size_bytes: Floats  # float64[P]
    mean_bytes_per_second: Floats  # float64[P], produced on average
    read_bytes_per_second: Floats  # float64[P], read by consumers on average
    costs: CpuCosts | None = None  # of processors; `None` where what they can do is not known, so that nobody asks


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BrokerSums:
    """Sums of S sets of partitions on B brokers."""

    leaders: Floats  # float64[S, B]
    written: Float32s  # float32[S, B, H], bytes per second
    sent: Float32s  # float32[S, B, H]
    cores: Float32s  # float32[S, B, H], what that takes of processors; H is 0 where nobody asks
    copied_in: Floats  # float64[S, B], bytes to be copied onto it
    copied_out: Floats  # float64[S, B], bytes that it sends for that
    load_in: Floats  # float64[S, B], produced on average to what is copied onto it
    load_out: Floats  # float64[S, B], what it sends of that, to followers in sync too
    mean_in: Floats  # float64[S, B], bytes per second that it takes on average, without what is copied onto it
    mean_out: Floats  # float64[S, B], that it sends on average, likewise
    copied_load_out: Floats  # float64[S, B], produced on average to the copies that it sends

    def changed_by(self, after: BrokerSums, before: BrokerSums) -> BrokerSums:
        """Add what some sets have more after than before."""
        return BrokerSums(
            **{
                name: getattr(self, name) + (getattr(after, name) - getattr(before, name))
                for name in BrokerSums.__slots__
            }
        )

    def rebuild_seconds(self, throttle_bytes_per_second: float, networks_bytes_per_second: Floats) -> Floats:
        """Return float64[S], how long the slowest broker takes to copy; infinite for never.

        No broker copies faster than its network allows, float64[2, B], in and out, NaN where it is not known: what the
        line takes, less the traffic that is on it, as for moves.
        """
        amount = np.concatenate([self.copied_in, self.copied_out], axis=1)
        load = np.concatenate([self.load_in, self.load_out], axis=1)
        there_already = np.concatenate([self.mean_in + self.load_in, self.mean_out + self.copied_load_out], axis=1)
        closing = np.fmin(throttle_bytes_per_second - load, networks_bytes_per_second.reshape(-1) - there_already)
        # What was added and taken away again leaves rounding errors, less than a byte.
        seconds = gate_seconds(np.where(amount >= 1.0, amount, 0.0), closing)
        return np.asarray(seconds.max(axis=1, initial=0.0), dtype=np.float64)


def broker_sums(
    states: PartitionStates, live: Flags, lost: Flags, rates: PartitionRates, *, row: Ints, of: Ints, sets: int
) -> BrokerSums:
    """Add up N partitions by the set that each belongs to, ``of``, int64[N]; ``row``, int64[N], says which they are.

    ``live`` and ``lost`` are bool[N, W]: which replicas live, and which are to be re-replicated if their partition is
    led.
    """
    is_led = (states.leader >= 0)[:, None]
    add = _Adder(sets=sets, brokers=len(states.is_live))
    leading = np.flatnonzero(is_led)
    leader = add.at(states, of, leading, states.leader[leading].astype(np.int64))
    held, copied = (np.nonzero(which & is_led) for which in (live, lost))
    held_by, copied_by = add.at(states, of, *held), add.at(states, of, *copied)
    followers = (live[leading].sum(axis=1) - 1).astype(np.float64)
    copies = lost[leading].sum(axis=1).astype(np.float64)
    fetchers = np.where(copies > 0, copies + (states.in_sync & live)[leading].sum(axis=1) - 1, 0.0)
    led, copy = row[leading], row[copied[0]]
    mean, size, traffic = rates.mean_bytes_per_second, rates.size_bytes, rates.traffic
    read = rates.read_bytes_per_second[led]
    written = add.hourly(held_by, row[held[0]], np.ones(len(held_by)), traffic.bytes_in)
    sent = add.hourly(leader, led, np.ones(len(led)), traffic.bytes_out) + add.hourly(
        leader, led, followers, traffic.bytes_in
    )
    used = np.zeros((sets, add.brokers, 0), dtype=np.float32)
    if rates.costs is not None:
        produced = add.hourly(leader, led, np.ones(len(led)), traffic.bytes_in)
        flows = (one.astype(np.float64) for one in (produced, written - produced, sent))
        used = cores(rates.costs, *flows).astype(np.float32)
    return BrokerSums(
        leaders=add.totals(leader, np.ones(len(led))),
        written=written,
        sent=sent,
        cores=used,
        copied_in=add.totals(copied_by, size[copy]),
        copied_out=add.totals(leader, size[led] * copies),
        load_in=add.totals(copied_by, mean[copy]),
        load_out=add.totals(leader, mean[led] * fetchers),
        mean_in=add.totals(held_by, mean[row[held[0]]]),
        mean_out=add.totals(leader, read + mean[led] * followers),
        copied_load_out=add.totals(leader, mean[led] * copies),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Adder:
    """Adds amounts up by set and broker."""

    sets: int
    brokers: int

    def at(self, states: PartitionStates, of: Ints, place: Ints, slot: Ints) -> Ints:
        """Return the key of the set and broker of some replicas."""
        return np.asarray(of[place] * self.brokers + states.replicas[place, slot], dtype=np.int64)

    def totals(self, key: Ints, amount: Floats) -> Floats:
        """Return float64[S, B]."""
        found = np.bincount(key, weights=amount, minlength=self.sets * self.brokers)
        return np.asarray(found, dtype=np.float64).reshape(self.sets, self.brokers)

    def hourly(self, key: Ints, row: Ints, weight: Floats, values: Float32s) -> Float32s:
        """Return float32[S, B, H], the weighted hours of the partitions."""
        if values.shape[1] == 1:
            return self.totals(key, values[row, 0] * weight).astype(np.float32)[:, :, None]
        from scipy.sparse import csr_matrix

        shape = (self.sets * self.brokers, len(values))
        found = csr_matrix((weight.astype(np.float32), (key, row)), shape=shape) @ values
        return np.asarray(found, dtype=np.float32).reshape(self.sets, self.brokers, -1)
