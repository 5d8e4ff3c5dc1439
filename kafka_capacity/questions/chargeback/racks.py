"""Bytes between racks as they are, and what settings of clients and leaders near producers would save, with the skew.

Who is where:
    leaders and followers: from the replica lists, the preferred leader leading.
    consumers: in the rack of the member that reads (`client.rack`), where that is known; else spread evenly over the
        racks of brokers.
    producers: where somebody says; else spread evenly over the racks of brokers.

Follower fetching (KIP-392): who reads does so from the replica in their own rack, and from the leader where it has
none. Brokers then read out what their rack reads, whoever leads.

Rack-aware partitioner (KIP-1123): :mod:`kafka_capacity.hardware.rack_traffic`.

Leaders in the racks of producers: each partition whose producers' racks are known gets the leader that is nearest to
them: of its replicas the one in the rack that produces most of it, the present leader where that is as good. That is an
order of replicas in a list, and copies nothing. Consumers and followers read from the leader where it is then.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafka_capacity.hardware.bill import Bill
from kafka_capacity.hardware.flows import read_shares
from kafka_capacity.hardware.rack_traffic import leader_racks, rack_aware
from kafka_capacity.kafka.arrays import Flags, Floats, Int32s, Ints
from kafka_capacity.questions.chargeback.producers import Producers
from kafka_capacity.questions.chargeback.readers import NOBODY, Readers

PRODUCE, REPLICATE, CONSUME = "produce", "replicate", "consume"
FLOWS = (PRODUCE, REPLICATE, CONSUME)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RackFlows:
    """Mean bytes per second from a rack to a rack, one entry a topic, group, flow and pair of racks, without zeros."""

    racks: tuple[str | None, ...]  # of brokers and members, `None` for each broker that has none
    topic: Ints
    group: Ints  # -1 where it is no group's
    flow: Ints  # position in `FLOWS`
    source: Ints  # position in `racks`
    target: Ints
    is_known: Flags  # whether both racks are known, and not assumed
    bytes_per_second: Floats
    # the part of it that crosses racks, and that follower fetching would keep within one; 0 but for what is consumed
    saved_bytes_per_second: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RackAwareTopics:
    """What rack-aware producers would do, by topic, float64[T] each, and by partition, float64[P]."""

    produced_bytes_per_second: Floats
    saved_bytes_per_second: Floats  # that stay in their rack
    fullest_ratio_now: Floats  # what the fullest partition gets over the mean, as measured; NaN without traffic
    fullest_ratio_after: Floats
    by_partition: Floats  # bytes per second


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Placed:
    rack_of: Ints  # int64[B], position in the names below
    names: tuple[str | None, ...]
    broker_racks: int  # how many racks with a name brokers have; the first of the names
    leader: Ints  # int64[P], the rack of the leader, -1 where there is none
    replica: Ints  # int64[P, W], of each replica, -1 in the padding


def _placed(bill: Bill, *others: Sequence[str]) -> _Placed:
    """Place brokers, and name their racks and those of others."""
    brokers = bill.brokers
    named = brokers.rack_names()
    rack_of = brokers.rack_indexes().astype(np.int64)
    alone = int(rack_of.max(initial=-1)) + 1 - len(named)
    elsewhere = tuple(rack for rack in dict.fromkeys(itertools.chain(*others)) if rack not in named)
    replica = np.where(bill.replicas >= 0, rack_of[bill.replicas.clip(min=0)], -1)
    leader = replica[:, 0] if replica.shape[1] else np.full(len(replica), -1)
    return _Placed(
        rack_of=rack_of,
        names=(*named, *(None for _ in range(max(0, alone))), *elsewhere),
        broker_racks=len(named),
        leader=leader,
        replica=replica,
    )


def produced_share(bill: Bill, producers: Producers) -> Floats:
    """Return float64[T, R + 1], how much of what is produced to topics is in each rack of brokers; nothing in the last.

    What is produced in racks without brokers is missing.
    """
    named = bill.brokers.rack_names()
    share = _share_of_racks(producers, tuple(dict.fromkeys((*named, *producers.racks))), len(named))
    return np.pad(share[:, : len(named)], ((0, 0), (0, 1)))


def _share_of_racks(producers: Producers, names: Sequence[str | None], broker_racks: int) -> Floats:
    """Return float64[T, N], how much of what is produced to topics is in each rack; brokers are in the first."""
    place = np.array([names.index(rack) for rack in producers.racks], dtype=np.int64)
    share = np.zeros((len(producers.share), len(names)))
    share[:, :broker_racks] = np.where(producers.is_known[:, None], 0.0, 1.0 / max(1, broker_racks))
    share[:, place] += producers.share
    return share


def rack_flows(bill: Bill, readers: Readers, producers: Producers) -> RackFlows:
    """Add up who sends how much from which rack to which; of brokers in two racks at least."""
    placed, topic = _placed(bill, readers.racks, producers.racks), bill.workload.partitions.topic.astype(np.int64)
    load = bill.workload.load
    parts = [
        _produced(placed, load.bytes_in_mean_bytes_per_second, producers, topic),
        _replicated(placed, load.bytes_in_mean_bytes_per_second),
        _consumed(placed, load.bytes_out_mean_bytes_per_second, readers, is_read_in_rack=bill.is_read_in_rack),
    ]
    row, group, flow, source, target, known, rate, saved = map(np.concatenate, zip(*parts, strict=True))
    is_there = rate > 0
    # One number an entry: no group is the first.
    racks = len(placed.names)
    sizes = (int(topic.max(initial=0)) + 1, len(readers.groups) + 1, len(FLOWS), racks, racks, 2)
    parts_of_key = (topic[row], group + 1, flow, source, target, known)
    keys = np.ravel_multi_index(tuple(part[is_there] for part in parts_of_key), sizes)
    found, place = np.unique(keys, return_inverse=True)
    of_topic, of_group, of_flow, of_source, of_target, is_known = np.unravel_index(found, sizes)
    return RackFlows(
        racks=placed.names,
        topic=of_topic,
        group=of_group - 1,
        flow=of_flow,
        source=of_source,
        target=of_target,
        is_known=is_known.astype(np.bool_),
        bytes_per_second=_summed(place, rate[is_there], len(found)),
        saved_bytes_per_second=_summed(place, saved[is_there], len(found)),
    )


# row, group, flow, source, target, whether known, bytes per second, and those that follower fetching keeps in the rack
_Part = tuple[Ints, Ints, Ints, Ints, Ints, Ints, Floats, Floats]


def _produced(placed: _Placed, rate: Floats, producers: Producers, topic: Ints) -> _Part:
    share = _share_of_racks(producers, placed.names, placed.broker_racks)
    row, source = np.nonzero((share[topic] > 0) & (placed.leader >= 0)[:, None])
    amount = rate[row] * share[topic[row], source]
    return _part(FLOWS.index(PRODUCE), row, source, placed.leader[row], amount, known=producers.is_known[topic[row]])


def _replicated(placed: _Placed, rate: Floats) -> _Part:
    row, column = np.nonzero((placed.replica >= 0) & (placed.leader >= 0)[:, None])
    row, column = row[column > 0], column[column > 0]
    known = np.ones(len(row), dtype=np.bool_)
    return _part(FLOWS.index(REPLICATE), row, placed.leader[row], placed.replica[row, column], rate[row], known=known)


def _part(flow: int, row: Ints, source: Ints, target: Ints, rate: Floats, *, known: Flags) -> _Part:
    same = np.ones(len(row), dtype=np.int64)
    return row, -same, flow * same, source, target, known.astype(np.int64), rate, np.zeros(len(row))


def _consumed(placed: _Placed, rate: Floats, readers: Readers, *, is_read_in_rack: bool) -> _Part:
    entry, target, share, is_known = _where_read(placed, readers)
    row = readers.row[entry]
    is_led = placed.leader[row] >= 0
    entry, target, row = entry[is_led], target[is_led], row[is_led]
    share, is_known = share[is_led], is_known[is_led]
    leader = placed.leader[row]
    has_one = (placed.replica[row] == target[:, None]).any(axis=1)
    source = np.where(has_one, target, leader) if is_read_in_rack else leader
    bytes_read = rate[row] * readers.share[entry] * share
    saved = np.where(has_one & (source != target), bytes_read, 0.0)
    group = readers.group[entry].astype(np.int64)
    flow = np.full(len(row), FLOWS.index(CONSUME))
    return row, group, flow, source, target, is_known.astype(np.int64), bytes_read, saved


def _where_read(placed: _Placed, readers: Readers) -> tuple[Ints, Ints, Floats, Flags]:
    """Return for each entry of readers in which racks they are, with which share, and whether that is known."""
    place = {name: number for number, name in enumerate(placed.names) if name is not None}
    known_rack = np.array([place[name] for name in readers.racks], dtype=np.int64)
    is_known = readers.rack != NOBODY
    known, unknown = np.flatnonzero(is_known), np.flatnonzero(~is_known)
    racks = placed.broker_racks
    entry = np.concatenate([known, np.repeat(unknown, racks)])
    target = np.concatenate(
        [known_rack[readers.rack[known]] if len(known) else known, np.tile(np.arange(racks), len(unknown))]
    )
    share = np.concatenate([np.ones(len(known)), np.full(len(unknown) * racks, 1.0 / racks)])
    return entry, target, share, np.repeat([True, False], [len(known), len(unknown) * racks])


def read_per_broker(bill: Bill, readers: Readers) -> tuple[Floats, Floats]:
    """Return float64[B], what consumers read from each broker now, and with follower fetching, bytes per second."""
    placed = _placed(bill, readers.racks)
    rate = bill.workload.load.bytes_out_mean_bytes_per_second
    entry, target, share, _ = _where_read(placed, readers)
    of_brokers = int(placed.rack_of.max(initial=-1)) + 1
    is_ours = target < of_brokers
    asked = np.zeros((len(rate), of_brokers))
    weight = readers.share[entry] * share
    np.add.at(asked, (readers.row[entry][is_ours], target[is_ours]), weight[is_ours])
    alive = bill.replicas >= 0
    leader = np.zeros(bill.replicas.shape, dtype=np.float32)
    leader[alive.any(axis=1), 0] = 1.0
    rack_of = placed.rack_of.astype(np.int32)
    in_rack = read_shares(bill.replicas, alive, leader, rack_of, asked.astype(np.float32))
    # Who is in a rack without brokers reads from the leader.
    in_rack = in_rack + leader * (1.0 - asked.sum(axis=1))[:, None]
    after = _per_broker(bill, in_rack * rate[:, None])
    return (after if bill.is_read_in_rack else _per_broker(bill, leader * rate[:, None])), after


def _per_broker(bill: Bill, rates: Floats) -> Floats:
    alive = bill.replicas >= 0
    return _summed(bill.replicas[alive].astype(np.int64), rates[alive], len(bill.brokers))


def rack_aware_topics(bill: Bill, producers: Producers) -> RackAwareTopics:
    """Work out what rack-aware producers without keys would do to partitions, and to bytes between racks."""
    workload = bill.workload
    topic, rate = workload.partitions.topic.astype(np.int64), workload.load.bytes_in_mean_bytes_per_second
    topics = len(workload.partitions.topics)
    rack, share = leader_racks(bill.replicas, bill.brokers), produced_share(bill, producers)
    aware = rack_aware(workload, rack, share[:, :-1])
    produced = _summed(topic, rate, topics)
    after = produced[topic] * aware.share
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = produced / np.bincount(topic, minlength=topics)
        now, then = (np.where(mean > 0, _largest(topic, one, topics) / mean, np.nan) for one in (rate, after))
    within = _summed(topic, rate * share[topic, rack], topics)
    leaving = np.where(producers.is_known, produced - within, produced * bill.leaving.produced)
    return RackAwareTopics(
        produced_bytes_per_second=produced,
        saved_bytes_per_second=np.maximum(leaving - produced * aware.leaving, 0.0),
        fullest_ratio_now=now,
        fullest_ratio_after=then,
        by_partition=after,
    )


def _summed(place: Ints, amounts: Floats, count: int) -> Floats:
    return np.bincount(place, weights=amounts, minlength=count).astype(np.float64)


def _largest(topic: Ints, values: Floats, topics: int) -> Floats:
    found = np.zeros(topics)
    np.maximum.at(found, topic, values)
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MovedLeaders:
    """What would be different."""

    is_moved: Flags  # bool[P], which partitions have another leader
    kept: Floats  # float64[T, 3], bytes per second that cross racks less, by flow in the order of `FLOWS`
    leader: Int32s  # int32[P], positions of brokers, -1 for none


def leaders_by_producers(bill: Bill, readers: Readers, producers: Producers) -> MovedLeaders:
    """Move leaders to producers; of brokers in two racks at least."""
    replicas, topic, placed = bill.replicas, bill.workload.partitions.topic, _placed(bill)
    # Nobody produces in the last: the rack of padding and of brokers without one.
    rack = np.where(placed.replica < placed.broker_racks, placed.replica, -1)
    near = np.where(replicas >= 0, produced_share(bill, producers)[topic[:, None], rack], -1.0)
    place = np.where(producers.is_known[topic], near.argmax(axis=1), 0)
    width = np.arange(replicas.shape[1])
    # The chosen one first, the others in their order.
    order = np.argsort(np.where(width == place[:, None], -1, width), axis=1, kind="stable")
    moved = dataclasses.replace(bill, replicas=np.take_along_axis(replicas, order, axis=1))
    kept = _crossing(bill, readers, producers) - _crossing(moved, readers, producers)
    if bill.shape.is_replication_free:
        kept[:, FLOWS.index(REPLICATE)] = 0.0
    return MovedLeaders(is_moved=place > 0, kept=kept, leader=moved.replicas[:, 0])


def _crossing(bill: Bill, readers: Readers, producers: Producers) -> Floats:
    """Return float64[T, 3], what crosses racks by topic and flow."""
    flows, found = rack_flows(bill, readers, producers), np.zeros((len(bill.workload.partitions.topics), len(FLOWS)))
    is_across = flows.source != flows.target
    np.add.at(found, (flows.topic[is_across], flows.flow[is_across]), flows.bytes_per_second[is_across])
    return found
