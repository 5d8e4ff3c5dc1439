"""What each part of the bill is paid for: by resource, and what stands idle.

Brokers: of the resources that sizing judges and whose capacity is known, the one that is nearest to its limit (*the
binding one*) decides how many brokers are needed. The price of all brokers is cut into three by it:
    idle: what is left to the limit at the fullest broker, under the conditions that must be stood. It could be given
        up.
    used: the load of all brokers at peak over their capacity.
    headroom: the rest, which limits keep free for bursts, for the loss of a broker, and because brokers differ.
What is used is carried by all of these resources, in proportion to how far each is used of what its limit allows; and
each resource by who uses it, at mean rates: the network by producers, replication and consumers (what leaders of tiered
topics send to the object store is their producers'), processors by what
these take of them, disks by what is stored, their throughput by what is written and read from disk, replicas by
partitions. Cores that a broker takes without traffic are carried by partitions.

Disks: idle is what is paid for beyond what is needed, headroom what their limit keeps free, the rest is stored bytes.
Traffic between racks and what a provider takes for what is produced are carried by what is billed, and nothing is idle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from kafka_capacity.hardware.bill import Bill, ResourceUse
from kafka_capacity.hardware.limits import MIB, Resource
from kafka_capacity.kafka.arrays import Floats, Ints
from kafka_capacity.kafka.cluster.assignment import replication_factors


class Charge(StrEnum):
    """What is paid for."""

    STORAGE = "storage"
    PRODUCE = "produce"
    REPLICATE = "replicate"
    CONSUME = "consume"
    CROSS_RACK = "cross_rack"
    PARTITIONS = "partitions"
    HEADROOM = "headroom"
    IDLE = "idle"


CHARGES: tuple[Charge, ...] = tuple(Charge)
USED: tuple[Charge, ...] = tuple(charge for charge in CHARGES if charge not in (Charge.HEADROOM, Charge.IDLE))
"""Those that topics and groups carry."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drivers:
    """What each partition carries, float64[P] each: what its costs are in proportion to."""

    stored: Floats  # bytes of all replicas
    produced: Floats  # bytes per second, on average
    replicated: Floats  # likewise, to all followers
    consumed: Floats  # likewise
    uploaded: Floats  # likewise, to the object store, of tiered topics
    remote: Floats  # likewise, read from the object store
    replicas: Floats  # how many
    cross_rack_written: Floats  # bytes per second that are paid for between racks, to write
    cross_rack_read: Floats  # likewise, to read

    @classmethod
    def of(cls, bill: Bill) -> Drivers:
        """Work them out."""
        factor = replication_factors(bill.replicas).astype(np.float64)
        produced = bill.workload.load.bytes_in_mean_bytes_per_second
        consumed = bill.workload.load.bytes_out_mean_bytes_per_second
        leaving, paid = bill.leaving, 0.0 if bill.shape.is_replication_free else 1.0
        return cls(
            stored=bill.stored_bytes * factor,
            produced=produced,
            replicated=produced * np.maximum(factor - 1.0, 0.0),
            consumed=consumed,
            uploaded=produced * bill.workload.is_tiered,
            remote=bill.workload.remote_reads(),
            replicas=factor,
            cross_rack_written=produced * (leaving.produced + paid * leaving.replicated),
            cross_rack_read=consumed * leaving.consumed,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSplit:
    """How the price of brokers is cut, as ratios that sum to 1."""

    binding: Resource | None  # the resource that decides; `None` where no capacity is known
    ratios: Mapping[Charge, float]


def split_of_brokers(bill: Bill, drivers: Drivers) -> BrokerSplit:
    """Cut the price of brokers by what they are used for."""
    if not bill.uses:
        return BrokerSplit(binding=None, ratios={})
    binding = max(bill.uses, key=lambda use: use.needed_ratio)
    idle = 1.0 - min(1.0, binding.needed_ratio)
    used = min(1.0 - idle, binding.load / binding.capacity)
    carried: dict[Charge, float] = dict.fromkeys(USED, 0.0)
    for use in bill.uses:
        for charge, ratio in _carried(use, bill, drivers).items():
            carried[charge] += ratio * use.load / use.allowed
    total = sum(carried.values())
    ratios: dict[Charge, float] = {charge: used * one / total if total > 0 else 0.0 for charge, one in carried.items()}
    ratios[Charge.IDLE] = idle
    ratios[Charge.HEADROOM] = 1.0 - sum(ratios.values())
    return BrokerSplit(binding=binding.resource, ratios=ratios)


def _carried(use: ResourceUse, bill: Bill, drivers: Drivers) -> dict[Charge, float]:
    """Return which part of a resource's use each charge makes: ratios that sum to 1, none where nobody uses it."""
    produced, replicated, consumed, uploaded, remote = (
        float(rate.sum())
        for rate in (drivers.produced, drivers.replicated, drivers.consumed, drivers.uploaded, drivers.remote)
    )
    cpu, written = bill.cpu, {Charge.PRODUCE: produced, Charge.REPLICATE: replicated}
    network_in = next((one.load for one in bill.uses if one.resource is Resource.NETWORK_IN), None)
    cold = 0.0
    if network_in is not None and use.load > 0 and produced > 0:
        cold = max(0.0, 1.0 - network_in * ((produced + replicated) / (produced + replicated + remote)) / use.load)
    parts: dict[Charge, float] = {
        Resource.NETWORK_IN: {**written, Charge.CONSUME: remote},
        Resource.NETWORK_OUT: {Charge.PRODUCE: uploaded, Charge.REPLICATE: replicated, Charge.CONSUME: consumed},
        Resource.CLIENT_IN: {Charge.PRODUCE: produced},
        Resource.CLIENT_OUT: {Charge.PRODUCE: uploaded, Charge.CONSUME: consumed},
        Resource.CPU: {
            Charge.PRODUCE: (cpu.leader_in_seconds_per_mib * produced + cpu.out_seconds_per_mib * uploaded) / MIB,
            Charge.REPLICATE: (cpu.follower_in_seconds_per_mib + cpu.out_seconds_per_mib) * replicated / MIB,
            Charge.CONSUME: cpu.out_seconds_per_mib * consumed / MIB,
            Charge.PARTITIONS: cpu.base_cores * len(bill.brokers) if drivers.replicas.any() else 0.0,
        },
        Resource.DISK: {Charge.STORAGE: float(drivers.stored.sum())},
        Resource.DISK_IO: {
            **{charge: (1.0 - cold) * rate for charge, rate in written.items()},
            # Read from disk by groups that are behind.
            Charge.CONSUME: cold * (produced + replicated) if consumed > 0 else 0.0,
        },
        Resource.REPLICAS: {Charge.PARTITIONS: float(drivers.replicas.sum())},
    }[use.resource]
    total = sum(parts.values())
    return {charge: part / total for charge, part in parts.items()} if total > 0 else {}


def in_cents(usd: float) -> int:
    """Return an amount in whole cents, half a cent to the even one.

    >>> in_cents(12.345678), in_cents(0.1 + 0.2)
    (1235, 30)
    """
    return round(usd * 100)


def shared_cents(cents: int, weights: Floats) -> Ints:
    """Share out cents in proportion to weights: int64[N] that sums to the cents, each within one cent of its share.

    By the method of the largest remainder; of equal ones the first gets the cent. Weights, float64[N], are 0 or more.

    Raises:
        ValueError: there are cents, and no weight is above 0.

    >>> shared_cents(100, np.array([1.0, 1.0, 1.0])).tolist(), shared_cents(0, np.zeros(2)).tolist()
    ([34, 33, 33], [0, 0])
    """
    found = np.zeros(len(weights), dtype=np.int64)
    if not cents:
        return found
    has_any = np.flatnonzero(weights > 0)
    if not len(has_any):
        raise ValueError(f"{cents} cents cannot be split: no weight is above 0")
    exact = weights[has_any] / weights[has_any].sum() * cents
    whole = np.floor(exact)
    order = np.argsort(whole - exact, kind="stable")
    missing = cents - int(whole.sum())
    if missing < 0:  # rounding of very many shares
        order, missing = order[::-1][whole[order[::-1]] > 0], -missing
        whole[order[:missing]] -= 1
    else:
        whole[order[:missing]] += 1
    found[has_any] = whole.astype(np.int64)
    return found


def bill_in_cents(bill: Bill, drivers: Drivers, brokers: BrokerSplit) -> dict[str, dict[Charge, int]]:
    """Return what each part of a bill whose prices are all known is paid for, in cents that sum to the bill's."""
    stored = float(drivers.stored.sum())
    parts: dict[str, Mapping[Charge, float]] = {
        "brokers": brokers.ratios,
        "disks": _split_of_disks(bill) if stored > 0 else {Charge.IDLE: 1.0},
        "between_racks": {Charge.CROSS_RACK: 1.0},
        "ingest": {Charge.PRODUCE: 1.0},
    }
    usd = np.array([bill.usd[part] for part in parts])
    cents = shared_cents(in_cents(float(usd.sum())), usd)
    return {
        part: dict(
            zip(
                CHARGES,
                shared_cents(int(amount), np.array([max(0.0, ratios.get(charge, 0.0)) for charge in CHARGES])).tolist(),
                strict=True,
            )
        )
        for (part, ratios), amount in zip(parts.items(), cents.tolist(), strict=True)
    }


def _split_of_disks(bill: Bill) -> dict[Charge, float]:
    """Cut the price of disks; those that a provider manages are paid for by what is stored."""
    billed = bill.billed_disk_bytes
    if not billed > bill.held_bytes:
        return {Charge.STORAGE: 1.0}
    needed = min(billed, bill.needed_disk_bytes)
    return {
        Charge.STORAGE: bill.held_bytes / billed,
        Charge.HEADROOM: (needed - bill.held_bytes) / billed,
        Charge.IDLE: (billed - needed) / billed,
    }
