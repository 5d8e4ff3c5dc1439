"""Leaders in the racks of producers: what that would keep within racks, and how uneven it makes brokers.

Each partition whose producers' racks are known gets the leader that is nearest to them: of its replicas the one in the
rack that produces most of it, the present leader where that is as good. That is an order of replicas in a list, and
copies nothing. Consumers and followers read from the leader where it is then.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.hardware.bill import Bill
from kafka_capacity.questions.chargeback.producers import Producers
from kafka_capacity.questions.chargeback.racks import FLOWS, REPLICATE, produced_share, rack_flows
from kafka_capacity.questions.chargeback.readers import Readers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MovedLeaders:
    """What would be different."""

    is_moved: NDArray[np.bool_]  # bool[P], which partitions have another leader
    kept: NDArray[np.float64]  # float64[T, 3], bytes per second that cross racks less, by flow in the order of `FLOWS`
    leader: NDArray[np.int32]  # int32[P], positions of brokers, -1 for none


def leaders_by_producers(bill: Bill, readers: Readers, producers: Producers) -> MovedLeaders:
    """Move leaders to producers; of brokers in two racks at least."""
    replicas, topic = bill.replicas, bill.workload.partitions.topic
    near = np.where(replicas >= 0, produced_share(bill, producers)[topic[:, None], _racks_of(bill)], -1.0)
    place = np.where(producers.is_known[topic], near.argmax(axis=1), 0)
    width = np.arange(replicas.shape[1])
    # The chosen one first, the others in their order.
    order = np.argsort(np.where(width == place[:, None], -1, width), axis=1, kind="stable")
    moved = dataclasses.replace(bill, replicas=np.take_along_axis(replicas, order, axis=1))
    kept = _crossing(bill, readers, producers) - _crossing(moved, readers, producers)
    if bill.shape.is_replication_free:
        kept[:, FLOWS.index(REPLICATE)] = 0.0
    return MovedLeaders(is_moved=place > 0, kept=kept, leader=moved.replicas[:, 0])


def _racks_of(bill: Bill) -> NDArray[np.int64]:
    """Return int64[P, W], the rack of each replica; -1, where nobody produces, for padding and brokers without one."""
    rack = bill.brokers.rack_indexes().astype(np.int64)[bill.replicas.clip(min=0)]
    return np.where((bill.replicas >= 0) & (rack < len(bill.brokers.rack_names())), rack, -1)


def _crossing(bill: Bill, readers: Readers, producers: Producers) -> NDArray[np.float64]:
    """Return float64[T, 3], what crosses racks by topic and flow."""
    flows, found = rack_flows(bill, readers, producers), np.zeros((len(bill.workload.partitions.topics), len(FLOWS)))
    is_across = flows.source != flows.target
    np.add.at(found, (flows.topic[is_across], flows.flow[is_across]), flows.bytes_per_second[is_across])
    return found
