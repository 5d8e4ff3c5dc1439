"""What a new partition count sends elsewhere: records of one key before and after it are on two partitions.

Kafka keeps the order of a key's records within a partition only, and moves no record when partitions are added. A key
that is remapped can be read out of order, and what was written before stays where it was.

Algorithm:
    For given keys the answer is exact: each is hashed once, and both remainders are compared. For keys that one
    does not have, hashes are taken as even: of every least common multiple of the two counts in a row, as many
    hashes as the smaller count has partitions leave the same remainder twice, the lowest ones.

>>> from kafka_capacity.kafka.producer.key_hashing import Keys, murmur2_of_keys
>>> keys = Keys.of(b"%d" % number for number in range(1000))
>>> remapped = keys_remapped(murmur2_of_keys(keys), 12, 18)
>>> remapped.moved_keys, remapped.share, round(even_share_remapped(12, 18), 3)
(664, 0.664, 0.667)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.producer.key_hashing import checked_count, partitions_of_hashes


@dataclass(frozen=True, slots=True, kw_only=True)
class Remapping:
    """What changes partition when their number changes.

    Attributes:
        before: partition count before.
        after: partition count after.
        keys: how many keys were looked at.
        moved_keys: how many of them change partition.
        weight: the weight of all keys: their bytes, or the number of keys if no weights were given.
        moved_weight: the weight of those that change partition.
    """

    before: int
    after: int
    keys: int
    moved_keys: int
    weight: float
    moved_weight: float

    @property
    def share(self) -> float:
        """The weight that changes partition, from 0 to 1; 0 where there is none at all."""
        return self.moved_weight / self.weight if self.weight else 0.0


def keys_remapped(
    hashes: NDArray[np.int32], before: int, after: int, weights: NDArray[np.integer | np.floating] | None = None
) -> Remapping:
    """Count the keys, and their weight, that a new partition count sends elsewhere.

    Args:
        hashes: int32[N], murmur2 of each key.
        before: partition count before.
        after: partition count after.
        weights: float64[N] or int64[N], for instance bytes of each key; 1 each if ``None``.

    Raises:
        RequestError: a count is not positive, or the weights do not fit the keys.
    """
    moves = partitions_of_hashes(hashes, before) != partitions_of_hashes(hashes, after)
    moved = int(np.count_nonzero(moves))
    if weights is None:
        weight, moved_weight = float(len(hashes)), float(moved)
    else:
        checked_weights(weights, len(hashes))
        weight, moved_weight = float(weights.sum()), float(weights[moves].sum())
    return Remapping(
        before=before, after=after, keys=len(hashes), moved_keys=moved, weight=weight, moved_weight=moved_weight
    )


def even_share_remapped(before: int, after: int) -> float:
    """Return the share of keys that a new partition count sends elsewhere if hashes are even.

    Raises:
        RequestError: a count is not positive.
    """
    return 1 - min(checked_count(before), checked_count(after)) / math.lcm(before, after)


def checked_weights(weights: NDArray[np.integer | np.floating], keys: int) -> None:
    """Refuse weights that do not fit the keys.

    Raises:
        RequestError: there are more or fewer weights than keys, or one is negative or no number.
    """
    if weights.shape != (keys,):
        raise RequestError(f"{keys} keys need {keys} weights in one row, not an array of shape {weights.shape}")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise RequestError("weights of keys must be finite and not negative")
