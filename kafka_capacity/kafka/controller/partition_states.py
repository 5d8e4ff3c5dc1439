"""What a controller knows of very many partitions, as arrays: who holds, leads and is in sync."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.arrays import Flags, Int32s, Ints
from kafka_capacity.kafka.cluster.assignment import NO_BROKER
from kafka_capacity.kafka.cluster.columns import change_columns
from kafka_capacity.kafka.cluster.release import KAFKA_3_7
from kafka_capacity.kafka.cluster.snapshot import Snapshot

NO_SLOT = np.int8(-1)  # the leader of a partition that nobody leads


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PartitionStates:
    """Partitions and who may lead them; a *slot* is a place in a replica list."""

    replicas: Int32s  # int32[P, W], positions of brokers (not ids), the preferred leader first, padded with -1
    in_sync: Flags  # bool[P, W], the ISR, False in the padding
    eligible: Flags  # bool[P, W], eligible leader replicas (KIP-966) that are not in the ISR
    leader: NDArray[np.int8]  # int8[P], the slot that leads, `NO_SLOT` where none does
    is_unclean: Flags  # bool[P], whether that leader was elected out of sync, so that records are lost
    # int32[P], of how many replicas the ISR must be for `acks=all`: `min.insync.replicas`, but no more than there are
    # replicas (`Partition.effectiveMinIsr`, since Kafka 3.7)
    min_isr: Int32s
    is_unclean_allowed: Flags  # bool[P], `unclean.leader.election.enable`
    is_live: Flags  # bool[B], registered and not fenced: it may lead

    @classmethod
    def of(
        cls,
        replicas: Int32s,
        in_sync: Flags,
        leader: Int32s,
        *,
        min_insync_replicas: Int32s,
        is_unclean_allowed: Flags,
        is_live: Flags,
        eligible: Flags | None = None,
    ) -> PartitionStates:
        """Put together what is known, as in the attributes.

        ``leader`` is int32[P], the position of the broker that leads, -1 where none does; ``min_insync_replicas`` as it
        is set. Nobody is eligible where that is left out.
        """
        held = replicas >= 0
        leads = held & (replicas == leader[:, None])
        slot = np.where(leads.any(axis=1), first_of(leads), NO_SLOT).astype(np.int8)
        none = np.zeros(replicas.shape, dtype=np.bool_)
        return cls(
            replicas=replicas,
            in_sync=in_sync & held,
            eligible=none if eligible is None else eligible & held & ~in_sync,
            leader=slot,
            is_unclean=np.zeros(len(replicas), dtype=np.bool_),
            min_isr=np.minimum(min_insync_replicas, held.sum(axis=1)).astype(np.int32),
            is_unclean_allowed=is_unclean_allowed,
            is_live=is_live,
        )

    def __len__(self) -> int:
        return len(self.replicas)

    def take(self, rows: Ints) -> PartitionStates:
        """Return some of the partitions."""
        return change_columns(self, lambda column: column[rows], is_live=self.is_live)

    @property
    def is_offline(self) -> Flags:
        """Return which partitions nobody leads: bool[P]."""
        return np.asarray(self.leader < 0, dtype=np.bool_)

    def refuses(self, live: Flags) -> Flags:
        """Return which partitions are led and take no ``acks=all``, given who lives, bool[N, W]: bool[N].

        Too few are in sync, or a dead one still is: it holds back the high watermark (``PendingShrinkIsr.maximalIsr``
        of Kafka's ``Partition``) until a controller takes it out, and writes wait in vain.
        """
        is_held_back = (self.in_sync & ~live).any(axis=1)
        return ~self.is_offline & ((self.isr_size() < self.min_isr) | is_held_back)

    def isr_size(self) -> Ints:
        """Count the in-sync replicas: int64[P]."""
        return np.asarray(self.in_sync.sum(axis=1), dtype=np.int64)

    def live_replicas(self) -> Flags:
        """Return which replicas are on live brokers: bool[P, W]."""
        return live_on(self.replicas, self.is_live)


def states_of(snapshot: Snapshot) -> PartitionStates:
    """Return the partitions of a snapshot as a controller knows them; who is eligible beside the ISR is not known."""
    brokers, topic = snapshot.brokers, snapshot.partitions.topic
    least = snapshot.topics.min_insync_replicas[topic]
    states = PartitionStates.of(
        brokers.index_of(snapshot.replicas),
        snapshot.in_sync,
        brokers.index_of(snapshot.leader),
        min_insync_replicas=least,
        is_unclean_allowed=snapshot.topics.allows_unclean_election[topic],
        is_live=~brokers.is_fenced,
    )
    return states if snapshot.release >= KAFKA_3_7 else dataclasses.replace(states, min_isr=least.astype(np.int32))


def live_on(replicas: Int32s, is_live: Flags) -> Flags:
    """Look up which replicas are on live brokers; padding is on none."""
    # The last entry is for the -1 of padding.
    return np.append(is_live, False)[replicas]


def led_by_the_living(replicas: Int32s, live: Flags, in_sync: Flags, leader: Int32s) -> tuple[Int32s, Flags]:
    """Return who leads, int32[P], and who is in sync, bool[P, W], once fenced brokers have left the ISRs.

    They leave as far as others are in them; where one led, the first of these does, and nobody where there is none
    (``ReplicationControlManager.handleBrokerFenced``).

    Args:
        replicas: int32[P, W], the ids of who holds each partition.
        live: bool[P, W], which of them are on live brokers.
        in_sync: bool[P, W], the ISRs before.
        leader: int32[P], the ids of who leads before.
    """
    left = in_sync & live
    has_left = np.asarray(left.any(axis=1), dtype=np.bool_)
    is_dead = (replicas == leader[:, None]) & (replicas >= 0) & ~live
    first = np.take_along_axis(replicas, first_of(left)[:, None], axis=1)[:, 0] if replicas.shape[1] else leader
    elected = np.where(has_left, first, NO_BROKER)
    return (
        np.where(is_dead.any(axis=1), elected, leader).astype(np.int32),
        np.where(has_left[:, None], left, in_sync),
    )


def first_of(flags: Flags) -> Ints:
    """Return the first slot that is set in each row, 0 where none is."""
    if not flags.shape[1]:
        return np.zeros(len(flags), dtype=np.int64)
    return np.asarray(flags.argmax(axis=1), dtype=np.int64)


def only(slot: NDArray[np.int8], width: int) -> Flags:
    """Set one slot a row, none where it is :data:`NO_SLOT`: bool[N, W]."""
    return np.asarray(slot[:, None] == np.arange(width, dtype=np.int8), dtype=np.bool_)
