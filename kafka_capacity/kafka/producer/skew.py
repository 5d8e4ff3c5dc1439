"""How unevenly keys load the partitions of a topic.

Two sources of a key distribution:
    * *Measured top keys*: their bytes are known, so each is put on its own partition by its hash. What the other keys
      bring is spread evenly: they are many, and each is small.
    * *Zipf*: key k of K brings 1 / k**s of the bytes of the first. Which partition a key falls on is not known, so
      many random placements are made and the answer is a distribution. The same seed gives the same one.

The figure of merit is the largest partition over the mean one: 1 is even, P is everything on one of P partitions. No
partition count brings the largest partition below the largest key, so adding partitions to a hot key makes this
ratio worse, not better.

>>> load = load_of_top_keys(Keys.of([b"kafka", b"abc"]), np.array([30, 10]), 10, other_bytes=60)
>>> load.partition_bytes.tolist(), load.largest, load.largest_over_mean
([36.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 16.0, 6.0, 6.0], 0, 3.6)
>>> skew = zipf_skew(key_count=1000, exponent=1.0, partitions=12, seed=7, runs=200)
>>> [round(skew.quantile(q), 2) for q in (0.05, 0.5, 0.95)]
[2.02, 2.41, 3.2]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.producer.key_hashing import Keys, checked_count, partitions_of_keys
from kafka_capacity.kafka.producer.remapping import checked_weights


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PartitionLoad:
    """What each partition of a topic gets.

    Attributes:
        partition_bytes: float64[P].
    """

    partition_bytes: NDArray[np.float64]

    @property
    def largest(self) -> int:
        """The partition that gets most, the first of those that do."""
        return int(self.partition_bytes.argmax())

    @property
    def largest_over_mean(self) -> float:
        """How much more the largest gets than the mean; 1 where nothing is sent."""
        mean = float(self.partition_bytes.mean())
        return float(self.partition_bytes.max()) / mean if mean else 1.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ZipfSkew:
    """The skew of random placements.

    Attributes:
        largest_over_mean: float64[R], of each placement, ascending.
        least: the ratio below which no placement can get: the largest key alone on a partition, or 1.
    """

    largest_over_mean: NDArray[np.float64]
    least: float

    def quantile(self, share: float) -> float:
        """Return the ratio that this share of the placements does not exceed."""
        return float(np.quantile(self.largest_over_mean, share, method="inverted_cdf"))


def load_of_keys(
    chosen: NDArray[np.integer], key_bytes: NDArray[np.integer | np.floating], partitions: int
) -> PartitionLoad:
    """Add up the bytes of keys on their partitions.

    Args:
        chosen: int[N], the partition of each key.
        key_bytes: float64[N] or int64[N].
        partitions: how many there are.

    Raises:
        RequestError: there is no partition, or the bytes do not fit the keys.
    """
    checked_weights(key_bytes, len(chosen))
    added = np.bincount(chosen, key_bytes, minlength=checked_count(partitions))
    return PartitionLoad(partition_bytes=added.astype(np.float64))


def load_of_top_keys(
    top: Keys, top_bytes: NDArray[np.integer | np.floating], partitions: int, *, other_bytes: float = 0.0
) -> PartitionLoad:
    """Put measured keys on their partitions, and spread what all others bring evenly.

    Args:
        top: N keys.
        top_bytes: float64[N] or int64[N].
        partitions: how many there are.
        other_bytes: what the keys that were not measured bring together.

    Raises:
        RequestError: there is no partition, or the bytes do not fit the keys.
    """
    if not 0 <= other_bytes < np.inf:
        raise RequestError(f"other_bytes must be finite and not negative, not {other_bytes}")
    load = load_of_keys(partitions_of_keys(top, partitions), top_bytes, partitions)
    return PartitionLoad(partition_bytes=load.partition_bytes + other_bytes / partitions)


def zipf_shares(key_count: int, exponent: float) -> NDArray[np.float64]:
    """Return the share of each key, the largest first: float64[key_count], 1 in all.

    Raises:
        RequestError: there is no key, or the exponent is negative or no number.
    """
    if key_count < 1:
        raise RequestError(f"key_count must be at least 1, not {key_count}")
    if not 0 <= exponent < np.inf:
        raise RequestError(f"exponent must be finite and not negative, not {exponent}")
    weights = np.arange(1, key_count + 1, dtype=np.float64) ** -exponent
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def zipf_skew(*, key_count: int, exponent: float, partitions: int, seed: int, runs: int) -> ZipfSkew:
    """Place the keys of a Zipf distribution at random, again and again.

    Args:
        key_count: how many keys there are.
        exponent: s of the distribution; 0 makes all keys alike.
        partitions: how many there are.
        seed: of the random placements.
        runs: how many placements are made.

    Raises:
        RequestError: an argument is out of its range.
    """
    if runs < 1:
        raise RequestError(f"runs must be at least 1, not {runs}")
    shares = zipf_shares(key_count, exponent)
    random = np.random.default_rng(seed)
    checked_count(partitions)
    largest = [
        np.bincount(random.integers(partitions, size=key_count, dtype=np.int32), shares).max() for _ in range(runs)
    ]
    return ZipfSkew(
        largest_over_mean=np.sort(np.array(largest)) * partitions, least=max(1.0, float(shares[0]) * partitions)
    )
