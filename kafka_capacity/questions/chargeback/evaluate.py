"""Share out what today's cluster costs, and add up what crosses racks: the tables of a plan about both."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_capacity.demand.changed import ClusterChange
from kafka_capacity.demand.workload import PeakBasis
from kafka_capacity.hardware.bill import Bill
from kafka_capacity.hardware.limits import GIB, RESOURCES, Resource, resource_name
from kafka_capacity.inventory.owners import owner_of
from kafka_capacity.inventory.sizing_workload import remote_sizes
from kafka_capacity.kafka.arrays import Floats, Int32s, Ints
from kafka_capacity.kafka.cluster.assignment import Partitions
from kafka_capacity.questions.answer import NO_RATES
from kafka_capacity.questions.chargeback.ledger import Ledger, Owned, make_ledger
from kafka_capacity.questions.chargeback.producers import Measured, Producers, stated_producers
from kafka_capacity.questions.chargeback.racks import (
    FLOWS,
    leaders_by_producers,
    rack_aware_topics,
    rack_flows,
    read_per_broker,
)
from kafka_capacity.questions.chargeback.readers import NOBODY, Readers, known_readers
from kafka_capacity.questions.chargeback.split import (
    CHARGES,
    BrokerSplit,
    Drivers,
    bill_in_cents,
    in_cents,
    split_of_brokers,
)
from kafka_capacity.questions.chargeback.tables import ChargebackScope, MarginalRow, of_columns, of_rows
from kafka_capacity.questions.question import Handed, PlanContext, Pricing, RunPieces
from kafka_capacity.text import listed

_DECIDING = frozenset({Resource.DISK, Resource.NETWORK_IN, Resource.NETWORK_OUT, Resource.CPU})

TOPIC, GROUP, OWNER = "topic", "group", "owner"
_NAMES = {
    "brokers": "the price of a broker",
    "disks": "the price of disks",
    "between_racks": "the price of traffic between racks",
    "ingest": "the price of produced data",
}


def chargeback_tables(asked: PlanContext, handed: Handed, run: RunPieces) -> dict[str, pa.Table]:
    """Return the tables; those of costs are empty where the bill cannot be shared out."""
    if handed.pricing is None:
        raise TypeError("costs are split from a bill that is passed in")
    bill, readers = handed.pricing.today, known_readers(asked.basis.snapshot)
    drivers = Drivers.of(bill)
    brokers = split_of_brokers(bill, drivers)
    reason = _reason(bill, brokers)
    of, rate = bill.workload.partitions, bill.workload.load.bytes_in_mean_bytes_per_second
    produced = np.bincount(of.topic, weights=rate, minlength=len(of.topics)).astype(np.float64)
    measured = Measured.of(asked.basis.raw, of.topics, produced)
    stated = stated_producers(asked.parameters.stated_racks(), of.topics)
    producers = stated.before(measured.producers(len(of.topics)))
    has_rates = bill.workload.traffic.basis is not PeakBasis.UNKNOWN
    racked = rack_tables(bill, readers, producers) if has_rates and len(bill.brokers.rack_names()) > 1 else {}
    racked |= {"chargeback_tiered": _tiered_table(asked, bill)}
    if reason is not None:
        return {**racked, "chargeback_scope": _scope(asked, bill, brokers, reason=reason)}
    parts = bill_in_cents(bill, drivers, brokers)
    charged = {charge: sum(part[charge] for part in parts.values()) for charge in CHARGES}
    ledger = make_ledger(of.topic, drivers, readers, measured, charged, is_idle_shared=asked.parameters.is_idle_shared)
    names = asked.basis.snapshot.partitions.topics
    owned = Owned.of(names, readers.groups, asked.owners)
    owners = owned.of_rows(ledger)
    wanted = _wanted(asked, ledger, owned, readers)
    rows, broker_count, smallest_cents = _marginal_rows(wanted, handed.pricing, run)
    return {
        **racked,
        "chargeback": _ledger_table(ledger, names, readers, owners),
        "chargeback_bill": of_rows(
            "chargeback_bill",
            [
                {"part": part, "charge": str(charge), "cents": cents}
                for part, charges in parts.items()
                for charge, cents in charges.items()
                if cents
            ],
        ),
        "chargeback_marginal": of_rows("chargeback_marginal", rows),
        "chargeback_scope": _scope(
            asked,
            bill,
            brokers,
            total_cents=sum(charged.values()),
            broker_count=broker_count,
            smallest_cents=smallest_cents,
        ),
    }


def _tiered_table(asked: PlanContext, bill: Bill) -> pa.Table:
    """Return what the object store holds of tiered topics, and what is read from there."""
    workload, of = bill.workload, bill.workload.partitions
    rate = workload.load.bytes_in_mean_bytes_per_second
    held, is_measured = remote_sizes(asked.basis.raw, asked.basis.snapshot, rate)
    held = np.where(is_measured | (workload.traffic.basis is not PeakBasis.UNKNOWN), held, np.nan)
    read = np.bincount(of.topic, weights=workload.remote_reads(), minlength=len(of.topics))
    tiered = np.unique(of.topic[workload.is_tiered])
    topics = [of.topics[place] for place in tiered.tolist()]
    columns = {
        "topic": topics,
        "owner": [owner_of(asked.owners, topic) for topic in topics],
        "remote_bytes": held[tiered],
        "usd_per_month": held[tiered] / GIB * asked.parameters.object_store_usd_per_gib_month,
        "is_measured": is_measured[tiered],
        "remote_read_bytes_per_second": read[tiered],
    }
    return of_columns("chargeback_tiered", columns)


def _reason(bill: Bill, brokers: BrokerSplit) -> str | None:
    """Return why the bill cannot be shared out, as what is not known; ``None`` where it can."""
    unknown = [_NAMES[part] for part, usd in bill.usd.items() if math.isnan(usd)]
    if unknown:
        return f"{listed(unknown)} {'is' if len(unknown) == 1 else 'are'} not known"
    if bill.workload.traffic.basis is PeakBasis.UNKNOWN:
        return NO_RATES
    return "no capacity of the brokers is known" if brokers.binding is None else None


def _unknown(bill: Bill) -> str | None:
    """Name the resources that may decide how many brokers are needed and of which no capacity is known."""
    known = {use.resource for use in bill.uses}
    names = [resource_name(one) for one in RESOURCES if one in _DECIDING - known]
    return listed(names) or None


def _scope(asked: PlanContext, bill: Bill, brokers: BrokerSplit, **found: Any) -> pa.Table:
    row = ChargebackScope(
        shape=bill.shape.name,
        priced_on=bill.shape.priced_on or None,
        priced_as=bill.shape.priced_as,
        binding=None if brokers.binding is None else str(brokers.binding),
        unknown=_unknown(bill),
        broker_count_now=len(bill.brokers),
        owners=len(set(asked.owners.values())),
        usd_per_gib_between_racks=bill.shape.usd_per_gib_between_racks,
        **found,
    )
    return of_rows("chargeback_scope", [row])


def _ledger_table(ledger: Ledger, names: Sequence[str], readers: Readers, owners: Sequence[str | None]) -> pa.Table:
    columns = {
        "topic": _named(names, ledger.topic),
        "group_id": _named(readers.groups, ledger.group),
        "client_id": _named(ledger.clients, ledger.client),
        "owner": pa.array(owners, pa.string()),
        **{f"{charge}_cents": cents for charge, cents in ledger.cents.items()},
        "total_cents": ledger.total_cents,
    }
    return of_columns("chargeback", columns)


def _named(names: Sequence[str | None], place: Ints) -> pa.Array:
    return pa.array([names[one] if one >= 0 else None for one in place.tolist()], pa.string())


# of whom the marginal cost is worked out: kind, name, share of the bill in cents, and what is gone without them
_Wanted = tuple[str, str, int, ClusterChange]


def _wanted(asked: PlanContext, ledger: Ledger, owned: Owned, readers: Readers) -> list[_Wanted]:
    of, cents = asked.basis.snapshot.partitions, ledger.total_cents
    topics = [
        (TOPIC, of.topics[place], paid, _without(of, readers, topics=[place]))
        for place, paid in _largest(ledger.topic, cents, asked.parameters.marginal_topics)
    ]
    groups = [
        (GROUP, readers.groups[place], paid, _without(of, readers, groups=frozenset([readers.groups[place]])))
        for place, paid in _largest(ledger.group, cents, asked.parameters.marginal_groups)
    ]
    by_owner: dict[str, int] = {}
    for owner, paid in zip(owned.of_rows(ledger), cents.tolist(), strict=True):
        if owner is not None:
            by_owner[owner] = by_owner.get(owner, 0) + paid
    owners = [(OWNER, one, paid, _without_owner(of, owned, readers, one)) for one, paid in sorted(by_owner.items())]
    return [*topics, *groups, *owners]


def _marginal_rows(
    wanted: Sequence[_Wanted], pricing: Pricing, run: RunPieces
) -> tuple[list[MarginalRow], int | None, int | None]:
    """Return them with their marginal cost, and the brokers and cents of the smallest size of all."""
    if not wanted:
        return [], None, None
    whole, *others = pricing.smallest([change for *_, change in wanted], run)
    smallest, *lefts = (None if one.usd_per_month is None else in_cents(one.usd_per_month) for one in (whole, *others))
    rows = [
        MarginalRow(
            kind=kind,
            name=name,
            average_cents=average,
            marginal_cents=None if smallest is None or left is None else smallest - left,
            broker_count=size.broker_count,
        )
        for (kind, name, average, _), size, left in zip(wanted, others, lefts, strict=True)
    ]
    return rows, whole.broker_count, smallest


def _largest(place: Ints, cents: Ints, count: int) -> list[tuple[int, int]]:
    """Return those that pay most in all, in the order of their places, each with what it pays; -1 is nobody."""
    paid = np.bincount(place[place >= 0], weights=cents[place >= 0]).astype(np.int64)
    largest = np.argsort(-paid, kind="stable")[:count].tolist()
    return [(one, int(paid[one])) for one in sorted(largest) if paid[one] > 0]


def _without(
    partitions: Partitions, readers: Readers, topics: Sequence[int] = (), groups: frozenset[str] = frozenset()
) -> ClusterChange:
    """Take out topics, by their places, and groups with what they read."""
    # The last place stands for nobody known.
    is_gone = np.array([*(name in groups for name in readers.groups), False], dtype=np.bool_)
    gone = np.where(is_gone[readers.group], readers.share, 0.0)
    left = 1.0 - np.bincount(readers.row, weights=gone, minlength=len(partitions))
    return dataclasses.replace(
        ClusterChange.nothing(len(partitions)),
        is_removed=np.isin(partitions.topic, np.array(topics, dtype=np.int32)),
        read_ratio=np.clip(left, 0.0, 1.0),
        gone_groups=groups,
    )


def _without_owner(partitions: Partitions, owned: Owned, readers: Readers, owner: str) -> ClusterChange:
    """Take out the topics of an owner, and what their groups read of other topics."""
    groups = frozenset(name for name, one in zip(readers.groups, owned.groups, strict=True) if one == owner)
    topics = [place for place, one in enumerate(owned.topics) if one == owner]
    return _without(partitions, readers, topics, groups)


def rack_tables(bill: Bill, readers: Readers, producers: Producers) -> dict[str, pa.Table]:
    """Return the tables about bytes between racks, of brokers in two racks at least."""
    names = bill.workload.partitions.topics
    flows, aware = rack_flows(bill, readers, producers), rack_aware_topics(bill, producers)
    now, after = read_per_broker(bill, readers)
    leader = bill.replicas[:, 0] if bill.replicas.shape[1] else np.full(len(bill.replicas), NOBODY)
    rate, brokers = bill.workload.load.bytes_in_mean_bytes_per_second, len(bill.brokers)
    return {
        **(_leader_tables(bill, readers, producers) if producers.is_known.any() else {}),
        "rack_flows": of_columns(
            "rack_flows",
            {
                "topic": _named(names, flows.topic),
                "group_id": _named(readers.groups, flows.group),
                "flow": _named(FLOWS, flows.flow),
                "from_rack": _named(flows.racks, flows.source),
                "to_rack": _named(flows.racks, flows.target),
            },
            of=flows,
        ),
        "rack_topics": of_columns("rack_topics", {"topic": list(names)}, of=aware),
        "rack_brokers": of_columns(
            "rack_brokers",
            {
                "broker_id": bill.brokers.ids,
                "rack": bill.brokers.racks,
                "read_now": now,
                "read_with_follower_fetching": after,
                "produced_now": _led(leader, rate, brokers),
                "produced_with_rack_aware": _led(leader, aware.by_partition, brokers),
            },
        ),
    }


def _led(leader: Int32s, amount: Floats, brokers: int) -> Floats:
    """Return float64[B], the sum of an amount of each partition by who leads it."""
    is_led = leader >= 0
    return np.bincount(leader[is_led], weights=amount[is_led], minlength=brokers).astype(np.float64)


def _leader_tables(bill: Bill, readers: Readers, producers: Producers) -> dict[str, pa.Table]:
    partitions, rate = bill.workload.partitions, bill.workload.load.bytes_in_mean_bytes_per_second
    found, brokers = leaders_by_producers(bill, readers, producers), bill.brokers
    known = np.flatnonzero(producers.is_known)
    count = np.bincount(partitions.topic, minlength=len(partitions.topics))
    moved = np.bincount(partitions.topic, weights=found.is_moved, minlength=len(partitions.topics))
    by_broker: dict[str, Any] = {"broker_id": brokers.ids, "rack": brokers.racks}
    for when, leader in (("now", bill.replicas[:, 0]), ("then", found.leader)):
        by_broker[f"leaders_{when}"] = np.bincount(leader[leader >= 0], minlength=len(brokers))
        by_broker[f"produced_{when}"] = _led(leader, rate, len(brokers))
    return {
        "rack_leaders": of_columns(
            "rack_leaders",
            {
                "topic": _named(partitions.topics, known),
                "producer_racks": [
                    [rack for rack, share in zip(producers.racks, shares, strict=True) if share]
                    for shares in producers.share[known]
                ],
                "partitions": count[known],
                "moved_partitions": moved[known].astype(np.int32),
                **{f"{flow}_bytes_per_second": found.kept[known, place] for place, flow in enumerate(FLOWS)},
            },
        ),
        "rack_leader_brokers": of_columns("rack_leader_brokers", by_broker),
    }
