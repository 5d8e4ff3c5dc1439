"""Who leads, follows and serves: the part of a partition's traffic that falls on each of its replicas.

The first replica of the list that is alive leads: the preferred leader, or after a loss its successor. All replicas
are taken to be in sync, as they are when nothing is wrong beforehand. Followers that are gone fetch nothing.

Consumers read from the leader. With follower fetching (KIP-392, ``RackAwareReplicaSelector``) they are taken to be
spread evenly over the racks that have brokers, and each reads from the first live replica in its rack, else from the
leader.

Worked example, one partition on brokers 0 and 1, then with broker 0 gone:
    >>> import numpy as np
    >>> both = np.array([[0, 1]])
    >>> roles(both, both >= 0, None).replication_out.tolist()
    [[1.0, 0.0]]
    >>> lost = roles(both, both == 1, None)
    >>> lost.leader_in.tolist(), lost.replication_out.tolist()
    ([[0.0, 1.0]], [[0.0, 0.0]])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Roles:
    """Shares of the traffic of N partitions by place in the replica list, float32[N, W] each.

    Attributes:
        leader_in: of what is produced, 1 for the leader.
        follower_in: of what is produced, 1 for each other live replica.
        consumer_out: of what consumers read.
        replication_out: of what is produced, how often it is sent to followers.
    """

    leader_in: Weights
    follower_in: Weights
    consumer_out: Weights
    replication_out: Weights


def roles(replicas: NDArray[np.int32], alive: NDArray[np.bool_], rack_of: NDArray[np.int32] | None) -> Roles:
    """Share out the traffic of partitions.

    Args:
        replicas: int[N, W], positions of brokers, -1 for padding.
        alive: bool[N, W], which of them live; False in the padding.
        rack_of: int32[B], the rack of each broker, for consumers that read in their own; ``None`` if they do not.
    """
    leader = np.zeros(replicas.shape, dtype=np.float32)
    if replicas.shape[1]:
        is_led = alive.any(axis=1)
        leader[is_led, alive.argmax(axis=1)[is_led]] = 1.0
    follower = alive.astype(np.float32) - leader
    return Roles(
        leader_in=leader,
        follower_in=follower,
        consumer_out=leader if rack_of is None else _in_own_rack(replicas, alive, leader, rack_of),
        replication_out=leader * follower.sum(axis=1, keepdims=True),
    )


def _in_own_rack(
    replicas: NDArray[np.int32], alive: NDArray[np.bool_], leader: Weights, rack_of: NDArray[np.int32]
) -> Weights:
    racks = int(rack_of.max(initial=-1)) + 1
    share = np.zeros(replicas.shape, dtype=np.float32)
    rack = np.where(alive, rack_of[replicas.clip(min=0)], -1)
    for one in range(racks):
        is_there = rack == one
        has_one = is_there.any(axis=1)
        share += np.where(has_one[:, None], 0.0, leader)
        share[has_one, is_there.argmax(axis=1)[has_one]] += 1.0
    return share / np.float32(max(1, racks))
